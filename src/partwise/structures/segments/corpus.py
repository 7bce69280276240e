"""A corpus of segmented sequences as flat arrays, and its checks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partwise.structures.costs import hamming, make_cost_matrix, make_token_weight
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.rows import Rows, check_rows, n_row_weights
from partwise.structures.segments.matches import Matches, no_matches

ROLES = 3
"""A token is one of a segment's, perhaps its first, perhaps its last."""


class SegmentLayout(NamedTuple):
    """Where each kind of weight lies in `w`, and how many shapes segments have.

    A *shape* is a label and a length; those of label ``k`` are the numbers
    ``shape_at[k]:shape_at[k + 1]`` of the corpus.
    """

    n_labels: int
    n_roles: int
    n_shapes: int
    has_lengths: int
    has_start: int
    has_end: int
    match_at: int
    length_at: int
    transition_at: int
    start_at: int
    end_at: int
    n_weights: int


class SegmentMask(NamedTuple):
    """What is legal: 1 allowed, 0 forbidden. No rows in `tokens`: all are allowed.

    `tokens` has a column for every code: that a segment of a label begins, and that it
    goes on.
    """

    transitions: NDArray[np.uint8]
    start: NDArray[np.uint8]
    end: NDArray[np.uint8]
    tokens: NDArray[np.uint8]


class SegmentCosts(NamedTuple):
    """What mistakes cost.

    A token costs ``labels[right, predicted]``, or `border` where only one of the two
    begins a segment, times its weight; no weights: all one. A segment that is not a
    right one costs ``segments[label]``, and so does a right one that is missing:
    `missed` shares that out over its tokens. Nothing in `missed`: nothing.
    """

    labels: FloatArray
    border: float
    token_weight: FloatArray
    segments: FloatArray
    missed: FloatArray


class Segments(NamedTuple):
    """A corpus of segmented sequences; make one with `make_segments`.

    `right` has the code of every token, `right_length` the length of the segment that
    begins there, 0 where none does.
    """

    nodes: Rows
    matches: Matches
    ptr: IntArray
    right: CodeArray
    right_length: CodeArray
    shape_at: IntArray
    layout: SegmentLayout
    mask: SegmentMask
    costs: SegmentCosts


def make_segments(
    nodes: Rows,
    ptr: ArrayLike,
    codes: ArrayLike | None,
    limits: ArrayLike,
    *,
    matches: Matches | None = None,
    roles: bool = True,
    lengths: bool = True,
    start: bool = False,
    end: bool = False,
    costs: ArrayLike | None = None,
    border_cost: float = 1.0,
    segment_costs: ArrayLike | None = None,
    token_weight: ArrayLike | None = None,
    forbidden_transitions: ArrayLike | None = None,
    forbidden_start: ArrayLike | None = None,
    forbidden_end: ArrayLike | None = None,
    forbidden_codes: ArrayLike | None = None,
) -> Segments:
    """Check the arrays of a corpus of segmented sequences and lay out its weights.

    Parameters
    ----------
    nodes : SparseRows, PairRows or DenseRows
        The features of every token of the corpus. A segment has the sum of those of its
        tokens.
    ptr : array of int
        Sequence `i` is the tokens ``ptr[i]:ptr[i + 1]``.
    codes : array of int or None
        For every token ``k`` where a segment of label `k` begins, ``n_labels + k``
        where one goes on; None when only predicting.
    limits : array of int
        How long segments of each label may be, in tokens.
    matches : Matches, optional
        Features of whole segments.
    roles : bool
        Whether the first and the last token of a segment have weights of their own.
    lengths : bool
        Whether every length of a label has a weight.
    start, end : bool
        Whether the first and the last label have weights of their own.
    costs : matrix, optional
        What a token of a wrong label costs, ``costs[right, predicted]``; Hamming by
        default.
    border_cost : float
        What a token of the right label costs that begins a segment and should not, or
        should and does not.
    segment_costs : array, optional
        What a wrong segment of each label costs, and a right one that is missing;
        nothing by default. It is added to the cost of tokens.
    token_weight : array, optional
        What multiplies the cost of every token.
    forbidden_transitions : boolean matrix, optional
        True where a segment of label `b` may not follow one of label `a`.
    forbidden_start, forbidden_end : boolean vectors, optional
        True where a sequence may not start, or end, with a label.
    forbidden_codes : boolean matrix, optional
        True where a token may not have a code.

    Examples
    --------
    >>> from partwise.structures import make_sparse_rows
    >>> rows = make_sparse_rows([0, 1, 2, 3], [0, 1, 1])
    >>> s = make_segments(rows, [0, 3], [0, 1, 3], limits=[1, 2])
    >>> s.right_length.tolist(), s.layout.n_weights  # 12 of tokens, 3 lengths, 4 pairs
    ([1, 2, 0], 19)
    """
    ptr = np.ascontiguousarray(ptr, np.int64)
    if ptr.size == 0 or ptr[0] != 0 or (np.diff(ptr) < 0).any():
        raise ValueError("sequence pointers must start at 0 and never decrease")
    n_tokens = int(ptr[-1])
    limits = np.ascontiguousarray(limits, np.int64)
    K = limits.size
    if limits.ndim != 1 or K == 0 or (limits < 1).any():
        raise ValueError("every label needs a limit of at least 1 token")
    n_roles = ROLES if roles else 1
    check_rows(nodes, n_tokens, n_roles * K)
    matches = no_matches(n_tokens) if matches is None else matches
    if matches.ptr.size != n_tokens + 1:
        raise ValueError(
            f"matches of {matches.ptr.size - 1} tokens for {n_tokens} tokens"
        )
    if codes is None:
        codes = np.zeros(n_tokens, np.int32)
    right = np.ascontiguousarray(codes, np.int32)
    if right.size != n_tokens:
        raise ValueError(f"{right.size} codes for {n_tokens} tokens")
    mask = SegmentMask(
        _allowed(forbidden_transitions, (K, K)),
        _allowed(forbidden_start, (K,)),
        _allowed(forbidden_end, (K,)),
        np.zeros((0, 2 * K), np.uint8)
        if forbidden_codes is None
        else _allowed(forbidden_codes, (n_tokens, 2 * K)),
    )
    right_length = _lengths(right, ptr, K)
    return Segments(
        nodes,
        matches,
        ptr,
        right,
        right_length,
        np.concatenate([[0], np.cumsum(limits)]),
        _layout(nodes, matches, limits, n_roles, lengths, start, end),
        mask,
        SegmentCosts(
            hamming(K) if costs is None else make_cost_matrix(costs, K),
            _one_cost(border_cost),
            make_token_weight(token_weight, n_tokens),
            *_segment_costs(segment_costs, right, right_length, K),
        ),
    )


