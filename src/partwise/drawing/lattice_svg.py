"""Lattices as SVG: nodes from left to right, edges with their words between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

from partwise._notebooks import Drawing
from partwise.drawing.arc_diagram import MARGIN, SMALL_FONT
from partwise.drawing.lattice_layout import (
    MOST_EDGES,
    DrawableLattice,
    DrawnEdge,
    LatticeDrawing,
    place_lattice,
)
from partwise.drawing.svg import opacity
from partwise.drawing.svg_page import element, sheet, text_width

# All lengths are in pixels.
ROW_HEIGHT = 64.0
RADIUS = 5.0
BESIDE_LABELS = 30.0
# Between edges that lie side by side, and above a row of nodes that an edge passes.
APART = 34.0
ARROW = 7.0
# Where on an edge its label is: not in the middle, where edges cross.
LABEL_AT = 0.36

Places = dict[Hashable, tuple[float, float]]


def draw_lattice_svg(
    lattice: DrawableLattice,
    path: Iterable[int] | None = None,
    probabilities: Iterable[float] | None = None,
    title: str | None = None,
) -> Drawing:
    """Draw a small lattice as SVG.

    The drawing is self-contained, follows the reader's choice of a light or a dark
    background, and is as wide as the lattice: long ones scroll.

    Parameters
    ----------
    lattice : LatticeInput
        What to draw.
    path : iterable of int, optional
        Numbers of the edges to highlight: the best path, or a good one.
    probabilities : iterable of float, optional
        The probability of every edge, which is written at it and shown by how strong
        its line is.
    title : str, optional
        The name of the drawing.

    Returns
    -------
    str
        An ``<svg>`` element, to be saved in UTF-8 or put into a page of HTML. Each
        edge has the attribute ``data-edge``, its number.

    Raises
    ------
    ValueError
        If there are too many edges to be told apart, or something is not a probability.

    Examples
    --------
    >>> from partwise import LatticeInput
    >>> lattice = LatticeInput([(0, 1, {}, "the"), (0, 1, {}, "a"), (1, 2, {}, "cat")])
    >>> drawing = draw_lattice_svg(lattice, path=[0, 2])
    >>> drawing.count('class="edge'), drawing.count("edge chosen")
    (3, 2)
    """
    drawing = place_lattice(lattice, path, probabilities, MOST_EDGES)
    level = {v: c for c, column in enumerate(drawing.columns) for v in column}
    places, width = _place(drawing, level)
    rise = APART * max(_bends(drawing, level), default=0.0)
    most = max(map(len, drawing.columns))
    height = 2 * MARGIN + rise + SMALL_FONT + most * ROW_HEIGHT
    middle = (height + rise) / 2
    places = {v: (x, middle + y) for v, (x, y) in places.items()}
    bends = _bends(drawing, level)
    pieces = [
        (edge.is_chosen, _edge(e, edge, places, APART * bend))
        for e, (edge, bend) in enumerate(zip(drawing.edges, bends, strict=True))
    ]
    # What is chosen lies above the rest.
    parts = [part for _, part in sorted(pieces, key=lambda piece: piece[0])]
    ends = {*lattice.starts, *lattice.ends}
    parts += [_node(v, place, v in ends) for v, place in places.items()]
    described = f"{len(places)} nodes, {len(drawing.edges)} edges"
    return sheet(width, height, title or lattice.title or "Lattice", described, parts)


def _place(drawing: LatticeDrawing, level: dict[Hashable, int]) -> tuple[Places, float]:
    """Return the places of nodes, counted from the middle, and how wide all is."""
    gaps = [2 * BESIDE_LABELS] * max(len(drawing.columns) - 1, 0)
    for edge in drawing.edges:
        first, last = level[edge.edge.source], level[edge.edge.target]
        label = text_width(edge.label, SMALL_FONT)
        needed = label / (2 * LABEL_AT) + 2 * BESIDE_LABELS
        for c in range(first, last):
            gaps[c] = max(gaps[c], needed / (last - first))
    places, x = {}, MARGIN + RADIUS
    for c, column in enumerate(drawing.columns):
        for row, node in enumerate(column):
            places[node] = x, (row - (len(column) - 1) / 2) * ROW_HEIGHT
        x += gaps[c] if c < len(gaps) else 0.0
    return places, x + RADIUS + MARGIN


def _bends(drawing: LatticeDrawing, level: dict[Hashable, int]) -> list[float]:
    """Return how far every edge bends up, so that none hides another one."""
    seen: Counter[tuple[Hashable, Hashable]] = Counter()
    total = Counter((d.edge.source, d.edge.target) for d in drawing.edges)
    bends = []
    for drawn in drawing.edges:
        ends = drawn.edge.source, drawn.edge.target
        bend = seen[ends] - (total[ends] - 1) / 2
        seen[ends] += 1
        passed = level[ends[1]] - level[ends[0]] - 1
        bends.append(bend + (1.0 + 0.5 * passed if passed else 0.0))
    return bends


def _edge(e: int, drawn: DrawnEdge, places: Places, bend: float) -> str:
    """Draw a curve with an arrow and a label; `bend` is how high it goes."""
    (x, y), (to_x, to_y) = places[drawn.edge.source], places[drawn.edge.target]
    reach = (to_x - x) / 3
    # A curve with both handles at one height goes three quarters up to them.
    lift = 4 / 3 * bend
    tip = to_x - RADIUS - 1
    line = (
        f"M{x + RADIUS:.1f} {y:.1f} C{x + reach:.1f} {y - lift:.1f} "
        f"{to_x - reach:.1f} {to_y - lift:.1f} {tip:.1f} {to_y:.1f}"
    )
    rise = lift / max(reach, 1.0)
    arrow = (
        f"M{tip:.1f} {to_y:.1f} l{-ARROW:.1f} {-ARROW / 2 - rise * ARROW:.1f} "
        f"l0.0 {ARROW:.1f} Z"
    )
    words = " ".join(drawn.edge.words)
    return element(
        "g",
        {
            "class": "edge chosen" if drawn.is_chosen else "edge",
            "data-edge": e,
            "opacity": f"{opacity(drawn.probability):.3f}",
        },
        # A tooltip, in browsers.
        element("title", {}, text=f"edge {e}: {words or '(no words)'}"),
        element("path", {"d": line}),
        element("path", {"class": "arrow", "d": arrow}),
        element(
            "text", _label_place((x, y), (to_x, to_y), reach, lift), text=drawn.label
        ),
    )


def _label_place(
    start: tuple[float, float], end: tuple[float, float], reach: float, lift: float
) -> dict[str, object]:
    """Return a point just above the curve, which is Bezier's."""
    t, s = LABEL_AT, 1 - LABEL_AT
    shares = s**3, 3 * s * s * t, 3 * s * t * t, t**3
    xs = start[0], start[0] + reach, end[0] - reach, end[0]
    ys = start[1], start[1] - lift, end[1] - lift, end[1]
    x, y = (sum(a * b for a, b in zip(shares, v, strict=True)) for v in (xs, ys))
    return {"x": x, "y": y - 4}


def _node(node: Hashable, place: tuple[float, float], is_end: bool) -> str:
    x, y = place
    return element(
        "g",
        {"class": "joint end" if is_end else "joint"},
        element("title", {}, text=str(node)),
        element("circle", {"cx": x, "cy": y, "r": RADIUS}),
    )
