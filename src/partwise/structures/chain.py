"""Linear chains: one label per position, scored alone and with its neighbour.

Parts of a chain of T positions and K labels, in this order in `theta`:

- ``T * K`` node parts, (position, label);
- ``K * K`` transition parts (label before, label), tied over positions, or
  ``(T - 1) * K * K`` of them when transitions see the observations (`edges`);
- ``K`` start and ``K`` end parts, where the chain has them.

The inference itself is in `viterbi` and `forward_backward`; this file lays the
arrays out and answers the questions that need no dynamic programme.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partwise._jit import kernel
from partwise.errors import DataError
from partwise.structures import interface as waist
from partwise.structures.costs import hamming, make_cost_matrix
from partwise.structures.forward_backward import (
    ForwardBackwardSpace,
    forward_backward,
    make_forward_backward_space,
)
from partwise.structures.interface import (
    CodeArray,
    Diff,
    FloatArray,
    IntArray,
    accumulate,
    take_sqnorm,
)
from partwise.structures.rows import (
    Rows,
    SparseRows,
    check_rows,
    n_row_weights,
    no_rows,
    row_add,
    row_diff_add,
    row_diff_dot,
    row_dot,
    row_entries,
    row_size,
)
from partwise.structures.viterbi import (
    ViterbiSpace,
    kbest_paths,
    make_viterbi_space,
    viterbi,
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
    """What is legal: 1 allowed, 0 forbidden. No rows in `tokens`: all allowed."""

    transitions: NDArray[np.uint8]
    start: NDArray[np.uint8]
    end: NDArray[np.uint8]
    tokens: NDArray[np.uint8]


class Chain(NamedTuple):
    """A corpus of sequences; make one with `make_chain`."""

    nodes: Rows
    edges: SparseRows
    ptr: IntArray
    labels: CodeArray
    layout: ChainLayout
    mask: ChainMask
    costs: FloatArray


class ChainSpace(NamedTuple):
    """Scratch arrays of a chain."""

    viterbi: ViterbiSpace
    sums: ForwardBackwardSpace
    zeros: FloatArray


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
    forbidden_transitions: ArrayLike | None = None,
    forbidden_start: ArrayLike | None = None,
    forbidden_end: ArrayLike | None = None,
    forbidden_labels: ArrayLike | None = None,
) -> Chain:
    """Check the arrays of a corpus of sequences and lay out its weights.

    Parameters
    ----------
    nodes : SparseRows, PairRows or DenseRows
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
    forbidden_transitions : boolean matrix, optional
        True where label `b` may not follow label `a`.
    forbidden_start, forbidden_end : boolean vectors, optional
        True where a sequence may not start, or end, with a label.
    forbidden_labels : boolean matrix, optional
        True where a position may not have a label.

    Examples
    --------
    >>> from partwise.structures.rows import make_sparse_rows
    >>> chain = make_chain(make_sparse_rows([0, 1, 2], [0, 1]), [0, 2], [0, 1], 2)
    >>> waist.n_weights(chain)
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
    return Chain(nodes, edges, ptr, labels, layout, mask, matrix)


