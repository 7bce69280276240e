"""Tagging one sequence with little ado: what a call costs matters as much as the work.

Structures are made for whole corpora; handing one over takes longer than tagging a
sentence. Here plain arrays are handed over instead.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.pycrfsuite.records import DENSE
from partwise.structures.interface import CodeArray, FloatArray, IntArray


@kernel
def state_scores(
    ptr: IntArray,
    starts: CodeArray,
    values: FloatArray,
    words: NDArray[np.uint64],
    n_labels: int,
) -> NDArray[np.float64]:
    """Return the score of every label at every token.

    The records of attributes begin at `starts`, which are -1 if there is none.
    """
    weights = words.view(np.float64)
    scores = np.zeros((ptr.size - 1, n_labels))
    for t in range(ptr.size - 1):
        row = scores[t]
        for j in range(ptr[t], ptr[t + 1]):
            if starts[j] < 0:
                continue
            value = 1.0 if values.size == 0 else values[j]
            head = np.int64(starts[j])
            if words[head] == DENSE:
                for b in range(n_labels):
                    row[b] += value * weights[head + 1 + b]
            else:
                for p in range(head + 1, head + 1 + 2 * np.int64(words[head]), 2):
                    row[words[p]] += value * weights[p + 1]
    return scores


@kernel
def best_path(
    scores: NDArray[np.float64], transitions: NDArray[np.float64]
) -> CodeArray:
    """Return the best labels; of equal scores the lowest label wins."""
    length, K = scores.shape
    best, arrive = np.zeros((length, K)), np.zeros(K)
    best[0] = scores[0]
    for t in range(1, length):
        before, here = best[t - 1], best[t]
        for b in range(K):
            arrive[b] = before[0] + transitions[0, b]
        for a in range(1, K):
            # Where the best comes from is found on the way back, so this vectorises.
            score, moves = before[a], transitions[a]
            for b in range(K):
                arrive[b] = max(arrive[b], score + moves[b])
        for b in range(K):
            here[b] = arrive[b] + scores[t, b]
    path = np.zeros(length, np.int32)
    last = 0
    for b in range(1, K):
        if best[length - 1, b] > best[length - 1, last]:
            last = b
    path[length - 1] = last
    for t in range(length - 1, 0, -1):
        came = 0
        for a in range(1, K):
            score = best[t - 1, a] + transitions[a, last]
            if score > best[t - 1, came] + transitions[came, last]:
                came = a
        path[t - 1] = last = came
    return path


@kernel
def tag_path(
    ptr: IntArray,
    starts: CodeArray,
    values: FloatArray,
    words: NDArray[np.uint64],
    transitions: NDArray[np.float64],
) -> CodeArray:
    """Return the best labels of a sequence."""
    K = transitions.shape[0]
    return best_path(state_scores(ptr, starts, values, words, K), transitions)
