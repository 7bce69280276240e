"""The order in which a pass visits the examples."""

from __future__ import annotations

import numpy as np

from partwise.structures.interface import FloatArray, IntArray

ORDERS = ("gaps", "shuffled", "cyclic")

MOST_VISITS = 8
"""More visits to one example in a row of few others would find nothing to do."""

CATCH_UP = 4
"""How often new examples are visited before the first pass over all."""

STRETCH, WINDOW = 2**6, 2**15
"""Of a corpus of more than a window, stretches of so many examples stay together until
the examples of a window are shuffled. So a pass touches memory, or a file, window by
window, and each window has examples from 512 places of the corpus: enough even where
all examples of a class come one after the other."""


def shuffled(examples: IntArray | int, rng: np.random.Generator) -> IntArray:
    """Return examples, or so many, in random order; in windows if there are many.

    The order depends on the numbers of the examples and on the seed, and not on where
    the corpus is: in memory, or in files.

    Examples
    --------
    >>> order = shuffled(4 * WINDOW, np.random.default_rng(0))
    >>> np.unique(order // STRETCH).size, np.unique(order[:WINDOW] // STRETCH).size
    (2048, 512)
    """
    indices = np.arange(examples) if isinstance(examples, int) else examples
    if indices.size <= WINDOW:
        return rng.permutation(indices)
    first = STRETCH * rng.permutation(-(-indices.size // STRETCH))
    order = np.concatenate([indices[start : start + STRETCH] for start in first])
    for start in range(0, order.size, WINDOW):
        rng.shuffle(order[start : start + WINDOW])
    return order


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
        return shuffled(indices, rng)
    expected = 0.2 + 0.8 * gaps * (indices.size / total)
    expected = np.minimum(expected, MOST_VISITS)
    times = np.floor(expected + rng.random(indices.size)).astype(np.int64)
    return shuffled(np.repeat(indices, times), rng)


def catching_up(n_examples: int, n_new: int, rng: np.random.Generator) -> IntArray:
    """Return visits to the last `n_new` examples only: the others have had theirs.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sorted(set(catching_up(10, 2, rng).tolist()))
    [8, 9]
    """
    new = np.arange(n_examples - n_new, n_examples)
    return np.concatenate([shuffled(new, rng) for _ in range(CATCH_UP)])
