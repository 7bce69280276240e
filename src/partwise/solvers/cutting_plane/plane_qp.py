"""The quadratic programme of the cutting plane method, solved by an active set method.

``max  b . a - 1/2 |sum_k a_k g_k|^2   subject to  a >= 0,  sum(a) <= 1``, in as many
variables as there are planes: tens or hundreds, whatever the size of the corpus. Of
squared losses the planes lie below their root: ``1/4 sum(a)^2`` is subtracted, and the
sum may be anything. That is one more entry, ``sqrt(1/2)``, in the vector of each. The
planes with a multiplier are few. As Lawson and Hanson (1974, chapter 23) do for least
squares, the steepest of the others joins them, and those whose multiplier falls to zero
leave.

Where features are huge, or C is, the vectors of the planes all but cancel: their sum,
the weights, can be 1e-16 of them, and multipliers lack the digits to say what it is. So
the weights are an unknown of their own, ``u``, in an orthonormal basis of the planes:
they are found from how high the planes in use are there, not as a sum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._deadline import check_time
from partwise.structures.interface import FloatArray

DEPENDENT = 1e-13
"""Planes whose part outside of the others is a smaller share lie within them."""

ENOUGH = 1e-12
"""The share of the value that a step must gain for another one: what rounding leaves of
it. Many small gains may still be ahead."""

ROUNDING = 1e-14
"""What rounding leaves uncertain of how steep a plane is, as a share of its parts."""

TOO_FAR = 1e3
"""No multiplier gets so large, as a multiple of what all of them may add up to."""

ROOT_HALF = np.sqrt(0.5)

MOST_STEPS = 10
"""For every plane; usually about one is enough."""


class Best(NamedTuple):
    """What is best: multipliers, and the weights in the basis of the planes.

    In theory the latter are a sum of planes with the former, which may have to cancel
    to the last digit.
    """

    alpha: FloatArray
    u: FloatArray


def solve_plane_qp(
    factor: FloatArray,
    costs: FloatArray,
    start: FloatArray | None = None,
    squared: bool = False,
) -> Best:
    """Return the best multipliers of the planes.

    Parameters
    ----------
    factor : array of shape (n, n_planes)
        The planes' vectors in an orthonormal basis.
    costs : array of shape (n_planes,)
        What the planes say the losses are at ``w = 0``.
    start : array of shape (n_planes,), optional
        Feasible multipliers; the nearer to the best ones, the sooner these are found.
    squared : bool
        Whether the losses are the square of what lies above the planes.

    Returns
    -------
    Best
        Multipliers that are feasible to the last bit, as good as rounding allows, and
        the weights.

    Examples
    --------
    >>> solve_plane_qp(np.array([[2.0]]), np.array([1.0])).alpha.round(6).tolist()
    [0.25]
    >>> solve_plane_qp(np.eye(2), np.array([3.0, 3.0])).alpha.round(6).tolist()
    [0.5, 0.5]
    """
    n_weights, limit = len(factor), 1.0
    if squared:
        factor = np.vstack([factor, np.full(costs.size, ROOT_HALF)])
        limit = np.inf
    size = np.sqrt(np.einsum("ij,ij->j", factor, factor))
    # Planes differ in size by orders of magnitude; one without slope has any.
    size = np.where(size > 0.0, size, size.max(initial=0.0) or 1.0)
    vectors, heights, price = factor / size, costs / size, 1.0 / size
    # Multipliers of planes of size one.
    a = np.zeros(costs.size) if start is None else start * size
    u, value, worst = vectors @ a, -np.inf, np.inf
    best, fruitless = (a, u), np.zeros(costs.size, bool)
    used, joining = a > 0.0, list[int]()
    for _ in range(MOST_STEPS * (1 + costs.size)):
        check_time()
        used[joining] = True
        a, u = _go_to_best(vectors, heights, price, a, u, used, limit)
        new_value = float(heights @ a - 0.5 * u @ u)
        slope = costs - size * (u @ vectors)
        # Planes in use are all as steep: flat, or, with a sum of one, as steep as mass
        # is worth.
        mass = a * price
        slope -= max(float(slope @ mass) / (float(mass.sum()) or 1.0), 0.0)
        steepest, least = slope.max(initial=0.0), ENOUGH * abs(new_value)
        if new_value < value - least:
            break
        # Weights may be worth so little that only the planes tell better from worse.
        if new_value > value + least or steepest < worst:
            best, value, worst = (a, u), max(value, new_value), steepest
            fruitless[:] = False
        elif not joining:
            break
        # A step that gains nothing that can be seen may still lead on, but once only.
        fruitless[joining] = True
        blur = ROUNDING * (np.abs(costs) + size * np.sqrt(u @ u))
        able = np.flatnonzero(~used & (slope > blur) & ~fruitless)
        joining = [int(able[slope[able].argmax()])] if able.size else []
    a, u = best
    alpha = a / size
    return Best(alpha / max(float(alpha.sum()) / limit, 1.0), u[:n_weights])


def _go_to_best(
    vectors: FloatArray,
    heights: FloatArray,
    price: FloatArray,
    a: FloatArray,
    u: FloatArray,
    used: NDArray[np.bool_],
    limit: float,
) -> tuple[FloatArray, FloatArray]:
    """Go towards the best multipliers of the planes in use, while none gets negative.

    Those that fall to zero on the way are no longer used. Return also the weights.
    """
    a = a.copy()
    while used.any():
        at = np.flatnonzero(used)
        here = a[at]
        own = vectors[:, at], heights[at], price[at]
        there, best_u = _best_of(*own, here, limit)
        way = there - here
        # One that is zero but for rounding is in use: it holds the weights where it is.
        falling = there < -DEPENDENT * np.abs(there).max()
        if not falling.any():
            a[at] = np.maximum(there, 0.0)
            return a, best_u
        # As far as the first that falls to zero.
        reach = np.where(falling, here / np.where(falling, -way, 1.0), np.inf)
        first = reach == reach.min()
        a[at] = np.where(first, 0.0, np.maximum(here + reach.min() * way, 0.0))
        u = u + reach.min() * (best_u - u)
        used[at[first]] = False
    return a, np.zeros_like(u)


def _best_of(
    vectors: FloatArray,
    heights: FloatArray,
    price: FloatArray,
    here: FloatArray,
    limit: float,
) -> tuple[FloatArray, FloatArray]:
    """Return the best multipliers of planes, of any sign, and the weights.

    At the best weights all planes are at the same height: zero, or, if the price of the
    multipliers is more than the limit then, at the height where it is one.
    """
    # Without a limit, planes only contradict each other where the price stays as it is.
    most = limit if np.isfinite(limit) else float(here @ price)
    far = TOO_FAR * most / float(price.min())
    free, u = _meet(vectors, heights, np.zeros(len(vectors)), here, far)
    if free @ price <= limit:
        return free, u
    # A reflection after which the first multiplier alone has a price, and so is known.
    norm = float(np.sqrt(price @ price))
    mirror = price / norm
    mirror[0] += np.copysign(1.0, mirror[0])
    mirror /= np.sqrt(mirror @ mirror)
    turned = vectors - 2.0 * np.outer(vectors @ mirror, mirror)
    known = -1.0 / norm
    others, u = _meet(
        turned[:, 1:],
        (heights - 2.0 * (heights @ mirror) * mirror)[1:],
        known * turned[:, 0],
        (here - 2.0 * (here @ mirror) * mirror)[1:],
        far,
    )
    found = np.append(known, others)
    return found - 2.0 * (found @ mirror) * mirror, u


def _meet(
    vectors: FloatArray,
    heights: FloatArray,
    offset: FloatArray,
    here: FloatArray,
    far: float,
) -> tuple[FloatArray, FloatArray]:
    """Return the `a` with ``u = offset + vectors a`` and ``vectors' u = heights``.

    And `u` itself: its part in the span of the vectors is known from the heights, the
    rest is that of the offset. If vectors depend on each other, and heights contradict,
    they never meet: go from `here` as `far` in the direction in which it rises.
    """
    from scipy.linalg import solve_triangular

    q, r = np.linalg.qr(vectors)
    diagonal = np.abs(r.diagonal())
    rank = int(np.argmin(np.append(diagonal > DEPENDENT, False)))
    if rank < vectors.shape[1]:
        direction = np.zeros(vectors.shape[1])
        direction[rank] = 1.0
        if rank:
            direction[:rank] = -solve_triangular(r[:rank, :rank], r[:rank, rank])
        way = np.copysign(far, heights @ direction) * direction
        return here + way, offset + vectors @ here
    u_span = solve_triangular(r, heights, trans="T") if rank else np.zeros(0)
    inside = q.T @ offset
    outside = offset - q @ inside
    # Once more: what rounding left of the huge part inside may be as large as the rest.
    outside -= q @ (q.T @ outside)
    if outside @ outside <= DEPENDENT**2 * (offset @ offset):
        outside = np.zeros_like(outside)
    a = solve_triangular(r, u_span - inside) if rank else np.zeros(0)
    return a, q @ u_span + outside
