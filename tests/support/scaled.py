"""The same corpus in other units: features, costs or both times a constant.

Only for plain Python: bodies in tests would have every kernel compiled anew.
"""

from typing import Any, NamedTuple

import numpy as np

from partwise.structures import interface as waist
from partwise.structures.delegation import delegate
from problems import Floats


class Scaled(NamedTuple):
    """A corpus whose features and costs are multiplied."""

    corpus: Any
    features: float = 1.0
    costs: float = 1.0


@waist.part_scores.implement(Scaled)
def _(s: Scaled, i: int, w: Floats, theta: Floats, ws: Any) -> None:
    waist.part_scores(s.corpus, i, w, theta, ws)
    theta[: waist.n_parts(s.corpus, i)] *= s.features


@waist.add_parts.implement(Scaled)
def _(s: Scaled, i: int, mu: Floats, scale: float, w: Floats, ws: Any) -> float:
    return waist.add_parts(s.corpus, i, mu, scale * s.features, w, ws)


@waist.part_row.implement(Scaled)
def _(s: Scaled, i: int, r: int, idx: Any, val: Floats, ws: Any) -> int:
    found = waist.part_row(s.corpus, i, r, idx, val, ws)
    val[:found] *= s.features
    return found


@waist.add_costs.implement(Scaled)
def _(s: Scaled, i: int, theta: Floats) -> None:
    own = np.zeros(waist.n_parts(s.corpus, i))
    waist.add_costs(s.corpus, i, own)
    theta[: own.size] += s.costs * own


@waist.cost.implement(Scaled)
def _(s: Scaled, i: int, y: Any) -> float:
    return s.costs * waist.cost(s.corpus, i, y)


delegate(
    Scaled,
    defaults=(
        *(waist.block_size, waist.block_scores, waist.add_block),
        *(waist.diff_dot, waist.diff_add, waist.diff_sqnorm, waist.diff_collect),
    ),
)
