"""The best label sequence of higher order, and the k best: Viterbi over steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures.interface import CodeArray, FloatArray
from partwise.structures.ngrams.corpus import NGramChain
from partwise.structures.ngrams.scores import NGramScores, last_score, node_score


@kernel
def best_labels(s: NGramChain, given: NGramScores, y: CodeArray, ws: Any) -> float:
    """Write the best legal labels to `y`; return their score, or -inf.

    ``ws.best[t, j]`` is the best score of all up to position t in state j, and
    ``ws.came[t, j]`` the step that led there.
    """
    grams, n_states = s.grams, s.grams.label.size
    length = given.node.shape[0]
    for t in range(length):
        here = ws.best[t]
        for j in range(n_states):
            top, best = -np.inf, -1
            node = node_score(given, t, grams.label[j])
            if node > -np.inf:
                for e in range(grams.step_ptr[j], grams.step_ptr[j + 1]):
                    before = grams.source[e]
                    value = given.step[e]
                    if t > 0:
                        value += ws.best[t - 1, before]
                    elif before != 0:
                        continue
                    if value > top:
                        top, best = value, e
            here[j] = top + node if best >= 0 else -np.inf
            ws.came[t, j] = best
    result, state = -np.inf, -1
    for j in range(n_states):
        value = ws.best[length - 1, j] + last_score(s, given, j)
        if value > result:
            result, state = value, j
    if state < 0:
        y[:length] = 0
        return -np.inf
    for t in range(length - 1, -1, -1):
        y[t] = grams.label[state]
        state = grams.source[ws.came[t, state]]
    return result


@kernel
def kbest_labels(
    s: NGramChain,
    given: NGramScores,
    k: int,
    ys: NDArray[np.int32],
    scores: FloatArray,
    ws: Any,
) -> int:
    """Write the `k` best legal label sequences; return how many exist.

    Every state at every position keeps its `k` best prefixes, merged from the sorted
    lists of the states before it.
    """
    grams, n_states = s.grams, s.grams.label.size
    length = given.node.shape[0]
    for t in range(length):
        for j in range(n_states):
            _rank(s, given, t, j, k, ws)
    found, cursor = 0, ws.cursor
    cursor[:n_states] = 0
    while found < k:
        top, best = -np.inf, -1
        for j in range(n_states):
            if cursor[j] < k:
                value = ws.ranked[length - 1, j, cursor[j]] + last_score(s, given, j)
                if value > top:
                    top, best = value, j
        if best < 0:
            break
        scores[found] = top
        state, rank = best, cursor[best]
        for t in range(length - 1, -1, -1):
            ys[found, t] = grams.label[state]
            e, rank = ws.ranked_step[t, state, rank], ws.ranked_rank[t, state, rank]
            state = grams.source[e]
        cursor[best] += 1
        found += 1
    return found


@kernel
def _rank(s: NGramChain, given: NGramScores, t: int, j: int, k: int, ws: Any) -> None:
    """Rank the prefixes that end at position `t` in state `j`."""
    grams, cursor = s.grams, ws.cursor
    ranked = ws.ranked[t, j]
    ranked[:k] = -np.inf
    node = node_score(given, t, grams.label[j])
    if node == -np.inf:
        return
    first, last = grams.step_ptr[j], grams.step_ptr[j + 1]
    cursor[: last - first] = 0
    for place in range(k):
        top, best = -np.inf, -1
        for e in range(first, last):
            rank, before = cursor[e - first], grams.source[e]
            if t == 0:
                value = given.step[e] if before == 0 and rank == 0 else -np.inf
            elif rank < k:
                value = ws.ranked[t - 1, before, rank] + given.step[e]
            else:
                value = -np.inf
            if value > top:
                top, best = value, e
        if best < 0:
            return
        ranked[place] = top + node
        ws.ranked_step[t, j, place] = best
        ws.ranked_rank[t, j, place] = cursor[best - first]
        cursor[best - first] += 1
