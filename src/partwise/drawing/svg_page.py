"""The paper that drawings are made on: SVG elements, colours, pages of drawings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import escape

from partwise._notebooks import Drawing
from partwise.characters import display_width, printable

# Columns of text in multiples of the font size; sans-serif letters take less, so
# that what is planned for fits whatever font there is.
COLUMN = 0.6

# No names of files or fonts to fetch and no ids: a drawing stands for itself, and
# any number of them may be put into one document.
STYLE = """
.partwise .paper { fill: #ffffff }
.partwise text { fill: #1f2328; font-family: system-ui, sans-serif; \
text-anchor: middle }
.partwise .word text { font-size: 16px }
.partwise .word .tag { font-size: 12px; fill: #59636e }
.partwise .arc text { font-size: 12px }
.partwise .arc path { fill: none; stroke: #0b62c4; stroke-width: 1.5 }
.partwise .arc .arrow { fill: #0b62c4; stroke: none }
.partwise .alternative path { stroke: #b35900 }
.partwise .alternative .arrow { fill: #b35900 }
.partwise .node text { font-size: 14px }
.partwise .node.tag text { fill: #59636e }
.partwise .branch path { fill: none; stroke: #0b62c4; stroke-width: 1.5 }
.partwise .edge text { font-size: 12px; stroke: #ffffff; stroke-width: 4px; \
paint-order: stroke }
.partwise .edge path { fill: none; stroke: #8c959f; stroke-width: 1.5 }
.partwise .edge .arrow { fill: #8c959f; stroke: none }
.partwise .chosen path { stroke: #0b62c4; stroke-width: 2.5 }
.partwise .chosen .arrow { fill: #0b62c4; stroke: none }
.partwise .chosen text { font-weight: bold }
.partwise .joint circle { fill: #59636e }
.partwise .joint.end circle { fill: #ffffff; stroke: #59636e; stroke-width: 2.5 }
@media (prefers-color-scheme: dark) {
.partwise .paper { fill: #0d1117 }
.partwise text { fill: #f0f6fc }
.partwise .word .tag { fill: #9198a1 }
.partwise .arc path { stroke: #6cb6ff }
.partwise .arc .arrow { fill: #6cb6ff }
.partwise .alternative path { stroke: #f0a352 }
.partwise .alternative .arrow { fill: #f0a352 }
.partwise .node.tag text { fill: #9198a1 }
.partwise .branch path { stroke: #6cb6ff }
.partwise .edge text { stroke: #0d1117 }
.partwise .chosen path { stroke: #6cb6ff }
.partwise .chosen .arrow { fill: #6cb6ff }
.partwise .joint circle { fill: #9198a1 }
.partwise .joint.end circle { fill: #0d1117; stroke: #9198a1 }
}
"""
OPENING = re.compile(
    r'<svg xmlns="[^"]*" class="partwise" width="([\d.]+)" height="([\d.]+)"'
)


def element(
    name: str, attributes: Mapping[str, object], *content: str, text: str = ""
) -> str:
    """Return an XML element; ``text`` and attributes are escaped, content is not.

    Examples
    --------
    >>> element("text", {"x": 1.25}, text="<b>")
    '<text x="1.2">&lt;b&gt;</text>'
    """
    written = "".join(f' {k}="{_written(v)}"' for k, v in attributes.items())
    inside = escape(printable(text), quote=False) + "".join(content)
    return f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>"


def text_width(text: str, font_size: float) -> float:
    """Return a generous estimate of how wide a text will be."""
    return display_width(printable(text)) * font_size * COLUMN


def sheet(
    width: float,
    height: float,
    title: str,
    description: str,
    content: Iterable[str],
    style: str = STYLE,
) -> Drawing:
    """Return a whole drawing, with a name and a description for screen readers."""
    size = {"width": float(width), "height": float(height)}
    svg = element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": "partwise",
            **size,
            "viewBox": f"0 0 {width:.1f} {height:.1f}",
            "role": "img",
        },
        "\n" + element("title", {}, text=title),
        "\n" + element("desc", {}, text=description) if description else "",
        f"\n<style>{style}</style>\n",
        element("rect", {"class": "paper", **size}),
        *(f"\n{part}" for part in content),
        "\n",
    )
    return Drawing(svg)


def draw_svg_page(drawings: Iterable[str], title: str = "Trees") -> Drawing:
    """Put drawings below each other, in one SVG.

    Parameters
    ----------
    drawings : iterable of str
        What `draw_svg` and the other functions for SVG return, or other pages.
    title : str, default="Trees"
        What the page is called.

    Returns
    -------
    str
        One self-contained SVG.

    Raises
    ------
    ValueError
        If one of the drawings was not made by these functions.

    Examples
    --------
    >>> from partwise.drawing import draw_svg
    >>> best = draw_svg(["Time", "flies"], [2, 0])
    >>> second = draw_svg(["Time", "flies"], [0, 1])
    >>> page = draw_svg_page([best, second], title="The two best trees")
    >>> page.count("<svg ")
    3
    """
    width = height = 0.0
    placed = []
    for number, drawing in enumerate(drawings, start=1):
        size = OPENING.match(drawing)
        if size is None:
            raise ValueError(
                f"drawing {number} was not made by draw_svg or another function "
                "here (pass what they return, unchanged)"
            )
        placed.append(drawing.replace("<svg ", f'<svg y="{height:.1f}" ', 1))
        width = max(width, float(size[1]))
        height += float(size[2])
    # No viewer draws an SVG without area.
    return sheet(max(width, 1.0), max(height, 1.0), title, "", placed)


def _written(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.1f}"
    return escape(printable(str(value)))
