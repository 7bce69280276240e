"""A corpus of sequences as flat arrays, and its checks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partwise.errors import DataError
from partwise.structures.costs import hamming, make_cost_matrix, make_token_weight
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.rows import (
    Rows,
    SparseRows,
    check_rows,
    n_row_weights,
    no_rows,
)


class ChainLayout(NamedTuple):
    """Where each kind of weight lies in `w`."""

    n_labels: int
    has_start: int
    has_end: int
    transition_at: int
    start_at: int
    end_at: int
    edge_at: int
    n_weights: int


class ChainMask(NamedTuple):
    """What is legal: 1 allowed, 0 forbidden. No rows in `tokens`: all are allowed."""

    transitions: NDArray[np.uint8]
    start: NDArray[np.uint8]
    end: NDArray[np.uint8]
    tokens: NDArray[np.uint8]


class Chain(NamedTuple):
    """A corpus of sequences; make one with `make_chain`.

    The cost of a wrong label is ``costs[right, predicted]`` times the token's weight;
    no weights in `token_weight`: all one. A transition has a weight if `weighted` says
    1, and otherwise the score zero; nothing in `weighted`: all have one.
    """

    nodes: Rows
    edges: SparseRows
    ptr: IntArray
    labels: CodeArray
    layout: ChainLayout
    mask: ChainMask
    costs: FloatArray
    token_weight: FloatArray
    weighted: NDArray[np.uint8]


def make_chain(
    nodes: Rows,
    ptr: ArrayLike,
    labels: ArrayLike | None,
    n_labels: int,
    *,
    edges: SparseRows | None = None,
    start: bool = False,
    end: bool = False,
    costs: ArrayLike | None = None,
    token_weight: ArrayLike | None = None,
    forbidden_transitions: ArrayLike | None = None,
    forbidden_start: ArrayLike | None = None,
    forbidden_end: ArrayLike | None = None,
    forbidden_labels: ArrayLike | None = None,
    weighted_transitions: ArrayLike | None = None,
) -> Chain:
    """Check the arrays of a corpus of sequences and lay out its weights.

    Parameters
    ----------
    nodes : SparseRows, PairRows, DenseRows, VectorRows or MixedRows
        The features of every position of the corpus.
    ptr : array of int
        Sequence `i` is the positions ``ptr[i]:ptr[i + 1]``.
    labels : array of int or None
        The right label of every position; None when only predicting.
    n_labels : int
        Labels are ``0 .. n_labels - 1``.
    edges : SparseRows, optional
        Features of the transition *into* every position, conjoined with the pair
        of labels.
    start, end : bool
        Whether the first and the last label have weights of their own.
    costs : matrix, optional
        ``costs[right, predicted]``; Hamming by default.
    token_weight : array, optional
        What multiplies the cost of a wrong label, for every position.
    forbidden_transitions : boolean matrix, optional
        True where label `b` may not follow label `a`.
    forbidden_start, forbidden_end : boolean vectors, optional
        True where a sequence may not start, or end, with a label.
    forbidden_labels : boolean matrix, optional
        True where a position may not have a label.
    weighted_transitions : boolean matrix, optional
        True where label `b` after label `a` has a weight, which is all by default. The
        others are as legal, and add nothing to a score.

    Examples
    --------
    >>> from partwise.structures.rows import make_sparse_rows
    >>> chain = make_chain(make_sparse_rows([0, 1, 2], [0, 1]), [0, 2], [0, 1], 2)
    >>> chain.layout.n_weights
    8
    """
    ptr = np.ascontiguousarray(ptr, np.int64)
    if ptr.size == 0 or ptr[0] != 0 or (np.diff(ptr) < 0).any():
        raise ValueError("sequence pointers must start at 0 and never decrease")
    n_tokens = int(ptr[-1])
    check_rows(nodes, n_tokens, n_labels)
    if labels is None:
        labels = np.zeros(n_tokens, np.int32)
    labels = np.ascontiguousarray(labels, np.int32)
    if labels.size != n_tokens:
        raise ValueError(f"{labels.size} labels for {n_tokens} positions")
    if labels.size and not 0 <= labels.min() <= labels.max() < n_labels:
        raise ValueError(f"labels must lie in 0..{n_labels - 1}")
    if edges is None:
        edges = no_rows()
    else:
        check_rows(edges, n_tokens, n_labels * n_labels)
    mask = ChainMask(
        _allowed(forbidden_transitions, (n_labels, n_labels)),
        _allowed(forbidden_start, (n_labels,)),
        _allowed(forbidden_end, (n_labels,)),
        np.zeros((0, n_labels), np.uint8)
        if forbidden_labels is None
        else _allowed(forbidden_labels, (n_tokens, n_labels)),
    )
    square = n_labels * n_labels
    transition_at = n_row_weights(nodes, n_labels)
    start_at = transition_at + square
    end_at = start_at + n_labels * start
    edge_at = end_at + n_labels * end
    layout = ChainLayout(
        n_labels=n_labels,
        has_start=int(start),
        has_end=int(end),
        transition_at=transition_at,
        start_at=start_at,
        end_at=end_at,
        edge_at=edge_at,
        n_weights=edge_at + n_row_weights(edges, square),
    )
    matrix = hamming(n_labels) if costs is None else make_cost_matrix(costs, n_labels)
    weight = make_token_weight(token_weight, n_tokens)
    weighted = np.zeros(0, np.uint8)
    if weighted_transitions is not None:
        unweighted = ~np.asarray(weighted_transitions, bool)
        weighted = _allowed(unweighted, (n_labels, n_labels)).ravel()
    return Chain(nodes, edges, ptr, labels, layout, mask, matrix, weight, weighted)


def _allowed(forbidden: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    if forbidden is None:
        return np.ones(shape, np.uint8)
    allowed = ~np.asarray(forbidden, bool)
    if allowed.shape != shape:
        raise ValueError(f"a mask of shape {allowed.shape} where {shape} is needed")
    return np.ascontiguousarray(allowed, np.uint8)


def with_observed_transitions(s: Chain) -> Chain:
    """Return the corpus with weights for transitions between right labels only.

    Examples
    --------
    >>> from partwise.structures.rows import make_sparse_rows
    >>> chain = make_chain(make_sparse_rows([0, 1, 2], [0, 1]), [0, 2], [0, 1], 2)
    >>> with_observed_transitions(chain).weighted
    array([0, 1, 0, 0], dtype=uint8)
    """
    K, y = s.layout.n_labels, s.labels.astype(np.int64)
    inside = np.ones(max(y.size - 1, 0), bool)
    ends = s.ptr[1:-1] - 1
    inside[ends[(ends >= 0) & (ends < inside.size)]] = False
    pairs = (y[:-1] * K + y[1:])[inside]
    return s._replace(
        weighted=(np.bincount(pairs, minlength=K * K) > 0).astype(np.uint8)
    )


def illegal_positions(s: Chain) -> IntArray:
    """Return the positions of the corpus where gold breaks a constraint."""
    mask = s.mask
    if not mask.tokens.size and all(x.all() for x in mask[:3]):
        return np.zeros(0, np.int64)
    y, first = s.labels, s.ptr[:-1]
    filled = np.diff(s.ptr) > 0
    bad = np.zeros(y.size, bool)
    if y.size > 1:
        bad[1:] = s.mask.transitions[y[:-1], y[1:]] == 0
    bad[first[filled]] = s.mask.start[y[first[filled]]] == 0
    last = s.ptr[1:][filled] - 1
    bad[last] |= s.mask.end[y[last]] == 0
    if s.mask.tokens.size:
        bad |= s.mask.tokens[np.arange(y.size), y] == 0
    return np.flatnonzero(bad)


def illegal_position(s: Chain, where: IntArray | None = None) -> tuple[int, int] | None:
    """Return the first (sequence, position) where gold breaks a constraint, or None.

    `where` are the positions that do, if they are known.
    """
    where = illegal_positions(s) if where is None else where
    if where.size == 0:
        return None
    i = int(np.searchsorted(s.ptr, where[0], side="right")) - 1
    return i, int(where[0] - s.ptr[i])


def legal_sequences(s: Chain, where: IntArray | None = None) -> NDArray[np.bool_]:
    """Return which sequences have a gold output that breaks no constraint."""
    where = illegal_positions(s) if where is None else where
    legal = np.ones(s.ptr.size - 1, np.bool_)
    legal[np.searchsorted(s.ptr, where, side="right") - 1] = False
    return legal


def check_gold(s: Chain) -> None:
    """Raise `DataError` if a constraint forbids a right label."""
    found = illegal_position(s)
    if found is not None:
        raise DataError(
            f"the labels of sequence {found[0]} break the constraints at position "
            f"{found[1]}; correct the labels or loosen the constraints"
        )
