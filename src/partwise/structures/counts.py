"""Generative models: the right outputs counted, and what distributions leave."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray, Structure
from partwise.structures.scratch import Scratch, make_scratch

UNKNOWN_FLOOR = 1e-9
"""A missing mass below this is rounding and means nothing."""


@kernel
def _add_gold(
    s: Structure, weight: FloatArray, total: FloatArray, scratch: Scratch, ws: Any
) -> None:
    for i in range(waist.n_examples(s)):
        waist.visit(s, i, ws)
        waist.gold(s, i, scratch.y_gold)
        scratch.mu[: waist.n_parts(s, i)] = 0.0
        found = waist.parts_of(s, i, scratch.y_gold, scratch.ids, scratch.counts)
        for j in range(found):
            scratch.mu[scratch.ids[j]] += scratch.counts[j]
        waist.add_parts(s, i, scratch.mu, weight[i], total, ws)


def gold_counts(s: Structure, sample_weight: FloatArray | None = None) -> FloatArray:
    """Return ``sum_i Phi(i, gold)``, with a weight for every example if given.

    Examples
    --------
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [2.0], [4.0]]), [0, 1, 0], 2)
    >>> gold_counts(s).tolist()
    [5.0, 2.0]
    """
    count = int(waist.n_examples(s))
    weight = np.ones(count) if sample_weight is None else sample_weight
    total = np.zeros(int(waist.n_weights(s)))
    _add_gold(s, weight, total, make_scratch(s), waist.workspace(s, 1))
    return total


def log_of_rest(mass: NDArray[Any]) -> FloatArray:
    """Return the log-probability that distributions leave for all they do not know.

    Examples
    --------
    >>> log_of_rest(np.array([0.5, 1.0])).round(2).tolist()
    [-0.69, -20.72]
    """
    return np.log(np.maximum(1.0 - mass, UNKNOWN_FLOOR))
