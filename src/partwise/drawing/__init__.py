"""Drawings of outputs: text for a terminal, SVG for everywhere else.

Labels and spans are given with their words, dependency trees as words and the head of
each, constituency trees as `partwise.constituents.Tree`, lattices as
`partwise.LatticeInput`, graphs as nodes and edges, so that a drawing needs neither a
model nor a file.
"""

from partwise.drawing.constituents_svg import draw_constituents_svg
from partwise.drawing.constituents_text import draw_constituents_text
from partwise.drawing.graph_svg import draw_graph_svg
from partwise.drawing.labels_svg import draw_labels_svg, draw_spans_svg
from partwise.drawing.labels_text import draw_labels_text
from partwise.drawing.lattice_svg import draw_lattice_svg
from partwise.drawing.lattice_text import draw_lattice_text
from partwise.drawing.marginals import draw_marginals_text
from partwise.drawing.shares_svg import draw_shares_svg
from partwise.drawing.svg import draw_marginals_svg, draw_svg
from partwise.drawing.svg_page import draw_svg_page
from partwise.drawing.text import draw_text

__all__ = [
    "draw_constituents_svg",
    "draw_constituents_text",
    "draw_graph_svg",
    "draw_labels_svg",
    "draw_labels_text",
    "draw_lattice_svg",
    "draw_lattice_text",
    "draw_marginals_svg",
    "draw_marginals_text",
    "draw_shares_svg",
    "draw_spans_svg",
    "draw_svg",
    "draw_svg_page",
    "draw_text",
]
