"""Lattices for a terminal: every node with the edges that lead on from it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from partwise.characters import cut, display_width, pad, printable
from partwise.drawing.lattice_layout import DrawableLattice, DrawnEdge, place_lattice
from partwise.drawing.text import ASCII, BETWEEN_CELLS, BOX


def draw_lattice_text(
    lattice: DrawableLattice,
    path: Iterable[int] | None = None,
    probabilities: Iterable[float] | None = None,
    width: int | None = None,
    ascii_only: bool = False,
) -> str:
    r"""Draw a lattice as text: every node, and below it the edges from it.

    Nodes come from the starts to the ends, every one after those that lead to it.

    Parameters
    ----------
    lattice : LatticeInput
        What to draw. Unprintable characters are escaped.
    path : iterable of int, optional
        Numbers of edges to mark: the best path, or a good one.
    probabilities : iterable of float, optional
        The probability of every edge.
    width : int, optional
        How many columns are available; longer lines are cut. No limit by default.
    ascii_only : bool, default=False
        Draw with ASCII characters, and escape all others.

    Returns
    -------
    str
        Lines without a newline after the last.

    Examples
    --------
    >>> from partwise import LatticeInput
    >>> lattice = LatticeInput([(0, 1, {}, "the"), (0, 1, {}, "a"), (1, 2, {}, "cat")])
    >>> print(draw_lattice_text(lattice, path=[0, 2], probabilities=[0.9, 0.1, 1]))
    0
    ├─the  ─► 1  0.90 ●
    └─a    ─► 1  0.10
    1
    └─cat  ─► 2  1.00 ●
    2
    """
    pen = ASCII if ascii_only else BOX
    drawing = place_lattice(lattice, path, probabilities, max_edges=None)
    leaving: dict[Hashable, list[DrawnEdge]] = {}
    for drawn in drawing.edges:
        leaving.setdefault(drawn.edge.source, []).append(drawn)

    def words(drawn: DrawnEdge) -> str:
        return printable(" ".join(drawn.edge.words), ascii_only)

    def goal(drawn: DrawnEdge) -> str:
        return printable(str(drawn.edge.target), ascii_only)

    room = max((display_width(words(d)) for d in drawing.edges), default=0)
    far = max((display_width(goal(d)) for d in drawing.edges), default=0)
    lines = []
    for column in drawing.columns:
        for node in column:
            lines.append(printable(str(node), ascii_only))
            own = leaving.get(node, [])
            for j, drawn in enumerate(own):
                turn = pen.branches[1] if j == len(own) - 1 else pen.branches[2]
                line = f"{turn}{pen.across}{pad(words(drawn), room)}{BETWEEN_CELLS}"
                line += f"{pen.across}{pen.arrow} {pad(goal(drawn), far)}"
                if drawn.probability is not None:
                    line += f"{BETWEEN_CELLS}{drawn.probability:.2f}"
                lines.append(line + f" {pen.root}" if drawn.is_chosen else line)
    lines = [line.rstrip() for line in lines]
    if width is not None:
        lines = [cut(line, width, pen.ellipsis) for line in lines]
    return "\n".join(lines)
