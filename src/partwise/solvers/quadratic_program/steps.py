"""Moves of exponentiated gradient on a quadratic program: plain, and conjugate."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from partwise.solvers.quadratic_program.problem import (
    Point,
    QuadraticProgram,
    make_point,
)
from partwise.structures.interface import FloatArray

# The logarithm of the smallest value a variable takes. A zero could never return.
FLOOR = -500.0
FARTHEST = 1e100
# A direction without curvature is followed this far, in units of the expected step.
LONGEST = 16.0
SHORTENINGS = 20


class Move(Protocol):
    """A way from one feasible point to the next."""

    def __call__(self, at: Point) -> Point | None:
        """Return the next point, or None if rounding leaves nothing to gain."""


class FixedStep:
    """The update ``x <- x exp(-eta gradient)``, normalised by block.

    It is Figure 3 of Bartlett et al. (NIPS 2004).
    """

    def __init__(self, qp: QuadraticProgram, eta: float) -> None:
        self.qp, self.eta = qp, eta

    def __call__(self, at: Point) -> Point:
        """Update all blocks at once."""
        # The excess, not the gradient: no overflow for a large common part.
        excess = self.qp.blocks.excess(at.gradient, at.x)
        with np.errstate(over="ignore"):
            change = np.clip(-self.eta * excess, -FARTHEST, FARTHEST)
        log_x = self.qp.blocks.normalize(at.log_x + change)
        return make_point(self.qp, np.maximum(log_x, FLOOR), None)


class _Last(NamedTuple):
    """What the next direction needs to know about the last one."""

    x: FloatArray
    change: FloatArray
    residual: FloatArray
    size: float


class ConjugateStep:
    """Exponentiated gradient with a step for each variable and conjugate directions.

    No single step size suits all variables. Those that belong to the solution
    want a step of the order of 1 / curvature; one whose optimum is zero, and whose
    gradient exceeds that of its block by ``e``, shrinks by ``exp(-eta e)``, hardly at
    all where ``e`` is small. Newton's method for the optimality conditions
    ``x_j e_j = 0``, with `h` for the curvature, suggests ``eta_j = 1 / (h x_j + e_j)``:
    about 1 / (h x_j), a gradient step, where `x_j` is large, and a factor of 1/e an
    iteration where it vanishes, however small its excess. `h` is the diagonal of the
    matrix, if it is known, times a factor that follows the curvature found on the way.

    The steps also define a metric, in which directions are made conjugate
    (Polak-Ribiere). Along a direction the objective is searched in two stages: the
    length by the curvature, and then exactly on the segment to that point, so that
    it never increases. Each iteration takes two products with the matrix.
    """

    def __init__(self, qp: QuadraticProgram) -> None:
        self.qp = qp
        self.curvature = self._least_curvature = 0.0
        self._last: _Last | None = None

    def __call__(self, at: Point) -> Point | None:
        """Move along a conjugate direction, or the plain one where that fails."""
        blocks = self.qp.blocks
        excess = np.maximum(blocks.excess(at.gradient, at.x), 0.0)
        if self.curvature == 0:
            self.curvature = self._first_curvature(at)
            self._least_curvature = 1e-12 * self.curvature
        eta = 1.0 / (self.curvature * self.qp.relative_diagonal * at.x + excess)
        metric = at.x * eta
        residual = blocks.excess(at.gradient, metric)
        plain = -eta * residual
        size = float((metric * residual) @ residual)

        directions = [plain]
        last = self._last
        if last is not None:
            beta = float((metric * residual) @ (residual - last.residual)) / last.size
            if beta > 0:
                # A change of log x where x shrank, of x where it grew: what it was
                # relative to the smaller of the two may be huge.
                carried = last.change / np.maximum(last.x, at.x)
                directions.insert(0, blocks.excess(plain + beta * carried, at.x))
        for direction in directions:
            reached = self._search(at, direction, residual)
            if reached is not None:
                there, share = reached
                # A step cut short shows that the objective is not as was assumed.
                cut = share < 0.1
                change = at.x * direction
                self._last = None if cut else _Last(at.x, change, residual, size)
                return there
        return None

    def _first_curvature(self, at: Point) -> float:
        excess = self.qp.blocks.excess(at.gradient, at.x)
        scale = float(np.abs(excess).max())
        along = at.x * (excess / scale)
        curvature = along @ self.qp.product(along) / (along @ along)
        # Without any, all that has the right order of magnitude will do.
        return max(float(curvature), 1e-6 * scale)

    def _search(
        self, at: Point, direction: FloatArray, residual: FloatArray
    ) -> tuple[Point, float] | None:
        """Search along a direction, given as the change of log x.

        Return the point and the share of the step that was taken, or None if this
        is not a descent direction. The residual is the gradient up to a constant per
        block, which feasible changes do not see and rounding would.
        """
        qp = self.qp
        along = at.x * direction
        slope = float(residual @ along)
        if not slope < 0:
            return None
        bend = float(along @ qp.product(along))
        qp.check_curvature(along, bend)
        length = min(-slope / bend, LONGEST) if bend > 0 else LONGEST
        for _ in range(SHORTENINGS):
            log_y = self._retract(at, length * direction)
            change = np.exp(log_y) - at.x
            slope = float(residual @ change)
            if slope < 0:
                break
            length /= 4
        else:
            return None
        there = make_point(qp, log_y, None)
        bend = float(change @ (there.Ax - at.Ax))
        share = min(-slope / bend, 1.0) if bend > 0 else 1.0
        if share < 1:
            mixed = np.logaddexp(at.log_x + np.log1p(-share), log_y + np.log(share))
            Ax = at.Ax + share * (there.Ax - at.Ax)
            there = make_point(qp, qp.blocks.normalize(mixed), Ax)
        longer = np.sqrt(np.clip(length * share, 0.1, 10.0))
        self.curvature = max(self.curvature / longer, self._least_curvature)
        return there, share

    def _retract(self, at: Point, change: FloatArray) -> FloatArray:
        """Follow a change of log x, by factors exp(u) below one and 1 + u above.

        Both are 1 + u to first order. The first never reaches zero, the second does
        not explode where a small variable has far to go.
        """
        grown = np.log1p(np.maximum(change, 0.0))
        log_y = self.qp.blocks.normalize(at.log_x + np.minimum(change, grown))
        return np.maximum(log_y, FLOOR)
