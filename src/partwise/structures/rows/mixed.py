"""Words and vectors at once: every position has a row of both.

The weights of the words come first. Each kind answers for itself, so that whatever is
faster for one of them is faster here.
"""

from __future__ import annotations

from typing import NamedTuple

from partwise.structures.interface import FloatArray, IntArray
from partwise.structures.rows import interface
from partwise.structures.rows.interface import (
    Rows,
    n_row_weights,
    n_rows,
    row_add,
    row_diff_add,
    row_diff_dot,
    row_dot,
    row_entries,
    row_size,
    rows_add,
    rows_at_once,
    rows_dot,
)


class MixedRows(NamedTuple):
    """Rows of `words`, which may be of any kind, and of `vectors` beside them."""

    words: Rows
    vectors: Rows


def make_mixed_rows(words: Rows, vectors: Rows) -> MixedRows:
    """Put two kinds of rows beside each other.

    Examples
    --------
    >>> from partwise.structures.rows import make_sparse_rows, make_vector_rows
    >>> rows = make_mixed_rows(
    ...     make_sparse_rows([0, 2, 3], [0, 2, 1]), make_vector_rows([[0.5], [0.1]])
    ... )
    >>> n_row_weights(rows, 2)
    8
    """
    if n_rows(words) != n_rows(vectors):
        raise ValueError(
            f"{n_rows(vectors)} vectors for {n_rows(words)} rows of features"
        )
    return MixedRows(words, vectors)


@interface.n_rows.implement(MixedRows)
def _(rows: MixedRows) -> int:
    return n_rows(rows.words)


@interface.n_row_weights.implement(MixedRows)
def _(rows: MixedRows, n_labels: int) -> int:
    return n_row_weights(rows.words, n_labels) + n_row_weights(rows.vectors, n_labels)


@interface.row_size.implement(MixedRows)
def _(rows: MixedRows, t: int) -> int:
    return row_size(rows.words, t) + row_size(rows.vectors, t)


@interface.row_dot.implement(MixedRows)
def _(rows: MixedRows, t: int, w: FloatArray, out: FloatArray) -> None:
    row_dot(rows.words, t, w, out)
    row_dot(rows.vectors, t, w[n_row_weights(rows.words, out.size) :], out)


@interface.row_add.implement(MixedRows)
def _(rows: MixedRows, t: int, mu: FloatArray, scale: float, w: FloatArray) -> float:
    change = row_add(rows.words, t, mu, scale, w)
    at = n_row_weights(rows.words, mu.size)
    return change + row_add(rows.vectors, t, mu, scale, w[at:])


@interface.rows_at_once.implement(MixedRows)
def _(rows: MixedRows) -> int:
    return max(rows_at_once(rows.words), rows_at_once(rows.vectors))


@interface.rows_dot.implement(MixedRows)
def _(
    rows: MixedRows,
    first: int,
    last: int,
    n_labels: int,
    w: FloatArray,
    out: FloatArray,
) -> None:
    at = n_row_weights(rows.words, n_labels)
    rows_dot(rows.vectors, first, last, n_labels, w[at:], out)
    for t in range(first, last):
        own = out[(t - first) * n_labels : (t - first + 1) * n_labels]
        row_dot(rows.words, t, w, own)


@interface.rows_add.implement(MixedRows)
def _(
    rows: MixedRows,
    first: int,
    last: int,
    n_labels: int,
    mu: FloatArray,
    scale: float,
    w: FloatArray,
) -> float:
    at = n_row_weights(rows.words, n_labels)
    change = rows_add(rows.words, first, last, n_labels, mu, scale, w)
    return change + rows_add(rows.vectors, first, last, n_labels, mu, scale, w[at:])


@interface.row_diff_dot.implement(MixedRows)
def _(rows: MixedRows, t: int, a: int, b: int, n_labels: int, w: FloatArray) -> float:
    result = row_diff_dot(rows.words, t, a, b, n_labels, w)
    at = n_row_weights(rows.words, n_labels)
    return result + row_diff_dot(rows.vectors, t, a, b, n_labels, w[at:])


@interface.row_diff_add.implement(MixedRows)
def _(
    rows: MixedRows, t: int, a: int, b: int, n_labels: int, scale: float, w: FloatArray
) -> None:
    row_diff_add(rows.words, t, a, b, n_labels, scale, w)
    at = n_row_weights(rows.words, n_labels)
    row_diff_add(rows.vectors, t, a, b, n_labels, scale, w[at:])


@interface.row_entries.implement(MixedRows)
def _(
    rows: MixedRows, t: int, k: int, n_labels: int, idx: IntArray, val: FloatArray
) -> int:
    found = row_entries(rows.words, t, k, n_labels, idx, val)
    more = row_entries(rows.vectors, t, k, n_labels, idx[found:], val[found:])
    at = n_row_weights(rows.words, n_labels)
    for j in range(found, found + more):
        idx[j] += at
    return found + more
