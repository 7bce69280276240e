"""Sums over all label sequences of higher order: forward and backward over steps.

First in probabilities that are scaled at every position, with one exponential for every
step of a sequence; where something underflows, in logarithms.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.structures import vectors
from partwise.structures.interface import FloatArray
from partwise.structures.ngrams.corpus import NGramChain
from partwise.structures.ngrams.scores import NGramScores, last_score, node_score

TINY = 1e-200
"""Sums of a position below this, beside the largest, may have lost their digits."""


@kernel
def _exp_or_zero(score: float, top: float) -> float:
    return np.exp(score - top) if score > -np.inf else 0.0


@kernel
def sum_scaled(s: NGramChain, given: NGramScores, ws: Any) -> tuple[float, bool]:
    """Sum forward, scaled; return log Z, and whether nothing was lost.

    ``forward[t, j]`` is the share of state j at position t, of all prefixes.
    """
    grams, n_states = s.grams, s.grams.label.size
    length = given.node.shape[0]
    top_step = vectors.largest(given.step)
    if top_step == -np.inf:
        return 0.0, False
    vectors.exponentials(given.step, top_step, ws.exp_step)
    log_z = 0.0
    for t in range(length):
        top = -np.inf
        for j in range(n_states):
            top = max(top, node_score(given, t, grams.label[j]))
        if top == -np.inf:
            return -np.inf, True
        total = 0.0
        for j in range(n_states):
            value, reached = 0.0, False
            node = node_score(given, t, grams.label[j])
            if node > -np.inf:
                for e in range(grams.step_ptr[j], grams.step_ptr[j + 1]):
                    before = grams.source[e]
                    if t > 0:
                        value += ws.forward[t - 1, before] * ws.exp_step[e]
                        reached = reached or ws.alive[t - 1, before] > 0
                    elif before == 0:
                        value += ws.exp_step[e]
                        reached = True
                value *= np.exp(node - top)
            if reached and value < TINY:
                return 0.0, False
            ws.alive[t, j] = 1 if reached else 0
            ws.forward[t, j] = value
            total += value
        if total == 0.0:
            return -np.inf, True
        for j in range(n_states):
            ws.forward[t, j] /= total
        ws.scale[t] = total
        log_z += np.log(total) + top + top_step
    top_last = -np.inf
    for j in range(n_states):
        top_last = max(top_last, last_score(s, given, j))
    if top_last == -np.inf:
        return -np.inf, True
    total, alive = 0.0, False
    for j in range(n_states):
        last = last_score(s, given, j)
        ws.last[j] = _exp_or_zero(last, top_last)
        alive = alive or (ws.alive[length - 1, j] > 0 and last > -np.inf)
        total += ws.forward[length - 1, j] * ws.last[j]
    if not alive:
        return -np.inf, True
    if total < TINY:
        return 0.0, False
    return log_z + np.log(total) + top_last, True


@kernel
def expect_scaled(s: NGramChain, given: NGramScores, mu: NGramScores, ws: Any) -> bool:
    """Add expected counts, after `sum_scaled`; say whether nothing was lost.

    ``behind[j]`` is what follows state j, ``ahead[j]`` that of the position after it.
    """
    grams, n_states = s.grams, s.grams.label.size
    length = given.node.shape[0]
    behind, ahead = ws.behind, ws.ahead
    for j in range(n_states):
        behind[j] = ws.last[j]
    for t in range(length - 1, -1, -1):
        norm = 0.0
        for j in range(n_states):
            norm += ws.forward[t, j] * behind[j]
        if not norm > TINY:
            return False
        top = -np.inf
        for j in range(n_states):
            top = max(top, node_score(given, t, grams.label[j]))
            k = grams.label[j]
            if k >= 0 and ws.alive[t, j]:
                share = ws.forward[t, j] * behind[j] / norm
                mu.node[t, k] += share
                if t == length - 1:
                    mu.end[k] += share
        for j in range(n_states):
            ahead[j] = behind[j]
            behind[j] = 0.0
        # What leads to a state, times what follows it, over the mass of the position.
        unit = 1.0 / (norm * ws.scale[t])
        largest = 0.0
        for j in range(n_states):
            if not ws.alive[t, j] or ahead[j] == 0.0:
                continue
            here = ahead[j] * np.exp(node_score(given, t, grams.label[j]) - top)
            for e in range(grams.step_ptr[j], grams.step_ptr[j + 1]):
                before = grams.source[e]
                if t > 0:
                    flow = here * ws.exp_step[e]
                    behind[before] += flow
                    mu.step[e] += ws.forward[t - 1, before] * flow * unit
                elif before == 0:
                    mu.step[e] += here * ws.exp_step[e] * unit
        if t > 0:
            for j in range(n_states):
                if ws.alive[t - 1, j]:
                    largest = max(largest, behind[j])
            if not largest > TINY:
                return False
            for j in range(n_states):
                behind[j] /= largest
    return True


@kernel
def sum_logs(s: NGramChain, given: NGramScores, ws: Any) -> float:
    """Sum forward in logarithms: log Z, for any finite scores."""
    grams, n_states = s.grams, s.grams.label.size
    length = given.node.shape[0]
    for t in range(length):
        for j in range(n_states):
            node, top = node_score(given, t, grams.label[j]), -np.inf
            first, last = grams.step_ptr[j], grams.step_ptr[j + 1]
            if node > -np.inf:
                for e in range(first, last):
                    top = max(top, _arrive(s, given, t, e, ws))
            total = 0.0
            if top > -np.inf:
                for e in range(first, last):
                    total += _exp_or_zero(_arrive(s, given, t, e, ws), top)
            ws.forward[t, j] = top + np.log(total) + node if total > 0.0 else -np.inf
    top, total = -np.inf, 0.0
    for j in range(n_states):
        top = max(top, ws.forward[length - 1, j] + last_score(s, given, j))
    if top == -np.inf:
        return top
    for j in range(n_states):
        total += _exp_or_zero(ws.forward[length - 1, j] + last_score(s, given, j), top)
    return top + np.log(total)


@kernel
def _arrive(s: NGramChain, given: NGramScores, t: int, e: int, ws: Any) -> float:
    """Return the log sum of what comes to position `t` by the step `e`."""
    before = s.grams.source[e]
    if t == 0:
        return given.step[e] if before == 0 else -np.inf
    return ws.forward[t - 1, before] + given.step[e]


@kernel
def expect_logs(
    s: NGramChain,
    given: NGramScores,
    mu: NGramScores,
    steps: FloatArray,
    log_z: float,
    ws: Any,
) -> None:
    """Add expected counts, after `sum_logs`.

    Those of `steps` are of all positions together if it has one row, else of each.
    """
    grams, n_states = s.grams, s.grams.label.size
    length = given.node.shape[0]
    behind, ahead, top = ws.behind, ws.ahead, ws.last
    for j in range(n_states):
        behind[j] = last_score(s, given, j)
    for t in range(length - 1, -1, -1):
        for j in range(n_states):
            ahead[j], behind[j], top[j] = behind[j], 0.0, -np.inf
        for j in range(n_states):
            share = _exp_or_zero(ws.forward[t, j] + ahead[j], log_z)
            if share > 0.0:
                mu.node[t, grams.label[j]] += share
                if t == length - 1:
                    mu.end[grams.label[j]] += share
        for turn in range(2):  # the largest first, then the sums beside it
            for j in range(n_states):
                here = ahead[j] + node_score(given, t, grams.label[j])
                if here == -np.inf:
                    continue
                for e in range(grams.step_ptr[j], grams.step_ptr[j + 1]):
                    before, value = grams.source[e], here + given.step[e]
                    if turn == 0:
                        top[before] = max(top[before], value)
                        come = _arrive(s, given, t, e, ws)
                        row = t % steps.shape[0]
                        steps[row, e] += _exp_or_zero(come + here, log_z)
                    else:
                        behind[before] += _exp_or_zero(value, top[before])
        for j in range(n_states):
            behind[j] = top[j] + np.log(behind[j]) if behind[j] > 0.0 else -np.inf
