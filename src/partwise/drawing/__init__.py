"""Drawings of trees and lattices: text for a terminal, SVG for everywhere else.

Dependency trees are given as words and the head of each, constituency trees as
`partwise.constituents.Tree`, lattices as `partwise.LatticeInput`, so that a drawing
needs neither a model nor a file.
"""

from partwise.drawing.constituents_svg import draw_constituents_svg
from partwise.drawing.constituents_text import draw_constituents_text
from partwise.drawing.lattice_svg import draw_lattice_svg
from partwise.drawing.lattice_text import draw_lattice_text
from partwise.drawing.marginals import draw_marginals_text
from partwise.drawing.svg import draw_marginals_svg, draw_svg
from partwise.drawing.svg_page import draw_svg_page
from partwise.drawing.text import draw_text

__all__ = [
    "draw_constituents_svg",
    "draw_constituents_text",
    "draw_lattice_svg",
    "draw_lattice_text",
    "draw_marginals_svg",
    "draw_marginals_text",
    "draw_svg",
    "draw_svg_page",
    "draw_text",
]
