"""The order in which a pass visits the examples."""

from __future__ import annotations

import numpy as np

from partwise.structures.interface import FloatArray, IntArray

ORDERS = ("gaps", "shuffled", "cyclic")

MOST_VISITS = 8
"""More visits to one example in a row of few others would find nothing to do."""

CATCH_UP = 4
"""How often new examples are visited before the first pass over all."""


def visiting_order(
    order: str, gap: FloatArray, used: FloatArray, rng: np.random.Generator
) -> IntArray:
    """Return which examples a pass visits, in order.

    ``"gaps"`` visits as many as there are, but some of them more than once and some
    not at all: four fifths in proportion to their share of the gap, the rest evenly.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> visiting_order("cyclic", np.ones(3), np.array([1.0, 0.0, 1.0]), rng).tolist()
    [0, 2]
    """
    indices = np.flatnonzero(used)
    if order == "cyclic":
        return indices
    gaps = gap[indices]
    total = gaps.sum()
    if order == "shuffled" or not 0.0 < total < np.inf:
        return rng.permutation(indices)
    expected = 0.2 + 0.8 * gaps * (indices.size / total)
    expected = np.minimum(expected, MOST_VISITS)
    times = np.floor(expected + rng.random(indices.size)).astype(np.int64)
    return rng.permutation(np.repeat(indices, times))


def catching_up(n_examples: int, n_new: int, rng: np.random.Generator) -> IntArray:
    """Return visits to the last `n_new` examples only: the others have had theirs.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sorted(set(catching_up(10, 2, rng).tolist()))
    [8, 9]
    """
    new = np.arange(n_examples - n_new, n_examples)
    return np.concatenate([rng.permutation(new) for _ in range(CATCH_UP)])
