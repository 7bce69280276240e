"""Orthant-wise L-BFGS for L1 penalties (Andrew and Gao, ICML 2007)."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from partwise._jit import kernel
from partwise.solvers.base import Problem
from partwise.solvers.batch.lbfgs import LBFGS, LBFGSState
from partwise.solvers.batch.solver import MOST_TRIALS, first_step
from partwise.structures.interface import FloatArray


@kernel
def _steepest(w: float, gradient: float, ratio: float) -> float:
    """Return the pseudo-gradient of one weight, equation (4)."""
    if w > 0.0 or (w == 0.0 and gradient < -ratio):
        return gradient + ratio
    if w < 0.0 or gradient > ratio:
        return gradient - ratio
    return 0.0


@kernel
def _pseudo_gradient(
    w: FloatArray, gradient: FloatArray, ratio: float, out: FloatArray
) -> float:
    """Write minus the direction of steepest descent; return its squared norm."""
    total = 0.0
    for j in range(w.size):
        out[j] = _steepest(w[j], gradient[j], ratio)
        total += out[j] * out[j]
    return total


@kernel
def _align(w: FloatArray, direction: FloatArray, pseudo: FloatArray) -> float:
    """Keep weights that are zero in the orthant; return the slope of what is left.

    Equation (7) drops all that does not go downhill by itself, also of weights that
    are far from zero. Where these should move together, little is left of the
    curvature, and steps crawl.
    """
    slope = 0.0
    for j in range(direction.size):
        change = direction[j] * pseudo[j]
        if w[j] == 0.0 and not change < 0.0:
            direction[j] = 0.0
        else:
            slope += change
    return slope


@kernel
def _step_within_orthant(
    w: FloatArray,
    gradient: FloatArray,
    ratio: float,
    direction: FloatArray,
    step: float,
    out: FloatArray,
) -> float:
    """Step until a weight would change its sign, equation (6).

    Return the change of the objective that the slopes at `w` promise.
    """
    change = 0.0
    for j in range(w.size):
        slope = _steepest(w[j], gradient[j], ratio)
        side = w[j] if w[j] != 0.0 else -slope
        there = w[j] + step * direction[j]
        if not (there > 0.0) == (side > 0.0) or side == 0.0:
            there = 0.0
        out[j] = there
        change += slope * (there - w[j])
    return change


@dataclass(frozen=True)
class OWLQN(LBFGS):
    """Orthant-wise L-BFGS: log loss with L1 and elastic-net penalties.

    Many weights of the solution are exactly zero. Without an L1 part
    (``l1_ratio=0``) it is `LBFGS`, bit for bit.

    Parameters
    ----------
    history : int
        How many earlier steps tell about the curvature.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0, 0.1], [-1.0, 0.1]]), [0, 1], 2)
    >>> problem = make_problem(s, get_loss("log_loss"), C=2.0, l1_ratio=1.0)
    >>> solution = solve(problem, OWLQN(), tol=1e-6)
    >>> solution.converged, solution.w.round(3).tolist()
    (True, [0.549, -0.549, 0.0, 0.0])
    """

    names: ClassVar[dict[str, dict[str, Any]]] = {"owlqn": {}}
    penalties = ("l2", "elasticnet", "l1")

    def _step(
        self, problem: Problem, state: LBFGSState
    ) -> Generator[float, None, bool]:
        """Search along the arc of the orthant; say whether a step was taken."""
        ratio = problem.l1_ratio
        if ratio == 0.0:
            return (yield from super()._step(problem, state))
        pseudo = state.trial_gradient  # free until the first trial
        sqnorm = float(_pseudo_gradient(state.w, state.gradient, ratio, pseudo))
        with np.errstate(all="ignore"):
            state.memory.direction(pseudo, state.direction)
        slope = self.align(state, pseudo)
        if not -math.inf < slope < 0.0:
            return False
        step = 1.0 if len(state.memory) else self.first_length(state, sqnorm)
        for _ in range(MOST_TRIALS):
            promise = _step_within_orthant(
                state.w, state.gradient, ratio, state.direction, step, state.trial
            )
            value = yield from state.evaluate(
                problem, state.trial, state.trial_gradient
            )
            if value <= state.value + 1e-4 * promise and value < state.value:
                s, y = state.memory.make_room()
                np.subtract(state.trial, state.w, out=s)
                np.subtract(state.trial_gradient, state.gradient, out=y)
                state.accept(value)
                return True
            # The least value of the parabola through what is known, within bounds.
            excess = value - state.value - step * slope
            ideal = -0.5 * slope * step**2 / excess if excess > 0.0 else math.nan
            step = self.shorter(step, ideal)
        return False

    def align(self, state: LBFGSState, pseudo: FloatArray) -> float:
        """Keep the direction where it may go; return its slope."""
        return float(_align(state.w, state.direction, pseudo))

    def first_length(self, state: LBFGSState, sqnorm: float) -> float:
        """Return the first step to try, where nothing is known of the curvature."""
        return first_step(state, sqnorm)

    def shorter(self, step: float, ideal: float) -> float:
        """Return the next step to try, which may be `ideal` if that is a number."""
        return min(max(ideal, 0.1 * step), 0.5 * step) if ideal > 0 else 0.1 * step

    def steepness(self, problem: Problem, state: LBFGSState) -> float:
        """Return the squared norm of the pseudo-gradient."""
        unused = state.trial_gradient  # until the next step
        found = _pseudo_gradient(state.w, state.gradient, problem.l1_ratio, unused)
        return float(found)
