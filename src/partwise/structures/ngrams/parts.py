"""The parts of sequences of higher order: labels, steps and the last label."""

from __future__ import annotations

from typing import Any

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.ngrams.corpus import NGramChain
from partwise.structures.rows import row_entries, row_size, rows_add, rows_dot
from partwise.structures.vectors import add_scaled, copy


@kernel
def n_steps(s: NGramChain) -> int:
    """Return how many steps there are, at any position."""
    return s.grams.source.size


@waist.n_examples.implement(NGramChain)
def _(s: NGramChain) -> int:
    return s.ptr.size - 1


@waist.n_weights.implement(NGramChain)
def _(s: NGramChain) -> int:
    return s.layout.n_weights


@waist.n_parts.implement(NGramChain)
def _(s: NGramChain, i: int) -> int:
    K = s.layout.n_labels
    return (s.ptr[i + 1] - s.ptr[i]) * K + n_steps(s) + s.layout.has_end * K


@waist.n_deciding.implement(NGramChain)
def _(s: NGramChain, i: int) -> int:
    return (s.ptr[i + 1] - s.ptr[i]) * s.layout.n_labels


@waist.output_size.implement(NGramChain)
def _(s: NGramChain, i: int) -> int:
    return s.ptr[i + 1] - s.ptr[i]


@kernel
def _max_features(s: NGramChain) -> int:
    most, order = 0, s.grams.weight.shape[1]
    for i in range(s.ptr.size - 1):
        total = 2
        for t in range(s.ptr[i], s.ptr[i + 1]):
            total += 2 * row_size(s.nodes, t) + 2 * order
        most = max(most, total)
    return most


@waist.max_features.implement(NGramChain)
def _(s: NGramChain) -> int:
    return _max_features(s)


@waist.part_scores.implement(NGramChain)
def _(s: NGramChain, i: int, w: FloatArray, theta: FloatArray, ws: Any) -> None:
    K, weight = s.layout.n_labels, s.grams.weight
    first, last = s.ptr[i], s.ptr[i + 1]
    rows_dot(s.nodes, first, last, K, w, theta)
    of_steps = theta[(last - first) * K :]
    of_grams = w[s.layout.ngram_at :]
    for e in range(n_steps(s)):
        total = 0.0
        for j in range(weight.shape[1]):
            if weight[e, j] >= 0:
                total += of_grams[weight[e, j]]
        of_steps[e] = total
    if s.layout.has_end:
        copy(w[s.layout.end_at : s.layout.end_at + K], of_steps[n_steps(s) :])


@waist.add_parts.implement(NGramChain)
def _(
    s: NGramChain, i: int, mu: FloatArray, scale: float, w: FloatArray, ws: Any
) -> float:
    K, weight = s.layout.n_labels, s.grams.weight
    first, last = s.ptr[i], s.ptr[i + 1]
    change = rows_add(s.nodes, first, last, K, mu, scale, w)
    of_steps = mu[(last - first) * K :]
    of_grams = w[s.layout.ngram_at :]
    for e in range(n_steps(s)):
        step = scale * of_steps[e]
        if step == 0.0:
            continue
        for j in range(weight.shape[1]):
            if weight[e, j] >= 0:
                change += step * (2.0 * of_grams[weight[e, j]] + step)
                of_grams[weight[e, j]] += step
    if s.layout.has_end:
        at = n_steps(s)
        change += add_scaled(w, s.layout.end_at, of_steps[at : at + K], scale)
    return change


@waist.is_output.implement(NGramChain)
def _(s: NGramChain, i: int, y: CodeArray) -> bool:
    state = 0
    for t in range(s.ptr[i + 1] - s.ptr[i]):
        if not 0 <= y[t] < s.layout.n_labels or s.grams.next_step[state, y[t]] < 0:
            return False
        state = s.grams.target[s.grams.next_step[state, y[t]]]
    return True


@waist.parts_of.implement(NGramChain)
def _(s: NGramChain, i: int, y: CodeArray, ids: IntArray, counts: FloatArray) -> int:
    K, length = s.layout.n_labels, s.ptr[i + 1] - s.ptr[i]
    found, state = 0, 0
    for t in range(length):
        e = s.grams.next_step[state, y[t]]
        ids[found] = t * K + y[t]
        ids[found + 1] = length * K + e
        found += 2
        state = s.grams.target[e]
    if s.layout.has_end and length > 0:
        ids[found] = length * K + n_steps(s) + y[length - 1]
        found += 1
    counts[:found] = 1.0
    return found


@kernel
def step_entries(s: NGramChain, e: int, idx: IntArray, val: FloatArray) -> int:
    """Write the weights of a step; return how many it has."""
    found = 0
    for j in range(s.grams.weight.shape[1]):
        if s.grams.weight[e, j] >= 0:
            idx[found] = s.layout.ngram_at + s.grams.weight[e, j]
            val[found] = 1.0
            found += 1
    return found


@waist.part_row.implement(NGramChain)
def _(s: NGramChain, i: int, r: int, idx: IntArray, val: FloatArray, ws: Any) -> int:
    K, first, length = s.layout.n_labels, s.ptr[i], s.ptr[i + 1] - s.ptr[i]
    if r < length * K:
        return row_entries(s.nodes, first + r // K, r % K, K, idx, val)
    e = r - length * K
    if e < n_steps(s):
        return step_entries(s, e, idx, val)
    idx[0], val[0] = s.layout.end_at + e - n_steps(s), 1.0
    return 1


@waist.gold.implement(NGramChain)
def _(s: NGramChain, i: int, y: CodeArray) -> None:
    copy(s.labels[s.ptr[i] : s.ptr[i + 1]], y)


@kernel
def _weight(s: NGramChain, t: int) -> float:
    return 1.0 if s.token_weight.size == 0 else s.token_weight[t]


@waist.add_costs.implement(NGramChain)
def _(s: NGramChain, i: int, theta: FloatArray) -> None:
    K, first = s.layout.n_labels, s.ptr[i]
    for t in range(s.ptr[i + 1] - first):
        for k in range(K):
            cost = s.costs[s.labels[first + t], k]
            theta[t * K + k] += _weight(s, first + t) * cost


@waist.cost.implement(NGramChain)
def _(s: NGramChain, i: int, y: CodeArray) -> float:
    first, total = s.ptr[i], 0.0
    for t in range(s.ptr[i + 1] - first):
        total += _weight(s, first + t) * s.costs[s.labels[first + t], y[t]]
    return total
