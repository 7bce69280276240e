"""Dependency trees with parts of siblings and of grandparents, and pruning."""

# Importing the answers registers them with the waist.
from partwise.structures.dependency.second_order import (
    differences,
    inference,
    minimum_risk,
    parts,
)
from partwise.structures.dependency.second_order.corpus import (
    SecondOrderTrees,
    lost_heads,
    make_second_order_trees,
)
from partwise.structures.dependency.second_order.pruning import (
    prune_arcs,
    without_labels,
)
from partwise.structures.dependency.second_order.triples import (
    HashedTriples,
    make_hashed_triples,
    make_triple_templates,
)

__all__ = [
    "HashedTriples",
    "SecondOrderTrees",
    "differences",
    "inference",
    "lost_heads",
    "make_hashed_triples",
    "make_second_order_trees",
    "make_triple_templates",
    "minimum_risk",
    "parts",
    "prune_arcs",
    "without_labels",
]
