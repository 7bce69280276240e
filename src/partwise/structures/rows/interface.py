"""What every kind of feature rows answers."""

from __future__ import annotations

from typing import Any, TypeAlias

from partwise._jit import generic, generic_with_default
from partwise.structures.interface import FloatArray, IntArray
from partwise.structures.vectors import fill

LARGEST = 1e100  # feature values: squares of larger ones, summed, may overflow

Rows: TypeAlias = Any
"""A NamedTuple of arrays, of one of the kinds in this folder."""


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


@generic_with_default
def rows_at_once(rows: Rows) -> int:
    """Return how many rows to take at once; one unless several are faster."""
    return 1


@generic_with_default
def rows_dot(
    rows: Rows, first: int, last: int, n_labels: int, w: FloatArray, out: FloatArray
) -> None:
    """Write the scores of the positions ``first:last``, all labels of each in turn."""
    for t in range(first, last):
        own = out[(t - first) * n_labels : (t - first + 1) * n_labels]
        fill(own, n_labels, 0.0)
        row_dot(rows, t, w, own)


@generic_with_default
def rows_add(
    rows: Rows,
    first: int,
    last: int,
    n_labels: int,
    mu: FloatArray,
    scale: float,
    w: FloatArray,
) -> float:
    """Do `row_add` for the positions ``first:last``; `mu` is as `rows_dot` writes."""
    change = 0.0
    for t in range(first, last):
        own = mu[(t - first) * n_labels : (t - first + 1) * n_labels]
        change += row_add(rows, t, own, scale, w)
    return change


@generic_with_default
def rows_add_elsewhere(
    rows: Rows,
    first: int,
    last: int,
    n_labels: int,
    mu: FloatArray,
    scale: float,
    w: FloatArray,
) -> None:
    """Do `rows_add` to a vector that `rows_dot` has not just read, a gradient say."""
    rows_add(rows, first, last, n_labels, mu, scale, w)


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
def row_shrink(
    rows: Rows, t: int, n_labels: int, v: FloatArray, w: FloatArray, l1_ratio: float
) -> float:
    """Let the weights of position `t` follow `v`, with every label; see `shrink`."""
    raise NotImplementedError("row_shrink is required of every kind of rows")


@generic_with_default
def rows_dot_shrunk(
    rows: Rows,
    first: int,
    last: int,
    n_labels: int,
    v: FloatArray,
    w: FloatArray,
    l1_ratio: float,
    out: FloatArray,
) -> None:
    """Do `rows_dot` with the weights that follow `v`, by default those in `w`."""
    rows_dot(rows, first, last, n_labels, w, out)


@generic_with_default
def rows_add_shrunk(
    rows: Rows,
    first: int,
    last: int,
    n_labels: int,
    mu: FloatArray,
    scale: float,
    v: FloatArray,
    w: FloatArray,
    l1_ratio: float,
) -> float:
    """Do `rows_add` to `v`; return the change of the squares of its weights.

    Those in `w` follow if `rows_dot_shrunk` reads them.
    """
    rows_add(rows, first, last, n_labels, mu, scale, v)
    change = 0.0
    for t in range(first, last):
        change += row_shrink(rows, t, n_labels, v, w, l1_ratio)
    return change


@generic
def row_entries(
    rows: Rows, t: int, k: int, n_labels: int, idx: IntArray, val: FloatArray
) -> int:
    """Write the sparse features of position `t` with label `k`; return how many."""
    raise NotImplementedError("row_entries is required of every kind of rows")


def check_rows(rows: Rows, n_positions: int, n_labels: int) -> None:
    """Raise `ValueError` unless the rows fit the positions and the labels."""
    found = n_rows(rows)
    if found != n_positions:
        raise ValueError(f"{found} rows of features for {n_positions} positions")
    pairs = getattr(getattr(rows, "words", rows), "pairs", None)
    if pairs is not None and pairs.n_labels != n_labels:
        raise ValueError(f"pairs of {pairs.n_labels} labels for {n_labels} labels")
