"""Which arcs are worth a look: those that a first-order parser gives a chance.

An arc stays if it is at least `least` times as probable as the best arc to the same
word. So that there is a tree at all, the arcs of the best tree stay in any case.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partwise.structures.dependency.corpus import DependencyTrees
from partwise.structures.dependency.labels import no_labels
from partwise.structures.dependency.parts import as_matrix, n_words
from partwise.structures.interface import CodeArray, FloatArray
from partwise.structures.pruning import keep_probable, prune


def without_labels(s: DependencyTrees) -> DependencyTrees:
    """Return the same trees, whose arcs have no labels."""
    layout = s.layout._replace(n_weights=s.layout.label_at)
    return s._replace(labels=no_labels(s.ptr.size - 1), layout=layout)


def prune_arcs(
    s: DependencyTrees, w: FloatArray, least: float, n_jobs: int = 1
) -> NDArray[np.uint8]:
    """Say of every arc whether it stays: a matrix for every sentence.

    Parameters
    ----------
    s : DependencyTrees
        The sentences, without labels.
    w : array
        The weights of a parser of first order.
    least : float
        How probable an arc must be, as a share of the most probable one to its word.
    n_jobs : int
        How many threads.
    """
    ptr = np.concatenate([[0], np.cumsum((np.diff(s.ptr) + 1) ** 2)]).astype(np.int64)
    return prune(s, w, least, ptr, n_jobs)


@keep_probable.implement(DependencyTrees)
def _(
    s: DependencyTrees,
    i: int,
    mu: FloatArray,
    y: CodeArray,
    least: float,
    kept: NDArray[np.uint8],
) -> None:
    n = n_words(s, i)
    cells, share = kept.reshape(n + 1, n + 1), as_matrix(mu, n)
    for m in range(1, n + 1):
        top = 0.0
        for h in range(n + 1):
            if h != m:
                top = max(top, share[h, m])
        for h in range(n + 1):
            if h != m and share[h, m] > 0.0 and share[h, m] >= least * top:
                cells[h, m] = 1
        cells[y[m - 1], m] = 1
