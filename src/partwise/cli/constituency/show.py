"""What ``partwise show`` draws of constituency trees."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from partwise.cli.constituency.files import PlacedSentence, SentenceFiles, TreesOnly
from partwise.cli.constituency.predict import parse, tree_probabilities
from partwise.cli.drawings import Drawing, Drawings, Drawn, ranked_title
from partwise.cli.options import KBestDrawn, Marginals

if TYPE_CHECKING:
    from partwise import ConstituencyParser
    from partwise.constituents import Tree
    from partwise.data.bracketed import PlacedTree


def draw(file: str, *, files: TreesOnly) -> Drawings:
    """Draw trees in brackets."""

    def own_tree(placed: PlacedTree, number: int) -> Drawn:
        yield _drawing(f"sentence {number} ({placed.place})", placed.tree)

    return Drawings(files.stream(file), own_tree)


def show(
    model: ConstituencyParser,
    file: str,
    *,
    marginals: Marginals = False,
    kbest: KBestDrawn = None,
    files: SentenceFiles,
) -> Drawings:
    """Draw the trees that a parser predicts."""

    def predicted(source: PlacedSentence, number: int) -> Drawn:
        title = f"sentence {number} ({source.place})"
        if kbest is not None:
            [ranking] = model.predict_kbest([source.given], kbest)
            for rank, (tree, score) in enumerate(ranking, 1):
                yield _drawing(ranked_title(title, rank, score), tree)
            return
        ([tree], failed) = parse(model, [source.given])
        shares: Any = None
        if marginals:
            [found] = model.predict_marginals([source.given])
            shares = tree_probabilities(tree, found)
        yield _drawing(title + ", no parse" * bool(failed), tree, shares)

    return Drawings(files.sentences(file, with_tags=bool(model.given_tags)), predicted)


def _drawing(
    title: str,
    tree: Tree,
    probabilities: Mapping[tuple[str, int, int], float] | None = None,
) -> Drawing:
    """Draw a tree, and how probable its brackets are."""
    from partwise.drawing import draw_constituents_svg, draw_constituents_text

    return Drawing(
        title,
        partial(draw_constituents_text, tree, probabilities),
        partial(draw_constituents_svg, tree, probabilities, title),
    )
