"""What ``partwise show`` draws of dependency trees."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.dependency.files import TreebankFiles
from partwise.cli.dependency.predict import chosen_probabilities
from partwise.cli.drawings import Drawing, Drawings, Drawn, ranked_title
from partwise.cli.options import KBestDrawn, Marginals
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise import DependencyParser
    from partwise.data import Sentence

NOT_GIVEN = "_"


def draw(file: str, *, files: TreebankFiles) -> Drawings:
    """Draw the trees of a treebank."""
    return Drawings(_with_words(files, file), _own_tree)


def show(
    model: DependencyParser,
    file: str,
    *,
    marginals: Marginals = False,
    alternatives: Annotated[
        bool,
        typer.Option("--alternatives", help="Also show other probable heads."),
    ] = False,
    kbest: KBestDrawn = None,
    files: TreebankFiles,
) -> Drawings:
    """Draw the trees that a parser predicts."""

    def predicted(sentence: Sentence, number: int) -> Drawn:
        title = _title(sentence, number)
        if kbest is not None:
            [ranking] = model.predict_kbest([sentence], kbest)
            for rank, (tree, score) in enumerate(ranking, 1):
                yield _drawing(ranked_title(title, rank, score), tree)
            return
        [tree] = model.predict([sentence])
        shares = mu = None
        if marginals:
            [shares] = chosen_probabilities(model, [tree])
        if alternatives:
            [mu] = model.predict_marginals([sentence])
            mu = mu.clip(0.0, 1.0)  # rounding errors of sums over many trees
        yield _drawing(title, tree, shares, mu)

    return Drawings(_with_words(files, file), predicted)


def _title(sentence: Sentence, number: int) -> str:
    return f"sentence {number} ({sentence.place})"


def _with_words(files: TreebankFiles, path: str) -> Iterator[Sentence]:
    """Return the sentences of a file that have words."""
    return (one for batch in files.stream(path) for one in batch if len(one))


def _own_tree(sentence: Sentence, number: int) -> Drawn:
    from partwise.trees import check_tree

    if sentence.heads is None:
        raise DataError(
            f"{sentence.place}: the sentence has no heads (give --model, a parser "
            "that predicts them)"
        )
    check_tree(sentence.heads, str(sentence.place), forms=sentence.forms,
               single_root=False)  # fmt: skip
    yield _drawing(_title(sentence, number), sentence)


def _drawing(
    title: str,
    tree: Sentence,
    probabilities: list[float] | None = None,
    marginals: Any = None,
) -> Drawing:
    """Draw a tree, and what is known about its arcs."""
    from partwise import drawing

    if marginals is not None:
        return Drawing(
            title,
            lambda width, ascii_only: drawing.draw_marginals_text(
                tree.forms, marginals, ascii_only=ascii_only
            ),
            lambda: drawing.draw_marginals_svg(
                tree.forms, marginals, tree.heads, title=title
            ),
        )
    # The parts of speech, if any are given: universal ones or else others.
    known = (tree.upos, tree.xpos)
    tags = next((tags for tags in known if set(tags) != {NOT_GIVEN}), None)
    shown = (tree.forms, tree.heads or (), tree.labels, probabilities, tags)
    return Drawing(
        title,
        partial(drawing.draw_text, *shown),
        partial(drawing.draw_svg, *shown, title),
    )
