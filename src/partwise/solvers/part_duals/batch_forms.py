"""Exponentiated gradient for all examples at once, in two forms.

The *batch form* keeps the part scores `theta` of every example. The *primal form*
(Bartlett et al., NIPS 2004, section 3) keeps one vector `z` of the size of the weights
and a number `tau` instead, from which every `theta` can be had: the same steps, in
memory that does not depend on the data.

Steps that are searched for differ from the papers' in two ways, which both forms allow:

- each adds a share of the last one (*momentum*, Nesterov 1983), the larger the longer
  it has gone well, and none after one that lowered the dual (O'Donoghue and Candes,
  2015);
- only a share of the mass is spread by the Gibbs distributions, the rest lies on the
  right outputs. The best share is known without a search, and one in the end for the
  log loss (the entropy of a mixture is at least the mixture of the entropies).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.losses import Certificate, DualPoint, Loss
from partwise.solvers.base import NOT_FINITE, STALLED, Problem, State
from partwise.solvers.dual_weights import best_multiple, weights_at
from partwise.solvers.facts import positive
from partwise.solvers.part_duals import dual_parts
from partwise.solvers.part_duals.dual_parts import DualParts
from partwise.solvers.part_duals.state import DualPartsState
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray, Structure
from partwise.structures.parallel import Worker
from partwise.structures.scratch import Scratch
from partwise.structures.sharing import filled, given, summed

MOST_TRIALS = 60
# What rounding leaves uncertain, with scores of a hundred or so: as a share of what
# cancels in a dual value, and of the gap, as entropies are differences of scores.
ROUNDING = 1e-13
ROUNDING_OF_GAP = 1e-13
# Momentum begins when a step is at most this much too short.
NEARLY_LONG_ENOUGH = 2.0


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
        self.streak = 0
        self.scale = self.tried_scale = 1.0

    @abstractmethod
    def move(self, eta: float, momentum: float) -> Iterator[float]:
        """Try a step and a share of the last one: set `tried_w` and `tried_value`.

        The first is the vector of the dual point, as yet.
        """

    @abstractmethod
    def write_scores(self, problem: Problem, dual: DualParts, ws: Any) -> None:
        """Write the part scores of every example to ``dual.theta``."""

    @abstractmethod
    def keep(self) -> None:
        """Go on from the point last tried."""
        self.w, self.scale = self.tried_w, self.tried_scale

    def tried_dual(self) -> float:
        """Return the dual value of the point last tried, with the best share of it."""
        self.tried_scale, l1_ratio = 1.0, self.problem.l1_ratio
        if not self.fixed:
            gain = max(float(self.problem.C @ self.tried_value), 0.0)
            self.tried_scale = best_multiple(gain, self.tried_w, l1_ratio, 1.0)
            if self.tried_scale < 1.0:
                self.tried_w = self.tried_scale * self.tried_w
        self.tried_w = weights_at(self.tried_w, l1_ratio)
        value = self.tried_scale * self.tried_value
        point = DualPoint(value, value, value, value)
        return self.problem.loss.dual(self.tried_w, self.problem.C, point, l1_ratio)

    def has_loss(self, loss: Loss) -> bool:
        """Say whether the dual point is one of this loss."""
        return self.problem.loss.name == loss.name

    def step_up(self) -> Iterator[float]:
        """Take one step: the fixed one, or one that does not let the dual fall."""
        if self.fixed:
            yield from self.move(self.fixed, 0.0)
            self._keep_if_finite(self.tried_dual())
            return
        for _ in range(MOST_TRIALS):
            yield from self.move(self.step, self.streak / (self.streak + 3.0))
            reached = self.tried_dual()
            blur = ROUNDING * (abs(self.dual_value) + float(self.w @ self.w))
            if self.estimate is not None:
                blur += ROUNDING_OF_GAP * max(self.estimate.gap, 0.0)
            longer = self._how_much_longer(reached, blur)
            if not reached < self.dual_value - blur:
                self._keep_if_finite(reached)
                break
            if self.streak:
                self.streak = 0
            else:
                self.step *= min(max(longer, 0.1), 0.5)
        else:
            self.halted = STALLED
            return
        if self.streak or longer <= NEARLY_LONG_ENOUGH:
            # Steps that grow fast would outgrow what the momentum has gathered.
            self.streak += 1
            longest = 1.0 + 1.0 / self.streak**2
        else:
            longest = 2.0
        self.step *= min(max(longer, 0.7), longest)
        if self.problem.loss.name == "log_loss":
            self.step = min(self.step, 1.0)

    def _keep_if_finite(self, reached: float) -> None:
        if np.isfinite(reached):
            self.dual_value = reached
            self.keep()
        else:
            self.halted = NOT_FINITE

    def _how_much_longer(self, reached: float, blur: float) -> float:
        """Return the best step, in units of the one that led to the dual `reached`.

        To second order the dual along the step is a parabola, whose bend comes from the
        change of the weights and, for the log loss, from the entropy, which bends by
        as much as the dual rises at the start. Where nothing moved but rounding, steps
        should grow: mass that has vanished comes back when scores have come far enough.
        """
        change = self.tried_w - self.w
        sqnorm = (1.0 - self.problem.l1_ratio) * float(change @ change)
        gain = reached - self.dual_value + 0.5 * sqnorm
        if self.problem.loss.name == "log_loss":
            gain /= 1.0 - 0.5 * min(self.step, 1.0)
            sqnorm += self.step * max(gain, 0.0)
        if sqnorm == 0.0 or not max(gain, 0.5 * sqnorm) > 4.0 * blur:
            return np.inf
        return max(gain, 0.0) / sqnorm

    def certify(self, problem: Problem) -> Certificate:
        """Return the exact certificate at the point that is kept."""
        return self.certified(problem, self.dual_value)


@kernel
def _move_theta(
    s: Structure,
    w: FloatArray,
    dual: DualParts,
    eta: float,
    before: FloatArray,
    momentum: float,
    start: int,
    stop: int,
    theta: FloatArray,
    scores: FloatArray,
    ws: Any,
) -> None:
    """Write ``theta + eta v`` of some examples, and the momentum, to `theta`."""
    for i in range(start, stop):
        waist.visit(s, i, ws)
        waist.part_scores(s, i, w, scores, ws)
        first = dual.ptr[i]
        for r in range(dual.ptr[i + 1] - first):
            if dual.cost.size:
                step = scores[r] + dual.cost[first + r]
            else:
                step = scores[r] - dual.theta[first + r]
            last = dual.theta[first + r] - before[first + r]
            theta[first + r] = dual.theta[first + r] + eta * step + momentum * last


class ThetaState(BatchFormState):
    """The batch form: part scores of every example, kept and tried."""

    kept = ("w", "theta", "before", "dual_value", "step", "streak", "scale")
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
        self.oracle_calls = parts.oracle_calls
        self.theta = parts.dual.theta.copy()
        self.before = self.theta.copy()
        self.tried_w = parts.v if problem.l1_ratio else parts.w
        self.tried_value = parts.dual.value
        self.dual_value = self.tried_dual()
        self.keep()

    def move(self, eta: float, momentum: float) -> Iterator[float]:
        """Move all part scores by the same step, from the same weights."""
        C, dual = self.problem.C, self.parts.dual
        here = dual._replace(theta=self.theta)

        def add(
            s: Structure, start: int, stop: int, worker: Worker, w: FloatArray
        ) -> None:
            scratch, ws = worker.scratch, worker.ws
            _move_theta(
                s, self.w, here, eta, self.before, momentum, start, stop, dual.theta,
                scratch.theta, ws,
            )  # fmt: skip
            dual_parts.gibbs_points(s, dual, start, stop, scratch, ws)
            dual_parts.weights_of(s, C, dual.ptr, dual.mu, start, stop, w, scratch, ws)

        self.tried_w = np.zeros_like(self.w)
        yield from self.crew.visit(add, summed(self.tried_w))
        self.tried_value = dual.value
        self.oracle_calls += self.problem.n_examples

    def keep(self) -> None:
        """Go on from the point last tried."""
        super().keep()
        self.before[:] = self.theta
        self.theta[:] = self.parts.dual.theta

    def write_scores(self, problem: Problem, dual: DualParts, ws: Any) -> None:
        """Write the part scores of every example to ``dual.theta``."""
        if not np.array_equal(self.parts.dual.ptr, dual.ptr):
            raise ValueError("the previous run was on another structure")
        dual.theta[:] = self.theta
        dual.mass[:] = self.scale


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
    found = waist.right_parts(s, i, scratch.y_gold, scratch.ids, scratch.counts)
    for j in range(found):
        scratch.mu[scratch.ids[j]] += scratch.counts[j]
    waist.add_parts(s, i, scratch.mu, C, w, ws)
    for j in range(found):
        scratch.mu[scratch.ids[j]] -= scratch.counts[j]
    return log_z


@kernel
def _evaluate_log_loss(
    s: Structure,
    start: int,
    stop: int,
    worker: Worker,
    C: FloatArray,
    z: FloatArray,
    w: FloatArray,
    value: FloatArray,
) -> None:
    scratch, ws = worker.scratch, worker.ws
    for i in range(start, stop):
        waist.visit(s, i, ws)
        waist.part_scores(s, i, z, scratch.theta, ws)
        value[i] = _pull(s, i, C[i], scratch.theta, w, scratch, ws)
        for r in range(waist.n_parts(s, i)):
            value[i] += scratch.theta[r] * scratch.mu[r]


@kernel
def _evaluate_hinge(
    s: Structure,
    start: int,
    stop: int,
    worker: Worker,
    C: FloatArray,
    z: FloatArray,
    tau: float,
    w: FloatArray,
    value: FloatArray,
) -> None:
    scratch, ws = worker.scratch, worker.ws
    costs = np.zeros(scratch.theta.size)
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

    kept = (
        "w", "z", "before", "tau", "tau_before", "dual_value", "step", "streak",
        "scale",
    )  # fmt: skip
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
        self.before, self.tau_before = self.z, self.tau
        for _ in self._evaluate():
            pass
        self.dual_value = self.tried_dual()
        self.keep()

    def _evaluate(self) -> Iterator[float]:
        C, z, tau = given(self.problem.C), self.tried_z, self.tried_tau
        self.tried_w = np.zeros_like(self.z)
        sums = summed(self.tried_w), filled(self.tried_value)
        if self.problem.loss.name == "log_loss":
            yield from self.crew.visit(_evaluate_log_loss, C, z, *sums)
        else:
            yield from self.crew.visit(_evaluate_hinge, C, z, tau, *sums)
        self.oracle_calls += self.problem.n_examples

    def move(self, eta: float, momentum: float) -> Iterator[float]:
        """Move `z` towards the weights, or by them for the hinge."""
        self.tried_z = self.z + momentum * (self.z - self.before) + eta * self.w
        if self.problem.loss.name == "log_loss":
            self.tried_z -= eta * self.z
        else:
            self.tried_tau = self.tau + momentum * (self.tau - self.tau_before) + eta
        yield from self._evaluate()

    def keep(self) -> None:
        """Go on from the point last tried."""
        super().keep()
        self.before, self.tau_before = self.z, self.tau
        self.z, self.tau = self.tried_z, self.tried_tau

    def write_scores(self, problem: Problem, dual: DualParts, ws: Any) -> None:
        """Write the part scores of every example to ``dual.theta``."""
        self.check_size(problem)
        dual_parts.score_parts(problem.structure, self.z, dual.ptr, dual.theta, ws)
        if dual.cost.size:
            dual.theta[:] += self.tau * dual.cost
        dual.mass[:] = self.scale

    def check_size(self, problem: Problem) -> None:
        """Raise `ValueError` if another problem has another number of weights."""
        if self.z.size != problem.n_weights:
            raise ValueError("the previous run was on another structure")
