"""Trees of second order with the most arcs right, on average."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.structures.dependency.minimum_risk import safest
from partwise.structures.dependency.second_order.candidates import arcs_of, find_arc
from partwise.structures.dependency.second_order.corpus import SecondOrderTrees
from partwise.structures.dependency.second_order.inference import labels_of_arc
from partwise.structures.dependency.second_order.parts import part_views
from partwise.structures.dependency.second_order.trees import best_second_order_tree
from partwise.structures.interface import CodeArray, FloatArray
from partwise.structures.vectors import fill, place_of_largest, softmax


@kernel
def _best_label(
    s: SecondOrderTrees, i: int, b: int, theta: FloatArray, ws: Any
) -> tuple[int, float]:
    """Return the most probable label of an arc, and its probability given the arc."""
    labels_of_arc(s, i, b, theta, ws.label_values)
    softmax(ws.label_values, ws.label_shares)
    best = place_of_largest(ws.label_shares)
    return best, ws.label_shares[best]


@safest.implement(SecondOrderTrees)
def _(
    s: SecondOrderTrees,
    i: int,
    theta: FloatArray,
    mu: FloatArray,
    y: CodeArray,
    ws: Any,
) -> float:
    arcs, is_labelled = arcs_of(s.arcs, i), s.first.labels.n_labels > 0
    worth = part_views(s, i, mu)
    for b in range(arcs.n_arcs if is_labelled else 0):
        if worth.arc[b] > 0.0:
            worth.arc[b] *= _best_label(s, i, b, theta, ws)[1]
    # What counts is arcs: how they meet makes no difference.
    fill(worth.siblings, worth.siblings.size, 0.0)
    fill(worth.grand, worth.grand.size, 0.0)
    single_root = s.first.layout.single_root > 0
    score = best_second_order_tree(arcs, worth, single_root, y, ws.chart, ws.waiting)
    for m in range(1, arcs.n + 1 if is_labelled and score > -np.inf else 1):
        b = find_arc(arcs, y[m - 1], m)
        y[arcs.n + m - 1] = _best_label(s, i, b, theta, ws)[0]
    return score
