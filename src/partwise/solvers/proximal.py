"""The proximal point algorithm: the L1 penalty, by steps that dual solvers can take.

Without an L2 norm the dual of the penalty is a wall: ``|v| <= 1`` for every entry of
the vector that steps add to. Solvers that ascend the dual cannot walk along it. So a
little of the L2 norm is added, around weights that are known, the *centre* ``c``:

    min_w  |w|_1 + sum_i C_i loss_i(w) + 1 / (2 gamma) |w - c|^2

Times ``r = gamma / (1 + gamma)`` that is an elastic net with a *pull* of ``(1 - r) c``,
a problem of any solver that keeps a dual point. Its weights are the next centre; the
objective never rises, and where the centre comes to rest it is the minimum (Rockafellar
1976). Steps start from the dual point of the one before, and need not be solved to the
end: it is enough that what is left to gain is less than the way that was made.

*The bound.* Mixed with the right outputs, which cost nothing, the dual point of a step
becomes one of the whole problem as soon as its vector is within the wall: a share ``t``
of it does, ``t = min(1, r / max |v|)``, and proves ``t`` times its value, since values
are concave.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from partwise._jit import Generic
from partwise.losses import Certificate
from partwise.solvers.base import STALLED, Problem, Solver, State
from partwise.solvers.dual_weights import DualState
from partwise.solvers.facts import positive, within
from partwise.solvers.keeping import check_finite
from partwise.solvers.pairing import check_pairing
from partwise.solvers.penalty import conjugate, penalty
from partwise.solvers.registry import default_solver
from partwise.solvers.wrapped_state import WrappedState
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray

SETTLED = 0.5
"""A step has been solved when it may gain no more than this share of what the way from
the centre costs."""

QUICK = 3
"""A step that is solved within so many passes was short: the next is twice as long."""

TOO_LONG = 5.0
"""A first step of which so much is left was too long: the next is a quarter of it."""

PATIENCE = 8
"""A step that has lowered the objective may end after so many passes, and half a pass
more for every step before it. So may one from zero that has not: it was too long."""

MORE_PATIENCE = 4
"""How many times as long other steps may take that have not lowered the objective."""

SMALLEST = 1e-9
"""The smallest share of the L2 norm: with less, rounding would decide."""


UNSEEN = Certificate(np.inf, 0.0, exact=False)


def step_at(problem: Problem, centre: FloatArray, gamma: float) -> Problem:
    """Return the elastic net that a step solves."""
    r = min(gamma / (1.0 + gamma), 1.0 - SMALLEST)
    return replace(problem, C=r * problem.C, l1_ratio=r, pull=(1.0 - r) * centre)


def first_gamma(problem: Problem, at_zero: float) -> float:
    """Return how long a first step may be: what an element of an output costs at zero.

    That has the units of weights, as the whole objective has with this penalty.
    """
    s = problem.structure
    size = sum(int(waist.output_size(s, i)) for i in range(problem.n_examples))
    return max(at_zero / max(size, 1), np.finfo(float).tiny)


class ProximalState(WrappedState):
    """The step at work, where it began, and the state of its solver.

    Attributes
    ----------
    gamma : float
        How long the step may be.
    centre : array
        The best weights before it.
    objective : float
        The objective there.
    proved : float
        The best lower bound of the steps before.
    n_steps, passes : int
        How many steps there were, this one included, and how many passes it has had.
    has_measure : bool
        Whether a step was not too long.
    seen : Certificate
        What the last of them has seen of the step, as an estimate.
    reached : float
        The objective that they have come to, or an estimate; infinite before.
    """

    kept = (
        "gamma", "centre", "objective", "proved", "n_steps", "passes", "has_measure",
        "seen", "reached", "active",
    )  # fmt: skip
    unbounded = ("seen", "reached")
    facts = (positive("gamma"), within("n_steps", 1), within("passes", 0))

    def __init__(self, solver: Solver, problem: Problem, centre: FloatArray):
        self.solver, self.problem = solver, problem
        at_zero = problem.primal(np.zeros_like(centre))
        self.objective = problem.primal(centre) if centre.any() else at_zero
        self.gamma = first_gamma(problem, at_zero)
        self.proved, self.n_steps, self.has_measure = 0.0, 0, False
        self._centre = centre

    def take_step(self, rng: np.random.Generator, previous: State | None) -> None:
        """Begin a step at the centre, from the dual point of an earlier one."""
        self.step = step_at(self.problem, self._centre, self.gamma)
        check_pairing(self.step, self.solver)
        state = self.solver.start(self.step, rng, previous)
        if self.n_steps:
            self.hand_over(state)
        else:
            self.active = state
        self.n_steps, self.passes = self.n_steps + 1, 0
        self.seen, self.reached = UNSEEN, np.inf

    def move(self, rng: np.random.Generator) -> None:
        """Take the weights of the step for the next centre, if they are better."""
        if self.reached < self.objective:
            self._centre, self.objective = self.active.w.copy(), self.reached
        self.take_step(rng, self.active.unwrapped())

    @property
    def centre(self) -> FloatArray:
        """The best weights before this step."""
        return self._centre

    @centre.setter
    def centre(self, centre: FloatArray) -> None:
        """Make the problem of the step again, for what a checkpoint holds."""
        check_finite("centre", centre)
        self._centre = centre
        self.step = step_at(self.problem, centre, self.gamma)
        unused = np.random.Generator(np.random.PCG64(0))
        self.active = self.solver.start(self.step, unused, None)

    def check(self, problem: Problem) -> None:
        """Check the state of the step's solver, on the problem that it sees."""
        super().check(self.step)

    @property
    def w(self) -> FloatArray:  # type: ignore[override]
        """The best weights so far: those of the step, unless the centre is better."""
        return self.active.w if self.reached <= self.objective else self._centre

    def choices(self) -> list[FloatArray]:
        """Return the weights that development data may choose from, after a pass."""
        return [self.w]

    @property
    def halted(self) -> str:  # type: ignore[override]
        """Why it cannot continue; that the solver of a step stalls is no reason."""
        halted = self.active.halted
        return "" if halted == STALLED and self.reached < self.objective else halted

    @property
    def estimate(self) -> Certificate | None:
        """The certificate of the whole, as far as the last pass has seen it."""
        return None if self.seen == UNSEEN else self.of_whole(self.seen)

    @estimate.setter
    def estimate(self, estimate: Certificate | None) -> None:
        # What a checkpoint holds is what was seen from here.
        self.active.estimate = None if self.seen == UNSEEN else self.seen

    def look(self) -> None:
        """Take note of what the solver of the step knows after a pass."""
        self.passes += 1
        self.seen = self.active.estimate or UNSEEN
        if self.active.estimate is not None:
            self.reached = self.objective_at(self.seen.primal)

    def unwrapped(self) -> State:
        """Return the state of the solver at work."""
        return self.active.unwrapped()

    def of_whole(self, found: Certificate) -> Certificate:
        """Return what the certificate of the step says of the whole problem."""
        return Certificate(
            min(self.objective_at(found.primal), self.objective),
            max(self._bound(found.dual), self.proved),
            found.exact,
        )

    def objective_at(self, primal: float) -> float:
        """Return the objective at the step's weights, if that is the step's own."""
        w, step = self.active.w, self.step
        return (primal - step.penalise(w)) / step.l1_ratio + penalty(w, 1.0)

    def _bound(self, dual: float) -> float:
        """Return the lower bound that the dual point of the step proves."""
        point, step = self.active.unwrapped(), self.step
        assert isinstance(point, DualState)
        assert step.pull is not None
        value = dual - step.rest + conjugate(point.v, step.l1_ratio)
        longest = float(np.abs(point.v - step.pull).max(initial=0.0))
        return min(value / step.l1_ratio, value / longest if longest else np.inf)

    @property
    def is_settled(self) -> bool:
        """Whether it is time for the next step."""
        if self.active.halted == STALLED:
            return True
        return self.has_taken_long or self.unsolved <= SETTLED

    @property
    def has_taken_long(self) -> bool:
        """Whether the step has had all the passes that it may have."""
        patience = PATIENCE + self.n_steps // 2
        at_zero = not (self.has_measure or self._centre.any())
        if not at_zero and not self.reached < self.objective:
            patience *= MORE_PATIENCE
        return self.passes >= patience

    @property
    def unsolved(self) -> float:
        """What is left to gain, as a share of what the way from the centre costs."""
        way = self.active.w - self._centre
        cost = 0.5 * (1.0 - self.step.l1_ratio) * float(way @ way)
        return (self.seen.primal - self.seen.dual) / cost if cost else np.inf

    def remark(self) -> str:
        """Say how many steps there were."""
        steps = f"{self.n_steps} proximal step{'s' if self.n_steps > 1 else ''}"
        return f"{self.active.remark()}; {steps}"


