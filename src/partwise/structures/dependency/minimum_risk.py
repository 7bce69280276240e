"""Trees of minimum risk: those with the most heads (and labels) right, on average.

The best tree is the most probable one as a whole. If what counts is how many arcs are
right, the tree to choose is the one whose arcs have the largest sum of probabilities.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.decoding import Decoded, output_pointers
from partwise.structures.dependency.corpus import DependencyTrees
from partwise.structures.dependency.families import best_tree
from partwise.structures.dependency.labels import labels_of_arc
from partwise.structures.dependency.parts import as_matrix, n_words
from partwise.structures.interface import FloatArray
from partwise.structures.parallel import Worker, make_crew
from partwise.structures.sharing import borders, filled
from partwise.structures.vectors import exponentials, largest, place_of_largest, sum_of


@kernel
def _best_label(
    s: DependencyTrees, i: int, h: int, m: int, theta: FloatArray, ws: Any
) -> tuple[int, float]:
    """Return the most probable label of an arc, and its probability given the arc."""
    n = n_words(s, i)
    labels_of_arc(s.labels, i, n, h, m, theta[(n + 1) * (n + 1) :], ws.label_values)
    top = largest(ws.label_values)
    exponentials(ws.label_values, top, ws.label_shares)
    best = place_of_largest(ws.label_shares)
    return best, ws.label_shares[best] / sum_of(ws.label_shares)


@kernel
def _decode_minimum_risk(
    s: DependencyTrees,
    start: int,
    stop: int,
    worker: Worker,
    w: FloatArray,
    found: Decoded,
) -> None:
    scratch, ws = worker.scratch, worker.ws
    is_labelled = s.labels.n_labels > 0
    for i in range(start, stop):
        n = n_words(s, i)
        waist.visit(s, i, ws)
        waist.part_scores(s, i, w, scratch.theta, ws)
        waist.marginals(s, i, scratch.theta, scratch.mu, ws)
        worth = as_matrix(scratch.mu, n)
        if is_labelled:
            for h in range(n + 1):
                for m in range(1, n + 1):
                    if worth[h, m] > 0.0:
                        worth[h, m] *= _best_label(s, i, h, m, scratch.theta, ws)[1]
        y = found.codes[found.ptr[i] : found.ptr[i + 1]]
        found.scores[i] = best_tree(
            s.family, worth, s.layout.single_root > 0, y[:n], ws.trees
        )
        if is_labelled:
            for m in range(1, n + 1):
                y[n + m - 1] = _best_label(s, i, y[m - 1], m, scratch.theta, ws)[0]


def decode_by(s: Any, job: Any, w: FloatArray, n_jobs: int) -> Decoded:
    """Return what a job finds for every sentence."""
    ptr = output_pointers(s)
    found = Decoded(ptr, np.zeros(ptr[-1], np.int32), np.zeros(ptr.size - 1))
    shared = Decoded(borders(ptr), filled(found.codes, ptr), filled(found.scores))
    make_crew(s, n_jobs).run(job, w, shared)
    return found


@singledispatch
def decode_minimum_risk(s: Any, w: FloatArray, n_jobs: int = 1) -> Decoded:
    """Return for every sentence the tree with the most arcs right, on average.

    Its score is that number: the sum of the probabilities of its arcs.
    """
    return decode_by(s, _decode_minimum_risk, w, n_jobs)
