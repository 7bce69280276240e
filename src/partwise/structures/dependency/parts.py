"""The parts of a dependency tree, their features and their costs.

In `theta` come ``(n + 1)^2`` arcs, head by head (the diagonal and modifier 0 have no
meaning), and then the label parts (`labels`), a row of all labels at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.dependency import arcs as arc_features
from partwise.structures.dependency import labels
from partwise.structures.dependency.corpus import DependencyTrees
from partwise.structures.dependency.families import tree_space
from partwise.structures.interface import CodeArray, FloatArray, IntArray


class DependencySpace(NamedTuple):
    """Scratch arrays: of the arcs' features, of the trees, and of labels."""

    arcs: Any
    trees: Any
    score: FloatArray
    label_values: FloatArray
    label_shares: FloatArray
    rows: IntArray
    ranked: FloatArray
    rank_label: CodeArray
    ranks: CodeArray


@waist.n_examples.implement(DependencyTrees)
def _(s: DependencyTrees) -> int:
    return s.ptr.size - 1


@waist.n_weights.implement(DependencyTrees)
def _(s: DependencyTrees) -> int:
    return s.layout.n_weights


@kernel
def n_words(s: DependencyTrees, i: int) -> int:
    """Return how many words sentence `i` has."""
    return s.ptr[i + 1] - s.ptr[i]


@waist.n_parts.implement(DependencyTrees)
def _(s: DependencyTrees, i: int) -> int:
    n = n_words(s, i)
    return (n + 1) * (n + 1) + labels.n_label_rows(s.labels, i, n) * s.labels.n_labels


@waist.n_deciding.implement(DependencyTrees)
def _(s: DependencyTrees, i: int) -> int:
    """Count the arcs, and the labels of modifiers, which have one head each."""
    n = n_words(s, i)
    return (n + 1) * (n + 1) + 2 * n * s.labels.n_labels


@waist.output_size.implement(DependencyTrees)
def _(s: DependencyTrees, i: int) -> int:
    return n_words(s, i) * (2 if s.labels.n_labels else 1)


@kernel
def _longest(s: DependencyTrees) -> int:
    longest = 0
    for i in range(s.ptr.size - 1):
        longest = max(longest, n_words(s, i))
    return longest


@kernel
def _max_features(s: DependencyTrees) -> int:
    one = arc_features.n_arc_features(s.arcs) + labels.n_label_features(s.labels)
    return max(2 * _longest(s) * one, 1)


@waist.max_features.implement(DependencyTrees)
def _(s: DependencyTrees) -> int:
    return _max_features(s)


@waist.workspace.implement(DependencyTrees)
def _(s: DependencyTrees, k: int) -> Any:
    longest = int(_longest(s))
    n_labels = s.labels.n_labels
    # Only the best labels of an arc can be in one of the k best trees.
    n_ranks = min(k, max(n_labels, 1))
    side = longest + 1 if k > 1 else 1
    return DependencySpace(
        arc_features.arc_space(s.arcs, longest),
        tree_space(s.family, longest, k),
        np.zeros((longest + 1) ** 2),
        np.zeros(n_labels),
        np.zeros(n_labels),
        np.zeros(labels.n_label_features(s.labels), np.int64),
        np.zeros(side * side * n_ranks),
        np.zeros(side * side * n_ranks, np.int32),
        np.zeros((k, longest), np.int32),
    )


@waist.visit.implement(DependencyTrees)
def _(s: DependencyTrees, i: int, ws: Any) -> None:
    arc_features.prepare_arcs(s.arcs, i, n_words(s, i), ws.arcs)


@kernel
def as_matrix(values: FloatArray, n: int) -> FloatArray:
    """View the first of some values as a matrix of arcs."""
    return values[: (n + 1) * (n + 1)].reshape(n + 1, n + 1)


@waist.part_scores.implement(DependencyTrees)
def _(s: DependencyTrees, i: int, w: FloatArray, theta: FloatArray, ws: Any) -> None:
    n = n_words(s, i)
    arc_features.arc_scores(s.arcs, i, w, as_matrix(theta, n), ws.arcs)
    labels.score_labels(
        s.labels, i, n, w[s.layout.label_at :], theta[(n + 1) * (n + 1) :], ws.rows
    )


