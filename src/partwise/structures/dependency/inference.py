"""The best trees and the sum over all trees, with the labels of their arcs.

Labels are chosen, or summed over, arc by arc; what is left is a question about trees
without labels, which the family answers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures import vectors
from partwise.structures.dependency import labels
from partwise.structures.dependency.corpus import DependencyTrees
from partwise.structures.dependency.families import (
    arc_marginals,
    best_tree,
    best_trees,
    log_sum_of_trees,
)
from partwise.structures.dependency.parts import as_matrix, n_words
from partwise.structures.interface import CodeArray, FloatArray


@kernel
def _arcs_with_labels(
    s: DependencyTrees, i: int, theta: FloatArray, summed: bool, ws: Any
) -> FloatArray:
    """Return the scores of arcs, with their best label or with all of them."""
    n = n_words(s, i)
    alone = as_matrix(theta, n)
    if s.labels.n_labels == 0:
        return alone
    of_labels = theta[(n + 1) * (n + 1) :]
    score = as_matrix(ws.score, n)
    for h in range(n + 1):
        for m in range(1, n + 1):
            if h != m:
                labels.labels_of_arc(s.labels, i, n, h, m, of_labels, ws.label_values)
                if summed:
                    best = vectors.log_sum(ws.label_values, ws.label_shares)
                else:
                    best = vectors.largest(ws.label_values)
                score[h, m] = alone[h, m] + best
    return score


@waist.argmax.implement(DependencyTrees)
def _(s: DependencyTrees, i: int, theta: FloatArray, y: CodeArray, ws: Any) -> float:
    n = n_words(s, i)
    score = _arcs_with_labels(s, i, theta, False, ws)
    value = best_tree(s.family, score, s.layout.single_root > 0, y[:n], ws.trees)
    if s.labels.n_labels:
        of_labels = theta[(n + 1) * (n + 1) :]
        for m in range(1, n + 1):
            labels.labels_of_arc(
                s.labels, i, n, y[m - 1], m, of_labels, ws.label_values
            )
            y[n + m - 1] = vectors.place_of_largest(ws.label_values)
    return value


@waist.log_partition.implement(DependencyTrees)
def _(s: DependencyTrees, i: int, theta: FloatArray, ws: Any) -> float:
    score = _arcs_with_labels(s, i, theta, True, ws)
    return log_sum_of_trees(s.family, score, s.layout.single_root > 0, ws.trees)


@waist.marginals.implement(DependencyTrees)
def _(s: DependencyTrees, i: int, theta: FloatArray, mu: FloatArray, ws: Any) -> float:
    n = n_words(s, i)
    score = _arcs_with_labels(s, i, theta, True, ws)
    of_arcs = as_matrix(mu, n)
    log_z = arc_marginals(s.family, score, s.layout.single_root > 0, of_arcs, ws.trees)
    if s.labels.n_labels:
        _label_marginals(s, i, n, theta[(n + 1) * (n + 1) :], of_arcs, mu, ws)
    return log_z


@kernel
def _label_marginals(
    s: DependencyTrees,
    i: int,
    n: int,
    of_labels: FloatArray,
    of_arcs: FloatArray,
    mu: FloatArray,
    ws: Any,
) -> None:
    """Share the probability of every arc among its labels."""
    n_labels = s.labels.n_labels
    rows = mu[(n + 1) * (n + 1) :]
    rows = rows[: labels.n_label_rows(s.labels, i, n) * n_labels]
    rows[:] = 0.0
    for h in range(n + 1):
        for m in range(1, n + 1):
            if h == m or of_arcs[h, m] == 0.0:
                continue
            labels.labels_of_arc(s.labels, i, n, h, m, of_labels, ws.label_values)
            vectors.exponentials(
                ws.label_values, vectors.largest(ws.label_values), ws.label_shares
            )
            scale = of_arcs[h, m] / vectors.sum_of(ws.label_shares)
            one = rows[labels.modifier_row(n, h, m) * n_labels :]
            two = rows[labels.head_row(n, h, m) * n_labels :]
            three = rows[labels.pair_row(s.labels, i, n, h, m) * n_labels :]
            for k in range(n_labels):
                share = scale * ws.label_shares[k]
                one[k] += share
                two[k] += share
                three[k] += share


@waist.kbest.implement(DependencyTrees)
def _(
    s: DependencyTrees,
    i: int,
    theta: FloatArray,
    k: int,
    ys: CodeArray,
    scores: FloatArray,
    ws: Any,
) -> int:
    if k == 1:
        scores[0] = waist.argmax(s, i, theta, ys[0], ws)
        return 1 if scores[0] > -np.inf else 0
    n = n_words(s, i)
    n_ranks = min(k, max(s.labels.n_labels, 1))
    n_cells = (n + 1) * (n + 1) * n_ranks
    ranked = ws.ranked[:n_cells].reshape(n + 1, n + 1, n_ranks)
    rank_label = ws.rank_label[:n_cells].reshape(n + 1, n + 1, n_ranks)
    alone, of_labels = as_matrix(theta, n), theta[(n + 1) * (n + 1) :]
    for h in range(n + 1):
        for m in range(1, n + 1):
            if h == m:
                continue
            if s.labels.n_labels:
                labels.labels_of_arc(s.labels, i, n, h, m, of_labels, ws.label_values)
                labels.rank_labels(
                    ws.label_values, alone[h, m], ranked[h, m], rank_label[h, m]
                )
            else:
                ranked[h, m, 0] = alone[h, m]
    found = best_trees(
        s.family,
        ranked,
        s.layout.single_root > 0,
        k,
        ys[:, :n],
        ws.ranks[:, :n],
        scores,
        ws.trees,
    )
    if s.labels.n_labels:
        for j in range(found):
            for m in range(1, n + 1):
                ys[j, n + m - 1] = rank_label[ys[j, m - 1], m, ws.ranks[j, m - 1]]
    return found
