"""Tagging one sequence with little ado: what a call costs matters as much as the work.

Structures are made for whole corpora; handing one over takes longer than tagging a
sentence. Here plain arrays are handed over instead.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures.interface import CodeArray, FloatArray, IntArray

LABEL, WEIGHT = 0, 1


def pair_table(label: CodeArray, weight: FloatArray) -> NDArray[np.float64]:
    """Return label and weight of every pair side by side: one place in memory."""
    return np.stack([label.astype(np.float64), weight], axis=1)


@kernel
def state_scores(
    ptr: IntArray,
    numbers: CodeArray,
    values: FloatArray,
    pair_ptr: IntArray,
    pairs: NDArray[np.float64],
    n_labels: int,
) -> NDArray[np.float64]:
    """Return the score of every label at every token; unknown attributes are -1."""
    # Where pairs begin is asked for all at once: these loads do not wait for another.
    begin = np.zeros(numbers.size, np.int64)
    end = np.zeros(numbers.size, np.int64)
    for j in range(numbers.size):
        if numbers[j] >= 0:
            begin[j] = pair_ptr[numbers[j]]
            end[j] = pair_ptr[numbers[j] + 1]
    scores = np.zeros((ptr.size - 1, n_labels))
    for t in range(ptr.size - 1):
        row = scores[t]
        for j in range(ptr[t], ptr[t + 1]):
            value = 1.0 if values.size == 0 else values[j]
            for p in range(begin[j], end[j]):
                row[np.uint32(pairs[p, LABEL])] += value * pairs[p, WEIGHT]
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
    numbers: CodeArray,
    values: FloatArray,
    pair_ptr: IntArray,
    pairs: NDArray[np.float64],
    transitions: NDArray[np.float64],
) -> CodeArray:
    """Return the best labels of a sequence."""
    K = transitions.shape[0]
    return best_path(
        state_scores(ptr, numbers, values, pair_ptr, pairs, K), transitions
    )
