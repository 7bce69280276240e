"""What ``partwise show`` draws of lattices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from partwise.cli.drawings import Asked

if TYPE_CHECKING:
    from partwise import LatticeInput


@dataclass(frozen=True)
class LatticeDrawing:
    """A lattice to draw, the path to highlight, and how probable its edges are."""

    title: str
    lattice: LatticeInput
    path: Sequence[int] | None = None
    probabilities: Sequence[float] | None = None

    def as_text(self, width: int | None, ascii_only: bool) -> str:
        """Draw it for a terminal."""
        from partwise.drawing import draw_lattice_text

        return draw_lattice_text(
            self.lattice, self.path, self.probabilities, width, ascii_only
        )

    def as_svg(self) -> str:
        """Draw it as SVG."""
        from partwise.drawing import draw_lattice_svg

        return draw_lattice_svg(self.lattice, self.path, self.probabilities, self.title)


def draw_lattices(
    source: LatticeInput, number: int, asked: Asked
) -> Iterator[LatticeDrawing]:
    """Return what to draw of a lattice: its right path, or what a ranker says."""
    ranker: Any = asked.parser
    title = f"lattice {number} ({source.title})"
    if ranker is None:
        yield LatticeDrawing(title, source, source.good[0] if source.good else None)
    elif asked.kbest is not None:
        [ranking] = ranker.predict_kbest([source], asked.kbest)
        for rank, path in enumerate(ranking, 1):
            shown = f"{title}, rank {rank}, score {path.score:.3f}"
            yield LatticeDrawing(shown, source, path.edges)
    else:
        [path] = ranker.predict([source])
        shares = ranker.predict_marginals([source])[0] if asked.marginals else None
        yield LatticeDrawing(title, source, path.edges, shares)
