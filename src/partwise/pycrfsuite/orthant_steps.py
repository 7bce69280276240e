"""CRFsuite's own steps with an L1 norm, for trainings that may only take a few.

After as many iterations the weights are its weights, to rounding. It uses libLBFGS;
what differs from `OWLQN` is their length, what a direction keeps, and when to end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from partwise.solvers import OWLQN
from partwise.solvers.base import Problem
from partwise.solvers.batch.lbfgs import LBFGSState
from partwise.solvers.endings import CONVERGED
from partwise.structures.interface import FloatArray


@dataclass(frozen=True)
class OrthantSteps(OWLQN):
    """Orthant-wise L-BFGS with libLBFGS's steps and tests for ending.

    Parameters
    ----------
    epsilon : float
        Training ends when the gradient is smaller, relative to the weights,
    delta : float
        or when the objective fell by less, relatively,
    period : int
        over so many iterations; 0 is for never.
    scale : float
        From our objective to CRFsuite's.
    """

    epsilon: float = 1e-5
    delta: float = 1e-5
    period: int = 10
    scale: float = 1.0
    values: list[float] = field(default_factory=list, compare=False, repr=False)

    def align(self, state: LBFGSState, pseudo: FloatArray) -> float:
        """Drop what does not go downhill by itself; return the slope of the rest."""
        change = state.direction * pseudo
        state.direction[change >= 0.0] = 0.0
        return float(change[change < 0.0].sum())

    def first_length(self, state: LBFGSState, sqnorm: float) -> float:
        """Return the step that changes the weights by one."""
        return 1.0 / math.sqrt(sqnorm)

    def shorter(self, step: float, ideal: float) -> float:
        """Return half a step that was too long."""
        return 0.5 * step

    def run_pass(
        self, problem: Problem, state: Any, rng: np.random.Generator
    ) -> Iterator[float]:
        """Make an iteration, then see whether CRFsuite would end here."""
        past = self.values
        if not past:
            past.append(problem.primal(state.w))
        yield from super().run_pass(problem, state, rng)
        size = max(math.sqrt(float(state.w @ state.w)), 1.0)
        slope = self.scale * math.sqrt(self.steepness(problem, state))
        is_flat = slope <= self.epsilon * size
        if 0 < self.period <= len(past):
            fall = (past[-self.period] - state.value) / state.value
            is_flat |= fall < self.delta
        past.append(state.value)
        if is_flat and not state.halted:
            state.halted = CONVERGED
