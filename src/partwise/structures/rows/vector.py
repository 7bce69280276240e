"""Vectors, of words say; a weight for every column and label.

The weights of one *label* lie side by side here, unlike those of other rows: vectors
have hundreds of columns and no zeros, so that all sums run along a vector, as whole
vector instructions, whatever the number of labels. Numbers stay in the precision they
have, and are multiplied and added up in float64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import vector_kernel
from partwise.structures.interface import FloatArray, IntArray
from partwise.structures.rows import interface
from partwise.structures.rows.interface import LARGEST
from partwise.structures.vectors import add_scaled, dot


class VectorRows(NamedTuple):
    """A vector for every position, as the rows of a matrix of float32 or float64."""

    values: NDArray[Any]


def make_vector_rows(values: Any) -> VectorRows:
    """Check a matrix of vectors; float32 is not copied.

    Examples
    --------
    >>> make_vector_rows(np.ones((2, 3), np.float32)).values.dtype
    dtype('float32')
    """
    values = np.asarray(values)
    kept = values.dtype if values.dtype in (np.float32, np.float64) else np.float64
    values = np.ascontiguousarray(values, kept)
    if values.ndim != 2:
        raise ValueError(f"vectors need 2 dimensions, not {values.ndim}")
    # Without a copy: there may be gigabytes. NaN fails both.
    if values.size and not (
        float(values.min()) >= -LARGEST and float(values.max()) <= LARGEST
    ):
        raise ValueError(f"the numbers of vectors must be finite, at most {LARGEST:g}")
    return VectorRows(values)


@vector_kernel
def _diff_dot(w_a: FloatArray, w_b: FloatArray, x: NDArray[Any]) -> float:
    """Return ``(w_a - w_b) . x``."""
    total = 0.0
    for c in range(x.size):
        total += (w_a[c] - w_b[c]) * x[c]
    return total


@interface.n_rows.implement(VectorRows)
def _(rows: VectorRows) -> int:
    return rows.values.shape[0]


@interface.n_row_weights.implement(VectorRows)
def _(rows: VectorRows, n_labels: int) -> int:
    return rows.values.shape[1] * n_labels


@interface.row_size.implement(VectorRows)
def _(rows: VectorRows, t: int) -> int:
    return rows.values.shape[1]


@interface.row_dot.implement(VectorRows)
def _(rows: VectorRows, t: int, w: FloatArray, out: FloatArray) -> None:
    x, n = rows.values[t], rows.values.shape[1]
    for k in range(out.size):
        out[k] += dot(w[k * n : (k + 1) * n], x)


@interface.row_add.implement(VectorRows)
def _(rows: VectorRows, t: int, mu: FloatArray, scale: float, w: FloatArray) -> float:
    x, n = rows.values[t], rows.values.shape[1]
    change = 0.0
    for k in range(mu.size):
        if mu[k] != 0.0:
            change += add_scaled(w, k * n, x, scale * mu[k])
    return change


@interface.rows_at_once.implement(VectorRows)
def _(rows: VectorRows) -> int:
    return 64  # so many vectors, and the weights of a label, stay in the cache


@interface.rows_dot.implement(VectorRows)
def _(
    rows: VectorRows,
    first: int,
    last: int,
    n_labels: int,
    w: FloatArray,
    out: FloatArray,
) -> None:
    n = rows.values.shape[1]
    for k in range(n_labels):
        own = w[k * n : (k + 1) * n]
        for t in range(first, last):
            out[(t - first) * n_labels + k] = dot(own, rows.values[t])


@interface.rows_add.implement(VectorRows)
def _(
    rows: VectorRows,
    first: int,
    last: int,
    n_labels: int,
    mu: FloatArray,
    scale: float,
    w: FloatArray,
) -> float:
    n = rows.values.shape[1]
    change = 0.0
    for k in range(n_labels):
        for t in range(first, last):
            share = mu[(t - first) * n_labels + k]
            if share != 0.0:
                change += add_scaled(w, k * n, rows.values[t], scale * share)
    return change


@interface.row_diff_dot.implement(VectorRows)
def _(rows: VectorRows, t: int, a: int, b: int, n_labels: int, w: FloatArray) -> float:
    x, n = rows.values[t], rows.values.shape[1]
    return _diff_dot(w[a * n : (a + 1) * n], w[b * n : (b + 1) * n], x)


@interface.row_diff_add.implement(VectorRows)
def _(
    rows: VectorRows, t: int, a: int, b: int, n_labels: int, scale: float, w: FloatArray
) -> None:
    x, n = rows.values[t], rows.values.shape[1]
    step = np.float64(scale)  # or plain Python would multiply in float32
    add_scaled(w, a * n, x, step)
    add_scaled(w, b * n, x, -step)


@interface.row_entries.implement(VectorRows)
def _(
    rows: VectorRows, t: int, k: int, n_labels: int, idx: IntArray, val: FloatArray
) -> int:
    n = rows.values.shape[1]
    for c in range(n):
        idx[c] = k * n + c
        val[c] = rows.values[t, c]
    return n
