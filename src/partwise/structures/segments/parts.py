"""The parts of a segmented sequence: how many, their scores, features, gold, costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.rows import row_add, row_entries, row_size, rows_dot
from partwise.structures.segments.corpus import Segments
from partwise.structures.vectors import add_scaled, copy, fill


@waist.n_examples.implement(Segments)
def _(s: Segments) -> int:
    return s.ptr.size - 1


@waist.n_weights.implement(Segments)
def _(s: Segments) -> int:
    return s.layout.n_weights


@waist.n_parts.implement(Segments)
def _(s: Segments, i: int) -> int:
    K, ends = s.layout.n_labels, s.layout.has_start + s.layout.has_end
    return (s.ptr[i + 1] - s.ptr[i]) * s.layout.n_shapes + K * K + ends * K


@waist.output_size.implement(Segments)
def _(s: Segments, i: int) -> int:
    return s.ptr[i + 1] - s.ptr[i]


@kernel
def _max_features(s: Segments) -> int:
    most = 0
    for i in range(s.ptr.size - 1):
        total = 4
        for t in range(s.ptr[i], s.ptr[i + 1]):
            whole = s.matches.ptr[t + 1] - s.matches.ptr[t]
            total += 2 * (s.layout.n_roles * row_size(s.nodes, t) + whole + 2)
        most = max(most, total)
    return most


@waist.max_features.implement(Segments)
def _(s: Segments) -> int:
    return _max_features(s)


@kernel
def part_of(s: Segments, t: int, label: int, length: int) -> int:
    """Return the number of the part that is a segment from token `t` on."""
    return t * s.layout.n_shapes + s.shape_at[label] + length - 1


@kernel
def end_of(s: Segments, y: CodeArray, t: int, n: int) -> int:
    """Return the end of the segment that begins at token `t` of `n`."""
    inside = s.layout.n_labels + y[t]
    t += 1
    while t < n and y[t] == inside:
        t += 1
    return t


@waist.part_scores.implement(Segments)
def _(s: Segments, i: int, w: FloatArray, theta: FloatArray, ws: Any) -> None:
    K, M = s.layout.n_labels, s.layout.n_shapes
    first, n = s.ptr[i], s.ptr[i + 1] - s.ptr[i]
    _score_tokens(s, i, w, ws)
    for t in range(n):
        for k in range(K):
            limit, at = s.shape_at[k + 1] - s.shape_at[k], part_of(s, t, k, 1)
            here, tail = theta[at : at + limit], ws.tail[k, t:n]
            fits = min(limit, n - t)
            for d in range(fits):
                here[d] = ws.head[k, t] + tail[d]
            for d in range(fits, limit):  # longer than the rest of the sequence
                here[d] = 0.0
            if s.layout.has_lengths:
                own = s.layout.length_at + s.shape_at[k]
                weight = w[own : own + fits]
                for d in range(fits):
                    here[d] += weight[d]
        for j in range(s.matches.ptr[first + t], s.matches.ptr[first + t + 1]):
            length = s.matches.length[j]
            at = s.layout.match_at + s.matches.attribute[j] * K
            for k in range(K):
                if length <= s.shape_at[k + 1] - s.shape_at[k]:
                    theta[part_of(s, t, k, length)] += w[at + k]
    # Transitions, starts and ends lie side by side among weights and parts alike.
    copy(w[s.layout.transition_at : s.layout.n_weights], theta[n * M :])


@kernel
def _score_tokens(s: Segments, i: int, w: FloatArray, ws: Any) -> None:
    """Set ``head[k, t] + tail[k, u]`` to the score of the tokens from t to u.

    With the prefix sums S of the scores that tokens have in all segments of a label, it
    is ``first_t - S_t + S_(u + 1) + last_u``.
    """
    K, first, n = s.layout.n_labels, s.ptr[i], s.ptr[i + 1] - s.ptr[i]
    n_scores = ws.roles.shape[1]
    rows_dot(s.nodes, first, first + n, n_scores, w, ws.roles.reshape(ws.roles.size))
    for k in range(K):
        total = 0.0
        for t in range(n):
            ws.head[k, t] = -total
            total += ws.roles[t, k]
            ws.tail[k, t] = total
            if s.layout.n_roles > 1:
                ws.head[k, t] += ws.roles[t, K + k]
                ws.tail[k, t] += ws.roles[t, 2 * K + k]


@waist.add_parts.implement(Segments)
def _(
    s: Segments, i: int, mu: FloatArray, scale: float, w: FloatArray, ws: Any
) -> float:
    K, M = s.layout.n_labels, s.layout.n_shapes
    first, n = s.ptr[i], s.ptr[i + 1] - s.ptr[i]
    _count_roles(s, i, mu, ws)
    change = 0.0
    for t in range(n):
        change += row_add(s.nodes, first + t, ws.roles[t], scale, w)
        for j in range(s.matches.ptr[first + t], s.matches.ptr[first + t + 1]):
            length = s.matches.length[j]
            at = s.layout.match_at + s.matches.attribute[j] * K
            for k in range(K):
                if length <= s.shape_at[k + 1] - s.shape_at[k]:
                    step = scale * mu[part_of(s, t, k, length)]
                    change += step * (2.0 * w[at + k] + step)
                    w[at + k] += step
    if s.layout.has_lengths:
        _count_shapes(s, n, mu, ws.shapes)
        change += add_scaled(w, s.layout.length_at, ws.shapes, scale)
    ends = s.layout.n_weights - s.layout.transition_at
    rest = mu[n * M : n * M + ends]
    return change + add_scaled(w, s.layout.transition_at, rest, scale)


@kernel
def _count_roles(s: Segments, i: int, mu: FloatArray, ws: Any) -> None:
    """Write how often every token is one of a segment's, its first and its last."""
    K, n = s.layout.n_labels, s.ptr[i + 1] - s.ptr[i]
    for k in range(K):
        fill(ws.tail[k], n, 0.0)
        for t in range(n):
            at = part_of(s, t, k, 1)
            begun = 0.0
            for d in range(min(s.shape_at[k + 1] - s.shape_at[k], n - t)):
                begun += mu[at + d]
                ws.tail[k, t + d] += mu[at + d]
            ws.head[k, t] = begun
        inside = 0.0
        for t in range(n):
            inside += ws.head[k, t]
            ws.roles[t, k] = inside
            inside -= ws.tail[k, t]
            if s.layout.n_roles > 1:
                ws.roles[t, K + k] = ws.head[k, t]
                ws.roles[t, 2 * K + k] = ws.tail[k, t]


