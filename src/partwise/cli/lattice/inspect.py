"""What ``partwise inspect`` shows of a lattice ranker."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from partwise.cli.inspect import Findings, print_top_features

if TYPE_CHECKING:
    from partwise import LatticeRanker


def inspect(model: LatticeRanker, top: int) -> Findings:
    """Return the features of edges with the largest weights."""
    edges = [
        {"feature": feature, "weight": weight}
        for feature, weight in model.top_features(2 * top)
    ]
    found = {
        "lattices": {"outputs": model.outputs},
        "features": int(model.weights_.size),
        "top_features": {"edges": edges},
    }
    return Findings(
        "lattices, JSON lines",
        found,
        [("features", found["features"])],
        partial(print_top_features, found, of="of"),
    )
