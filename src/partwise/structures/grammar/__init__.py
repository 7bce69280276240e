"""Weighted context-free grammars in Chomsky normal form: constituency trees.

The best derivation of a sentence is found by the algorithm of Cocke, Kasami and Younger
(`chart`), the k best lazily (`kbest`), and the sum over all of them by inside-outside
(`inside_outside`, and with logarithms where scores are far apart). What a rule
application scores is the sum of a rule, a span and a split, and of features of its own
where they are listed (`parts`, `applications`).
"""

# Importing the answers registers them with the waist.
from partwise.structures.grammar import differences, inference, parts
from partwise.structures.grammar.applications import Applications, make_applications
from partwise.structures.grammar.corpus import (
    ConstituencyTrees,
    make_constituency_trees,
)
from partwise.structures.grammar.rules import Grammar, make_grammar

__all__ = [
    "Applications",
    "ConstituencyTrees",
    "Grammar",
    "differences",
    "inference",
    "make_applications",
    "make_constituency_trees",
    "make_grammar",
    "parts",
]
