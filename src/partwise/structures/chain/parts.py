"""The parts of a chain: how many, their scores, features, gold and costs."""

from __future__ import annotations

from typing import Any

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.chain.corpus import Chain
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.rows import (
    row_add,
    row_dot,
    row_entries,
    row_size,
    rows_add,
    rows_add_elsewhere,
    rows_dot,
)
from partwise.structures.vectors import add_scaled, copy


@kernel
def n_transition_parts(s: Chain, i: int) -> int:
    """Return K*K for tied transitions, (T-1)*K*K for observed ones."""
    square = s.layout.n_labels * s.layout.n_labels
    if s.edges.n_columns == 0:
        return square
    return max(s.ptr[i + 1] - s.ptr[i] - 1, 0) * square


@kernel
def has_weight(s: Chain, pair: int) -> bool:
    """Say whether a pair of labels, ``a * K + b``, has a weight as a transition."""
    return s.weighted.size == 0 or s.weighted[pair] != 0


@kernel
def _score_transitions(s: Chain, w: FloatArray, theta: FloatArray) -> None:
    """Write the weights of all pairs of labels, zero for those without one."""
    tied = s.layout.transition_at
    copy(w[tied : tied + s.layout.n_labels * s.layout.n_labels], theta)
    for pair in range(s.weighted.size):
        if not s.weighted[pair]:
            theta[pair] = 0.0


@kernel
def _add_transitions(s: Chain, mu: FloatArray, scale: float, w: FloatArray) -> float:
    """Add the counts of all pairs of labels to their weights."""
    tied = s.layout.transition_at
    if s.weighted.size == 0:
        return add_scaled(w, tied, mu, scale)
    change = 0.0
    row = w[tied : tied + mu.size]
    for pair in range(mu.size):
        if s.weighted[pair]:
            step = scale * mu[pair]
            change += step * (2.0 * row[pair] + step)
            row[pair] += step
    return change


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


@waist.part_scores.implement(Chain)
def _(s: Chain, i: int, w: FloatArray, theta: FloatArray, ws: Any) -> None:
    rows_dot(s.nodes, s.ptr[i], s.ptr[i + 1], s.layout.n_labels, w, theta)
    score_links(s, i, w, theta)


@kernel
def score_links(s: Chain, i: int, w: FloatArray, theta: FloatArray) -> None:
    """Write the scores of all parts but those of single positions."""
    K = s.layout.n_labels
    square = K * K
    first, last = s.ptr[i], s.ptr[i + 1]
    at = (last - first) * K
    if s.edges.n_columns == 0:
        _score_transitions(s, w, theta[at:])
        at += square
    else:
        for t in range(first + 1, last):
            _score_transitions(s, w, theta[at:])
            row_dot(s.edges, t, w[s.layout.edge_at :], theta[at : at + square])
            at += square
    if s.layout.has_start:
        copy(w[s.layout.start_at : s.layout.start_at + K], theta[at:])
        at += K
    if s.layout.has_end:
        copy(w[s.layout.end_at : s.layout.end_at + K], theta[at:])


@waist.add_parts.implement(Chain)
def _(s: Chain, i: int, mu: FloatArray, scale: float, w: FloatArray, ws: Any) -> float:
    K, first, last = s.layout.n_labels, s.ptr[i], s.ptr[i + 1]
    change = rows_add(s.nodes, first, last, K, mu, scale, w)
    return change + add_links(s, i, mu, scale, w)


@kernel
def add_links(s: Chain, i: int, mu: FloatArray, scale: float, w: FloatArray) -> float:
    """Do `add_parts` for all parts but those of single positions."""
    K = s.layout.n_labels
    square = K * K
    first, last = s.ptr[i], s.ptr[i + 1]
    change = 0.0
    at = (last - first) * K
    if s.edges.n_columns == 0:
        change += _add_transitions(s, mu[at : at + square], scale, w)
        at += square
    else:
        edge_w = w[s.layout.edge_at :]
        for t in range(first + 1, last):
            change += _add_transitions(s, mu[at : at + square], scale, w)
            change += row_add(s.edges, t, mu[at : at + square], scale, edge_w)
            at += square
    if s.layout.has_start:
        change += add_scaled(w, s.layout.start_at, mu[at : at + K], scale)
        at += K
    if s.layout.has_end:
        change += add_scaled(w, s.layout.end_at, mu[at : at + K], scale)
    return change


@waist.add_block.implement(Chain)
def _(s: Chain, start: int, stop: int, mu: FloatArray, w: FloatArray, ws: Any) -> None:
    first, last = s.ptr[start], s.ptr[start + 1]
    rows_add_elsewhere(s.nodes, first, last, s.layout.n_labels, mu, 1.0, w)
    add_links(s, start, mu, 1.0, w)


@waist.is_output.implement(Chain)
def _(s: Chain, i: int, y: CodeArray) -> bool:
    for t in range(s.ptr[i + 1] - s.ptr[i]):
        if not 0 <= y[t] < s.layout.n_labels:
            return False
    return True


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
        own = 1 if has_weight(s, pair) else 0
        if s.edges.n_columns == 0:
            return own
        t = first + 1 + r // (K * K)
        found = row_entries(s.edges, t, pair, K * K, idx[own:], val[own:])
        for j in range(own, own + found):
            idx[j] += s.layout.edge_at
        return own + found
    r -= n_transitions
    if s.layout.has_start and r < K:
        idx[0] = s.layout.start_at + r
    else:
        idx[0] = s.layout.end_at + r - K * s.layout.has_start
    return 1


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
        weight = 1.0 if s.token_weight.size == 0 else s.token_weight[first + t]
        here, costs = theta[t * K : (t + 1) * K], s.costs[s.labels[first + t]]
        for k in range(K):
            here[k] += weight * costs[k]


@waist.cost.implement(Chain)
def _(s: Chain, i: int, y: CodeArray) -> float:
    first = s.ptr[i]
    total = 0.0
    for t in range(s.ptr[i + 1] - first):
        weight = 1.0 if s.token_weight.size == 0 else s.token_weight[first + t]
        total += weight * s.costs[s.labels[first + t], y[t]]
    return total
