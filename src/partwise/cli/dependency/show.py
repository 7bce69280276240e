"""What ``partwise show`` draws of dependency trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from partwise.cli.dependency.files import TreeLayout
from partwise.cli.drawings import Asked
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise.data import Sentence

NOT_GIVEN = "_"


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


def with_words(layout: TreeLayout, path: str) -> Iterator[Sentence]:
    """Return the sentences of a file that have words."""
    return (one for batch in layout.stream(path) for one in batch if len(one))


def draw_dependencies(
    sentence: Sentence, number: int, asked: Asked
) -> Iterator[DependencyDrawing]:
    """Return what to draw of a sentence."""
    from partwise.cli.dependency.predict import chosen_probabilities
    from partwise.trees import check_tree

    parser = asked.parser
    title = f"sentence {number} ({sentence.place})"
    if parser is None:
        if sentence.heads is None:
            raise DataError(
                f"{sentence.place}: the sentence has no heads (give --model, a parser "
                "that predicts them)"
            )
        check_tree(sentence.heads, str(sentence.place), forms=sentence.forms,
                   single_root=False)  # fmt: skip
        yield DependencyDrawing(title, sentence)
    elif asked.kbest is not None:
        [ranking] = parser.predict_kbest([sentence], asked.kbest)
        for rank, (tree, score) in enumerate(ranking, 1):
            yield DependencyDrawing(f"{title}, rank {rank}, score {score:.3f}", tree)
    else:
        [tree] = parser.predict([sentence])
        shares = mu = None
        if asked.marginals:
            [shares] = chosen_probabilities(parser, [tree])
        if asked.alternatives:
            [mu] = parser.predict_marginals([sentence])
            mu = mu.clip(0.0, 1.0)  # rounding errors of sums over many trees
        yield DependencyDrawing(title, tree, shares, mu)
