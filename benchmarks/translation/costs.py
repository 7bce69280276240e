"""What an edge costs: how far it strays from a good translation.

Costs have to be no function of how many words or phrases a path has, or a margin of
that size is had by weighing those alone: translations would become short, not good.
So a word that is not in the good translation after the same two words costs up to one,
and a path that is too long or too short gets half of every such word back, or pays half
for every word that it lacks: one for another word, half for a word too many or too few.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.translation.lattices import Corpus
from benchmarks.translation.pseudo_references import ORDERS, add_gains
from benchmarks.translation.vocabulary import join

FloatArray = NDArray[np.float64]

MISS = np.array([1.0] + [-1.0 / ORDERS] * ORDERS)
TOO_MANY = 0.5


def edit_costs(corpus: Corpus, paths: Sequence[Sequence[int]]) -> FloatArray:
    """Return the cost of every edge; none on the good path of each lattice.

    Parameters
    ----------
    paths : sequence of paths
        A good path of every lattice.
    """
    good = [corpus.words_of(i, path) for i, path in enumerate(paths)]
    words, ptr = join([own.astype(np.int64) for own in good])
    costs = add_gains(corpus, words, ptr, MISS)
    edges = [corpus.ptr[i] + np.array(path, int) for i, path in enumerate(paths)]
    sizes = np.array([corpus.covered[own].sum() for own in edges])
    # How many words a source word becomes, in the good translation.
    ratio = np.diff(ptr) / np.maximum(sizes, 1)
    expected = np.repeat(ratio, np.diff(corpus.ptr)) * corpus.covered
    costs -= TOO_MANY * (np.diff(corpus.words.ptr) - expected)
    costs = np.maximum(costs, 0.0)
    costs[np.concatenate([np.zeros(0, int), *edges])] = 0.0
    return costs
