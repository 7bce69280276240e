"""Dense values; a weight for every column and label."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.structures.interface import FloatArray, IntArray
from partwise.structures.rows import interface
from partwise.structures.rows.interface import LARGEST
from partwise.structures.vectors import add_scaled, shrink


class DenseRows(NamedTuple):
    """A dense matrix of values, one row a position."""

    values: NDArray[np.float64]


def make_dense_rows(values: Any) -> DenseRows:
    """Check and convert a matrix of feature values."""
    values = np.ascontiguousarray(values, np.float64)
    if values.ndim != 2:
        raise ValueError(f"dense features need 2 dimensions, not {values.ndim}")
    # Without a copy: there may be many. NaN fails both.
    if values.size and not (values.min() >= -LARGEST and values.max() <= LARGEST):
        raise ValueError(f"feature values must be finite and at most {LARGEST:g}")
    return DenseRows(values)


@interface.n_rows.implement(DenseRows)
def _(rows: DenseRows) -> int:
    return rows.values.shape[0]


@interface.n_row_weights.implement(DenseRows)
def _(rows: DenseRows, n_labels: int) -> int:
    return rows.values.shape[1] * n_labels


@interface.row_size.implement(DenseRows)
def _(rows: DenseRows, t: int) -> int:
    return rows.values.shape[1]


@interface.row_dot.implement(DenseRows)
def _(rows: DenseRows, t: int, w: FloatArray, out: FloatArray) -> None:
    n_labels, n_columns = out.size, rows.values.shape[1]
    # Bitmaps are mostly zero, and the processor cannot foresee where they are not: to
    # list these places first takes half the time of asking before each of them.
    places, n_places = np.empty(n_columns, np.int32), 0
    for c in range(n_columns):
        places[n_places] = c
        n_places += rows.values[t, c] != 0.0
    for j in range(n_places):
        column = np.int64(places[j])
        at, value = column * n_labels, rows.values[t, column]
        row = w[at : at + n_labels]
        for k in range(n_labels):
            out[k] += value * row[k]


@interface.row_add.implement(DenseRows)
def _(rows: DenseRows, t: int, mu: FloatArray, scale: float, w: FloatArray) -> float:
    n_labels = mu.size
    change = 0.0
    for c in range(rows.values.shape[1]):
        value = scale * rows.values[t, c]
        if value != 0.0:
            change += add_scaled(w, c * n_labels, mu, value)
    return change


@interface.rows_at_once.implement(DenseRows)
def _(rows: DenseRows) -> int:
    return 256  # matrix products of this size are as fast as those of all the rows


@interface.rows_dot.implement(DenseRows)
def _(
    rows: DenseRows,
    first: int,
    last: int,
    n_labels: int,
    w: FloatArray,
    out: FloatArray,
) -> None:
    n_columns = rows.values.shape[1]
    matrix = w[: n_columns * n_labels].reshape(n_columns, n_labels)
    scores = out[: (last - first) * n_labels].reshape(last - first, n_labels)
    np.dot(rows.values[first:last], matrix, scores)


@interface.rows_add.implement(DenseRows)
def _(
    rows: DenseRows,
    first: int,
    last: int,
    n_labels: int,
    mu: FloatArray,
    scale: float,
    w: FloatArray,
) -> float:
    shares = mu[: (last - first) * n_labels].reshape(last - first, n_labels)
    step = np.dot(rows.values[first:last].T, shares)
    return add_scaled(w, 0, step.reshape(step.size), scale)


@interface.row_diff_dot.implement(DenseRows)
def _(rows: DenseRows, t: int, a: int, b: int, n_labels: int, w: FloatArray) -> float:
    result = 0.0
    for c in range(rows.values.shape[1]):
        at = c * n_labels
        result += rows.values[t, c] * (w[at + a] - w[at + b])
    return result


@interface.row_diff_add.implement(DenseRows)
def _(
    rows: DenseRows, t: int, a: int, b: int, n_labels: int, scale: float, w: FloatArray
) -> None:
    for c in range(rows.values.shape[1]):
        step = scale * rows.values[t, c]
        w[c * n_labels + a] += step
        w[c * n_labels + b] -= step


@interface.row_shrink.implement(DenseRows)
def _(
    rows: DenseRows,
    t: int,
    n_labels: int,
    v: FloatArray,
    w: FloatArray,
    l1_ratio: float,
) -> float:
    change = 0.0
    for c in range(rows.values.shape[1]):
        if rows.values[t, c] != 0.0:
            at = c * n_labels
            change += shrink(v[at : at + n_labels], w[at : at + n_labels], l1_ratio)
    return change


@interface.row_entries.implement(DenseRows)
def _(
    rows: DenseRows, t: int, k: int, n_labels: int, idx: IntArray, val: FloatArray
) -> int:
    for c in range(rows.values.shape[1]):
        idx[c] = c * n_labels + k
        val[c] = rows.values[t, c]
    return rows.values.shape[1]
