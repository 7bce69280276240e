"""The reverse divergence, coordinate by coordinate: value, minimiser, multipliers.

With ``u = w - ln c`` the penalty of a weight is ``c h(u)``, where ``h(u) = e^u (u - 1)
+ 1``: that is ``p ln(p / c) - p + c`` for the probability ``p = e^w``. Its second
derivative, ``e^u (u + 1)``, is negative below -1. So `h` goes on there along its
tangent, which it meets with the same slope, ``-1/e``, and the same curvature, zero.

All minimisers below solve ``h'(u) + lam e^u + pace (u - start) = pull``, where the left
side is convex and rises: Newton's method comes down to the solution from above.
"""

from __future__ import annotations

import math

import numpy as np

from partwise._jit import kernel
from partwise.structures.interface import FloatArray, IntArray

SLOPE = -math.exp(-1.0)
"""The slope of the tangent."""

MOST_STEPS = 200
ENOUGH = 1e-14


@kernel
def _value(u: float) -> float:
    """Return ``h(u)``."""
    if u < -1.0:
        return 1.0 + 2.0 * SLOPE + SLOPE * (u + 1.0)
    # Near zero both terms are about one, and the difference is lost.
    return u * math.exp(u) - math.expm1(u)


@kernel
def reverse_divergence(w: FloatArray, reference: FloatArray) -> float:
    """Return ``sum_j c_j h(w_j - ln c_j)``."""
    total = 0.0
    for j in range(reference.size):
        total += reference[j] * _value(w[j] - math.log(reference[j]))
    return total


@kernel
def solve_coordinate(
    pull: float, lam: float, pace: float, start: float
) -> tuple[float, float]:
    """Return the minimiser `u`, and the second derivative there."""
    u = max(1.0, math.log(max(pull, 1.0)), start if pace > 0.0 else 1.0)
    bend = 1.0
    for _ in range(MOST_STEPS):
        grown = math.exp(u)
        slope, bend = (grown * u, grown * (u + 1.0)) if u > -1.0 else (SLOPE, 0.0)
        bend += lam * grown + pace
        step = (slope + lam * grown + pace * (u - start) - pull) / bend
        u -= step
        if step <= ENOUGH * max(1.0, abs(u)):
            break
    grown = math.exp(u)
    bend = (grown * (u + 1.0) if u > -1.0 else 0.0) + lam * grown + pace
    return u, bend


@kernel
def _log_sum(
    pull: FloatArray,
    reference: FloatArray,
    members: IntArray,
    lam: float,
    pace: float,
    start: FloatArray,
) -> tuple[float, float]:
    """Return the logarithm of the sum of probabilities, and its slope by `lam`."""
    total, slope = 0.0, 0.0
    for j in members:
        c = reference[j]
        own = pace / c
        u, bend = solve_coordinate(pull[j] / c, lam, own, start[j])
        probability = c * math.exp(u)
        total += probability
        # The derivative of u by lam is -e^u / bend.
        slope -= probability * math.exp(u) / bend
    if total == 0.0:  # all of them are too small for a number
        return -np.inf, 0.0
    return math.log(total), slope / total


@kernel
def best_multiplier(
    pull: FloatArray,
    reference: FloatArray,
    members: IntArray,
    pace: float,
    start: FloatArray,
    first: float,
) -> float:
    """Return the multiplier that makes probabilities add up to one, or zero."""
    value, _ = _log_sum(pull, reference, members, 0.0, pace, start)
    if value <= 0.0:
        return 0.0
    low, high = 0.0, max(2.0 * first, 1.0)
    while _log_sum(pull, reference, members, high, pace, start)[0] > 0.0:
        low, high = high, 4.0 * high
    lam = first if low < first < high else 0.5 * (low + high)
    for _ in range(MOST_STEPS):
        value, slope = _log_sum(pull, reference, members, lam, pace, start)
        if abs(value) <= ENOUGH:
            break
        if value > 0.0:
            low = lam
        else:
            high = lam
        step = lam - value / slope if slope < 0.0 else low
        new = step if low < step < high else 0.5 * (low + high)
        if abs(new - lam) <= ENOUGH * lam:
            break
        lam = new
    return lam


@kernel
def least_with_pull(
    pull: FloatArray, reference: FloatArray, order: IntArray, ptr: IntArray
) -> float:
    """Return ``min_w sum c h(w - ln c) - pull . w`` over distributions.

    At any multipliers that are not negative it is a lower bound on that, and at the
    best ones the value itself.
    """
    total, start = 0.0, np.zeros(reference.size)
    for k in range(ptr.size - 1):
        members = order[ptr[k] : ptr[k + 1]]
        lam = best_multiplier(pull, reference, members, 0.0, start, 1.0)
        total -= lam
        for j in members:
            c = reference[j]
            u, _ = solve_coordinate(pull[j] / c, lam, 0.0, 0.0)
            total += c * (_value(u) + lam * math.exp(u)) - pull[j] * (u + math.log(c))
    return total
