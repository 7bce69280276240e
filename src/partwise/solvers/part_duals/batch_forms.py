"""Exponentiated gradient for all examples at once, in two forms.

The *batch form* keeps the part scores `theta` of every example. The *primal form*
(Bartlett et al., NIPS 2004, section 3) keeps one vector `z` of the size of the weights
and a number `tau` instead, from which every `theta` can be had: the same steps, in
memory that does not depend on the data.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.losses import Certificate, DualPoint, Loss
from partwise.solvers.base import NOT_FINITE, Problem, State
from partwise.solvers.facts import positive
from partwise.solvers.part_duals import dual_parts
from partwise.solvers.part_duals.dual_parts import DualParts
from partwise.solvers.part_duals.state import DualPartsState
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray, Structure
from partwise.structures.parallel import Worker
from partwise.structures.scratch import Scratch

MOST_TRIALS = 60
TINY = 1e-300


class BatchFormState(State):
    """What the two forms share: weights, dual value, and the common step size.

    A step is tried on a copy; the point it starts from is unchanged until it is kept.
    The two are at Gibbs distributions, whose part scores `write_scores` gives.
    """

    def __init__(self, problem: Problem, first_step: float, fixed: FloatArray):
        self.problem = problem
        self.fixed = float(fixed[0]) if fixed.size else 0.0
        self.w = np.zeros(problem.n_weights)
        self.tried_w = self.w
        self.tried_value = np.zeros(problem.n_examples)
        self.crew = problem.crew(n_sums=self.w.size)
        self.dual_value = 0.0
        self.step = first_step

    @abstractmethod
    def move(self, eta: float) -> Iterator[float]:
        """Try a step: set `tried_w` and `tried_value`."""

    @abstractmethod
    def write_scores(self, problem: Problem, dual: DualParts, ws: Any) -> None:
        """Write the part scores of every example to ``dual.theta``."""

    @abstractmethod
    def keep(self) -> None:
        """Go on from the point last tried."""
        self.w = self.tried_w

    def tried_dual(self) -> float:
        """Return the dual value of the point last tried."""
        value = self.tried_value
        point = DualPoint(value, value, value, value)
        return self.problem.loss.dual(self.tried_w, self.problem.C, point)

    def has_loss(self, loss: Loss) -> bool:
        """Say whether the dual point is one of this loss."""
        return self.problem.loss.name == loss.name

    def step_up(self) -> Iterator[float]:
        """Take one step: the fixed one, or one that does not let the dual fall."""
        fixed = self.fixed
        eta = fixed or self.step
        for _ in range(MOST_TRIALS):
            yield from self.move(eta)
            reached = self.tried_dual()
            best = self._best_step(eta, reached)
            if not fixed and not reached >= self.dual_value:
                eta = min(max(best, 0.1 * eta), 0.5 * eta)
                continue
            if np.isfinite(reached):
                self.dual_value = reached
                self.keep()
            else:
                self.halted = NOT_FINITE
            break
        self.step = min(max(best, 0.5 * eta), 2.0 * eta)

    def _best_step(self, eta: float, reached: float) -> float:
        """Return the best `eta`, judged by a step of `eta` to the dual `reached`.

        To second order the dual along `eta` is a parabola, whose bend comes from the
        change of the weights and, for the log loss, from the entropy, which bends by
        as much as the dual rises at the start.
        """
        change = self.tried_w - self.w
        sqnorm = float(change @ change)
        gain = reached - self.dual_value + 0.5 * sqnorm
        log_loss = self.problem.loss.name == "log_loss"
        slope = gain / (eta * (1.0 - 0.5 * eta) if log_loss else eta)
        if not slope > 0.0:
            return 0.0
        return slope / (sqnorm / eta**2 + (slope if log_loss else TINY))

    def certify(self, problem: Problem) -> Certificate:
        """Return the exact certificate at the point that is kept."""
        return self.certified(problem, self.dual_value)


@kernel
def _move_theta(
    s: Structure,
    w: FloatArray,
    dual: DualParts,
    eta: float,
    start: int,
    stop: int,
    theta: FloatArray,
    scores: FloatArray,
    ws: Any,
) -> None:
    """Write ``theta + eta v`` of some examples to `theta`."""
    for i in range(start, stop):
        waist.visit(s, i, ws)
        waist.part_scores(s, i, w, scores, ws)
        first = dual.ptr[i]
        for r in range(dual.ptr[i + 1] - first):
            if dual.cost.size:
                step = scores[r] + dual.cost[first + r]
            else:
                step = scores[r] - dual.theta[first + r]
            theta[first + r] = dual.theta[first + r] + eta * step


class ThetaState(BatchFormState):
    """The batch form: part scores of every example, kept and tried."""

    kept = ("w", "theta", "dual_value", "step")
    facts = (positive("step"),)

    def __init__(
        self,
        problem: Problem,
        parts: DualPartsState,
        first_step: float,
        fixed: FloatArray,
    ):
        super().__init__(problem, first_step, fixed)
        self.parts = parts
        self.w = parts.w
        self.dual_value = parts.dual_value
        self.oracle_calls = parts.oracle_calls
        self.theta = parts.dual.theta.copy()

    def move(self, eta: float) -> Iterator[float]:
        """Move all part scores by the same step, from the same weights."""
        s, C, dual = self.problem.structure, self.problem.C, self.parts.dual
        here = dual._replace(theta=self.theta)

        def add(start: int, stop: int, worker: Worker, w: FloatArray) -> None:
            scratch, ws = worker.scratch, worker.ws
            _move_theta(
                s, self.w, here, eta, start, stop, dual.theta, scratch.theta, ws
            )
            dual_parts.gibbs_points(s, dual, start, stop, scratch, ws)
            dual_parts.weights_of(s, C, dual.ptr, dual.mu, start, stop, w, scratch, ws)

        self.tried_w = np.zeros_like(self.w)
        yield from self.crew.sum_up(add, self.tried_w)
        self.tried_value = dual.value
        self.oracle_calls += self.problem.n_examples

    def keep(self) -> None:
        """Go on from the point last tried."""
        super().keep()
        self.theta[:] = self.parts.dual.theta

    def write_scores(self, problem: Problem, dual: DualParts, ws: Any) -> None:
        """Write the part scores of every example to ``dual.theta``."""
        if not np.array_equal(self.parts.dual.ptr, dual.ptr):
            raise ValueError("the previous run was on another structure")
        dual.theta[:] = self.theta


@kernel
def _pull(
    s: Structure,
    i: int,
    C: float,
    theta: FloatArray,
    w: FloatArray,
    scratch: Scratch,
    ws: Any,
) -> float:
    """Add ``C (Phi(gold) - E[Phi])`` under the scores `theta` to `w`; return log Z.

    The marginals are left in ``scratch.mu``, with their sign turned and gold added.
    """
    log_z = waist.marginals(s, i, theta, scratch.mu, ws)
    for r in range(waist.n_parts(s, i)):
        scratch.mu[r] = -scratch.mu[r]
    waist.gold(s, i, scratch.y_gold)
    found = waist.parts_of(s, i, scratch.y_gold, scratch.ids, scratch.counts)
    for j in range(found):
        scratch.mu[scratch.ids[j]] += scratch.counts[j]
    waist.add_parts(s, i, scratch.mu, C, w, ws)
    for j in range(found):
        scratch.mu[scratch.ids[j]] -= scratch.counts[j]
    return log_z


@kernel
def _evaluate_log_loss(
    s: Structure,
    C: FloatArray,
    z: FloatArray,
    start: int,
    stop: int,
    w: FloatArray,
    value: FloatArray,
    scratch: Scratch,
    ws: Any,
) -> None:
    for i in range(start, stop):
        waist.visit(s, i, ws)
        waist.part_scores(s, i, z, scratch.theta, ws)
        value[i] = _pull(s, i, C[i], scratch.theta, w, scratch, ws)
        for r in range(waist.n_parts(s, i)):
            value[i] += scratch.theta[r] * scratch.mu[r]


@kernel
def _evaluate_hinge(
    s: Structure,
    C: FloatArray,
    z: FloatArray,
    tau: float,
    start: int,
    stop: int,
    w: FloatArray,
    value: FloatArray,
    costs: FloatArray,
    scratch: Scratch,
    ws: Any,
) -> None:
    for i in range(start, stop):
        waist.visit(s, i, ws)
        n = waist.n_parts(s, i)
        waist.part_scores(s, i, z, scratch.theta, ws)
        costs[:n] = 0.0
        waist.add_costs(s, i, costs)
        for r in range(n):
            scratch.theta[r] += tau * costs[r]
        _pull(s, i, C[i], scratch.theta, w, scratch, ws)
        value[i] = 0.0
        for r in range(n):
            value[i] -= costs[r] * scratch.mu[r]


class PrimalState(BatchFormState):
    """The primal form: ``theta = tau cost + z . phi`` for every example and part."""

    kept = ("w", "z", "dual_value", "step", "tau")
    facts = (positive("step"),)

    def __init__(
        self,
        problem: Problem,
        z: FloatArray | None,
        tau: float,
        first_step: float,
        fixed: FloatArray,
    ):
        super().__init__(problem, first_step, fixed)
        self.z = np.zeros(problem.n_weights) if z is None else z.copy()
        self.tau = tau if problem.loss.name == "hinge" else 0.0
        self.tried_z, self.tried_tau = self.z, self.tau
        for _ in self._evaluate():
            pass
        self.dual_value = self.tried_dual()
        self.keep()

    def _evaluate(self) -> Iterator[float]:
        s, C = self.problem.structure, self.problem.C
        z, tau, value = self.tried_z, self.tried_tau, self.tried_value

        def add(start: int, stop: int, worker: Worker, w: FloatArray) -> None:
            scratch, ws = worker.scratch, worker.ws
            if self.problem.loss.name == "log_loss":
                _evaluate_log_loss(s, C, z, start, stop, w, value, scratch, ws)
            else:
                costs = np.zeros_like(scratch.theta)
                _evaluate_hinge(s, C, z, tau, start, stop, w, value, costs, scratch, ws)

        self.tried_w = np.zeros_like(self.z)
        yield from self.crew.sum_up(add, self.tried_w)
        self.oracle_calls += self.problem.n_examples

    def move(self, eta: float) -> Iterator[float]:
        """Move `z` towards the weights, or by them for the hinge."""
        if self.problem.loss.name == "log_loss":
            self.tried_z = (1.0 - eta) * self.z + eta * self.w
        else:
            self.tried_z = self.z + eta * self.w
            self.tried_tau = self.tau + eta
        yield from self._evaluate()

    def keep(self) -> None:
        """Go on from the point last tried."""
        super().keep()
        self.z, self.tau = self.tried_z, self.tried_tau

    def write_scores(self, problem: Problem, dual: DualParts, ws: Any) -> None:
        """Write the part scores of every example to ``dual.theta``."""
        self.check_size(problem)
        dual_parts.score_parts(problem.structure, self.z, dual.ptr, dual.theta, ws)
        if dual.cost.size:
            dual.theta[:] += self.tau * dual.cost

    def check_size(self, problem: Problem) -> None:
        """Raise `ValueError` if another problem has another number of weights."""
        if self.z.size != problem.n_weights:
            raise ValueError("the previous run was on another structure")
