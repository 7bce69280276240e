"""What ``partwise show`` draws of lattices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from partwise.cli.drawings import Drawings, Drawn, ranked_title
from partwise.cli.options import FORMAT, Encoding, KBest, Marginals

if TYPE_CHECKING:
    from partwise import LatticeInput, LatticeRanker


class LatticeFormat(StrEnum):
    """How a file of lattices is laid out: one a line, as JSON."""

    lattices = "lattices"


LatticeFormatOption: TypeAlias = Annotated[LatticeFormat | None, FORMAT]


def recognises(file: str, encoding: str) -> bool:
    """Tell lattices by the name of the file."""
    return file.removesuffix(".gz").endswith((".jsonl", ".json"))


def draw(
    file: str, *, format: LatticeFormatOption = None, encoding: Encoding = "utf-8"
) -> Drawings:
    """Draw lattices and their right paths."""
    from partwise.data import iter_lattices

    def own_path(lattice: LatticeInput, number: int) -> Drawn:
        path = lattice.good[0] if lattice.good else None
        yield LatticeDrawing(f"lattice {number} ({lattice.title})", lattice, path)

    return Drawings(iter_lattices(file, encoding=encoding), own_path)


def show(
    model: LatticeRanker,
    file: str,
    *,
    marginals: Marginals = False,
    kbest: KBest = None,
    format: LatticeFormatOption = None,
    encoding: Encoding = "utf-8",
) -> Drawings:
    """Draw lattices and the paths that a ranker predicts."""
    from partwise.data import iter_lattices

    def predicted(lattice: LatticeInput, number: int) -> Drawn:
        title = f"lattice {number} ({lattice.title})"
        if kbest is not None:
            [ranking] = model.predict_kbest([lattice], kbest)
            for rank, path in enumerate(ranking, 1):
                shown = ranked_title(title, rank, path.score)
                yield LatticeDrawing(shown, lattice, path.edges)
            return
        [path] = model.predict([lattice])
        shares: Any = model.predict_marginals([lattice])[0] if marginals else None
        yield LatticeDrawing(title, lattice, path.edges, shares)

    return Drawings(iter_lattices(file, encoding=encoding), predicted)


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
