"""The probabilities of arcs in projective trees: inside-outside, in O(n^3).

The outside pass is the chart's own derivative, taken backwards. What an entry
contributes to the sum over all trees, a probability, is handed down to the splits that
made it in proportion to their shares; what arrives at an arc is its marginal. Only
positive numbers of at most one are added up: nothing overflows or cancels.

The chart holds products of factors, one for each arc, the largest to each word being
one: then only arcs take an exponential. A half has fewer than ``6.75^n`` trees, so that
nothing overflows up to `MOST_WORDS`; and what underflows is nothing beside the sum, as
long as that is at least `LEAST`. Where it is not, the chart holds logarithms.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise._jit import generic, kernel
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
    Products,
    Total,
    fill_chart,
)
from partwise.structures.interface import FloatArray
from partwise.structures.vectors import exponentials

MOST_WORDS = 200
LEAST = 1e-100
"""Sums of products of at most so many words, and at least so large, are safe."""

NEGLIGIBLE = 1e-20
"""Probabilities that are not handed down: far below what rounding does to others."""


@kernel
def projective_log_partition(
    score: FloatArray, single_root: bool, chart: EisnerChart, buffers: Buffers
) -> float:
    """Return the logarithm of the sum over all projective trees."""
    return fill_chart(Total(), score, single_root, chart, buffers)


@generic
def share_out(
    how: Any, total: float, x: FloatArray, y: FloatArray, buffers: Buffers
) -> None:
    """Write which shares the splits have of a `total`."""
    raise NotImplementedError("share_out is required of every way to sum")


@share_out.implement(Total)
def _(how: Total, total: float, x: FloatArray, y: FloatArray, buffers: Buffers) -> None:
    sums, shares = buffers.sums[: x.size], buffers.shares[: x.size]
    for u in range(x.size):
        sums[u] = x[u] + y[u]
    exponentials(sums, total, shares)


@share_out.implement(Products)
def _(
    how: Products, total: float, x: FloatArray, y: FloatArray, buffers: Buffers
) -> None:
    shares, factor = buffers.shares[: x.size], 1.0 / total
    for u in range(x.size):
        shares[u] = x[u] * y[u] * factor


@kernel
def _hand_down(
    how: Any,
    mass: float,
    total: float,
    x: FloatArray,
    y: FloatArray,
    mass_of_x: FloatArray,
    mass_of_y: FloatArray,
    buffers: Buffers,
) -> None:
    """Share the mass of a total among the splits of `x` and `y` that made it."""
    if mass < NEGLIGIBLE:
        return
    share_out(how, total, x, y, buffers)
    shares = buffers.shares[: x.size]
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
    if n <= MOST_WORDS:
        log_scale = _as_factors(score, mu)
        z = fill_chart(Products(), mu, single_root, chart, buffers)
        if z >= LEAST:
            _outside(Products(), single_root, mu, chart, mass, buffers)
            return log_scale + np.log(z)
    log_z = fill_chart(Total(), score, single_root, chart, buffers)
    if log_z > -np.inf:
        _outside(Total(), single_root, mu, chart, mass, buffers)
    else:
        mu[:, :] = 0.0
    return log_z


@kernel
def _as_factors(score: FloatArray, out: FloatArray) -> float:
    """Write the exponentials of scores, relative to the largest to each word.

    Return the sum of the largest ones.
    """
    total = 0.0
    for m in range(1, score.shape[0]):
        top = -np.inf
        for h in range(score.shape[0]):
            if h != m:
                top = max(top, score[h, m])
        for h in range(score.shape[0]):
            is_arc = h != m and score[h, m] > -np.inf
            out[h, m] = np.exp(score[h, m] - top) if is_arc else 0.0
        total += top
    return total


@kernel
def _outside(
    how: Any,
    single_root: bool,
    mu: FloatArray,
    chart: EisnerChart,
    mass: EisnerChart,
    buffers: Buffers,
) -> None:
    """Write the probabilities of arcs, the chart being full."""
    n = mu.shape[0] - 1
    mu[:, :] = 0.0
    mass.tables[:, :n, :n] = 0.0
    _outside_of_root(how, single_root, mu, chart, mass, buffers, n)
    for width in range(n - 1, 0, -1):
        for s in range(n - width):
            t = s + width
            _hand_down(
                how,
                mass.tables[RIGHT, s, t] + mass.tables[RIGHT_BY_END, t, s],
                chart.tables[RIGHT, s, t],
                chart.tables[OPEN_RIGHT, s, s + 1 : t + 1],
                chart.tables[RIGHT_BY_END, t, s + 1 : t + 1],
                mass.tables[OPEN_RIGHT, s, s + 1 : t + 1],
                mass.tables[RIGHT_BY_END, t, s + 1 : t + 1],
                buffers,
            )
            _hand_down(
                how,
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
                how,
                to_right + to_left,
                chart.tables[JOINED, s, t],
                chart.tables[RIGHT, s, s:t],
                chart.tables[LEFT_BY_END, t, s + 1 : t + 1],
                mass.tables[RIGHT, s, s:t],
                mass.tables[LEFT_BY_END, t, s + 1 : t + 1],
                buffers,
            )


@kernel
def _outside_of_root(
    how: Any,
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
                how,
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
            how,
            mass.rows[ROOTED, r],
            chart.rows[BEFORE, r],
            chart.rows[FOREST, : r + 1],
            chart.tables[LEFT_BY_END, r, : r + 1],
            mass.rows[FOREST, : r + 1],
            mass.tables[LEFT_BY_END, r, : r + 1],
            buffers,
        )
