"""Lattices: directed acyclic graphs with features on their edges.

An output is a path from the first node to the last, a part is an edge. Paths may be
told apart by their edges, or by the words that their edges yield, of which several
paths may yield the same (Wang and Shawe-Taylor, AISTATS 2009, section 3.2).

Edges are kept in topological order, those of no path left out, so that inference reads
them once from front to back, or from back to front.
"""

from partwise._moved import renamed

# Importing the answers registers them with the waist.
from partwise.structures.lattice import differences, gibbs, good, inference, parts
from partwise.structures.lattice.assembly import make_lattice, make_ordered_lattice
from partwise.structures.lattice.corpus import Lattice, Words
from partwise.structures.lattice.layout import LatticeError, LatticeLayout, order_edges
from partwise.structures.lattice.ordering import Ordering

__all__ = [
    "Lattice",
    "LatticeError",
    "LatticeLayout",
    "Ordering",
    "Words",
    "differences",
    "gibbs",
    "good",
    "inference",
    "make_lattice",
    "make_ordered_lattice",
    "order_edges",
    "parts",
]

__getattr__ = renamed(__name__, {"check_order": "order_edges"})
