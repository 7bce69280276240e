"""The master problem: the best dual point in the hull of the points.

A concave function over a product of simplices, by the projected Newton method
(Bertsekas, 1982): in every simplex the largest weight is expressed by the others, and
those are kept from falling below zero; weights at zero that would fall further stay
out of the Newton system. The multipliers of the probability constraints, an orthant,
are at their best at every point: Newton's step is that of weights and multipliers
together, and the multipliers then go all the way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partwise._deadline import check_time
from partwise.solvers.simplicial.points import Points
from partwise.solvers.simplicial.proximal_dual import Minimum, ProximalDual
from partwise.structures.interface import FloatArray, IntArray

RIDGE = 1e-12
"""Added to the diagonal of the Hessian, relative to it: points may be dependent."""

DAMPING = 1e-2
"""Added to it too, times the slope: along dependent points nothing else would keep a
step from going a million times the width of the simplex. It vanishes at the optimum,
so that the last steps are Newton's own."""

SUFFICIENT = 1e-4
"""A step must gain this share of what its slope promises."""

FIRST_SHARE = 0.01
"""How well the first master problem is solved, before there is an objective."""

MOST_STEPS = 100
MOST_HALVINGS = 40
NEARLY_ZERO = 1e-10


class HullProblem:
    """The master problem over some of the working sets, the others as they are.

    Parameters
    ----------
    points : Points
        The points and their weights, which are moved.
    dual : ProximalDual
        The function to maximise.
    sets : array of int, optional
        The working sets to move; all by default.
    cone : bool
        Whether weights are only >= 0, not limited to add up to one: zero is then the
        point that takes up what others lose, as much as it may be.
    """

    def __init__(
        self,
        points: Points,
        dual: ProximalDual,
        sets: IntArray | None = None,
        cone: bool = False,
    ):
        self.points, self.dual, self.cone = points, dual, cone
        moving = np.ones(points.n_sets, bool)
        if sets is not None:
            moving[:] = False
            moving[sets] = True
        self.moving: NDArray[np.bool_] = moving[points.owner]

    def maximise(self, tolerance: float) -> Minimum:
        """Move the weights until no others could gain more than `tolerance`.

        The dual value never falls, and one step is taken in any case: what the slopes
        of new points promise may be less than what they are worth. Where the tolerance
        is infinite, as nothing is known yet, it is a share of what is promised now.
        """
        points = self.points
        here = self.dual.best(*points.total())
        for taken in range(MOST_STEPS):
            check_time()
            slope = points.offset - points.products(here.x)
            if tolerance == np.inf:
                tolerance = FIRST_SHARE * self.gap(slope)
            if taken and self.gap(slope) <= tolerance:
                break
            after = self._step(here, slope)
            if after is None:
                break
            here = after
        return here

    def gap(self, slope: FloatArray) -> float:
        """Return a bound on what other weights of the same points could gain.

        On a cone there is none; it is what there is to gain with weights of up to one
        more.
        """
        points = self.points
        best = np.full(points.n_sets, -np.inf)
        np.maximum.at(best, points.owner, np.where(self.moving, slope, -np.inf))
        own = np.where(self.moving, slope * points.alpha, 0.0)
        total = float(best[best > -np.inf].sum())
        return total + float(np.abs(own).sum() if self.cone else -own.sum())

    def _bases(self) -> IntArray:
        """Return for every point the one of its set that takes up the changes."""
        points = self.points
        if self.cone:
            return points.owner
        base = np.zeros(points.n_sets, np.int64)
        order = np.argsort(points.alpha, kind="stable")
        base[points.owner[order]] = order  # the last one written is the largest
        return base[points.owner]

    def _step(self, here: Minimum, slope: FloatArray) -> Minimum | None:
        """Take one projected Newton step; return None if rounding prevents it."""
        points, alpha = self.points, self.points.alpha
        base = self._bases()
        gain = slope - slope[base]
        stuck = (alpha <= NEARLY_ZERO) & (gain <= 0.0)
        is_base = base == np.arange(len(points))
        free = np.flatnonzero(self.moving & ~is_base & ~stuck)
        if free.size == 0:
            return None
        hessian = points.curvature(free, base[free], here)
        hessian[np.diag_indices(free.size)] += DAMPING * np.abs(gain[free]).max()
        direction = _newton(hessian, gain[free])
        scale = 1.0
        for _ in range(MOST_HALVINGS):
            moved = np.maximum(alpha[free] + scale * direction, 0.0)
            new = self._with(free, moved, base)
            promised = float(gain @ (new - alpha))
            if promised > 0.0:
                after = self.dual.best(points.combine(new), float(new @ points.offset))
                if after.value >= here.value + SUFFICIENT * promised:
                    points.alpha = new
                    return after
            scale *= 0.5
        return None

    def _with(self, free: IntArray, moved: FloatArray, base: IntArray) -> FloatArray:
        """Return all the weights, those of every set adding up to one."""
        points = self.points
        new = points.alpha.copy()
        new[free] = moved
        if self.cone:
            return new
        bases = np.unique(base)
        new[bases] = 0.0
        total = np.bincount(points.owner, new, points.n_sets)
        new /= np.maximum(total, 1.0)[points.owner]
        new[bases] = np.maximum(1.0 - total, 0.0)[points.owner[bases]]
        return new


def _newton(hessian: FloatArray, gain: FloatArray) -> FloatArray:
    """Return Newton's direction; that of the scaled gradient if it does not rise."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    diagonal = np.maximum(hessian.diagonal(), 1e-300)
    # Points differ in size by orders of magnitude: all are brought to one first.
    size = np.sqrt(diagonal)
    scaled = hessian / np.outer(size, size)
    ridge = RIDGE
    while ridge < 1.0:
        try:
            factor = cho_factor(scaled + ridge * np.eye(size.size), lower=True)
        except LinAlgError:
            ridge *= 100.0
            continue
        direction = np.asarray(cho_solve(factor, gain / size) / size, np.float64)
        if np.isfinite(direction).all() and gain @ direction > 0.0:
            return direction
        ridge *= 100.0
    return np.asarray(gain / diagonal, np.float64)
