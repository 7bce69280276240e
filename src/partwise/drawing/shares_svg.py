"""Probabilities as SVG: a bar for each of some answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from partwise._notebooks import Drawing
from partwise.drawing.arc_diagram import MARGIN, WORD_FONT
from partwise.drawing.svg_page import element, sheet, text_width

STYLE = """
.partwise .paper { fill: #ffffff }
.partwise text { fill: #1f2328; font: 16px system-ui, sans-serif }
.partwise .name { text-anchor: end }
.partwise .number { text-anchor: start }
.partwise .share rect { fill: #8c959f }
.partwise .chosen rect { fill: #0b62c4 }
.partwise .share .room { fill: #8c959f; fill-opacity: 0.2 }
@media (prefers-color-scheme: dark) {
.partwise .paper { fill: #0d1117 }
.partwise text { fill: #f0f6fc }
.partwise .chosen rect { fill: #6cb6ff }
}
"""
BAR_LENGTH, BAR_HEIGHT, LINE = 220.0, 16.0, 26.0
BESIDE_BARS = 10.0


def draw_shares_svg(
    shares: Mapping[Any, float], title: str = "Probabilities", most: int = 10
) -> Drawing:
    """Draw the probabilities of answers as bars, the most probable first.

    Parameters
    ----------
    shares : mapping
        The probability of every answer.
    title : str
        The name of the drawing.
    most : int
        How many answers are drawn.

    Returns
    -------
    str
        An ``<svg>`` element; notebooks draw it.

    Examples
    --------
    >>> drawing = draw_shares_svg({"cat": 0.25, "dog": 0.75})
    >>> drawing.index("dog 0.75") < drawing.index("cat 0.25")
    True
    """
    ranked = sorted(shares.items(), key=lambda one: (-one[1], str(one[0])))[:most]
    if any(not 0.0 <= p <= 1.0 for _, p in ranked):
        raise ValueError("probabilities must lie between 0 and 1")
    left = MARGIN + max((text_width(str(x), WORD_FONT) for x, _ in ranked), default=0.0)
    parts = []
    for row, (answer, p) in enumerate(ranked):
        y = MARGIN + row * LINE
        across = left + BESIDE_BARS
        foot = y + BAR_HEIGHT - 3.0
        kind = "share chosen" if row == 0 else "share"
        full = {"x": across, "y": y, "height": BAR_HEIGHT, "rx": 3}
        parts.append(
            element(
                "g",
                {"class": kind},
                element("title", {}, text=f"{answer} {p:.2f}"),
                element("rect", {"class": "room", "width": BAR_LENGTH, **full}),
                element("rect", {"width": max(BAR_LENGTH * p, 1.0), **full}),
                element(
                    "text", {"class": "name", "x": left, "y": foot}, text=str(answer)
                ),
                element(
                    "text",
                    {
                        "class": "number",
                        "x": across + BAR_LENGTH + BESIDE_BARS,
                        "y": foot,
                    },
                    text=f"{p:.2f}",
                ),
            )
        )
    width = left + BAR_LENGTH + 2 * BESIDE_BARS + text_width("0.00", WORD_FONT) + MARGIN
    height = 2 * MARGIN + max(len(ranked) * LINE - (LINE - BAR_HEIGHT), 1.0)
    told = ", ".join(f"{answer} {p:.2f}" for answer, p in ranked)
    return sheet(width, height, title, told, parts, STYLE)
