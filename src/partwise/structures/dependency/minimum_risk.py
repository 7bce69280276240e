"""Trees of minimum risk: those with the most heads (and labels) right, on average.

The best tree is the most probable one as a whole. If what counts is how many arcs are
right, the tree to choose is the one whose arcs have the largest sum of probabilities.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise._jit import generic, kernel
from partwise.structures import interface as waist
from partwise.structures.decoding import Decoded, output_pointers
from partwise.structures.dependency.corpus import DependencyTrees
from partwise.structures.dependency.families import best_tree
from partwise.structures.dependency.labels import labels_of_arc
from partwise.structures.dependency.parts import as_matrix, n_words
from partwise.structures.interface import CodeArray, FloatArray, Structure
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


@generic
def safest(
    s: Structure, i: int, theta: FloatArray, mu: FloatArray, y: CodeArray, ws: Any
) -> float:
    """Write the tree whose arcs have the largest sum of probabilities; return that sum.

    `theta` has the scores of parts and `mu` their marginals, which are overwritten.
    """
    raise NotImplementedError("safest is required for trees of minimum risk")


@safest.implement(DependencyTrees)
def _(
    s: DependencyTrees,
    i: int,
    theta: FloatArray,
    mu: FloatArray,
    y: CodeArray,
    ws: Any,
) -> float:
    n, is_labelled = n_words(s, i), s.labels.n_labels > 0
    worth = as_matrix(mu, n)
    if is_labelled:
        for h in range(n + 1):
            for m in range(1, n + 1):
                if worth[h, m] > 0.0:
                    worth[h, m] *= _best_label(s, i, h, m, theta, ws)[1]
    score = best_tree(s.family, worth, s.layout.single_root > 0, y[:n], ws.trees)
    if is_labelled:
        for m in range(1, n + 1):
            y[n + m - 1] = _best_label(s, i, y[m - 1], m, theta, ws)[0]
    return score


@kernel
def _decode_minimum_risk(
    s: Structure, start: int, stop: int, worker: Worker, w: FloatArray, found: Decoded
) -> None:
    theta, mu, ws = worker.scratch.theta, worker.scratch.mu, worker.ws
    for i in range(start, stop):
        waist.visit(s, i, ws)
        waist.part_scores(s, i, w, theta, ws)
        waist.marginals(s, i, theta, mu, ws)
        y = found.codes[found.ptr[i] : found.ptr[i + 1]]
        found.scores[i] = safest(s, i, theta, mu, y, ws)


def decode_minimum_risk(s: Structure, w: FloatArray, n_jobs: int = 1) -> Decoded:
    """Return for every sentence the tree with the most arcs right, on average.

    Its score is that number: the sum of the probabilities of its arcs.
    """
    ptr = output_pointers(s)
    found = Decoded(ptr, np.zeros(ptr[-1], np.int32), np.zeros(ptr.size - 1))
    shared = Decoded(borders(ptr), filled(found.codes, ptr), filled(found.scores))
    make_crew(s, n_jobs).run(_decode_minimum_risk, w, shared)
    return found
