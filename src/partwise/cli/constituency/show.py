"""What ``partwise show`` draws of constituency trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from partwise.cli.constituency.files import PlacedSentence, SentenceFiles, TreesOnly
from partwise.cli.constituency.predict import parse, tree_probabilities
from partwise.cli.drawings import Drawings, Drawn, ranked_title
from partwise.cli.options import KBest, Marginals

if TYPE_CHECKING:
    from partwise import ConstituencyParser
    from partwise.constituents import Tree
    from partwise.data.bracketed import PlacedTree


def draw(file: str, *, files: TreesOnly) -> Drawings:
    """Draw trees in brackets."""

    def own_tree(placed: PlacedTree, number: int) -> Drawn:
        yield ConstituentsDrawing(f"sentence {number} ({placed.place})", placed.tree)

    return Drawings(files.stream(file), own_tree)


def show(
    model: ConstituencyParser,
    file: str,
    *,
    marginals: Marginals = False,
    kbest: KBest = None,
    files: SentenceFiles,
) -> Drawings:
    """Draw the trees that a parser predicts."""

    def predicted(source: PlacedSentence, number: int) -> Drawn:
        title = f"sentence {number} ({source.place})"
        if kbest is not None:
            [ranking] = model.predict_kbest([source.given], kbest)
            for rank, (tree, score) in enumerate(ranking, 1):
                yield ConstituentsDrawing(ranked_title(title, rank, score), tree)
            return
        ([tree], failed) = parse(model, [source.given])
        shares: Any = None
        if marginals:
            [found] = model.predict_marginals([source.given])
            shares = tree_probabilities(tree, found)
        yield ConstituentsDrawing(title + ", no parse" * bool(failed), tree, shares)

    return Drawings(files.sentences(file, with_tags=bool(model.given_tags)), predicted)


@dataclass(frozen=True)
class ConstituentsDrawing:
    """A tree to draw, and how probable its brackets are."""

    title: str
    tree: Tree
    probabilities: Mapping[tuple[str, int, int], float] | None = None

    def as_text(self, width: int | None, ascii_only: bool) -> str:
        """Draw it for a terminal."""
        from partwise.drawing import draw_constituents_text

        return draw_constituents_text(self.tree, self.probabilities, width, ascii_only)

    def as_svg(self) -> str:
        """Draw it as SVG."""
        from partwise.drawing import draw_constituents_svg

        return draw_constituents_svg(self.tree, self.probabilities, self.title)
