"""The quadratic programme of the cutting plane method, solved by an active set method.

``max  b . a - 1/2 a' G a   subject to  a >= 0,  sum(a) <= 1``, in as many variables
as there are planes: tens or hundreds, whatever the size of the corpus. The planes with
a multiplier are few. As Lawson and Hanson (1974, chapter 23) do for least squares, the
steepest of the others joins them, and those whose multiplier falls to zero leave.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partwise._deadline import check_time
from partwise.structures.interface import FloatArray

RIDGE = 1e-13
"""Added to the diagonal, whose elements are one: the planes may be dependent. A step
goes a little less far for it, and the next one the rest. Where features are huge the
planes cancel nearly, and what is left of them must not drown in this."""

ENOUGH = 1e-12
"""The share of the value that a step must gain for another one: what rounding leaves of
it. Many small gains may still be ahead."""

MOST_STEPS = 10
"""For every plane; usually about one is enough."""


def solve_plane_qp(
    gram: FloatArray, costs: FloatArray, start: FloatArray | None = None
) -> FloatArray:
    """Return the best multipliers of the planes.

    Parameters
    ----------
    gram : array of shape (n_planes, n_planes)
        The products of the planes' vectors.
    costs : array of shape (n_planes,)
        What the planes say the losses are at ``w = 0``.
    start : array of shape (n_planes,), optional
        Feasible multipliers; the nearer to the best ones, the sooner these are found.

    Returns
    -------
    array of shape (n_planes,)
        Feasible to the last bit; as good as rounding allows.

    Examples
    --------
    >>> solve_plane_qp(np.array([[4.0]]), np.array([1.0])).round(6).tolist()
    [0.25]
    >>> solve_plane_qp(np.eye(2), np.array([3.0, 3.0])).round(6).tolist()
    [0.5, 0.5]
    """
    alpha = np.zeros(costs.size) if start is None else start
    value = -np.inf
    fruitless = np.zeros(costs.size, bool)
    joining: list[int] = []
    for _ in range(MOST_STEPS * (1 + costs.size)):
        check_time()
        used = alpha > 0.0
        used[joining] = True
        new = _go_to_best(gram, costs, alpha, used)
        new_value = _value(gram, costs, new)
        if new_value - value > ENOUGH * abs(new_value):
            alpha, value = new, new_value
            fruitless[:] = False
        elif joining:
            fruitless[joining] = True
        else:
            break
        slope = costs - gram @ alpha
        # Planes in use are all as steep: flat, or, with a sum of one, as steep as mass
        # is worth.
        price = max(float(slope @ alpha) / (float(alpha.sum()) or 1.0), 0.0)
        able = np.flatnonzero((alpha == 0.0) & (slope > price) & ~fruitless)
        joining = [int(able[slope[able].argmax()])] if able.size else []
    return alpha / max(float(alpha.sum()), 1.0)


def _value(gram: FloatArray, costs: FloatArray, alpha: FloatArray) -> float:
    return float(costs @ alpha - 0.5 * alpha @ gram @ alpha)


def _go_to_best(
    gram: FloatArray, costs: FloatArray, alpha: FloatArray, used: NDArray[np.bool_]
) -> FloatArray:
    """Go towards the best multipliers of the planes in use, while none gets negative.

    Those that fall to zero on the way are no longer used.
    """
    alpha = alpha.copy()
    while used.any():
        at = np.flatnonzero(used)
        slope = costs[at] - gram[at] @ alpha
        here = alpha[at]
        way = _newton(gram[np.ix_(at, at)], slope, 1.0 - float(here.sum()))
        falling = way < -here
        if not falling.any():
            alpha[at] = here + way
            break
        # As far as the first that falls to zero.
        reach = np.where(falling, here / np.where(falling, -way, 1.0), np.inf)
        first = reach == reach.min()
        alpha[at] = np.where(first, 0.0, np.maximum(here + reach.min() * way, 0.0))
        used[at[first]] = False
    return alpha


def _newton(gram: FloatArray, slope: FloatArray, room: float) -> FloatArray:
    """Return how to change multipliers, by a sum of at most `room`."""
    # Planes differ in size by orders of magnitude: all are brought to one first.
    n, size = slope.size, np.sqrt(gram.diagonal())
    size = np.where(size > 0.0, size, size.max() or 1.0)
    scaled = gram / np.outer(size, size) + RIDGE * np.eye(n)
    way = np.asarray(np.linalg.solve(scaled, slope / size) / size, np.float64)
    if way.sum() <= room:
        return way
    # The sum is fixed, and mass has a price: the last unknown.
    unit = float(size.min())
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = scaled
    system[n, :n] = system[:n, n] = unit / size
    found = np.linalg.solve(system, np.append(slope / size, unit * room))
    return np.asarray(found[:n] / size, np.float64)