@kernel
def _count_shapes(s: Segments, n: int, mu: FloatArray, count: FloatArray) -> None:
    """Write how often every shape occurs."""
    fill(count, count.size, 0.0)
    for t in range(n):
        for k in range(s.layout.n_labels):
            begin, end = s.shape_at[k], s.shape_at[k + 1]
            for shape in range(begin, min(end, begin + n - t)):
                count[shape] += mu[t * s.layout.n_shapes + shape]


@waist.is_output.implement(Segments)
def _(s: Segments, i: int, y: CodeArray) -> bool:
    K, n = s.layout.n_labels, s.ptr[i + 1] - s.ptr[i]
    t = 0
    while t < n:
        if not 0 <= y[t] < K:
            return False
        end = end_of(s, y, t, n)
        if end - t > s.shape_at[y[t] + 1] - s.shape_at[y[t]]:
            return False
        t = end
    return True


@waist.parts_of.implement(Segments)
def _(s: Segments, i: int, y: CodeArray, ids: IntArray, counts: FloatArray) -> int:
    K, n = s.layout.n_labels, s.ptr[i + 1] - s.ptr[i]
    at = n * s.layout.n_shapes
    found, t = 0, 0
    while t < n:
        end = end_of(s, y, t, n)
        ids[found] = part_of(s, t, y[t], end - t)
        found += 1
        if end < n:
            ids[found] = at + y[t] * K + y[end]
            found += 1
        t = end
    at += K * K
    if s.layout.has_start and n > 0:
        ids[found] = at + y[0]
        found += 1
    at += K * s.layout.has_start
    if s.layout.has_end and n > 0:
        ids[found] = at + y[n - 1] % K
        found += 1
    counts[:found] = 1.0
    return found


