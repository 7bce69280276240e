"""Feature rows: how one position's observed attributes meet the labels.

A structure holds a *rows* NamedTuple and never asks how it is stored. A weight
belongs to a pair of attribute and label; the weights of one attribute lie side
by side, so that scoring all labels of a position reads whole cache lines.

===============  ===========================================================
`SparseRows`     CSR of attributes; a weight for every attribute and label
`PairRows`       CSR of attributes; weights only for pairs seen in training
`DenseRows`      a float matrix; a weight for every column and label
===============  ===========================================================
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import generic, kernel
from partwise.structures.interface import CodeArray, FloatArray, IntArray

Rows = Any


class SparseRows(NamedTuple):
    """CSR attributes. An empty `val` means that every value is one."""

    ptr: IntArray
    idx: CodeArray
    val: FloatArray
    n_columns: int


class PairRows(NamedTuple):
    """CSR attributes with weights for some attribute/label pairs only.

    The pairs of attribute ``a`` are ``pair_ptr[a]:pair_ptr[a + 1]``; the label of
    pair ``p`` is ``pair_label[p]`` (sorted within an attribute), its weight ``w[p]``.
    """

    ptr: IntArray
    idx: CodeArray
    val: FloatArray
    pair_ptr: IntArray
    pair_label: CodeArray


class DenseRows(NamedTuple):
    """A dense matrix of values, one row a position."""

    values: NDArray[np.float64]


def make_sparse_rows(
    ptr: Any, idx: Any, val: Any = None, n_columns: int | None = None
) -> SparseRows:
    """Check and convert CSR arrays.

    Examples
    --------
    >>> rows = make_sparse_rows([0, 2, 3], [0, 2, 1])
    >>> rows.n_columns, rows.val.size
    (3, 0)
    """
    ptr = np.ascontiguousarray(ptr, np.int64)
    idx = np.ascontiguousarray(idx, np.int32)
    val = np.zeros(0) if val is None else np.ascontiguousarray(val, np.float64)
    columns = int(idx.max(initial=-1)) + 1 if n_columns is None else int(n_columns)
    if ptr.ndim != 1 or ptr.size == 0 or ptr[0] != 0 or (np.diff(ptr) < 0).any():
        raise ValueError("row pointers must start at 0 and never decrease")
    if ptr[-1] != idx.size:
        raise ValueError(
            f"the last row pointer is {ptr[-1]}, but there are {idx.size} entries"
        )
    if idx.size and (idx.min() < 0 or idx.max() >= columns):
        raise ValueError(f"attribute ids must lie in 0..{columns - 1}")
    if val.size not in (0, idx.size):
        raise ValueError(f"{val.size} values for {idx.size} entries")
    if not np.isfinite(val).all():
        raise ValueError("feature values must be finite")
    return SparseRows(ptr, idx, val, columns)


def no_rows() -> SparseRows:
    """Return rows without any position: the absence of such features."""
    return make_sparse_rows([0], [], None, 0)


def make_dense_rows(values: Any) -> DenseRows:
    """Check and convert a matrix of feature values."""
    values = np.ascontiguousarray(values, np.float64)
    if values.ndim != 2:
        raise ValueError(f"dense features need 2 dimensions, not {values.ndim}")
    if not np.isfinite(values).all():
        raise ValueError("feature values must be finite")
    return DenseRows(values)


def observed_pairs(
    rows: SparseRows, labels: CodeArray, n_labels: int
) -> tuple[IntArray, CodeArray]:
    """List the attribute/label pairs that occur: `pair_ptr` and `pair_label`."""
    owner = np.repeat(np.arange(rows.ptr.size - 1), np.diff(rows.ptr))
    pairs = rows.idx.astype(np.int64) * n_labels + labels[owner]
    pairs = np.unique(pairs)
    counts = np.bincount(pairs // n_labels, minlength=rows.n_columns)
    ptr = np.zeros(rows.n_columns + 1, np.int64)
    np.cumsum(counts, out=ptr[1:])
    return ptr, (pairs % n_labels).astype(np.int32)


def make_pair_rows(
    rows: SparseRows, pair_ptr: IntArray, pair_label: CodeArray
) -> PairRows:
    """Give CSR attributes weights for the listed pairs only."""
    pair_ptr = np.ascontiguousarray(pair_ptr, np.int64)
    pair_label = np.ascontiguousarray(pair_label, np.int32)
    if pair_ptr.size != rows.n_columns + 1:
        raise ValueError(
            f"pairs are listed for {pair_ptr.size - 1} attributes, "
            f"but the rows have {rows.n_columns}"
        )
    if pair_ptr[0] != 0 or (np.diff(pair_ptr) < 0).any():
        raise ValueError("pair pointers must start at 0 and never decrease")
    if pair_ptr[-1] != pair_label.size:
        raise ValueError(
            f"the last pair pointer is {pair_ptr[-1]}, "
            f"but there are {pair_label.size} pairs"
        )
    owner = np.repeat(np.arange(rows.n_columns), np.diff(pair_ptr))
    if ((np.diff(pair_label) <= 0) & (np.diff(owner) == 0)).any():
        raise ValueError("the labels of an attribute's pairs must increase")
    return PairRows(rows.ptr, rows.idx, rows.val, pair_ptr, pair_label)


def check_rows(rows: Rows, n_positions: int, n_labels: int) -> None:
    """Raise `ValueError` unless the rows fit the positions and the labels."""
    found = n_rows(rows)
    if found != n_positions:
        raise ValueError(f"{found} rows of features for {n_positions} positions")
    if isinstance(rows, PairRows) and rows.pair_label.size:
        if not 0 <= rows.pair_label.min() <= rows.pair_label.max() < n_labels:
            raise ValueError(f"the labels of pairs must lie in 0..{n_labels - 1}")


@generic
def n_rows(rows: Rows) -> int:
    """Return how many positions have features."""
    raise NotImplementedError("n_rows is required of every kind of rows")


@generic
def n_row_weights(rows: Rows, n_labels: int) -> int:
    """Return how many weights the rows need."""
    raise NotImplementedError("n_row_weights is required of every kind of rows")


@generic
def row_size(rows: Rows, t: int) -> int:
    """Return a bound on the non-zero features of position `t` with one label."""
    raise NotImplementedError("row_size is required of every kind of rows")


@generic
def row_dot(rows: Rows, t: int, w: FloatArray, out: FloatArray) -> None:
    """Add to ``out[k]`` the score of position `t` with each label ``k``."""
    raise NotImplementedError("row_dot is required of every kind of rows")


@generic
def row_add(rows: Rows, t: int, mu: FloatArray, scale: float, w: FloatArray) -> float:
    """Do ``w += scale * sum_k mu_k phi(t, k)``; return the change of ``|w|^2``."""
    raise NotImplementedError("row_add is required of every kind of rows")


@generic
def row_diff_dot(
    rows: Rows, t: int, a: int, b: int, n_labels: int, w: FloatArray
) -> float:
    """Return the score of label `a` minus that of label `b` at position `t`."""
    raise NotImplementedError("row_diff_dot is required of every kind of rows")


@generic
def row_diff_add(
    rows: Rows, t: int, a: int, b: int, n_labels: int, scale: float, w: FloatArray
) -> None:
    """Do ``w += scale * (phi(t, a) - phi(t, b))``."""
    raise NotImplementedError("row_diff_add is required of every kind of rows")


@generic
def row_entries(
    rows: Rows, t: int, k: int, n_labels: int, idx: IntArray, val: FloatArray
) -> int:
    """Write the sparse features of position `t` with label `k`; return how many."""
    raise NotImplementedError("row_entries is required of every kind of rows")


# --- every attribute with every label -------------------------------------------


@n_rows.implement(SparseRows)
def _(rows: SparseRows) -> int:
    return rows.ptr.size - 1


@n_row_weights.implement(SparseRows)
def _(rows: SparseRows, n_labels: int) -> int:
    return rows.n_columns * n_labels


@row_size.implement(SparseRows)
def _(rows: SparseRows, t: int) -> int:
    return rows.ptr[t + 1] - rows.ptr[t]


@row_dot.implement(SparseRows)
def _(rows: SparseRows, t: int, w: FloatArray, out: FloatArray) -> None:
    n_labels = out.size
    if rows.val.size == 0:
        for j in range(rows.ptr[t], rows.ptr[t + 1]):
            at = np.int64(rows.idx[j]) * n_labels
            for k in range(n_labels):
                out[k] += w[at + k]
    else:
        for j in range(rows.ptr[t], rows.ptr[t + 1]):
            at = np.int64(rows.idx[j]) * n_labels
            value = rows.val[j]
            for k in range(n_labels):
                out[k] += value * w[at + k]


@row_add.implement(SparseRows)
def _(rows: SparseRows, t: int, mu: FloatArray, scale: float, w: FloatArray) -> float:
    n_labels = mu.size
    change = 0.0
    for j in range(rows.ptr[t], rows.ptr[t + 1]):
        at = np.int64(rows.idx[j]) * n_labels
        value = scale if rows.val.size == 0 else scale * rows.val[j]
        for k in range(n_labels):
            step = value * mu[k]
            change += step * (2.0 * w[at + k] + step)
            w[at + k] += step
    return change


@row_diff_dot.implement(SparseRows)
def _(rows: SparseRows, t: int, a: int, b: int, n_labels: int, w: FloatArray) -> float:
    result = 0.0
    if rows.val.size == 0:
        for j in range(rows.ptr[t], rows.ptr[t + 1]):
            at = np.int64(rows.idx[j]) * n_labels
            result += w[at + a] - w[at + b]
    else:
        for j in range(rows.ptr[t], rows.ptr[t + 1]):
            at = np.int64(rows.idx[j]) * n_labels
            result += rows.val[j] * (w[at + a] - w[at + b])
    return result


@row_diff_add.implement(SparseRows)
def _(
    rows: SparseRows, t: int, a: int, b: int, n_labels: int, scale: float, w: FloatArray
) -> None:
    for j in range(rows.ptr[t], rows.ptr[t + 1]):
        at = np.int64(rows.idx[j]) * n_labels
        step = scale if rows.val.size == 0 else scale * rows.val[j]
        w[at + a] += step
        w[at + b] -= step


@row_entries.implement(SparseRows)
def _(
    rows: SparseRows, t: int, k: int, n_labels: int, idx: IntArray, val: FloatArray
) -> int:
    start = rows.ptr[t]
    found = rows.ptr[t + 1] - start
    for j in range(found):
        idx[j] = np.int64(rows.idx[start + j]) * n_labels + k
        val[j] = 1.0 if rows.val.size == 0 else rows.val[start + j]
    return found


# --- only the pairs seen in training --------------------------------------------


@kernel
def _find_pair(rows: PairRows, attribute: int, label: int) -> int:
    """Return the index of the pair, or -1; labels are sorted within an attribute."""
    low, high = rows.pair_ptr[attribute], rows.pair_ptr[attribute + 1]
    while low < high:
        middle = (low + high) >> 1
        if rows.pair_label[middle] < label:
            low = middle + 1
        else:
            high = middle
    found = low < rows.pair_ptr[attribute + 1] and rows.pair_label[low] == label
    return low if found else -1


@n_rows.implement(PairRows)
def _(rows: PairRows) -> int:
    return rows.ptr.size - 1


@n_row_weights.implement(PairRows)
def _(rows: PairRows, n_labels: int) -> int:
    return rows.pair_label.size


@row_size.implement(PairRows)
def _(rows: PairRows, t: int) -> int:
    return rows.ptr[t + 1] - rows.ptr[t]


@row_dot.implement(PairRows)
def _(rows: PairRows, t: int, w: FloatArray, out: FloatArray) -> None:
    for j in range(rows.ptr[t], rows.ptr[t + 1]):
        attribute = rows.idx[j]
        value = 1.0 if rows.val.size == 0 else rows.val[j]
        for p in range(rows.pair_ptr[attribute], rows.pair_ptr[attribute + 1]):
            out[rows.pair_label[p]] += value * w[p]


@row_add.implement(PairRows)
def _(rows: PairRows, t: int, mu: FloatArray, scale: float, w: FloatArray) -> float:
    change = 0.0
    for j in range(rows.ptr[t], rows.ptr[t + 1]):
        attribute = rows.idx[j]
        value = scale if rows.val.size == 0 else scale * rows.val[j]
        for p in range(rows.pair_ptr[attribute], rows.pair_ptr[attribute + 1]):
            step = value * mu[rows.pair_label[p]]
            change += step * (2.0 * w[p] + step)
            w[p] += step
    return change


@row_diff_dot.implement(PairRows)
def _(rows: PairRows, t: int, a: int, b: int, n_labels: int, w: FloatArray) -> float:
    result = 0.0
    for j in range(rows.ptr[t], rows.ptr[t + 1]):
        value = 1.0 if rows.val.size == 0 else rows.val[j]
        plus, minus = _find_pair(rows, rows.idx[j], a), _find_pair(rows, rows.idx[j], b)
        if plus >= 0:
            result += value * w[plus]
        if minus >= 0:
            result -= value * w[minus]
    return result


@row_diff_add.implement(PairRows)
def _(
    rows: PairRows, t: int, a: int, b: int, n_labels: int, scale: float, w: FloatArray
) -> None:
    for j in range(rows.ptr[t], rows.ptr[t + 1]):
        step = scale if rows.val.size == 0 else scale * rows.val[j]
        plus, minus = _find_pair(rows, rows.idx[j], a), _find_pair(rows, rows.idx[j], b)
        if plus >= 0:
            w[plus] += step
        if minus >= 0:
            w[minus] -= step


@row_entries.implement(PairRows)
def _(
    rows: PairRows, t: int, k: int, n_labels: int, idx: IntArray, val: FloatArray
) -> int:
    found = 0
    for j in range(rows.ptr[t], rows.ptr[t + 1]):
        p = _find_pair(rows, rows.idx[j], k)
        if p >= 0:
            idx[found] = p
            val[found] = 1.0 if rows.val.size == 0 else rows.val[j]
            found += 1
    return found


# --- dense values -----------------------------------------------------------------


@n_rows.implement(DenseRows)
def _(rows: DenseRows) -> int:
    return rows.values.shape[0]


@n_row_weights.implement(DenseRows)
def _(rows: DenseRows, n_labels: int) -> int:
    return rows.values.shape[1] * n_labels


@row_size.implement(DenseRows)
def _(rows: DenseRows, t: int) -> int:
    return rows.values.shape[1]


@row_dot.implement(DenseRows)
def _(rows: DenseRows, t: int, w: FloatArray, out: FloatArray) -> None:
    n_labels = out.size
    for c in range(rows.values.shape[1]):
        value = rows.values[t, c]
        if value != 0.0:  # bitmaps are mostly zero
            at = c * n_labels
            for k in range(n_labels):
                out[k] += value * w[at + k]


@row_add.implement(DenseRows)
def _(rows: DenseRows, t: int, mu: FloatArray, scale: float, w: FloatArray) -> float:
    n_labels = mu.size
    change = 0.0
    for c in range(rows.values.shape[1]):
        value = scale * rows.values[t, c]
        if value != 0.0:
            at = c * n_labels
            for k in range(n_labels):
                step = value * mu[k]
                change += step * (2.0 * w[at + k] + step)
                w[at + k] += step
    return change


@row_diff_dot.implement(DenseRows)
def _(rows: DenseRows, t: int, a: int, b: int, n_labels: int, w: FloatArray) -> float:
    result = 0.0
    for c in range(rows.values.shape[1]):
        at = c * n_labels
        result += rows.values[t, c] * (w[at + a] - w[at + b])
    return result


@row_diff_add.implement(DenseRows)
def _(
    rows: DenseRows, t: int, a: int, b: int, n_labels: int, scale: float, w: FloatArray
) -> None:
    for c in range(rows.values.shape[1]):
        step = scale * rows.values[t, c]
        w[c * n_labels + a] += step
        w[c * n_labels + b] -= step


@row_entries.implement(DenseRows)
def _(
    rows: DenseRows, t: int, k: int, n_labels: int, idx: IntArray, val: FloatArray
) -> int:
    for c in range(rows.values.shape[1]):
        idx[c] = c * n_labels + k
        val[c] = rows.values[t, c]
    return rows.values.shape[1]
