"""What the solvers that visit the whole corpus for every step have in common.

A step is: a direction, then a search along it. The weights of the state only change
when a step is accepted, so that whatever interrupts a search leaves a good model;
and the gradient at them is also their certificate, at no further cost.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Generator, Iterator
from typing import Any, ClassVar

import numpy as np

from partwise._threads import count_jobs
from partwise.losses import Certificate, LocalCertificate
from partwise.solvers.base import NOT_FINITE, STALLED, Problem, Solver, State, finish
from partwise.solvers.batch.dual_mixture import DualMixture
from partwise.solvers.batch.line_search import WolfeSearch
from partwise.solvers.gradient import BatchGradient
from partwise.solvers.penalty import add_smooth_gradient, penalty
from partwise.structures.interface import FloatArray, marginals

MOST_TRIALS = 30
"""Steps to try along one direction."""

Evaluation = Generator[float, None, float]
"""Yields the fraction done, and returns the objective."""


class BatchState(State):
    """Weights and gradient, a second pair to try steps with, and a dual point.

    Attributes
    ----------
    w, gradient : array
        The weights, and the gradient of everything but the L1 norm at them.
    value : float
        The objective at `w`, NaN before the first visit.
    dual : DualMixture
        The lower bound.
    entropy, above : float
        Of an objective that is not convex, what the bound of its tangent at `w` needs:
        the entropy there, and what the tangent's objective is above its own.
    trial, trial_gradient, direction : array
        The step being tried.
    """

    kept: ClassVar[tuple[str, ...]] = (
        *("w", "gradient", "value", "dual", "entropy", "above"),
    )
    unbounded: ClassVar[tuple[str, ...]] = ("value",)

    def __init__(self, problem: Problem):
        n = problem.n_weights
        self.w, self.gradient = np.zeros(n), np.zeros(n)
        self.trial, self.trial_gradient = np.zeros(n), np.zeros(n)
        self.direction = np.zeros(n)
        self.value = math.nan
        self.dual = DualMixture(n)
        self.entropy = self.above = 0.0
        self.l1_ratio, self.is_convex = problem.l1_ratio, problem.is_convex
        self.batch = BatchGradient(problem)

    def evaluate(
        self, problem: Problem, w: FloatArray, gradient: FloatArray
    ) -> Evaluation:
        """Return the objective at `w`; write the gradient, raise the dual bound."""
        tangent, above = problem.tangent_at(w)
        batch = self.batch if self.is_convex else BatchGradient(tangent)
        yield from batch.visit(w, gradient)
        self.oracle_calls += batch.n_used
        ratio, entropy = problem.l1_ratio, batch.entropy
        with np.errstate(all="ignore"):
            value = penalty(w, ratio) + batch.loss - above
            if not math.isfinite(value + entropy):
                return math.nan
            add_smooth_gradient(w, ratio, gradient)
            if self.is_convex:
                # The bound holds for all weights, also those of a step not taken.
                self.dual.offer(w, gradient, entropy, ratio)
            self.seen = entropy, above
        return value

    def certificate(self) -> Certificate:
        """Return the certificate of the weights now."""
        if self.is_convex:
            return Certificate(self.value, self.dual.bound)
        # That of the tangent: no other weights' bounds hold for it.
        dual = DualMixture(self.w.size)
        dual.offer(self.w, self.gradient, self.entropy, self.l1_ratio)
        return LocalCertificate(self.value, dual.bound - self.above)

    def retargeted(self, problem: Problem) -> BatchState:
        """Return the same weights, all that another run takes over."""
        return self

    def accept(self, value: float) -> None:
        """Go to the trial weights."""
        self.w, self.trial = self.trial, self.w
        self.gradient, self.trial_gradient = self.trial_gradient, self.gradient
        self.settle(value)

    def settle(self, value: float) -> None:
        """Take the value, and what else the last visit has found, for that of `w`."""
        self.value = value
        self.entropy, self.above = self.seen


class BatchSolver(Solver):
    """A solver of the log loss whose every pass is one step of all the examples."""

    names: ClassVar[dict[str, dict[str, Any]]] = {}
    losses = ("log_loss",)
    needs = (marginals,)
    only_passes = True
    only_gradients = True
    descends = True

    curvature = 0.9
    """How much of the slope may remain after a step."""

    def memory(self, problem: Problem) -> int:
        """Return about how many bytes the state will take, besides the weights."""
        return 8 * problem.n_weights * (5 + count_jobs(problem.n_jobs) - 1)

    def make_state(self, problem: Problem) -> BatchState:
        """Make the state at zero weights."""
        return BatchState(problem)

    def start(
        self, problem: Problem, rng: np.random.Generator, previous: State | None
    ) -> BatchState:
        """Start at zero, or at the weights of an earlier run of any solver."""
        state = self.make_state(problem)
        if previous is not None:
            state.check_fits(previous)
            state.w[:] = previous.w
        return state

    @abstractmethod
    def find_direction(self, state: Any) -> tuple[float, float]:
        """Write ``state.direction``; return its slope and the first step to try."""

    def forget(self, state: Any) -> bool:
        """Forget what made the direction; say whether there was anything."""
        return False

    def step_taken(self, state: Any, step: float, slope: float) -> None:
        """Learn from a step, before the state goes there; `slope` is the new one."""

    def run_pass(
        self, problem: Problem, state: BatchState, rng: np.random.Generator
    ) -> Iterator[float]:
        """Take one step, after a look at the start if it is the first."""
        if math.isnan(state.value):
            state.value = yield from state.evaluate(problem, state.w, state.gradient)
            if not math.isfinite(state.value):
                state.halted = NOT_FINITE
                return
            state.settle(state.value)
        while not (yield from self._step(problem, state)):
            # Rounding, or a memory of other places: once more, straight downhill.
            if not self.forget(state):
                state.halted = STALLED
                break
        state.estimate = state.certificate()

    def _step(self, problem: Problem, state: Any) -> Generator[float, None, bool]:
        """Search along a direction; say whether a step was taken."""
        with np.errstate(all="ignore"):
            slope, step = self.find_direction(state)
        if not -math.inf < slope < 0.0:
            return False
        search = WolfeSearch(state.value, slope, step, self.curvature)
        for _ in range(MOST_TRIALS):
            step = search.step
            np.multiply(state.direction, step, out=state.trial)
            state.trial += state.w
            value = yield from state.evaluate(
                problem, state.trial, state.trial_gradient
            )
            with np.errstate(all="ignore"):
                new_slope = float(state.direction @ state.trial_gradient)
            if search.tell(value, new_slope):
                self.step_taken(state, step, new_slope)
                state.accept(value)
                return True
        return False

    def certify(self, problem: Problem, state: BatchState) -> Certificate:
        """Return the certificate of the last pass, which is exact."""
        if state.estimate is None:
            if math.isnan(state.value):
                state.value = finish(state.evaluate(problem, state.w, state.gradient))
                state.settle(state.value)
            state.estimate = state.certificate()
        return state.estimate


def first_step(state: BatchState, sqnorm: float) -> float:
    """Return the step downhill that would close the gap if the slope stayed (Polyak).

    It needs no scale of the data. With an L2 penalty it is never more than one half,
    as the gap is never more than half the squared gradient.
    """
    gap = max(state.certificate().gap, 0.0)
    return gap / sqnorm if sqnorm > 0.0 else 0.0
