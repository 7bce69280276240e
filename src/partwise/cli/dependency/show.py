"""What ``partwise show`` draws of dependency trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.dependency.files import TreebankFiles
from partwise.cli.dependency.predict import chosen_probabilities
from partwise.cli.drawings import Drawings, Drawn, ranked_title
from partwise.cli.options import KBest, Marginals
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
        typer.Option("--alternatives", help="Show what other heads are probable, too."),
    ] = False,
    kbest: KBest = None,
    files: TreebankFiles,
) -> Drawings:
    """Draw the trees that a parser predicts."""

    def predicted(sentence: Sentence, number: int) -> Drawn:
        title = _title(sentence, number)
        if kbest is not None:
            [ranking] = model.predict_kbest([sentence], kbest)
            for rank, (tree, score) in enumerate(ranking, 1):
                yield DependencyDrawing(ranked_title(title, rank, score), tree)
            return
        [tree] = model.predict([sentence])
        shares = mu = None
        if marginals:
            [shares] = chosen_probabilities(model, [tree])
        if alternatives:
            [mu] = model.predict_marginals([sentence])
            mu = mu.clip(0.0, 1.0)  # rounding errors of sums over many trees
        yield DependencyDrawing(title, tree, shares, mu)

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
    yield DependencyDrawing(_title(sentence, number), sentence)


@dataclass(frozen=True)
class DependencyDrawing:
    """A tree to draw, and what is known about its arcs."""

    title: str
    tree: Sentence
    probabilities: list[float] | None = None
    marginals: Any = None

    @property
    def tags(self) -> tuple[str, ...] | None:
        """The parts of speech, if any are given: universal ones or else others."""
        known = (self.tree.upos, self.tree.xpos)
        return next((tags for tags in known if set(tags) != {NOT_GIVEN}), None)

    def as_text(self, width: int | None, ascii_only: bool) -> str:
        """Draw it for a terminal."""
        from partwise.drawing import draw_marginals_text, draw_text

        tree = self.tree
        if self.marginals is not None:
            return draw_marginals_text(
                tree.forms, self.marginals, ascii_only=ascii_only
            )
        return draw_text(
            tree.forms,
            tree.heads or (),
            tree.labels,
            self.probabilities,
            self.tags,
            width,
            ascii_only,
        )

    def as_svg(self) -> str:
        """Draw it as SVG."""
        from partwise.drawing import draw_marginals_svg, draw_svg

        tree = self.tree
        if self.marginals is not None:
            return draw_marginals_svg(
                tree.forms, self.marginals, tree.heads, title=self.title
            )
        return draw_svg(
            tree.forms,
            tree.heads or (),
            tree.labels,
            self.probabilities,
            self.tags,
            self.title,
        )
