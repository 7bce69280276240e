"""Pages for a browser: reports, and examples with their outputs drawn.

A *view* is what there is to see of one example. Each kind of output has a function
that makes one; the rest of the folder counts views and writes pages that work without
a network.
"""

from partwise.pages.arcs import view_arcs
from partwise.pages.brackets import confused_brackets, view_brackets
from partwise.pages.classes import view_class
from partwise.pages.contents import examples_page, report_page
from partwise.pages.nodes import view_graph
from partwise.pages.paths import view_path
from partwise.pages.summary import calibration, confusions, score_all, score_labels
from partwise.pages.tags import spell_chunks, view_tags
from partwise.pages.view import Reason, View

__all__ = [
    "Reason",
    "View",
    "calibration",
    "confused_brackets",
    "confusions",
    "examples_page",
    "report_page",
    "score_all",
    "score_labels",
    "spell_chunks",
    "view_arcs",
    "view_brackets",
    "view_class",
    "view_graph",
    "view_path",
    "view_tags",
]