@kernel
def segment_entries(
    s: Segments,
    i: int,
    t: int,
    label: int,
    length: int,
    other: CodeArray,
    idx: IntArray,
    val: FloatArray,
) -> int:
    """Write the features of a segment from token `t` on; return how many.

    Without those that tokens have in any segment of their label, where another output
    gives them the same label; an empty one gives none.
    """
    K, first = s.layout.n_labels, s.ptr[i] + t
    width, last = s.layout.n_roles * K, first + length - 1
    found = 0
    for u in range(length):
        if other.size == 0 or other[t + u] % K != label:
            found += row_entries(
                s.nodes, first + u, label, width, idx[found:], val[found:]
            )
    if s.layout.n_roles > 1:
        for u, role in ((first, K), (last, 2 * K)):
            found += row_entries(
                s.nodes, u, role + label, width, idx[found:], val[found:]
            )
    for j in range(s.matches.ptr[first], s.matches.ptr[first + 1]):
        if s.matches.length[j] == length:
            idx[found] = s.layout.match_at + s.matches.attribute[j] * K + label
            val[found] = 1.0
            found += 1
    if s.layout.has_lengths:
        idx[found] = s.layout.length_at + s.shape_at[label] + length - 1
        val[found] = 1.0
        found += 1
    return found


@waist.part_row.implement(Segments)
def _(s: Segments, i: int, r: int, idx: IntArray, val: FloatArray, ws: Any) -> int:
    M, n = s.layout.n_shapes, s.ptr[i + 1] - s.ptr[i]
    if r >= n * M:
        idx[0], val[0] = s.layout.transition_at + r - n * M, 1.0
        return 1
    t, shape, label = r // M, r % M, 0
    while shape >= s.shape_at[label + 1]:
        label += 1
    length = shape - s.shape_at[label] + 1
    if t + length > n:
        return 0
    return segment_entries(s, i, t, label, length, ws.cursor[:0], idx, val)


@waist.gold.implement(Segments)
def _(s: Segments, i: int, y: CodeArray) -> None:
    copy(s.right[s.ptr[i] : s.ptr[i + 1]], y)


@kernel
def _token_cost(s: Segments, t: int, code: int) -> float:
    """Return the cost of a code at token `t` of the corpus."""
    K, right = s.layout.n_labels, s.right[t]
    if code == right:
        return 0.0
    weight = 1.0 if s.costs.token_weight.size == 0 else s.costs.token_weight[t]
    label = code if code < K else code - K  # a remainder takes far longer
    right_label = right if right < K else right - K
    if label == right_label:
        return weight * s.costs.border
    return weight * s.costs.labels[right_label, label]


@kernel
def _is_right(s: Segments, t: int, label: int, length: int) -> bool:
    """Say whether a segment from token `t` of the corpus on is one of gold."""
    return s.right[t] == label and s.right_length[t] == length


@waist.add_costs.implement(Segments)
def _(s: Segments, i: int, theta: FloatArray) -> None:
    K, first, n = s.layout.n_labels, s.ptr[i], s.ptr[i + 1] - s.ptr[i]
    inside = np.empty(n)  # what every token costs where a segment goes on
    for k in range(K):
        limit, of_segment = s.shape_at[k + 1] - s.shape_at[k], s.costs.segments[k]
        for t in range(n):
            inside[t] = _cost_at(s, first + t, K + k)
        for t in range(n):
            at = part_of(s, t, k, 1)
            here, own = theta[at : at + min(limit, n - t)], inside[t:]
            right = s.right_length[first + t] if s.right[first + t] == k else 0
            untouched = here[right - 1] if right > 0 else 0.0
            total = _cost_at(s, first + t, k) + of_segment
            here[0] += total
            for d in range(1, here.size):
                total += own[d]
                here[d] += total
            if right > 0:
                here[right - 1] = untouched


@kernel
def _cost_at(s: Segments, t: int, code: int) -> float:
    """Return the cost of a code in a wrong segment, that of a missed one included."""
    cost = _token_cost(s, t, code)
    return cost + s.costs.missed[t] if s.costs.missed.size else cost


@waist.cost.implement(Segments)
def _(s: Segments, i: int, y: CodeArray) -> float:
    first, n = s.ptr[i], s.ptr[i + 1] - s.ptr[i]
    total, t = 0.0, 0
    while t < n:
        end = end_of(s, y, t, n)
        if not _is_right(s, first + t, y[t], end - t):
            total += s.costs.segments[y[t]]
            for u in range(t, end):
                total += _token_cost(s, first + u, y[u])
                if s.costs.missed.size:
                    total += s.costs.missed[first + u]
        t = end
    return total
