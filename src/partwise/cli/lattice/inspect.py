"""What ``partwise inspect`` shows of a lattice ranker."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from partwise.cli.inspect import Findings, print_top_features
from partwise.cli.options import Sign, WeightSign

if TYPE_CHECKING:
    from partwise import LatticeRanker


def inspect(model: LatticeRanker, top: int, *, sign: Sign = WeightSign.any) -> Findings:
    """Return the features of edges with the largest weights."""
    edges = [
        {"feature": feature, "weight": weight}
        for feature, weight in model.top_features(2 * top, sign=sign)
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
