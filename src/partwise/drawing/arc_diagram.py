"""The geometry of arcs above words, and how it becomes SVG."""

from __future__ import annotations

from typing import NamedTuple

from partwise._notebooks import Drawing
from partwise.drawing.arguments import EMPTY
from partwise.drawing.layout import arc_levels
from partwise.drawing.svg_page import element, sheet, text_width

# All lengths are in pixels.
WORD_FONT, SMALL_FONT = 16, 12
MARGIN = 20.0
BETWEEN_WORDS = 18.0
LEVEL_HEIGHT = 24.0
CORNER = 8.0
ARROW = 4.0
# Feet of arcs on one word: as far apart as this if the word is long enough, and
# never closer than that, for which short words are given more room.
FEET_APART, FEET_CLOSEST = 8.0, 5.0


class Arc(NamedTuple):
    """An arc from a head (0 is the root) to a dependent, and what is said of it."""

    head: int
    dependent: int
    texts: list[str]
    opacity: float

    @property
    def label(self) -> str:
        """What is written at the arc."""
        return " ".join(self.texts) or ("" if self.head else "root")

    @property
    def ends(self) -> tuple[int, int]:
        """The two words, from left to right."""
        return min(self.head, self.dependent), max(self.head, self.dependent)


class Diagram(NamedTuple):
    """Where everything is: words by number, feet by arc and word."""

    centres: list[float]
    feet: dict[tuple[int, int, int], float]
    ground: float
    width: float


def draw_diagram(
    words: list[str],
    arcs: list[Arc],
    alternatives: list[Arc],
    tags: list[str] | None,
    title: str | None,
) -> Drawing:
    """Return the SVG of words with arcs, and with alternatives behind the arcs.

    Arcs have levels of their own and room for their labels; alternatives are curves
    without labels, which may lie on each other.
    """
    if not words:
        size = text_width(EMPTY, WORD_FONT) + 2 * MARGIN, WORD_FONT + 2 * MARGIN
        note = element("text", {"x": size[0] / 2, "y": MARGIN + WORD_FONT}, text=EMPTY)
        return sheet(*size, title or EMPTY, "", [element("g", {"class": "word"}, note)])
    inner = [arc for arc in arcs if arc.head]
    levels = arc_levels([arc.ends for arc in inner])
    n_levels = max(levels, default=0)
    # One level more, for the labels of root arcs, and room for the highest labels.
    ground = MARGIN + SMALL_FONT + (n_levels + 1) * LEVEL_HEIGHT
    diagram = _place(words, arcs, tags, ground)
    parts = [_curve(arc, words, diagram) for arc in alternatives]
    for arc, level in zip(inner, levels, strict=True):
        parts.append(_bridge(arc, level, words, diagram))
    parts += [_pole(arc, words, diagram) for arc in arcs if not arc.head]
    parts += [
        _word(m, word, tags[m - 1] if tags else None, diagram)
        for m, word in enumerate(words, start=1)
    ]
    height = ground + WORD_FONT + MARGIN + (WORD_FONT + 4 if tags else 4)
    described = "; ".join(_sentence(arc, words) for arc in arcs)
    return sheet(diagram.width, height, title or " ".join(words), described, parts)


def _place(
    words: list[str], arcs: list[Arc], tags: list[str] | None, ground: float
) -> Diagram:
    """Find the places of words, from left to right, so that all labels fit."""
    touching: list[list[Arc]] = [[] for _ in range(len(words) + 1)]
    for arc in arcs:
        touching[arc.dependent].append(arc)
        if arc.head:
            touching[arc.head].append(arc)
    centres = [0.0]
    feet: dict[tuple[int, int, int], float] = {}
    right_edge = MARGIN - BETWEEN_WORDS
    last_label = MARGIN - FEET_APART
    for m, word in enumerate(words, start=1):
        width = max(
            text_width(word, WORD_FONT),
            text_width(tags[m - 1], SMALL_FONT) if tags else 0.0,
            FEET_CLOSEST * (len(touching[m]) - 1),
            FEET_APART,
        )
        shifts = _feet(m, touching[m], width)
        centre = right_edge + BETWEEN_WORDS + width / 2
        for arc, shift in zip(touching[m], shifts, strict=True):
            room = text_width(arc.label, SMALL_FONT)
            if not arc.head:
                # Labels of root arcs are all at one height.
                centre = max(centre, last_label + FEET_APART + room / 2 - shift)
            elif arc.ends[1] == m:
                start = feet[(arc.head, arc.dependent, arc.ends[0])]
                centre = max(centre, start + room + 2 * CORNER - shift)
        centres.append(centre)
        right_edge = centre + width / 2
        for arc, shift in zip(touching[m], shifts, strict=True):
            feet[(arc.head, arc.dependent, m)] = centre + shift
            if not arc.head:
                room = text_width(arc.label, SMALL_FONT)
                last_label = centre + shift + room / 2
    width = max(right_edge, last_label) + MARGIN
    return Diagram(centres, feet, ground, width)


