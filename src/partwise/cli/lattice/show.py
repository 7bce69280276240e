"""What ``partwise show`` draws of lattices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from partwise.cli.drawings import Drawing, Drawings, Drawn, ranked_title
from partwise.cli.options import FORMAT, Encoding, KBestDrawn, Marginals

if TYPE_CHECKING:
    from partwise import LatticeInput, LatticeRanker


class LatticeFormat(StrEnum):
    """The format of lattices: one JSON object per line."""

    lattices = "lattices"


LatticeFormatOption: TypeAlias = Annotated[LatticeFormat | None, FORMAT]


def recognises(file: str, encoding: str) -> bool:
    """Recognise lattices by the name of the file."""
    return file.removesuffix(".gz").endswith((".jsonl", ".json"))


def draw(
    file: str, *, format: LatticeFormatOption = None, encoding: Encoding = "utf-8"
) -> Drawings:
    """Draw lattices and their right paths."""

    def own_path(lattice: LatticeInput, number: int) -> Drawn:
        path = lattice.good[0] if lattice.good else None
        yield _drawing(f"lattice {number} ({lattice.title})", lattice, path)

    return _drawings(file, encoding, own_path)


def show(
    model: LatticeRanker,
    file: str,
    *,
    marginals: Marginals = False,
    kbest: KBestDrawn = None,
    format: LatticeFormatOption = None,
    encoding: Encoding = "utf-8",
) -> Drawings:
    """Draw lattices and the paths that a ranker predicts."""

    def predicted(lattice: LatticeInput, number: int) -> Drawn:
        title = f"lattice {number} ({lattice.title})"
        if kbest is not None:
            [ranking] = model.predict_kbest([lattice], kbest)
            for rank, path in enumerate(ranking, 1):
                shown = ranked_title(title, rank, path.score)
                yield _drawing(shown, lattice, path.edges)
            return
        [path] = model.predict([lattice])
        shares: Any = model.predict_marginals([lattice])[0] if marginals else None
        yield _drawing(title, lattice, path.edges, shares)

    return _drawings(file, encoding, predicted)


def _drawings(
    file: str, encoding: str, draw: Callable[[LatticeInput, int], Drawn]
) -> Drawings:
    """Draw the lattices of a file."""
    from partwise.data import iter_lattices

    lattices = iter_lattices(file, encoding=encoding)
    return Drawings(lattices, draw, one="lattice", what="lattices")


def _drawing(
    title: str,
    lattice: LatticeInput,
    path: Sequence[int] | None,
    probabilities: Sequence[float] | None = None,
) -> Drawing:
    """Draw a lattice, a path to highlight, and how probable its edges are."""
    from partwise.drawing import draw_lattice_svg, draw_lattice_text

    shown = (lattice, path, probabilities)
    return Drawing(
        title,
        partial(draw_lattice_text, *shown),
        partial(draw_lattice_svg, *shown, title),
    )
