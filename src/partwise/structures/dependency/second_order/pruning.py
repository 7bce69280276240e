"""Which arcs are worth a look: those that a first-order parser gives a chance.

An arc stays if it is at least `least` times as probable as the best arc to the same
word. So that there is a tree at all, the arcs of the best tree stay in any case.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.dependency.corpus import DependencyTrees
from partwise.structures.dependency.labels import no_labels
from partwise.structures.dependency.parts import as_matrix, n_words
from partwise.structures.interface import FloatArray, IntArray
from partwise.structures.parallel import Worker, make_crew
from partwise.structures.sharing import borders, filled


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
    sizes = (np.diff(s.ptr) + 1) ** 2
    ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    kept = np.zeros(ptr[-1], np.uint8)
    make_crew(s, n_jobs).run(_prune, w, float(least), borders(ptr), filled(kept, ptr))
    return kept


@kernel
def _prune(
    s: DependencyTrees,
    start: int,
    stop: int,
    worker: Worker,
    w: FloatArray,
    least: float,
    ptr: IntArray,
    kept: NDArray[np.uint8],
) -> None:
    scratch, ws = worker.scratch, worker.ws
    for i in range(start, stop):
        n = n_words(s, i)
        waist.visit(s, i, ws)
        waist.part_scores(s, i, w, scratch.theta, ws)
        waist.argmax(s, i, scratch.theta, scratch.y, ws)
        waist.marginals(s, i, scratch.theta, scratch.mu, ws)
        cells = kept[ptr[i] : ptr[i + 1]].reshape(n + 1, n + 1)
        share = as_matrix(scratch.mu, n)
        for m in range(1, n + 1):
            top = 0.0
            for h in range(n + 1):
                if h != m:
                    top = max(top, share[h, m])
            for h in range(n + 1):
                if h != m and share[h, m] > 0.0 and share[h, m] >= least * top:
                    cells[h, m] = 1
            cells[scratch.y[m - 1], m] = 1
