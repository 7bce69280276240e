"""What ``partwise show`` draws of constituency trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from partwise.cli.drawings import Asked

if TYPE_CHECKING:
    from partwise.constituents import Tree


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


def draw_constituents(
    source: Any, number: int, asked: Asked
) -> Iterator[ConstituentsDrawing]:
    """Return what to draw of a tree that was read, or of a sentence to parse."""
    from partwise.cli.constituency.predict import parse, tree_probabilities

    parser = asked.parser
    title = f"sentence {number} ({source.place})"
    if parser is None:
        yield ConstituentsDrawing(title, source.tree)
    elif asked.kbest is not None:
        [ranking] = parser.predict_kbest([source.given], asked.kbest)
        for rank, (tree, score) in enumerate(ranking, 1):
            yield ConstituentsDrawing(f"{title}, rank {rank}, score {score:.3f}", tree)
    else:
        ([tree], failed) = parse(parser, [source.given])
        shares: Any = None
        if asked.marginals:
            [marginals] = parser.predict_marginals([source.given])
            shares = tree_probabilities(tree, marginals)
        if failed:
            title += ", no parse"
        yield ConstituentsDrawing(title, tree, shares)
