"""Labelled words as SVG: a box around the words of each label, and the label below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from partwise._notebooks import Drawing
from partwise.drawing.arc_diagram import BETWEEN_WORDS, MARGIN, SMALL_FONT, WORD_FONT
from partwise.drawing.svg_page import element, sheet, text_width
from partwise.metrics.chunks import are_chunk_labels
from partwise.metrics.chunks import spans as chunks_of

# All lengths are in pixels.
BESIDE_WORDS = 7.0
BOX_HEIGHT = WORD_FONT + 2 * BESIDE_WORDS
BELOW_BOX = 4.0
STYLE = """
.partwise .paper { fill: #ffffff }
.partwise text { fill: #1f2328; font: 16px system-ui, sans-serif; text-anchor: middle }
.partwise .label { fill: #59636e; font-size: 12px }
@media (prefers-color-scheme: dark) {
.partwise .paper { fill: #0d1117 }
.partwise text { fill: #f0f6fc }
.partwise .label { fill: #9198a1 }
}
"""
GOLDEN_ANGLE = 137.508
"""Degrees between the colours of two labels: neighbours are far apart."""


def draw_labels_svg(
    words: Sequence[str],
    labels: Sequence[Any],
    probabilities: Sequence[float] | None = None,
    title: str | None = None,
) -> Drawing:
    """Draw a labelled sequence as SVG; chunks have one box around all their words.

    Parameters
    ----------
    words : sequence of str
        The words.
    labels : sequence
        One per word. Labels of a scheme for chunks (B-PER, I-PER, O) are drawn as the
        chunks that they spell.
    probabilities : sequence of float, optional
        How sure each label is; of a chunk, the least sure of its words is written.
    title : str, optional
        The name of the drawing; the sentence by default.

    Returns
    -------
    str
        An ``<svg>`` element; notebooks draw it.

    Examples
    --------
    >>> drawing = draw_labels_svg(["New", "York"], ["B-LOC", "I-LOC"], [0.9, 0.8])
    >>> "<title>LOC 0.80: New York</title>" in drawing
    True
    """
    if len(words) != len(labels):
        raise ValueError(f"{len(words)} words need as many labels, not {len(labels)}")
    names = [str(label) for label in labels]
    found: list[tuple[Any, ...]] = [(t, t + 1, name) for t, name in enumerate(names)]
    if set(names) - {"O"} and are_chunk_labels(set(names)):
        found = [tuple(chunk) for chunk in chunks_of(names)]
    if probabilities is not None:
        found = [(a, b, x, float(min(probabilities[a:b]))) for a, b, x in found]
    return draw_spans_svg(words, found, title)


def draw_spans_svg(
    words: Sequence[str],
    spans: Iterable[Sequence[Any]],
    title: str | None = None,
) -> Drawing:
    """Draw words as SVG, with a box around every span and its label below.

    Parameters
    ----------
    words : sequence of str
        The words.
    spans : iterable of tuples
        ``(start, end, label)`` or ``(start, end, label, probability)``, as
        `predict_spans` returns them: the first word, the one after the last, counted
        from 0. They must not overlap.
    title : str, optional
        The name of the drawing; the sentence by default.

    Returns
    -------
    str
        An ``<svg>`` element; notebooks draw it. Each box has the attributes
        ``data-start`` and ``data-end``.

    Examples
    --------
    >>> drawing = draw_spans_svg(["in", "New", "York"], [(1, 3, "LOC")])
    >>> 'data-start="1" data-end="3"' in drawing
    True
    """
    boxes = sorted(tuple(one) for one in spans)
    for (_, end, *_), (start, *_) in zip([(0, 0), *boxes], boxes, strict=False):
        if start < end:
            raise ValueError("spans overlap; draw them one by one")
    if boxes and (boxes[0][0] < 0 or boxes[-1][1] > len(words)):
        raise ValueError(f"spans must lie within the {len(words)} words")
    widths = [text_width(word, WORD_FONT) for word in words]
    for start, end, *said in boxes:
        room = sum(widths[start:end]) + BETWEEN_WORDS * (end - start - 1)
        missing = text_width(_said(said), SMALL_FONT) - room
        for t in range(start, end):
            widths[t] += max(missing, 0.0) / (end - start)
    edges = [MARGIN + BESIDE_WORDS]
    for width in widths:
        edges.append(edges[-1] + width + BETWEEN_WORDS)
    colours: dict[str, int] = {}
    parts = []
    for start, end, *said in boxes:
        hue = colours.setdefault(str(said[0]), len(colours))
        left, right = edges[start], edges[end] - BETWEEN_WORDS
        parts.append(_box(start, end, said, left, right, hue, words))
    ground = MARGIN + BESIDE_WORDS + WORD_FONT - 2.0
    for t, word in enumerate(words):
        x = edges[t] + widths[t] / 2
        place = element("text", {"x": x, "y": ground}, text=word)
        parts.append(element("g", {"class": "word", "data-word": t + 1}, place))
    width = edges[-1] - BETWEEN_WORDS + BESIDE_WORDS + MARGIN
    height = MARGIN + BOX_HEIGHT + BELOW_BOX + SMALL_FONT + MARGIN
    told = "; ".join(f"{_said(s)}: {' '.join(words[a:b])}" for a, b, *s in boxes)
    return sheet(width, height, title or " ".join(words), told, parts, STYLE)


def _box(
    start: int,
    end: int,
    said: Sequence[Any],
    left: float,
    right: float,
    hue: int,
    words: Sequence[str],
) -> str:
    colour = f"hsl({(210 + GOLDEN_ANGLE * hue) % 360:.0f} 75% 50%)"
    return element(
        "g",
        {"class": "span", "data-start": start, "data-end": end},
        element("title", {}, text=f"{_said(said)}: {' '.join(words[start:end])}"),
        element(
            "rect",
            {
                "x": left - BESIDE_WORDS,
                "y": MARGIN,
                "width": right - left + 2 * BESIDE_WORDS,
                "height": BOX_HEIGHT,
                "rx": 6,
                "fill": colour,
                "stroke": colour,
                # Strong enough to see, on light and on dark paper, behind the words.
                "fill-opacity": "0.2",
            },
        ),
        element(
            "text",
            {
                "class": "label",
                "x": (left + right) / 2,
                "y": MARGIN + BOX_HEIGHT + BELOW_BOX + SMALL_FONT - 2.0,
            },
            text=_said(said),
        ),
    )


def _said(said: Sequence[Any]) -> str:
    """Return a label, or ? if it is not known, and its probability if there is one."""
    label, *more = said
    label = "?" if label is None else label
    return f"{label} {more[0]:.2f}" if more else str(label)
