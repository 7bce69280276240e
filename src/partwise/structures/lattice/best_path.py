"""The best path through a lattice."""

from __future__ import annotations

import numpy as np

from partwise._jit import kernel
from partwise.structures.interface import CodeArray, FloatArray
from partwise.structures.lattice.corpus import END
from partwise.structures.vectors import fill


@kernel
def score_nodes(
    source: CodeArray, target: CodeArray, theta: FloatArray, n_nodes: int,
    score: FloatArray, best: CodeArray,
) -> float:  # fmt: skip
    """Write every node's best score from the first node, and the last edge to it.

    Return that of the last node. Of equal scores the edge that comes first wins.
    """
    fill(score, n_nodes, -np.inf)
    fill(best, n_nodes, END)
    score[0] = 0.0
    for e in range(source.size):
        v = target[e]
        reached = score[source[e]] + theta[e]
        if reached > score[v] or best[v] == END:
            score[v] = reached
            best[v] = e
    return score[n_nodes - 1]


@kernel
def score_rests(
    source: CodeArray, target: CodeArray, theta: FloatArray, n_nodes: int,
    rest: FloatArray,
) -> None:  # fmt: skip
    """Write the best score of every node's ways to the last node."""
    fill(rest, n_nodes, -np.inf)
    rest[n_nodes - 1] = 0.0
    for e in range(source.size - 1, -1, -1):
        u = source[e]
        rest[u] = max(rest[u], theta[e] + rest[target[e]])


@kernel
def turn_round(y: CodeArray, length: int, size: int) -> None:
    """Reverse the first `length` edges, which were followed backward; end the path."""
    for j in range(length // 2):
        y[j], y[length - 1 - j] = y[length - 1 - j], y[j]
    for j in range(length, size):
        y[j] = END


@kernel
def trace_back(
    source: CodeArray, best: CodeArray, n_nodes: int, y: CodeArray, size: int
) -> None:
    """Write the best path, following the best edges back from the last node."""
    v, length = n_nodes - 1, 0
    while v > 0:
        e = best[v]
        y[length] = e
        length += 1
        v = source[e]
    turn_round(y, length, size)
