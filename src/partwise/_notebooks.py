"""How results show themselves in notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from math import isfinite, log10
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

WIDTH, HEIGHT = 420.0, 140.0
COLOURS = ("#2855c5", "#1a7f4b")
MOST_SHOWN = 20
"""So many items of a list are drawn; a notebook should stay a notebook."""

Value = TypeVar("Value")


class Drawing(str):
    """The text of an SVG; notebooks draw it, and `save` writes it to a file.

    Examples
    --------
    >>> drawing = Drawing("<svg/>")
    >>> drawing == "<svg/>", drawing._repr_svg_()
    (True, '<svg/>')
    """

    __slots__ = ()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the drawing to a file, which browsers open.

        Parameters
        ----------
        path : path
            Where to; the usual ending is ``.svg``.
        """
        Path(path).write_text(self, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return str(self)


class Shown(list[Value]):
    """A list whose items notebooks draw, one below the other.

    Examples
    --------
    >>> drawings = Shown([Drawing("<svg/>"), None])
    >>> drawings == [Drawing("<svg/>"), None]
    True
    >>> drawings._repr_html_()
    '<div>1 <svg/></div><div>2 None</div>'
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        parts = [
            f"<div>{number} {_drawn(item)}</div>"
            for number, item in enumerate(self[:MOST_SHOWN], 1)
        ]
        if len(self) > MOST_SHOWN:
            parts.append(f"<div>and {len(self) - MOST_SHOWN} more</div>")
        return "".join(parts)


class ShownSpans(list[Value]):
    """The spans of one sequence, ``(start, end, label, score)``, as a table.

    Examples
    --------
    >>> spans = ShownSpans([(3, 5, "LOC", 0.75)])
    >>> "<td>LOC</td><td>3 to 4</td><td>75.0%</td>" in spans._repr_html_()
    True
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        spans: list[Any] = self
        rows = [
            [label, f"{start} to {end - 1}", f"{100 * score:.1f}%"]
            for start, end, label, score in spans
        ]
        return html_table(["type", "tokens", "probability"], rows)


def _drawn(item: Any) -> str:
    """Return how a notebook shows one thing: drawn if it can be, or its text."""
    for way in ("_repr_html_", "_repr_svg_"):
        drawn = getattr(item, way, lambda: None)()
        if drawn is not None:
            return str(drawn)
    return escape(repr(item))


def html_table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; whatever is in its cells stays text.

    Examples
    --------
    >>> "<td>&lt;b&gt;</td>" in html_table(["word"], [["<b>"]])
    True
    """

    def line(tag: str, cells: Iterable[object]) -> str:
        inside = "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells)
        return f"<tr>{inside}</tr>"

    body = "".join(line("td", row) for row in rows)
    return f"<table><thead>{line('th', headings)}</thead><tbody>{body}</tbody></table>"


def log_chart(x: Sequence[float], curves: dict[str, Sequence[float]]) -> str:
    """Draw curves of positive numbers, on a logarithmic scale, against `x`.

    What is not positive, or not finite, is left out.

    Examples
    --------
    >>> log_chart([0.0, 1.0], {"objective": [10.0, 1.0]}).count("<polyline")
    1
    """
    points = {
        name: [
            (t, log10(v))
            for t, v in zip(x, values, strict=True)
            if isfinite(v) and v > 0
        ]
        for name, values in curves.items()
    }
    every = [point for own in points.values() for point in own]
    if not every:
        return ""
    (left, right), (low, high) = (
        (min(values), max(values)) for values in zip(*every, strict=True)
    )
    across, up = (right - left) or 1.0, (high - low) or 1.0
    parts = []
    for colour, (name, own) in zip(COLOURS, points.items(), strict=False):
        path = " ".join(
            f"{8 + (WIDTH - 16) * (t - left) / across:.1f},"
            f"{HEIGHT - 8 - (HEIGHT - 16) * (v - low) / up:.1f}"
            for t, v in own
        )
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" '
            f'stroke-width="2"><title>{escape(name)}</title></polyline>'
        )
    names = ", ".join(map(escape, points))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH:.0f}" '
        f'height="{HEIGHT:.0f}" role="img"><title>{names}, log scale</title>'
        f"{''.join(parts)}</svg>"
    )
