"""Nonlinear conjugate gradients (Hager and Zhang, SIAM J. Optim. 16, 2005)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from partwise.solvers.base import Problem
from partwise.solvers.batch.solver import BatchSolver, BatchState, first_step


class ConjugateGradientState(BatchState):
    """Weights, gradient and the last direction.

    Attributes
    ----------
    beta : float
        How much of the last direction goes into the next; 0 starts afresh.
    reach : float
        The last step times its slope: the next step is first guessed to gain as much.
    steepest : float
        The squared norm of the first gradient.
    """

    kept = (*BatchState.kept, "direction", "beta", "reach", "steepest")

    def __init__(self, problem: Problem):
        super().__init__(problem)
        self.beta, self.reach, self.steepest = 0.0, 0.0, 0.0


@dataclass(frozen=True)
class ConjugateGradient(BatchSolver):
    """Nonlinear conjugate gradients for the log loss, on structures with marginals.

    Needs the memory of six weight vectors, and more passes than `LBFGS`. The
    certificate after a pass is exact.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> problem = make_problem(s, get_loss("log_loss"))
    >>> solution = solve(problem, ConjugateGradient(), tol=1e-6)
    >>> solution.converged, solution.w.round(3).tolist()
    (True, [0.521, -0.521])
    """

    names: ClassVar[dict[str, dict[str, Any]]] = {"cg": {}}
    curvature = 0.4

    def make_state(self, problem: Problem) -> ConjugateGradientState:
        """Make the state at zero weights."""
        return ConjugateGradientState(problem)

    def find_direction(self, state: ConjugateGradientState) -> tuple[float, float]:
        """Set ``d = -g + beta d``, equation (1.3)."""
        state.direction *= state.beta
        state.direction -= state.gradient
        slope = float(state.direction @ state.gradient)
        if state.reach < 0.0:
            return slope, state.reach / slope if slope < 0.0 else 0.0
        return slope, first_step(state, -slope)

    def forget(self, state: ConjugateGradientState) -> bool:
        """Start afresh, downhill."""
        known = state.reach != 0.0
        state.beta = state.reach = 0.0
        state.direction[:] = 0.0
        return known

    def step_taken(
        self, state: ConjugateGradientState, step: float, slope: float
    ) -> None:
        """Choose beta by equations (1.3), (1.5) and (1.6)."""
        d, old, new = state.direction, state.gradient, state.trial_gradient
        old_slope = float(d @ old)
        oo, on, nn = float(old @ old), float(old @ new), float(new @ new)
        dy, yn, yy = slope - old_slope, nn - on, nn - 2.0 * on + oo
        if not dy > 0.0:
            state.beta = state.reach = 0.0
            return
        beta = (yn - 2.0 * yy * slope / dy) / dy
        # The numbers of (1.6), 1 and 0.01, are in units of the first gradient.
        state.steepest = unit = state.steepest or oo
        least = -unit / math.sqrt(float(d @ d) * min(1e-4 * unit, oo))
        state.beta = max(beta, least)
        state.reach = step * old_slope
