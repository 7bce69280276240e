"""Sums over all paths: forward to log Z, backward to marginals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.random_numbers import next_uniform
from partwise.structures.vectors import fill


class SumSpace(NamedTuple):
    """Scratch arrays: of every node the log sum of paths to it, and a running sum."""

    log_sum: FloatArray
    total: FloatArray


def make_sum_space(n_nodes: int) -> SumSpace:
    """Make the scratch arrays for lattices of up to `n_nodes` nodes."""
    return SumSpace(np.zeros(n_nodes), np.zeros(n_nodes))


@kernel
def sum_forward(
    source: CodeArray, target: CodeArray, theta: FloatArray, n_nodes: int,
    space: SumSpace,
) -> float:  # fmt: skip
    """Write the log sum of the paths from the first node to every node; return log Z.

    Until its last edge has come, a node has a sum relative to the largest term so far,
    which `log_sum` holds: one exponential per edge, one logarithm per node, for scores
    of any size.
    """
    top, total = space.log_sum, space.total
    fill(top, n_nodes, -np.inf)
    fill(total, n_nodes, 0.0)
    top[0], total[0] = 0.0, 1.0
    done = -1
    for e in range(source.size):
        u, v = source[e], target[e]
        # Edges are in the order of their sources: all edges into `u` have come.
        if u != done:
            top[u] += np.log(total[u]) if total[u] > 0.0 else 0.0
            done = u
        reached = top[u] + theta[e]
        if reached == -np.inf:  # an edge that is ruled out, or nothing leads to it
            continue
        if reached > top[v]:
            total[v] = total[v] * np.exp(top[v] - reached) + 1.0
            top[v] = reached
        else:
            total[v] += np.exp(reached - top[v])
    last = n_nodes - 1
    top[last] += np.log(total[last]) if total[last] > 0.0 else 0.0
    return top[last]


@kernel
def sum_backward(
    source: CodeArray, target: CodeArray, theta: FloatArray, n_nodes: int,
    mu: FloatArray, space: SumSpace,
) -> None:  # fmt: skip
    """Write the probability of every edge, after `sum_forward`.

    From the last node back: the probability of a node goes to the edges into it, in
    proportion to the paths that they end.
    """
    log_sum, mass = space.log_sum, space.total
    fill(mass, n_nodes - 1, 0.0)
    mass[n_nodes - 1] = 1.0
    for e in range(source.size - 1, -1, -1):
        u, v = source[e], target[e]
        mu[e] = 0.0
        if mass[v] > 0.0:  # otherwise there may be no sum to compare with
            mu[e] = mass[v] * np.exp(log_sum[u] + theta[e] - log_sum[v])
        mass[u] += mu[e]


@kernel
def draw_edges(
    source: CodeArray, target: CodeArray, theta: FloatArray, n_nodes: int,
    drawn: CodeArray, state: IntArray, space: SumSpace,
) -> None:  # fmt: skip
    """Draw one of the edges into every node, after `sum_forward`.

    In proportion to the paths that they end: each edge takes the place of the one
    before with its share of what has come so far. Followed back from the last node,
    they are a path drawn from the model.
    """
    log_sum, seen = space.log_sum, space.total
    fill(seen, n_nodes, 0.0)
    for e in range(source.size):
        v = target[e]
        share = np.exp(log_sum[source[e]] + theta[e] - log_sum[v])
        seen[v] += share
        if next_uniform(state) * seen[v] < share:
            drawn[v] = e