@dataclass(frozen=True)
class Proximal(Solver):
    """The proximal point algorithm: the L1 penalty with any loss, few weights.

    Parameters
    ----------
    solver : Solver, optional
        What solves the steps: one that keeps a dual point and knows the elastic net. By
        default the one that "auto" means for it.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0, 0.1], [-1.0, 0.1]]), [0, 1], 2)
    >>> problem = make_problem(s, get_loss("squared_hinge"), C=2.0, l1_ratio=1.0)
    >>> solution = solve(problem, Proximal(), tol=1e-6)
    >>> solution.converged, solution.w.round(2).tolist()
    (True, [0.44, -0.44, 0.0, 0.0])
    """

    solver: Solver | None = None

    names: ClassVar[dict[str, dict[str, Any]]] = {"proximal": {}}
    losses: ClassVar[tuple[str, ...]] = ("squared_hinge", "log_loss", "hinge")
    penalties: ClassVar[tuple[str, ...]] = ("l1",)
    needs: ClassVar[tuple[Generic, ...]] = ()

    def _inner(self, problem: Problem) -> Solver:
        return self.solver or default_solver(problem.loss.name, "elasticnet")

    def memory(self, problem: Problem) -> int:
        """Return about how many bytes the state will take, besides the weights."""
        return self._inner(problem).memory(problem) + 2 * 8 * problem.n_weights

    def start(
        self, problem: Problem, rng: np.random.Generator, previous: State | None
    ) -> ProximalState:
        """Start with a step from zero, or from the weights of an earlier run."""
        centre = np.zeros(problem.n_weights)
        if previous is not None and problem.primal(previous.w) < problem.primal(centre):
            centre = previous.w.copy()
        state = ProximalState(self._inner(problem), problem, centre)
        state.take_step(rng, previous)
        return state

    def run_pass(
        self, problem: Problem, state: ProximalState, rng: np.random.Generator
    ) -> Iterator[float]:
        """Make a pass of the step's solver; begin a new step if this one is solved."""
        if state.is_settled:
            self._move(problem, state, rng)
        yield from state.solver.run_pass(state.step, state.active, rng)
        state.look()

    def _move(
        self, problem: Problem, state: ProximalState, rng: np.random.Generator
    ) -> None:
        """Begin a new step, and say how long it may be."""
        found = self.certify(problem, state)
        state.proved = found.dual
        state.has_measure |= state.unsolved <= TOO_LONG
        in_vain = state.has_taken_long and not state.reached < state.objective
        if in_vain or not state.has_measure:
            state.gamma *= 0.25
        elif state.passes <= QUICK:
            state.gamma *= 2.0
        state.move(rng)

    def certify(self, problem: Problem, state: ProximalState) -> Certificate:
        """Return the objective, and the bound that the step's dual point proves."""
        found = state.solver.certify(state.step, state.active)
        state.seen, state.reached = found, state.objective_at(found.primal)
        return state.of_whole(found)
