"""CSR attributes; a weight for every attribute and label."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.rows import interface
from partwise.structures.rows.interface import LARGEST
from partwise.structures.vectors import (
    add_scaled,
    add_scaled_below,
    fetch,
    fill,
    shrink,
    soft,
)

AHEAD = 32
"""The weights of attributes so many entries further on are asked for in advance: rows
of weights lie all over memory, and waiting for them would be most of the work."""


class SparseRows(NamedTuple):
    """CSR attributes. An empty `val` means that every value is one."""

    ptr: IntArray
    idx: CodeArray
    val: FloatArray
    n_columns: int


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
    if ptr.ndim != 1 or ptr.size == 0 or ptr[0] != 0 or (ptr[1:] < ptr[:-1]).any():
        raise ValueError("row pointers must start at 0 and never decrease")
    if ptr[-1] != idx.size:
        raise ValueError(
            f"the last row pointer is {ptr[-1]}, but there are {idx.size} entries"
        )
    if idx.size and (idx.min() < 0 or idx.max() >= columns):
        raise ValueError(f"attribute ids must lie in 0..{columns - 1}")
    if val.size not in (0, idx.size):
        raise ValueError(f"{val.size} values for {idx.size} entries")
    # Without a copy: there may be hundreds of millions. NaN fails both.
    if val.size and not (val.min() >= -LARGEST and val.max() <= LARGEST):
        raise ValueError(f"feature values must be finite and at most {LARGEST:g}")
    return SparseRows(ptr, idx, val, columns)


def take_rows(rows: SparseRows, order: NDArray[np.int64]) -> SparseRows:
    """Return some rows, in another order.

    Examples
    --------
    >>> take_rows(make_sparse_rows([0, 2, 3], [0, 2, 1]), np.array([1, 0])).idx.tolist()
    [1, 0, 2]
    """
    sizes = np.diff(rows.ptr)[order]
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    entries = np.arange(ptr[-1]) + np.repeat(rows.ptr[:-1][order] - ptr[:-1], sizes)
    val = rows.val[entries] if rows.val.size else None
    return make_sparse_rows(ptr, rows.idx[entries], val, rows.n_columns)


_NO_ROWS = make_sparse_rows([0], [], None, 0)


def no_rows() -> SparseRows:
    """Return rows without any position: the absence of such features."""
    return _NO_ROWS


@interface.n_rows.implement(SparseRows)
def _(rows: SparseRows) -> int:
    return rows.ptr.size - 1


@interface.n_row_weights.implement(SparseRows)
def _(rows: SparseRows, n_labels: int) -> int:
    return rows.n_columns * n_labels


@interface.row_size.implement(SparseRows)
def _(rows: SparseRows, t: int) -> int:
    return rows.ptr[t + 1] - rows.ptr[t]


@kernel
def _fetch_row(rows: SparseRows, j: int, n_labels: int, w: FloatArray) -> None:
    """Ask for the weights of the entry `j`, if there is one."""
    if j < rows.idx.size:
        fetch(w, np.int64(rows.idx[j]) * n_labels, n_labels)


@kernel
def _add_scores(
    rows: SparseRows,
    first: int,
    last: int,
    n_labels: int,
    w: FloatArray,
    out: FloatArray,
) -> None:
    """Add the scores of the positions ``first:last``, all labels of each in turn.

    One call for all of them: a call for each would cost a third as much as the sums.
    """
    for t in range(first, last):
        own = out[(t - first) * n_labels : (t - first + 1) * n_labels]
        begin, end = rows.ptr[t], rows.ptr[t + 1]
        if rows.val.size == 0:
            # Two rows at a time: half as many loads and stores of `own`.
            for j in range(begin, end - 1, 2):
                _fetch_row(rows, j + AHEAD, n_labels, w)
                _fetch_row(rows, j + 1 + AHEAD, n_labels, w)
                at = np.int64(rows.idx[j]) * n_labels
                next_at = np.int64(rows.idx[j + 1]) * n_labels
                row, next_row = w[at : at + n_labels], w[next_at : next_at + n_labels]
                for k in range(n_labels):
                    own[k] += row[k] + next_row[k]
            if (end - begin) % 2:
                _fetch_row(rows, end - 1 + AHEAD, n_labels, w)
                at = np.int64(rows.idx[end - 1]) * n_labels
                row = w[at : at + n_labels]
                for k in range(n_labels):
                    own[k] += row[k]
        else:
            for j in range(begin, end):
                _fetch_row(rows, j + AHEAD, n_labels, w)
                at, value = np.int64(rows.idx[j]) * n_labels, rows.val[j]
                row = w[at : at + n_labels]
                for k in range(n_labels):
                    own[k] += value * row[k]


@interface.row_dot.implement(SparseRows)
def _(rows: SparseRows, t: int, w: FloatArray, out: FloatArray) -> None:
    _add_scores(rows, t, t + 1, out.size, w, out)


@interface.rows_dot.implement(SparseRows)
def _(
    rows: SparseRows,
    first: int,
    last: int,
    n_labels: int,
    w: FloatArray,
    out: FloatArray,
) -> None:
    fill(out, (last - first) * n_labels, 0.0)
    _add_scores(rows, first, last, n_labels, w, out)


@interface.row_add.implement(SparseRows)
def _(rows: SparseRows, t: int, mu: FloatArray, scale: float, w: FloatArray) -> float:
    n_labels = mu.size
    change = 0.0
    for j in range(rows.ptr[t], rows.ptr[t + 1]):
        at = np.int64(rows.idx[j]) * n_labels
        value = scale if rows.val.size == 0 else scale * rows.val[j]
        change += add_scaled(w, at, mu, value)
    return change


@interface.rows_add_elsewhere.implement(SparseRows)
def _(
    rows: SparseRows,
    first: int,
    last: int,
    n_labels: int,
    mu: FloatArray,
    scale: float,
    w: FloatArray,
) -> None:
    for t in range(first, last):
        own = mu[(t - first) * n_labels : (t - first + 1) * n_labels]
        for j in range(rows.ptr[t], rows.ptr[t + 1]):
            _fetch_row(rows, j + AHEAD, n_labels, w)
            at = np.int64(rows.idx[j]) * n_labels
            add_scaled(w, at, own, scale if rows.val.size == 0 else scale * rows.val[j])


@interface.row_diff_dot.implement(SparseRows)
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


@interface.row_diff_add.implement(SparseRows)
def _(
    rows: SparseRows, t: int, a: int, b: int, n_labels: int, scale: float, w: FloatArray
) -> None:
    for j in range(rows.ptr[t], rows.ptr[t + 1]):
        at = np.int64(rows.idx[j]) * n_labels
        step = scale if rows.val.size == 0 else scale * rows.val[j]
        w[at + a] += step
        w[at + b] -= step


@interface.row_shrink.implement(SparseRows)
def _(
    rows: SparseRows,
    t: int,
    n_labels: int,
    v: FloatArray,
    w: FloatArray,
    l1_ratio: float,
) -> float:
    change = 0.0
    for j in range(rows.ptr[t], rows.ptr[t + 1]):
        at = np.int64(rows.idx[j]) * n_labels
        change += shrink(v[at : at + n_labels], w[at : at + n_labels], l1_ratio)
    return change


# Memory is what these rows wait for: the vector that weights follow is read in their
# place, and there is nothing else to touch.


@interface.rows_dot_shrunk.implement(SparseRows)
def _(
    rows: SparseRows,
    first: int,
    last: int,
    n_labels: int,
    v: FloatArray,
    w: FloatArray,
    l1_ratio: float,
    out: FloatArray,
) -> None:
    stretch = 1.0 / (1.0 - l1_ratio)
    for t in range(first, last):
        own = out[(t - first) * n_labels : (t - first + 1) * n_labels]
        fill(own, n_labels, 0.0)
        for j in range(rows.ptr[t], rows.ptr[t + 1]):
            _fetch_row(rows, j + AHEAD, n_labels, v)
            at = np.int64(rows.idx[j]) * n_labels
            value = stretch if rows.val.size == 0 else stretch * rows.val[j]
            row = v[at : at + n_labels]
            for k in range(n_labels):
                own[k] += value * soft(row[k], l1_ratio)


@interface.rows_add_shrunk.implement(SparseRows)
def _(
    rows: SparseRows,
    first: int,
    last: int,
    n_labels: int,
    mu: FloatArray,
    scale: float,
    v: FloatArray,
    w: FloatArray,
    l1_ratio: float,
) -> float:
    change, stretch = 0.0, 1.0 / (1.0 - l1_ratio)
    for t in range(first, last):
        own = mu[(t - first) * n_labels : (t - first + 1) * n_labels]
        for j in range(rows.ptr[t], rows.ptr[t + 1]):
            at = np.int64(rows.idx[j]) * n_labels
            value = scale if rows.val.size == 0 else scale * rows.val[j]
            change += add_scaled_below(v, at, own, value, l1_ratio)
    return change * stretch * stretch


@interface.row_entries.implement(SparseRows)
def _(
    rows: SparseRows, t: int, k: int, n_labels: int, idx: IntArray, val: FloatArray
) -> int:
    start = rows.ptr[t]
    found = rows.ptr[t + 1] - start
    for j in range(found):
        idx[j] = np.int64(rows.idx[start + j]) * n_labels + k
        val[j] = 1.0 if rows.val.size == 0 else rows.val[start + j]
    return found
