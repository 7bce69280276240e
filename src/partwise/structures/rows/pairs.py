"""CSR attributes; weights only for some pairs of attribute and label."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise._jit import kernel, prefetch
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.rows import interface
from partwise.structures.rows.sparse import AHEAD, SparseRows
from partwise.structures.vectors import add_scaled, fill, shrink

WORD = 32  # labels per word of the bit mask


class Pairs(NamedTuple):
    """The attribute/label pairs that have a weight; make them with `make_pairs`.

    The pairs of attribute ``a`` are ``ptr[a]:ptr[a + 1]``; the label of pair ``p`` is
    ``label[p]``, sorted within an attribute. To find a pair without a search, bit
    ``k % 32`` of ``mask[a, k // 32]`` says whether label ``k`` has a weight, and
    ``first[a, k // 32]`` is the pair of the lowest bit of that word.
    """

    ptr: IntArray
    label: CodeArray
    n_labels: int
    mask: IntArray
    first: IntArray


def make_pairs(ptr: Any, label: Any, n_labels: int) -> Pairs:
    """Check a list of pairs; once, since there may be millions.

    Examples
    --------
    >>> make_pairs([0, 2, 3], [0, 1, 0], n_labels=2).label
    array([0, 1, 0], dtype=int32)
    """
    ptr = np.ascontiguousarray(ptr, np.int64)
    label = np.ascontiguousarray(label, np.int32)
    if ptr.size == 0 or ptr[0] != 0 or (np.diff(ptr) < 0).any():
        raise ValueError("pair pointers must start at 0 and never decrease")
    if ptr[-1] != label.size:
        raise ValueError(
            f"the last pair pointer is {ptr[-1]}, but there are {label.size} pairs"
        )
    if label.size and not 0 <= label.min() <= label.max() < n_labels:
        raise ValueError(f"the labels of pairs must lie in 0..{n_labels - 1}")
    owner = np.repeat(np.arange(ptr.size - 1), np.diff(ptr))
    if ((np.diff(label) <= 0) & (np.diff(owner) == 0)).any():
        raise ValueError("the labels of an attribute's pairs must increase")
    mask = np.zeros((ptr.size - 1, -(-n_labels // WORD)), np.int64)
    np.add.at(
        mask, (owner, label // WORD), np.left_shift(1, label % WORD, dtype=np.int64)
    )
    counts = np.zeros_like(mask)
    np.add.at(counts, (owner, label // WORD), 1)
    first = ptr[:-1, None] + np.cumsum(counts, axis=1) - counts
    return Pairs(ptr, label, n_labels, mask, first)


def observed_pairs(rows: SparseRows, labels: CodeArray, n_labels: int) -> Pairs:
    """List the attribute/label pairs that occur in labelled rows.

    Examples
    --------
    >>> from partwise.structures import make_sparse_rows
    >>> rows = make_sparse_rows([0, 2, 3], [0, 1, 1])
    >>> observed_pairs(rows, np.array([1, 0]), n_labels=2).label
    array([1, 0, 1], dtype=int32)
    """
    owner = np.repeat(np.arange(rows.ptr.size - 1), np.diff(rows.ptr))
    pairs = np.unique(rows.idx.astype(np.int64) * n_labels + labels[owner])
    ptr = np.zeros(rows.n_columns + 1, np.int64)
    np.cumsum(np.bincount(pairs // n_labels, minlength=rows.n_columns), out=ptr[1:])
    return make_pairs(ptr, pairs % n_labels, n_labels)


class PairRows(NamedTuple):
    """CSR attributes with weights for some attribute/label pairs only."""

    ptr: IntArray
    idx: CodeArray
    val: FloatArray
    pairs: Pairs


def make_pair_rows(rows: SparseRows, pairs: Pairs) -> PairRows:
    """Give CSR attributes weights for these pairs only."""
    if pairs.ptr.size != rows.n_columns + 1:
        raise ValueError(
            f"pairs are listed for {pairs.ptr.size - 1} attributes, "
            f"but the rows have {rows.n_columns}"
        )
    return PairRows(rows.ptr, rows.idx, rows.val, pairs)


@kernel
def _find_pair(rows: PairRows, attribute: int, label: int) -> int:
    """Return the index of the pair, or -1, without a branch that is hard to guess."""
    word, bit = label // WORD, label % WORD
    mask = rows.pairs.mask[attribute, word]
    if (mask >> bit) & 1 == 0:
        return -1
    # Count the bits below, in parallel within the word.
    below = mask & ((1 << bit) - 1)
    below -= (below >> 1) & 0x55555555
    below = (below & 0x33333333) + ((below >> 2) & 0x33333333)
    below = (below + (below >> 4)) & 0x0F0F0F0F
    below += below >> 8
    return rows.pairs.first[attribute, word] + ((below + (below >> 16)) & 63)


@interface.n_rows.implement(PairRows)
def _(rows: PairRows) -> int:
    return rows.ptr.size - 1


@interface.n_row_weights.implement(PairRows)
def _(rows: PairRows, n_labels: int) -> int:
    return rows.pairs.label.size


@interface.row_size.implement(PairRows)
def _(rows: PairRows, t: int) -> int:
    return rows.ptr[t + 1] - rows.ptr[t]


@kernel
def _fetch_pairs(rows: PairRows, j: int, w: FloatArray) -> None:
    """Ask for the pairs of an entry further on, and where those behind it are."""
    pairs = rows.pairs
    if j + AHEAD < rows.idx.size:
        prefetch(pairs.ptr, rows.idx[j + AHEAD])
        first = pairs.ptr[rows.idx[j]]
        prefetch(w, first)
        prefetch(pairs.label, first)


@kernel
def _add_scores(
    rows: PairRows, first: int, last: int, n_labels: int, w: FloatArray, out: FloatArray
) -> None:
    """Add the scores of the positions ``first:last``, all labels of each in turn."""
    for t in range(first, last):
        own = out[(t - first) * n_labels : (t - first + 1) * n_labels]
        for j in range(rows.ptr[t], rows.ptr[t + 1]):
            _fetch_pairs(rows, j + AHEAD, w)
            attribute = rows.idx[j]
            value = 1.0 if rows.val.size == 0 else rows.val[j]
            begin, end = rows.pairs.ptr[attribute], rows.pairs.ptr[attribute + 1]
            row, label = w[begin:end], rows.pairs.label[begin:end]
            if row.size == n_labels:  # all labels in order: whole vectors
                for k in range(n_labels):
                    own[k] += value * row[k]
            else:
                for p in range(row.size):
                    own[np.uint32(label[p])] += value * row[p]


@interface.row_dot.implement(PairRows)
def _(rows: PairRows, t: int, w: FloatArray, out: FloatArray) -> None:
    _add_scores(rows, t, t + 1, out.size, w, out)


@interface.rows_dot.implement(PairRows)
def _(
    rows: PairRows,
    first: int,
    last: int,
    n_labels: int,
    w: FloatArray,
    out: FloatArray,
) -> None:
    fill(out, (last - first) * n_labels, 0.0)
    _add_scores(rows, first, last, n_labels, w, out)


@interface.row_add.implement(PairRows)
def _(rows: PairRows, t: int, mu: FloatArray, scale: float, w: FloatArray) -> float:
    change = 0.0
    for j in range(rows.ptr[t], rows.ptr[t + 1]):
        attribute = rows.idx[j]
        value = scale if rows.val.size == 0 else scale * rows.val[j]
        first, last = rows.pairs.ptr[attribute], rows.pairs.ptr[attribute + 1]
        if last - first == mu.size:
            change += add_scaled(w, first, mu, value)
            continue
        row, label = w[first:last], rows.pairs.label[first:last]
        for p in range(row.size):
            step = value * mu[np.uint32(label[p])]
            change += step * (2.0 * row[p] + step)
            row[p] += step
    return change


@interface.row_diff_dot.implement(PairRows)
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


@interface.row_diff_add.implement(PairRows)
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


@interface.row_shrink.implement(PairRows)
def _(
    rows: PairRows, t: int, n_labels: int, v: FloatArray, w: FloatArray, l1_ratio: float
) -> float:
    change = 0.0
    for j in range(rows.ptr[t], rows.ptr[t + 1]):
        first, last = rows.pairs.ptr[rows.idx[j]], rows.pairs.ptr[rows.idx[j] + 1]
        change += shrink(v[first:last], w[first:last], l1_ratio)
    return change


@interface.row_entries.implement(PairRows)
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
