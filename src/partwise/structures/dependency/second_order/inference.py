"""Inference on trees of second order: what the waist asks.

Labels are chosen, or summed over, arc by arc, as in trees of first order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures import vectors
from partwise.structures.dependency import arcs as arc_features
from partwise.structures.dependency import labels
from partwise.structures.dependency.partition import best_trees_by_partition
from partwise.structures.dependency.second_order.candidates import arcs_of, find_arc
from partwise.structures.dependency.second_order.chart import (
    Chart,
    Scores,
    inside,
    make_chart,
)
from partwise.structures.dependency.second_order.corpus import SecondOrderTrees
from partwise.structures.dependency.second_order.kbest import (
    KBestSpace,
    SecondOrderSearch,
    make_kbest_space,
)
from partwise.structures.dependency.second_order.parts import borders_of, part_views
from partwise.structures.dependency.second_order.trees import (
    best_second_order_tree,
    second_order_marginals,
)
from partwise.structures.dependency.second_order.triples import (
    TripleSpace,
    make_triple_space,
)
from partwise.structures.interface import CodeArray, FloatArray, IntArray


class SecondOrderSpace(NamedTuple):
    """Scratch arrays: of features, of the chart, and of labels."""

    arcs: Any
    triples: TripleSpace
    chart: Chart
    mass: Chart
    score: FloatArray
    idx: IntArray
    val: FloatArray
    rows: IntArray
    waiting: IntArray
    label_values: FloatArray
    label_shares: FloatArray
    kbest: KBestSpace


@waist.workspace.implement(SecondOrderTrees)
def _(s: SecondOrderTrees, k: int) -> Any:
    found, first = s.arcs, s.first
    longest = int(np.diff(first.ptr).max(initial=0))
    n_arcs = int(np.diff(found.first).max(initial=0))
    last = found.first[1:] + np.arange(found.first.size - 1)
    sizes = (
        longest,
        n_arcs,
        int(found.siblings[last].max(initial=0)),
        int(found.grand[last].max(initial=0)),
    )
    n_features = int(arc_features.n_arc_features(first.arcs))
    return SecondOrderSpace(
        arc_features.arc_space(first.arcs, longest),
        make_triple_space(s.triples, longest),
        make_chart(*sizes),
        make_chart(*sizes),
        np.zeros(n_arcs),
        np.zeros(n_features, np.int64),
        np.zeros(n_features),
        np.zeros(labels.n_label_features(first.labels), np.int64),
        np.zeros(4 * longest + 4, np.int64),
        np.zeros(first.labels.n_labels),
        np.zeros(first.labels.n_labels),
        make_kbest_space(longest, first.labels.n_labels, k),
    )


@kernel
def labels_of_arc(
    s: SecondOrderTrees, i: int, b: int, theta: FloatArray, out: FloatArray
) -> None:
    """Add up the scores of all labels of arc `b`."""
    rows, n_labels = s.rows.of_arc[s.arcs.first[i] + b], out.size
    of_labels = theta[borders_of(s, i).labels :]
    one, two = of_labels[rows[0] * n_labels :], of_labels[rows[1] * n_labels :]
    three = of_labels[rows[2] * n_labels :]
    for k in range(n_labels):
        out[k] = one[k] + two[k] + three[k]


@kernel
def _with_labels(
    s: SecondOrderTrees, i: int, theta: FloatArray, summed: bool, ws: Any
) -> Scores:
    """Return scores whose arcs have their best label, or all of them."""
    given = part_views(s, i, theta)
    if s.first.labels.n_labels == 0:
        return given
    score = ws.score[: given.arc.size]
    for b in range(score.size):
        labels_of_arc(s, i, b, theta, ws.label_values)
        if summed:
            best = vectors.log_sum(ws.label_values, ws.label_shares)
        else:
            best = vectors.largest(ws.label_values)
        score[b] = given.arc[b] + best
    return Scores(score, given.siblings, given.grand)


@waist.argmax.implement(SecondOrderTrees)
def _(s: SecondOrderTrees, i: int, theta: FloatArray, y: CodeArray, ws: Any) -> float:
    arcs, given = arcs_of(s.arcs, i), _with_labels(s, i, theta, False, ws)
    single_root = s.first.layout.single_root > 0
    value = best_second_order_tree(arcs, given, single_root, y, ws.chart, ws.waiting)
    if s.first.labels.n_labels and value > -np.inf:
        for m in range(1, arcs.n + 1):
            b = find_arc(arcs, y[m - 1], m)
            labels_of_arc(s, i, b, theta, ws.label_values)
            y[arcs.n + m - 1] = vectors.place_of_largest(ws.label_values)
    return value


@waist.log_partition.implement(SecondOrderTrees)
def _(s: SecondOrderTrees, i: int, theta: FloatArray, ws: Any) -> float:
    arcs, given = arcs_of(s.arcs, i), _with_labels(s, i, theta, True, ws)
    return inside(arcs, given, s.first.layout.single_root > 0, True, ws.chart)


@waist.marginals.implement(SecondOrderTrees)
def _(s: SecondOrderTrees, i: int, theta: FloatArray, mu: FloatArray, ws: Any) -> float:
    arcs, given = arcs_of(s.arcs, i), _with_labels(s, i, theta, True, ws)
    counts = part_views(s, i, mu)
    log_z = second_order_marginals(
        arcs, given, s.first.layout.single_root > 0, counts, ws.chart, ws.mass
    )
    at, n_labels = borders_of(s, i), s.first.labels.n_labels
    rows = mu[at.labels : at.siblings]
    rows[:] = 0.0
    for b in range(arcs.n_arcs if n_labels else 0):
        if counts.arc[b] == 0.0:
            continue
        labels_of_arc(s, i, b, theta, ws.label_values)
        vectors.softmax(ws.label_values, ws.label_shares)
        for kind in range(3):
            row = rows[s.rows.of_arc[s.arcs.first[i] + b, kind] * n_labels :]
            for k in range(n_labels):
                row[k] += counts.arc[b] * ws.label_shares[k]
    return log_z


@waist.kbest.implement(SecondOrderTrees)
def _(
    s: SecondOrderTrees,
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
    arcs, given = arcs_of(s.arcs, i), part_views(s, i, theta)
    n, n_labels = arcs.n, s.first.labels.n_labels
    n_ranks = min(k, max(n_labels, 1))
    n_cells = (n + 1) * (n + 1) * n_ranks
    ranked = ws.kbest.ranked[:n_cells].reshape(n + 1, n + 1, n_ranks)
    rank_label = ws.kbest.label[:n_cells].reshape(n + 1, n + 1, n_ranks)
    ranked[:] = -np.inf
    for b in range(arcs.n_arcs):
        h, m = arcs.head[b], arcs.modifier[b]
        ranked[h, m, 0] = given.arc[b]
        if n_labels:
            labels_of_arc(s, i, b, theta, ws.label_values)
            labels.rank_labels(
                ws.label_values, given.arc[b], ranked[h, m], rank_label[h, m]
            )
    # The search writes the scores of arcs: not to where the caller's are.
    given = Scores(ws.score[: arcs.n_arcs], given.siblings, given.grand)
    found = best_trees_by_partition(
        ranked,
        s.first.layout.single_root > 0,
        k,
        ys[:, :n],
        ws.kbest.ranks[:, :n],
        scores,
        ws.kbest.sets,
        SecondOrderSearch(arcs, given, ws.chart, ws.waiting),
    )
    for j in range(found if n_labels else 0):
        for m in range(1, n + 1):
            rank = ws.kbest.ranks[j, m - 1]
            ys[j, n + m - 1] = rank_label[ys[j, m - 1], m, rank]
    return found
