"""How many passes are left, guessed from how the gap has shrunk so far."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from partwise.structures.interface import FloatArray


def passes_left(gaps: Sequence[float], tol: float, max_left: int) -> int:
    """Guess how many more passes the gap needs to reach the tolerance.

    The gap of most methods shrinks by about the same factor every pass, that of others
    as a power of the number of passes. The later half of the passes tells which.

    Parameters
    ----------
    gaps : sequence of float
        The relative gap after every pass so far; NaN where it is not known.
    tol : float
        The goal.
    max_left : int
        How many passes are left at the most; the answer where nothing is known.

    Examples
    --------
    >>> passes_left([0.1, 0.01], tol=1e-4, max_left=50)
    2
    >>> passes_left([1 / k for k in range(1, 11)], tol=0.01, max_left=1000)
    90
    """
    known = np.asarray(gaps, np.float64)
    passes = np.arange(1, known.size + 1, dtype=np.float64)
    # A gap of one, before any bound is proved, says nothing.
    late = (known > 0) & (known < 1) & (passes > known.size // 3)
    if late.sum() < 2:
        return max_left
    height, at = np.log(known[late]), passes[late]
    guesses = [
        (error, needed)
        for error, needed in (
            _line(at, height, math.log(tol)),
            _line(np.log(at), height, math.log(tol)),
        )
        if math.isfinite(needed)
    ]
    if not guesses:
        return max_left
    (straight, last), *others = guesses
    if others and at.size > 3 and others[0][0] < 0.5 * straight:
        last = math.exp(min(others[0][1], 50.0))
    # Rounding must not ask for one more pass.
    needed = math.ceil(round(min(last - known.size, 1e9), 6))
    return min(max(needed, 1 if known[-1] > tol else 0), max_left)


def _line(x: FloatArray, y: FloatArray, goal: float) -> tuple[float, float]:
    """Fit a line through the last point; return its error, and where it ends."""
    dx, dy = x[:-1] - x[-1], y[:-1] - y[-1]
    slope = float(dx @ dy / (dx @ dx))
    if not slope < 0:
        return math.inf, math.inf
    error = float(np.square(dy - slope * dx).sum())
    return error, float(x[-1] + max((goal - y[-1]) / slope, 0.0))