def _feet(m: int, arcs: list[Arc], width: float) -> list[float]:
    """Return how far from the middle of word m each of its arcs ends.

    From left to right: arcs to the left, short ones first; the root; arcs to the
    right, long ones first. So an arc never crosses another one of the same word.
    """

    def from_the_left(a: int) -> tuple[int, int, int]:
        first, last = arcs[a].ends
        if not arcs[a].head:
            return 1, 0, 0
        # Of two arcs between the same words, the first one is the lower.
        return (0, last - first, a) if last == m else (2, first - last, -a)

    step = min(FEET_APART, width / max(len(arcs) - 1, 1))
    shifts = [0.0] * len(arcs)
    for place, a in enumerate(sorted(range(len(arcs)), key=from_the_left)):
        shifts[a] = (place - (len(arcs) - 1) / 2) * step
    return shifts


def _bridge(arc: Arc, level: int, words: list[str], diagram: Diagram) -> str:
    """Draw an arc between two words: up, across at its level, and down."""
    start = diagram.feet[(arc.head, arc.dependent, arc.head)]
    end = diagram.feet[(arc.head, arc.dependent, arc.dependent)]
    top = diagram.ground - level * LEVEL_HEIGHT
    turn = CORNER if start < end else -CORNER
    line = (
        f"M{start:.1f} {diagram.ground:.1f} V{top + CORNER:.1f} "
        f"Q{start:.1f} {top:.1f} {start + turn:.1f} {top:.1f} "
        f"H{end - turn:.1f} Q{end:.1f} {top:.1f} {end:.1f} {top + CORNER:.1f} "
        f"V{diagram.ground - ARROW:.1f}"
    )
    middle = (start + end) / 2
    return _arc(arc, "arc", line, end, words, diagram, label_at=(middle, top - 4))


def _pole(arc: Arc, words: list[str], diagram: Diagram) -> str:
    """Draw the arc from the root: straight down to the word."""
    x = diagram.feet[(0, arc.dependent, arc.dependent)]
    top = MARGIN + SMALL_FONT
    line = f"M{x:.1f} {top:.1f} V{diagram.ground - ARROW:.1f}"
    return _arc(arc, "arc", line, x, words, diagram, label_at=(x, top - 4))


def _curve(arc: Arc, words: list[str], diagram: Diagram) -> str:
    """Draw an alternative: a curve, higher the longer it is."""
    end = diagram.centres[arc.dependent]
    ground, top = diagram.ground, MARGIN + SMALL_FONT
    if arc.head:
        start = diagram.centres[arc.head]
        # The longest curve that is possible reaches the top; lengths and heights
        # are not in proportion, since most arcs are short.
        share = (arc.ends[1] - arc.ends[0]) / (len(diagram.centres) - 1)
        # The highest point of the curve is at three quarters of this.
        peak = ground - (ground - top) * share**0.5 * 4 / 3
        line = (
            f"M{start:.1f} {ground:.1f} C{start:.1f} {peak:.1f} "
            f"{end:.1f} {peak:.1f} {end:.1f} {ground - ARROW:.1f}"
        )
    else:
        line = f"M{end:.1f} {top:.1f} V{ground - ARROW:.1f}"
    return _arc(arc, "arc alternative", line, end, words, diagram)


def _arc(
    arc: Arc,
    kind: str,
    line: str,
    tip: float,
    words: list[str],
    diagram: Diagram,
    label_at: tuple[float, float] | None = None,
) -> str:
    ground = diagram.ground
    arrow = (
        f"M{tip:.1f} {ground:.1f} L{tip - ARROW:.1f} {ground - 2 * ARROW:.1f} "
        f"H{tip + ARROW:.1f} Z"
    )
    label = ""
    if label_at is not None and arc.label:
        place = {"x": label_at[0], "y": label_at[1]}
        label = element("text", place, text=arc.label)
    return element(
        "g",
        {"class": kind, "data-head": arc.head, "data-dependent": arc.dependent},
        # A tooltip, in browsers.
        element("title", {}, text=_sentence(arc, words)),
        # Only the line fades: what is written must stay readable.
        element(
            "g",
            {"opacity": f"{arc.opacity:.3f}"},
            element("path", {"d": line}),
            element("path", {"class": "arrow", "d": arrow}),
        ),
        label,
    )


def _word(m: int, word: str, tag: str | None, diagram: Diagram) -> str:
    x, y = diagram.centres[m], diagram.ground + WORD_FONT + 4
    below = {"class": "tag", "x": x, "y": y + WORD_FONT + 2}
    return element(
        "g",
        {"class": "word", "data-word": m},
        element("text", {"x": x, "y": y}, text=word),
        element("text", below, text=tag) if tag else "",
    )


def _sentence(arc: Arc, words: list[str]) -> str:
    head = words[arc.head - 1] if arc.head else "the root"
    return ", ".join([f"{words[arc.dependent - 1]} <- {head}", *arc.texts])
