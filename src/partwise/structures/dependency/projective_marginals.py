"""The probabilities of arcs in projective trees: inside-outside, in O(n^3).

The outside pass is the chart's own derivative, taken backwards. What an entry
contributes to the sum over all trees, a probability, is handed down to the splits that
made it in proportion to their shares; what arrives at an arc is its marginal. Only
positive numbers of at most one are added up: nothing overflows or cancels.
"""

from __future__ import annotations

import numpy as np

from partwise._jit import kernel
from partwise.structures.dependency.projective import (
    BEFORE,
    FOREST,
    JOINED,
    LEFT,
    LEFT_BY_END,
    OPEN_LEFT_BY_END,
    OPEN_RIGHT,
    RIGHT,
    RIGHT_BY_END,
    ROOTED,
    Buffers,
    EisnerChart,
    Total,
    fill_chart,
)
from partwise.structures.interface import FloatArray
from partwise.structures.vectors import exponentials

NEGLIGIBLE = 1e-20
"""Probabilities that are not handed down: far below what rounding does to others."""


@kernel
def projective_log_partition(
    score: FloatArray, single_root: bool, chart: EisnerChart, buffers: Buffers
) -> float:
    """Return the logarithm of the sum over all projective trees."""
    return fill_chart(Total(), score, single_root, chart, buffers)


@kernel
def _hand_down(
    mass: float,
    total: float,
    x: FloatArray,
    y: FloatArray,
    mass_of_x: FloatArray,
    mass_of_y: FloatArray,
    buffers: Buffers,
) -> None:
    """Share the mass of ``total = log sum exp(x + y)`` among the splits."""
    if mass < NEGLIGIBLE:
        return
    sums, shares = buffers.sums[: x.size], buffers.shares[: x.size]
    for u in range(x.size):
        sums[u] = x[u] + y[u]
    exponentials(sums, total, shares)
    for u in range(x.size):
        mass_of_x[u] += mass * shares[u]
        mass_of_y[u] += mass * shares[u]


@kernel
def projective_marginals(
    score: FloatArray,
    single_root: bool,
    mu: FloatArray,
    chart: EisnerChart,
    mass: EisnerChart,
    buffers: Buffers,
) -> float:
    """Write the probability of every arc to `mu`; return ``log Z``.

    Parameters
    ----------
    score : matrix
        As for `best_projective_tree`.
    single_root : bool
        Whether only one word may hang from the root.
    mu : matrix
        Takes the probabilities, ``mu[head, modifier]``; zeros if there is no tree.
    chart, mass, buffers
        Scratch arrays, as `make_eisner_chart` (twice) and `make_buffers` make them.
    """
    n = score.shape[0] - 1
    mu[:, :] = 0.0
    log_z = fill_chart(Total(), score, single_root, chart, buffers)
    if log_z == -np.inf:
        return log_z
    mass.tables[:, :n, :n] = 0.0
    _outside_of_root(single_root, mu, chart, mass, buffers, n)
    for width in range(n - 1, 0, -1):
        for s in range(n - width):
            t = s + width
            _hand_down(
                mass.tables[RIGHT, s, t] + mass.tables[RIGHT_BY_END, t, s],
                chart.tables[RIGHT, s, t],
                chart.tables[OPEN_RIGHT, s, s + 1 : t + 1],
                chart.tables[RIGHT_BY_END, t, s + 1 : t + 1],
                mass.tables[OPEN_RIGHT, s, s + 1 : t + 1],
                mass.tables[RIGHT_BY_END, t, s + 1 : t + 1],
                buffers,
            )
            _hand_down(
                mass.tables[LEFT, s, t] + mass.tables[LEFT_BY_END, t, s],
                chart.tables[LEFT, s, t],
                chart.tables[LEFT, s, s:t],
                chart.tables[OPEN_LEFT_BY_END, t, s:t],
                mass.tables[LEFT, s, s:t],
                mass.tables[OPEN_LEFT_BY_END, t, s:t],
                buffers,
            )
            to_right, to_left = (
                mass.tables[OPEN_RIGHT, s, t],
                mass.tables[OPEN_LEFT_BY_END, t, s],
            )
            mu[s + 1, t + 1] = to_right
            mu[t + 1, s + 1] = to_left
            _hand_down(
                to_right + to_left,
                chart.tables[JOINED, s, t],
                chart.tables[RIGHT, s, s:t],
                chart.tables[LEFT_BY_END, t, s + 1 : t + 1],
                mass.tables[RIGHT, s, s:t],
                mass.tables[LEFT_BY_END, t, s + 1 : t + 1],
                buffers,
            )
    return log_z


@kernel
def _outside_of_root(
    single_root: bool,
    mu: FloatArray,
    chart: EisnerChart,
    mass: EisnerChart,
    buffers: Buffers,
    n: int,
) -> None:
    mass.rows[FOREST, : n + 1] = 0.0
    mass.rows[ROOTED, : n + 1] = 0.0
    mass.rows[FOREST, n] = 1.0
    for r in range(n - 1, -1, -1):
        if r == n - 1 or not single_root:
            _hand_down(
                mass.rows[FOREST, r + 1],
                chart.rows[FOREST, r + 1],
                chart.rows[ROOTED, : r + 1],
                chart.tables[RIGHT_BY_END, r, : r + 1],
                mass.rows[ROOTED, : r + 1],
                mass.tables[RIGHT_BY_END, r, : r + 1],
                buffers,
            )
        mu[0, r + 1] = mass.rows[ROOTED, r]
        _hand_down(
            mass.rows[ROOTED, r],
            chart.rows[BEFORE, r],
            chart.rows[FOREST, : r + 1],
            chart.tables[LEFT_BY_END, r, : r + 1],
            mass.rows[FOREST, : r + 1],
            mass.tables[LEFT_BY_END, r, : r + 1],
            buffers,
        )