def _allowed(forbidden: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    if forbidden is None:
        return np.ones(shape, np.uint8)
    allowed = ~np.asarray(forbidden, bool)
    if allowed.shape != shape:
        raise ValueError(f"a mask of shape {allowed.shape} where {shape} is needed")
    return np.ascontiguousarray(allowed, np.uint8)


def illegal_position(s: Chain) -> tuple[int, int] | None:
    """Return the first (sequence, position) where gold breaks a constraint, or None."""
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
    where = np.flatnonzero(bad)
    if where.size == 0:
        return None
    i = int(np.searchsorted(s.ptr, where[0], side="right")) - 1
    return i, int(where[0] - s.ptr[i])


def check_gold(s: Chain) -> None:
    """Raise `DataError` if a constraint forbids a right label."""
    found = illegal_position(s)
    if found is not None:
        raise DataError(
            f"the labels of sequence {found[0]} break the constraints at position "
            f"{found[1]}; correct the labels or loosen the constraints"
        )


# --- sizes ------------------------------------------------------------------------


@kernel
def n_transition_parts(s: Chain, i: int) -> int:
    """Return K*K for tied transitions, (T-1)*K*K for observed ones."""
    square = s.layout.n_labels * s.layout.n_labels
    if s.edges.n_columns == 0:
        return square
    return max(s.ptr[i + 1] - s.ptr[i] - 1, 0) * square


@waist.n_examples.implement(Chain)
def _(s: Chain) -> int:
    return s.ptr.size - 1


@waist.n_weights.implement(Chain)
def _(s: Chain) -> int:
    return s.layout.n_weights


@waist.n_parts.implement(Chain)
def _(s: Chain, i: int) -> int:
    K = s.layout.n_labels
    length = s.ptr[i + 1] - s.ptr[i]
    ends = s.layout.has_start + s.layout.has_end
    return length * K + n_transition_parts(s, i) + ends * K


@waist.output_size.implement(Chain)
def _(s: Chain, i: int) -> int:
    return s.ptr[i + 1] - s.ptr[i]


@kernel
def _max_features(s: Chain) -> int:
    most = 0
    for i in range(s.ptr.size - 1):
        total = 4
        for t in range(s.ptr[i], s.ptr[i + 1]):
            total += 2 * row_size(s.nodes, t) + 2
            if s.edges.n_columns:
                total += 2 * row_size(s.edges, t)
        most = max(most, total)
    return most


@waist.max_features.implement(Chain)
def _(s: Chain) -> int:
    return _max_features(s)


@waist.workspace.implement(Chain)
def _(s: Chain, k: int) -> Any:
    longest = int(np.diff(s.ptr).max(initial=0))
    n_labels = s.layout.n_labels
    return ChainSpace(
        make_viterbi_space(longest, n_labels, k),
        make_forward_backward_space(longest, n_labels),
        np.zeros(n_labels),
    )


# --- scores and weights -------------------------------------------------------------


@waist.part_scores.implement(Chain)
def _(s: Chain, i: int, w: FloatArray, theta: FloatArray, ws: Any) -> None:
    K = s.layout.n_labels
    square = K * K
    first, last = s.ptr[i], s.ptr[i + 1]
    theta[: waist.n_parts(s, i)] = 0.0
    for t in range(first, last):
        at = (t - first) * K
        row_dot(s.nodes, t, w, theta[at : at + K])
    at = (last - first) * K
    tied = s.layout.transition_at
    if s.edges.n_columns == 0:
        theta[at : at + square] = w[tied : tied + square]
        at += square
    else:
        for t in range(first + 1, last):
            theta[at : at + square] = w[tied : tied + square]
            row_dot(s.edges, t, w[s.layout.edge_at :], theta[at : at + square])
            at += square
    if s.layout.has_start:
        theta[at : at + K] = w[s.layout.start_at : s.layout.start_at + K]
        at += K
    if s.layout.has_end:
        theta[at : at + K] = w[s.layout.end_at : s.layout.end_at + K]


@kernel
def _add_block(w: FloatArray, mu: FloatArray, scale: float) -> float:
    """Do ``w += scale * mu``; return the change of ``|w|^2``."""
    change = 0.0
    for k in range(mu.size):
        step = scale * mu[k]
        change += step * (2.0 * w[k] + step)
        w[k] += step
    return change


@waist.add_parts.implement(Chain)
def _(s: Chain, i: int, mu: FloatArray, scale: float, w: FloatArray, ws: Any) -> float:
    K = s.layout.n_labels
    square = K * K
    first, last = s.ptr[i], s.ptr[i + 1]
    change = 0.0
    for t in range(first, last):
        at = (t - first) * K
        change += row_add(s.nodes, t, mu[at : at + K], scale, w)
    at = (last - first) * K
    tied = w[s.layout.transition_at : s.layout.transition_at + square]
    if s.edges.n_columns == 0:
        change += _add_block(tied, mu[at : at + square], scale)
        at += square
    else:
        edge_w = w[s.layout.edge_at :]
        for t in range(first + 1, last):
            change += _add_block(tied, mu[at : at + square], scale)
            change += row_add(s.edges, t, mu[at : at + square], scale, edge_w)
            at += square
    if s.layout.has_start:
        change += _add_block(w[s.layout.start_at :], mu[at : at + K], scale)
        at += K
    if s.layout.has_end:
        change += _add_block(w[s.layout.end_at :], mu[at : at + K], scale)
    return change


@waist.parts_of.implement(Chain)
def _(s: Chain, i: int, y: CodeArray, ids: IntArray, counts: FloatArray) -> int:
    K = s.layout.n_labels
    length = s.ptr[i + 1] - s.ptr[i]
    if length == 0:
        return 0
    stride = 0 if s.edges.n_columns == 0 else K * K
    found = 0
    for t in range(length):
        ids[found] = t * K + y[t]
        found += 1
    for t in range(1, length):
        ids[found] = length * K + (t - 1) * stride + y[t - 1] * K + y[t]
        found += 1
    at = length * K + n_transition_parts(s, i)
    if s.layout.has_start:
        ids[found] = at + y[0]
        found += 1
        at += K
    if s.layout.has_end:
        ids[found] = at + y[length - 1]
        found += 1
    counts[:found] = 1.0
    return found


@waist.part_row.implement(Chain)
def _(s: Chain, i: int, r: int, idx: IntArray, val: FloatArray, ws: Any) -> int:
    K = s.layout.n_labels
    first, length = s.ptr[i], s.ptr[i + 1] - s.ptr[i]
    if r < length * K:
        return row_entries(s.nodes, first + r // K, r % K, K, idx, val)
    r -= length * K
    n_transitions = n_transition_parts(s, i)
    val[0] = 1.0
    if r < n_transitions:
        pair = r % (K * K)
        idx[0] = s.layout.transition_at + pair
        if s.edges.n_columns == 0:
            return 1
        t = first + 1 + r // (K * K)
        found = row_entries(s.edges, t, pair, K * K, idx[1:], val[1:])
        for j in range(1, found + 1):
            idx[j] += s.layout.edge_at
        return found + 1
    r -= n_transitions
    if s.layout.has_start and r < K:
        idx[0] = s.layout.start_at + r
    else:
        idx[0] = s.layout.end_at + r - K * s.layout.has_start
    return 1


# --- gold and costs -----------------------------------------------------------------


@waist.gold.implement(Chain)
def _(s: Chain, i: int, y: CodeArray) -> None:
    first = s.ptr[i]
    for t in range(s.ptr[i + 1] - first):
        y[t] = s.labels[first + t]


@waist.add_costs.implement(Chain)
def _(s: Chain, i: int, theta: FloatArray) -> None:
    K = s.layout.n_labels
    first = s.ptr[i]
    for t in range(s.ptr[i + 1] - first):
        right = s.labels[first + t]
        for k in range(K):
            theta[t * K + k] += s.costs[right, k]


@waist.cost.implement(Chain)
def _(s: Chain, i: int, y: CodeArray) -> float:
    first = s.ptr[i]
    total = 0.0
    for t in range(s.ptr[i + 1] - first):
        total += s.costs[s.labels[first + t], y[t]]
    return total


# --- inference ------------------------------------------------------------------------


@kernel
def _views(
    s: Chain, i: int, theta: FloatArray, ws: ChainSpace
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Split `theta` into node, transition, start and end scores."""
    K = s.layout.n_labels
    length = s.ptr[i + 1] - s.ptr[i]
    node = theta[: length * K].reshape(length, K)
    at = length * K
    stop = at + n_transition_parts(s, i)
    transition = theta[at:stop].reshape((stop - at) // (K * K), K, K)
    start = end = ws.zeros
    if s.layout.has_start:
        start = theta[stop : stop + K]
        stop += K
    if s.layout.has_end:
        end = theta[stop : stop + K]
    return node, transition, start, end


@kernel
def _token_mask(s: Chain, i: int) -> NDArray[np.uint8]:
    if s.mask.tokens.shape[0] == 0:
        return s.mask.tokens
    return s.mask.tokens[s.ptr[i] : s.ptr[i + 1]]


@waist.argmax.implement(Chain)
def _(s: Chain, i: int, theta: FloatArray, y: CodeArray, ws: Any) -> float:
    if s.ptr[i + 1] == s.ptr[i]:
        return 0.0
    node, transition, start, end = _views(s, i, theta, ws)
    return viterbi(
        node, transition, start, end, s.mask, _token_mask(s, i), y, ws.viterbi
    )


@waist.kbest.implement(Chain)
def _(
    s: Chain,
    i: int,
    theta: FloatArray,
    k: int,
    ys: CodeArray,
    scores: FloatArray,
    ws: Any,
) -> int:
    if s.ptr[i + 1] == s.ptr[i]:
        scores[0] = 0.0
        return 1
    node, transition, start, end = _views(s, i, theta, ws)
    return kbest_paths(
        node, transition, start, end, s.mask, _token_mask(s, i), k, ys, scores,
        ws.viterbi,
    )  # fmt: skip


@waist.marginals.implement(Chain)
def _(s: Chain, i: int, theta: FloatArray, mu: FloatArray, ws: Any) -> float:
    K = s.layout.n_labels
    mu[: waist.n_parts(s, i)] = 0.0
    if s.ptr[i + 1] == s.ptr[i]:
        return 0.0
    node, transition, start, end = _views(s, i, theta, ws)
    node_mu, transition_mu, start_mu, end_mu = _views(s, i, mu, ws)
    log_z = forward_backward(
        node, transition, start, end, s.mask, _token_mask(s, i),
        node_mu, transition_mu, True, ws.sums,
    )  # fmt: skip
    if s.layout.has_start:
        for k in range(K):
            start_mu[k] = node_mu[0, k]
    if s.layout.has_end:
        for k in range(K):
            end_mu[k] = node_mu[node_mu.shape[0] - 1, k]
    return log_z


@waist.log_partition.implement(Chain)
def _(s: Chain, i: int, theta: FloatArray, ws: Any) -> float:
    if s.ptr[i + 1] == s.ptr[i]:
        return 0.0
    node, transition, start, end = _views(s, i, theta, ws)
    return forward_backward(
        node, transition, start, end, s.mask, _token_mask(s, i),
        node, transition, False, ws.sums,
    )  # fmt: skip


# --- differences: only where the two outputs differ ------------------------------


@waist.diff_dot.implement(Chain)
def _(
    s: Chain, i: int, y: CodeArray, y_ref: CodeArray, w: FloatArray, diff: Diff, ws: Any
) -> float:
    K = s.layout.n_labels
    first, length = s.ptr[i], s.ptr[i + 1] - s.ptr[i]
    tied, square = s.layout.transition_at, K * K
    edge_w = w[s.layout.edge_at :]
    result = 0.0
    for t in range(length):
        here = y[t] != y_ref[t]
        if here:
            result += row_diff_dot(s.nodes, first + t, y_ref[t], y[t], K, w)
        if t > 0 and (here or y[t - 1] != y_ref[t - 1]):
            right, wrong = y_ref[t - 1] * K + y_ref[t], y[t - 1] * K + y[t]
            result += w[tied + right] - w[tied + wrong]
            if s.edges.n_columns:
                result += row_diff_dot(s.edges, first + t, right, wrong, square, edge_w)
    if length > 0:
        if s.layout.has_start:
            result += w[s.layout.start_at + y_ref[0]] - w[s.layout.start_at + y[0]]
        if s.layout.has_end:
            result += w[s.layout.end_at + y_ref[length - 1]]
            result -= w[s.layout.end_at + y[length - 1]]
    return result


@waist.diff_add.implement(Chain)
def _(
    s: Chain,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    scale: float,
    w: FloatArray,
    diff: Diff,
    ws: Any,
) -> None:
    K = s.layout.n_labels
    first, length = s.ptr[i], s.ptr[i + 1] - s.ptr[i]
    tied, square = s.layout.transition_at, K * K
    edge_w = w[s.layout.edge_at :]
    for t in range(length):
        here = y[t] != y_ref[t]
        if here:
            row_diff_add(s.nodes, first + t, y_ref[t], y[t], K, scale, w)
        if t > 0 and (here or y[t - 1] != y_ref[t - 1]):
            right, wrong = y_ref[t - 1] * K + y_ref[t], y[t - 1] * K + y[t]
            w[tied + right] += scale
            w[tied + wrong] -= scale
            if s.edges.n_columns:
                row_diff_add(s.edges, first + t, right, wrong, square, scale, edge_w)
    if length > 0:
        if s.layout.has_start:
            w[s.layout.start_at + y_ref[0]] += scale
            w[s.layout.start_at + y[0]] -= scale
        if s.layout.has_end:
            w[s.layout.end_at + y_ref[length - 1]] += scale
            w[s.layout.end_at + y[length - 1]] -= scale


@kernel
def _accumulate_row(
    rows: Rows, t: int, k: int, n_labels: int, offset: int, sign: float, diff: Diff
) -> None:
    found = row_entries(rows, t, k, n_labels, diff.idx, diff.val)
    for j in range(found):
        accumulate(diff.total, offset + diff.idx[j], sign * diff.val[j])


@waist.diff_sqnorm.implement(Chain)
def _(s: Chain, i: int, y: CodeArray, y_ref: CodeArray, diff: Diff, ws: Any) -> float:
    K = s.layout.n_labels
    first, length = s.ptr[i], s.ptr[i + 1] - s.ptr[i]
    tied, square = s.layout.transition_at, K * K
    for t in range(length):
        here = y[t] != y_ref[t]
        if here:
            _accumulate_row(s.nodes, first + t, y_ref[t], K, 0, 1.0, diff)
            _accumulate_row(s.nodes, first + t, y[t], K, 0, -1.0, diff)
        if t > 0 and (here or y[t - 1] != y_ref[t - 1]):
            right, wrong = y_ref[t - 1] * K + y_ref[t], y[t - 1] * K + y[t]
            accumulate(diff.total, tied + right, 1.0)
            accumulate(diff.total, tied + wrong, -1.0)
            if s.edges.n_columns:
                at = s.layout.edge_at
                _accumulate_row(s.edges, first + t, right, square, at, 1.0, diff)
                _accumulate_row(s.edges, first + t, wrong, square, at, -1.0, diff)
    if length > 0:
        if s.layout.has_start:
            accumulate(diff.total, s.layout.start_at + y_ref[0], 1.0)
            accumulate(diff.total, s.layout.start_at + y[0], -1.0)
        if s.layout.has_end:
            accumulate(diff.total, s.layout.end_at + y_ref[length - 1], 1.0)
            accumulate(diff.total, s.layout.end_at + y[length - 1], -1.0)
    return take_sqnorm(diff.total)
