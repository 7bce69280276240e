"""Plain classification: one label per example, and nothing else.

The parts of an example are its possible classes, so an output has one part.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from partwise.structures import interface as waist
from partwise.structures.costs import hamming, make_cost_matrix
from partwise.structures.interface import (
    CodeArray,
    CodeTable,
    Diff,
    FloatArray,
    IntArray,
)
from partwise.structures.random_numbers import draw_log
from partwise.structures.rows import (
    Rows,
    check_rows,
    n_row_weights,
    row_add,
    row_diff_add,
    row_diff_dot,
    row_dot,
    row_entries,
    row_size,
    rows_add_elsewhere,
    rows_add_shrunk,
    rows_at_once,
    rows_dot,
    rows_dot_shrunk,
)
from partwise.structures.vectors import log_sum, place_of_largest, softmax


class Multiclass(NamedTuple):
    """A corpus of examples with one class each; make one with `make_multiclass`."""

    rows: Rows
    labels: CodeArray
    n_classes: int
    costs: FloatArray


class MulticlassSpace(NamedTuple):
    """Scratch arrays: which classes the k best have taken, and exponentials."""

    taken: CodeArray
    exponentials: FloatArray


def make_multiclass(
    rows: Rows, labels: ArrayLike, n_classes: int, *, costs: ArrayLike | None = None
) -> Multiclass:
    """Check the arrays of a corpus of classified examples.

    Parameters
    ----------
    rows : SparseRows, PairRows, DenseRows, VectorRows or MixedRows
        The features of every example.
    labels : array of int
        The right class of every example (zeros when only predicting).
    n_classes : int
        Classes are ``0 .. n_classes - 1``.
    costs : matrix, optional
        ``costs[right, predicted]``; 1 for every wrong class by default.

    Examples
    --------
    >>> from partwise.structures.rows import make_dense_rows
    >>> s = make_multiclass(make_dense_rows([[1.0, 2.0]]), [1], 3)
    >>> waist.n_weights(s), waist.n_parts(s, 0)
    (6, 3)
    """
    labels = np.ascontiguousarray(labels, np.int32)
    if labels.size and not 0 <= labels.min() <= labels.max() < n_classes:
        raise ValueError(f"classes must lie in 0..{n_classes - 1}")
    check_rows(rows, labels.size, n_classes)
    matrix = hamming(n_classes) if costs is None else make_cost_matrix(costs, n_classes)
    return Multiclass(rows, labels, n_classes, matrix)


@waist.n_examples.implement(Multiclass)
def _(s: Multiclass) -> int:
    return s.labels.size


@waist.n_weights.implement(Multiclass)
def _(s: Multiclass) -> int:
    return n_row_weights(s.rows, s.n_classes)


@waist.n_parts.implement(Multiclass)
def _(s: Multiclass, i: int) -> int:
    return s.n_classes


@waist.output_size.implement(Multiclass)
def _(s: Multiclass, i: int) -> int:
    return 1


@waist.max_features.implement(Multiclass)
def _(s: Multiclass) -> int:
    most = 0
    for i in range(s.labels.size):
        most = max(most, 2 * row_size(s.rows, i))
    return most


@waist.workspace.implement(Multiclass)
def _(s: Multiclass, k: int) -> Any:
    return MulticlassSpace(np.zeros(s.n_classes, np.int32), np.zeros(s.n_classes))


@waist.part_scores.implement(Multiclass)
def _(s: Multiclass, i: int, w: FloatArray, theta: FloatArray, ws: Any) -> None:
    theta[: s.n_classes] = 0.0
    row_dot(s.rows, i, w, theta[: s.n_classes])


@waist.add_parts.implement(Multiclass)
def _(
    s: Multiclass, i: int, mu: FloatArray, scale: float, w: FloatArray, ws: Any
) -> float:
    return row_add(s.rows, i, mu[: s.n_classes], scale, w)


@waist.shrunk_scores.implement(Multiclass)
def _(
    s: Multiclass,
    i: int,
    v: FloatArray,
    w: FloatArray,
    l1_ratio: float,
    theta: FloatArray,
    ws: Any,
) -> None:
    rows_dot_shrunk(s.rows, i, i + 1, s.n_classes, v, w, l1_ratio, theta)


@waist.add_shrunk.implement(Multiclass)
def _(
    s: Multiclass,
    i: int,
    mu: FloatArray,
    scale: float,
    v: FloatArray,
    w: FloatArray,
    l1_ratio: float,
    diff: Diff,
    ws: Any,
) -> float:
    return rows_add_shrunk(s.rows, i, i + 1, s.n_classes, mu, scale, v, w, l1_ratio)


@waist.block_size.implement(Multiclass)
def _(s: Multiclass) -> int:
    return rows_at_once(s.rows)


@waist.block_scores.implement(Multiclass)
def _(
    s: Multiclass, start: int, stop: int, w: FloatArray, theta: FloatArray, ws: Any
) -> None:
    rows_dot(s.rows, start, stop, s.n_classes, w, theta)


@waist.add_block.implement(Multiclass)
def _(
    s: Multiclass, start: int, stop: int, mu: FloatArray, w: FloatArray, ws: Any
) -> None:
    rows_add_elsewhere(s.rows, start, stop, s.n_classes, mu, 1.0, w)


@waist.parts_of.implement(Multiclass)
def _(s: Multiclass, i: int, y: CodeArray, ids: IntArray, counts: FloatArray) -> int:
    ids[0] = y[0]
    counts[0] = 1.0
    return 1


@waist.is_output.implement(Multiclass)
def _(s: Multiclass, i: int, y: CodeArray) -> bool:
    return 0 <= y[0] < s.n_classes


@waist.part_row.implement(Multiclass)
def _(s: Multiclass, i: int, r: int, idx: IntArray, val: FloatArray, ws: Any) -> int:
    return row_entries(s.rows, i, r, s.n_classes, idx, val)


@waist.gold.implement(Multiclass)
def _(s: Multiclass, i: int, y: CodeArray) -> None:
    y[0] = s.labels[i]


@waist.add_costs.implement(Multiclass)
def _(s: Multiclass, i: int, theta: FloatArray) -> None:
    for k in range(s.n_classes):
        theta[k] += s.costs[s.labels[i], k]


@waist.cost.implement(Multiclass)
def _(s: Multiclass, i: int, y: CodeArray) -> float:
    return s.costs[s.labels[i], y[0]]


@waist.argmax.implement(Multiclass)
def _(s: Multiclass, i: int, theta: FloatArray, y: CodeArray, ws: Any) -> float:
    y[0] = place_of_largest(theta[: s.n_classes])
    return theta[y[0]]


@waist.kbest.implement(Multiclass)
def _(
    s: Multiclass,
    i: int,
    theta: FloatArray,
    k: int,
    ys: CodeArray,
    scores: FloatArray,
    ws: Any,
) -> int:
    ws.taken[:] = 0
    found = min(k, s.n_classes)
    for j in range(found):
        best = -1
        for c in range(s.n_classes):
            if not ws.taken[c] and (best < 0 or theta[c] > theta[best]):
                best = c
        ws.taken[best] = 1
        ys[j, 0] = best
        scores[j] = theta[best]
    return found


@waist.log_partition.implement(Multiclass)
def _(s: Multiclass, i: int, theta: FloatArray, ws: Any) -> float:
    return log_sum(theta[: s.n_classes], ws.exponentials)


@waist.marginals.implement(Multiclass)
def _(s: Multiclass, i: int, theta: FloatArray, mu: FloatArray, ws: Any) -> float:
    return softmax(theta[: s.n_classes], mu[: s.n_classes])


@waist.sample.implement(Multiclass)
def _(
    s: Multiclass,
    i: int,
    theta: FloatArray,
    space: waist.SamplingSpace,
    state: IntArray,
    ys: CodeTable,
    ws: Any,
) -> bool:
    for j in range(ys.shape[0]):
        ys[j, 0] = draw_log(theta[: s.n_classes], state)
    return True


@waist.gibbs_scores.implement(Multiclass)
def _(s: Multiclass, i: int, mu: FloatArray, theta: FloatArray, ws: Any) -> None:
    for k in range(s.n_classes):
        theta[k] = np.log(max(mu[k], waist.LEAST_PROBABILITY))


@waist.diff_dot.implement(Multiclass)
def _(
    s: Multiclass,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    w: FloatArray,
    diff: Diff,
    ws: Any,
) -> float:
    if y[0] == y_ref[0]:
        return 0.0
    return row_diff_dot(s.rows, i, y_ref[0], y[0], s.n_classes, w)


@waist.diff_add.implement(Multiclass)
def _(
    s: Multiclass,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    scale: float,
    w: FloatArray,
    diff: Diff,
    ws: Any,
) -> None:
    if y[0] != y_ref[0]:
        row_diff_add(s.rows, i, y_ref[0], y[0], s.n_classes, scale, w)
