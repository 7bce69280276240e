"""Dependency trees: every word has a head, and the heads form a tree.

The heads of a projective tree are found by dynamic programming (`projective`), those of
any tree as a maximum spanning arborescence (`arborescence`); the sum over all trees by
inside-outside and by the matrix-tree theorem. Features of arcs are an axis of their own
(`arcs`), and labels are scores that add up (`labels`).
"""

# Importing the answers registers them with the waist.
from partwise.structures.dependency import differences, inference, parts
from partwise.structures.dependency.added_arcs import AddedArcs
from partwise.structures.dependency.arcs import ListedArcs, make_listed_arcs
from partwise.structures.dependency.corpus import DependencyTrees, make_dependency_trees
from partwise.structures.dependency.hashed_arcs import (
    HashedArcs,
    make_hashed_arcs,
    make_templates,
)
from partwise.structures.dependency.labels import (
    Labels,
    make_label_templates,
    make_labels,
)
from partwise.structures.dependency.vector_arcs import VectorArcs, make_vector_arcs

__all__ = [
    "AddedArcs",
    "DependencyTrees",
    "HashedArcs",
    "Labels",
    "ListedArcs",
    "VectorArcs",
    "differences",
    "inference",
    "make_dependency_trees",
    "make_hashed_arcs",
    "make_label_templates",
    "make_labels",
    "make_listed_arcs",
    "make_templates",
    "make_vector_arcs",
    "parts",
]
