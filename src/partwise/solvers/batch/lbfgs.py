"""L-BFGS: a quasi-Newton method with little memory (Liu and Nocedal, 1989)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from partwise.solvers.base import Problem
from partwise.solvers.batch.curvature_memory import CurvatureMemory
from partwise.solvers.batch.solver import BatchSolver, BatchState, first_step


class LBFGSState(BatchState):
    """Weights, gradient and the memory of earlier steps."""

    kept = (*BatchState.kept, "memory")

    def __init__(self, problem: Problem, history: int):
        super().__init__(problem)
        self.memory = CurvatureMemory(history, problem.n_weights)


@dataclass(frozen=True)
class LBFGS(BatchSolver):
    """L-BFGS for the log loss, on any structure with marginals.

    A pass is one iteration, which nearly always computes the marginals of every
    example once. The certificate after it is exact.

    Parameters
    ----------
    history : int
        How many earlier steps tell about the curvature; each takes the memory of
        two weight vectors.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> solution = solve(make_problem(s, get_loss("log_loss")), LBFGS(), tol=1e-6)
    >>> solution.converged, solution.w.round(3).tolist()
    (True, [0.521, -0.521])
    """

    history: int = 6

    names: ClassVar[dict[str, dict[str, Any]]] = {"lbfgs": {}}
    at_least: ClassVar[dict[str, float]] = {"history": 1}

    def memory(self, problem: Problem) -> int:
        """Return about how many bytes the state will take, besides the weights."""
        pairs = 2 * self.history * 8 * problem.n_weights
        return super().memory(problem) + pairs

    def make_state(self, problem: Problem) -> LBFGSState:
        """Make the state at zero weights."""
        return LBFGSState(problem, self.history)

    def find_direction(self, state: LBFGSState) -> tuple[float, float]:
        """Ask the memory; the whole of its step is nearly always right."""
        slope = state.memory.direction(state.gradient, state.direction)
        # Without a memory the direction is minus the gradient, of any length.
        step = 1.0 if len(state.memory) else first_step(state, -slope)
        return slope, step

    def forget(self, state: LBFGSState) -> bool:
        """Empty the memory."""
        known = len(state.memory) > 0
        state.memory.clear()
        return known

    def step_taken(self, state: LBFGSState, step: float, slope: float) -> None:
        """Remember how weights and gradient changed."""
        s, y = state.memory.make_room()
        np.multiply(state.direction, step, out=s)
        np.subtract(state.trial_gradient, state.gradient, out=y)
