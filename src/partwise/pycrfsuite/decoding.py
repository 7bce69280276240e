"""Tagging one sequence with little ado: what a call costs matters as much as the work.

Structures are made for whole corpora; handing one over takes longer than tagging a
sentence. Here plain arrays are handed over instead.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures.interface import CodeArray, FloatArray, IntArray


@kernel
def state_scores(
    ptr: IntArray,
    numbers: CodeArray,
    values: FloatArray,
    pair_ptr: IntArray,
    pair_label: CodeArray,
    weight: FloatArray,
    n_labels: int,
) -> NDArray[np.float64]:
    """Return the score of every label at every token; unknown attributes are -1."""
    scores = np.zeros((ptr.size - 1, n_labels))
    for t in range(ptr.size - 1):
        row = scores[t]
        for j in range(ptr[t], ptr[t + 1]):
            attribute = numbers[j]
            if attribute < 0:
                continue
            value = 1.0 if values.size == 0 else values[j]
            for p in range(pair_ptr[attribute], pair_ptr[attribute + 1]):
                row[np.uint32(pair_label[p])] += value * weight[p]
    return scores


@kernel
def best_path(
    scores: NDArray[np.float64], transitions: NDArray[np.float64]
) -> CodeArray:
    """Return the best labels; of equal scores the lowest label wins."""
    length, K = scores.shape
    back = np.zeros((length, K), np.int32)
    best, arrive = scores[0].copy(), np.zeros(K)
    for t in range(1, length):
        came = back[t]
        for b in range(K):
            arrive[b] = best[0] + transitions[0, b]
        for a in range(1, K):
            # The inner loop goes along a row, which vectorises.
            here, moves = best[a], transitions[a]
            for b in range(K):
                score = here + moves[b]
                if score > arrive[b]:
                    arrive[b] = score
                    came[b] = a
        for b in range(K):
            best[b] = arrive[b] + scores[t, b]
    path = np.zeros(length, np.int32)
    for b in range(1, K):
        if best[b] > best[path[length - 1]]:
            path[length - 1] = b
    for t in range(length - 1, 0, -1):
        path[t - 1] = back[t, path[t]]
    return path


@kernel
def tag_path(
    ptr: IntArray,
    numbers: CodeArray,
    values: FloatArray,
    pair_ptr: IntArray,
    pair_label: CodeArray,
    weight: FloatArray,
    transitions: NDArray[np.float64],
) -> CodeArray:
    """Return the best labels of a sequence."""
    K = transitions.shape[0]
    scores = state_scores(ptr, numbers, values, pair_ptr, pair_label, weight, K)
    return best_path(scores, transitions)