def _layout(
    nodes: Rows,
    matches: Matches,
    limits: IntArray,
    n_roles: int,
    lengths: bool,
    start: bool,
    end: bool,
) -> SegmentLayout:
    K, n_shapes = limits.size, int(limits.sum())
    match_at = int(n_row_weights(nodes, n_roles * K))
    length_at = match_at + matches.n_attributes * K
    transition_at = length_at + n_shapes * lengths
    start_at = transition_at + K * K
    end_at = start_at + K * start
    return SegmentLayout(
        n_labels=K,
        n_roles=n_roles,
        n_shapes=n_shapes,
        has_lengths=int(lengths),
        has_start=int(start),
        has_end=int(end),
        match_at=match_at,
        length_at=length_at,
        transition_at=transition_at,
        start_at=start_at,
        end_at=end_at,
        n_weights=end_at + K * end,
    )


def _lengths(right: CodeArray, ptr: IntArray, n_labels: int) -> CodeArray:
    """Return the length of the segment that begins at every token, 0 if none does."""
    K = n_labels
    if right.size and not 0 <= right.min() <= right.max() < 2 * K:
        raise ValueError(f"codes must lie in 0..{2 * K - 1}")
    inside = right >= K
    first = ptr[:-1][np.diff(ptr) > 0]
    before = np.concatenate([[0], right[:-1]]) % K if right.size else right
    if inside[first].any() or (inside & (before != right % K)).any():
        raise ValueError("a segment can only go on after a token of the same segment")
    begins = np.flatnonzero(~inside)
    lengths = np.zeros(right.size, np.int32)
    lengths[begins] = np.diff(np.append(begins, right.size))
    return lengths


def _one_cost(cost: float) -> float:
    cost = float(cost)
    if not 0.0 <= cost < np.inf:
        raise ValueError("costs must be finite and not negative")
    return cost


def _segment_costs(
    given: ArrayLike | None, right: CodeArray, lengths: CodeArray, n_labels: int
) -> tuple[FloatArray, FloatArray]:
    """Return the cost of a segment of each label, and its share by right token."""
    if given is None:
        return np.zeros(n_labels), np.zeros(0)
    costs = np.ascontiguousarray(given, np.float64)
    if costs.shape != (n_labels,):
        raise ValueError(f"{costs.size} costs of segments for {n_labels} labels")
    if not np.isfinite(costs).all() or (costs < 0).any():
        raise ValueError("costs must be finite and not negative")
    whole = np.repeat(lengths[lengths > 0], lengths[lengths > 0])
    return costs, costs[right % n_labels] / whole


def _allowed(forbidden: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    if forbidden is None:
        return np.ones(shape, np.uint8)
    allowed = ~np.asarray(forbidden, bool)
    if allowed.shape != shape:
        raise ValueError(f"a mask of shape {allowed.shape} where {shape} is needed")
    return np.ascontiguousarray(allowed, np.uint8)


def illegal_tokens(s: Segments) -> IntArray:
    """Return the tokens of the corpus where gold breaks a limit or a constraint."""
    y = s.right % s.layout.n_labels
    begins = np.flatnonzero(s.right_length)
    filled = np.diff(s.ptr) > 0
    bad = np.zeros(y.size, bool)
    bad[begins] = s.right_length[begins] > np.diff(s.shape_at)[y[begins]]
    inner = begins[~np.isin(begins, s.ptr)]
    bad[inner] |= s.mask.transitions[y[inner - 1], y[inner]] == 0
    first, last = s.ptr[:-1][filled], s.ptr[1:][filled] - 1
    bad[first] |= s.mask.start[y[first]] == 0
    bad[last] |= s.mask.end[y[last]] == 0
    if s.mask.tokens.size:
        bad |= s.mask.tokens[np.arange(y.size), s.right] == 0
    return np.flatnonzero(bad)


def illegal_segment(s: Segments) -> tuple[int, int] | None:
    """Return the first (sequence, token) where gold breaks a limit or a constraint."""
    where = illegal_tokens(s)
    if where.size == 0:
        return None
    i = int(np.searchsorted(s.ptr, where[0], side="right")) - 1
    return i, int(where[0] - s.ptr[i])