@waist.add_parts.implement(DependencyTrees)
def _(
    s: DependencyTrees, i: int, mu: FloatArray, scale: float, w: FloatArray, ws: Any
) -> float:
    n = n_words(s, i)
    change = arc_features.add_arcs(s.arcs, i, as_matrix(mu, n), scale, w, ws.arcs)
    return change + labels.add_labels(
        s.labels, i, n, mu[(n + 1) * (n + 1) :], scale, w[s.layout.label_at :], ws.rows
    )


@kernel
def label_parts(
    s: DependencyTrees, i: int, n: int, h: int, m: int, label: int, ids: IntArray
) -> None:
    """Write the three label parts of an arc."""
    n_labels, at = s.labels.n_labels, (n + 1) * (n + 1) + label
    ids[0] = at + labels.modifier_row(n, h, m) * n_labels
    ids[1] = at + labels.head_row(n, h, m) * n_labels
    ids[2] = at + labels.pair_row(s.labels, i, n, h, m) * n_labels


@waist.is_output.implement(DependencyTrees)
def _(s: DependencyTrees, i: int, y: CodeArray) -> bool:
    n = n_words(s, i)
    for m in range(1, n + 1):
        if not 0 <= y[m - 1] <= n or y[m - 1] == m:
            return False
        if s.labels.n_labels and not 0 <= y[n + m - 1] < s.labels.n_labels:
            return False
    return True


@waist.parts_of.implement(DependencyTrees)
def _(
    s: DependencyTrees, i: int, y: CodeArray, ids: IntArray, counts: FloatArray
) -> int:
    n = n_words(s, i)
    found = 0
    for m in range(1, n + 1):
        ids[found] = y[m - 1] * (n + 1) + m
        found += 1
        if s.labels.n_labels:
            label_parts(s, i, n, y[m - 1], m, y[n + m - 1], ids[found:])
            found += 3
    counts[:found] = 1.0
    return found


@waist.part_row.implement(DependencyTrees)
def _(
    s: DependencyTrees, i: int, r: int, idx: IntArray, val: FloatArray, ws: Any
) -> int:
    n = n_words(s, i)
    n_arcs = (n + 1) * (n + 1)
    if r < n_arcs:
        h, m = r // (n + 1), r % (n + 1)
        if m == 0 or h == m:
            return 0
        return arc_features.arc_entries(s.arcs, i, n, h, m, idx, val, ws.arcs)
    found = labels.label_part_entries(s.labels, i, n, r - n_arcs, idx, val)
    for j in range(found):
        idx[j] += s.layout.label_at
    return found


@waist.gold.implement(DependencyTrees)
def _(s: DependencyTrees, i: int, y: CodeArray) -> None:
    n, first = n_words(s, i), s.ptr[i]
    for m in range(n):
        y[m] = s.heads[first + m]
        if s.labels.n_labels:
            y[n + m] = s.word_labels[first + m]


@kernel
def _weight(s: DependencyTrees, word: int) -> float:
    return s.word_weight[word] if s.word_weight.size else 1.0


@waist.add_costs.implement(DependencyTrees)
def _(s: DependencyTrees, i: int, theta: FloatArray) -> None:
    n, first, n_labels = n_words(s, i), s.ptr[i], s.labels.n_labels
    score = as_matrix(theta, n)
    of_labels = theta[(n + 1) * (n + 1) :]
    for m in range(1, n + 1):
        weight = _weight(s, first + m - 1)
        wrong_head = weight * s.layout.head_cost
        for h in range(n + 1):
            if h != m and h != s.heads[first + m - 1]:
                score[h, m] += wrong_head
        for direction in range(2 if n_labels else 0):
            # What the modifier says of labels is part of every arc to it.
            at = (direction * n + m - 1) * n_labels
            for k in range(n_labels):
                if k != s.word_labels[first + m - 1]:
                    of_labels[at + k] += weight * s.layout.label_cost


@waist.cost.implement(DependencyTrees)
def _(s: DependencyTrees, i: int, y: CodeArray) -> float:
    n, first = n_words(s, i), s.ptr[i]
    total = 0.0
    for m in range(n):
        weight = _weight(s, first + m)
        if y[m] != s.heads[first + m]:
            total += weight * s.layout.head_cost
        if s.labels.n_labels and y[n + m] != s.word_labels[first + m]:
            total += weight * s.layout.label_cost
    return total
