"""The convex-concave procedure, for right outputs that are known in part.

The loss of an example compares the best output with the best of its completions, or all
outputs with all completions (see `partwise.structures.partial`). That is a difference
of convex functions of the weights, ``F = convex - concave``, which may have many local
minima. At some weights, the *anchor*, the part that is subtracted is replaced by its
tangent, that is, the right outputs by the completions that are best, or expected, at
these weights. What remains is convex, never below ``F``, and equal to it at the anchor:
a step is the problem of any other solver (Yuille and Rangarajan 2003; Yu and Joachims
2009). Its weights are the next anchor, and ``F`` never rises.

The lower bound of a step also tells how far the anchor is from the step's best weights.
So the certificate of the whole says: *linearised at the anchor, no weights are better
by more than the gap*. If that is small the anchor is, as far as can be told, a local
minimum; nothing proves that it is the least one.

The log loss of completions is smooth. Solvers that ask for nothing but objectives and
gradients, such as L-BFGS, need no steps for it: they go down ``F`` itself, with a new
tangent wherever they look, and the tangent at the weights has the same certificate.
Where much is unknown, that takes far fewer passes (Salakhutdinov, Roweis and Ghahramani
2003).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from partwise._jit import Generic
from partwise.losses import Certificate, LocalCertificate
from partwise.solvers.base import STALLED, Problem, Solver, State, finish
from partwise.solvers.facts import within
from partwise.solvers.gradient import BatchGradient
from partwise.solvers.keeping import check_finite
from partwise.solvers.wrapped_state import WrappedState
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray
from partwise.structures.partial import (
    PartialOutputs,
    best_completions,
    expected_completions,
    find_partial,
    with_partial,
)

SETTLED = 0.5
"""A step has been solved when it may gain no more than this share of what it promised
at the start: better to take the next one than to polish it."""

FIRST_PASSES = 3
"""A step that has lowered the objective may end after so many passes, even if its bound
tells nothing yet; each step has half a pass more than the one before, so that there is
time to prove something in the end."""


class Step(NamedTuple):
    """The convex problem at an anchor, and what its objective is above the whole's."""

    problem: Problem
    offset: float


@dataclass(frozen=True)
class PartialProblem(Problem):
    """A problem whose structure is `PartialOutputs`; its objective is not convex."""

    def values(self, w: FloatArray) -> FloatArray:
        """Return the loss of every example at `w`."""
        step, entropy = self._completed(w)
        return step.values(w) - entropy

    @property
    def is_convex(self) -> bool:
        """Whether the objective is a convex function of the weights."""
        return False

    def tangent_at(self, w: FloatArray) -> tuple[Problem, float]:
        """Return the convex problem at `w`, and what it is above this one."""
        return self.step_at(w)

    def step_at(self, w: FloatArray) -> Step:
        """Return the convex problem that agrees with this one at the weights `w`."""
        step, entropy = self._completed(w)
        return Step(step, float(self.C @ entropy))

    def _completed(self, w: FloatArray) -> tuple[Problem, FloatArray]:
        entropy = np.zeros(self.n_examples)
        if self.loss.name == "log_loss":
            s, entropy = expected_completions(self._partial, w, self.n_jobs)
        else:
            s = best_completions(self._partial, w, self.n_jobs)
        own = {field.name: getattr(self, field.name) for field in fields(Problem)}
        return Problem(**own | {"structure": with_partial(self.structure, s)}), entropy

    @property
    def _partial(self) -> PartialOutputs:
        found = find_partial(self.structure)
        assert found is not None
        return found

    def first_anchor(self, noise: float, rng: np.random.Generator) -> FloatArray:
        """Return weights to begin with.

        All completions are expected alike at zero, but none is the best. What is known
        of the right outputs decides then: the direction in which the probability of the
        completions grows most, whose length does not matter. With `noise` weights are
        random besides, which tells latent labels apart.
        """
        w = np.zeros(self.n_weights)
        able = waist.marginals.provided_by(type(waist.innermost(self.structure)))
        if self.loss.name != "log_loss" and able:
            s, _ = expected_completions(self._partial, w, self.n_jobs)
            gradient = np.zeros_like(w)
            finish(_visit(replace(self, structure=s), w, gradient))
            w = -gradient
        size = float(np.abs(w).max(initial=0.0)) or 1.0
        return w + noise * size * rng.normal(size=w.size) if noise else w


def _visit(
    problem: Problem, w: FloatArray, gradient: FloatArray
) -> Generator[float, None, None]:
    yield from BatchGradient(problem).visit(w, gradient)


def as_partial_problem(problem: Problem) -> PartialProblem:
    """Return the problem of right outputs that are known in part."""
    return PartialProblem(**{f.name: getattr(problem, f.name) for f in fields(Problem)})


class ConvexConcaveState(WrappedState):
    """The step at work, where it began, and the state of its solver.

    Attributes
    ----------
    anchor : array
        The weights at which the right outputs were completed.
    objective : float
        The objective there, that of the whole.
    n_steps : int
        How many convex problems there were so far, this one included.
    passes : int
        How many passes this step has had.
    reached : float
        What they have brought the objective down to, or an estimate; infinite before.
    """

    kept = ("anchor", "objective", "n_steps", "passes", "reached", "active")
    unbounded = ("reached",)
    facts = (within("n_steps", 1), within("passes", 0))

    def __init__(
        self, solver: Solver, problem: PartialProblem, anchor: FloatArray, step: Step,
        active: State,
    ):  # fmt: skip
        self.solver, self.problem = solver, problem
        self.step, self.active = step, active
        self.move_to(anchor, step.problem.primal(anchor) - step.offset)
        self.n_steps, self.passes, self.reached = 1, 0, np.inf

    @property
    def anchor(self) -> FloatArray:
        """The weights at which the right outputs were completed."""
        return self._anchor

    @anchor.setter
    def anchor(self, anchor: FloatArray) -> None:
        """Complete the right outputs again, for what a checkpoint holds.

        What the solver of the step has found is of the problem that this makes.
        """
        check_finite("anchor", anchor)
        self._anchor = anchor
        self.step = self.problem.step_at(anchor)
        unused = np.random.Generator(np.random.PCG64(0))
        self.active = self.solver.start(self.step.problem, unused, None)

    def move_to(self, anchor: FloatArray, objective: float) -> None:
        """Take these weights for the anchor."""
        self._anchor, self.objective = anchor, objective

    def check(self, problem: Problem) -> None:
        """Check the state of the step's solver, on the problem that it sees."""
        super().check(self.step.problem)

    @property
    def w(self) -> FloatArray:  # type: ignore[override]
        """The best weights so far: those of the step, unless the anchor is better."""
        return self.active.w if self.reached <= self.objective else self.anchor

    def take_note(self) -> None:
        """Take note of what the solver of the step knows after a pass."""
        if self.active.estimate is not None:
            self.reached = self.active.estimate.primal - self.step.offset

    def choices(self) -> list[FloatArray]:
        """Return the weights that development data may choose from, after a pass."""
        return [self.w]

    @property
    def halted(self) -> str:  # type: ignore[override]
        """Why it cannot continue; that a step ends is no reason."""
        halted = self.active.halted
        return "" if halted == STALLED and self.is_settled else halted

    @property
    def estimate(self) -> Certificate | None:
        """The objective at the anchor, and how far down its step leads at most."""
        known = self.active.estimate
        return None if known is None else self.above_step(known)

    @estimate.setter
    def estimate(self, estimate: Certificate | None) -> None:
        # What a checkpoint holds is what was seen from here.
        self.active.estimate = estimate and Certificate(
            self.reached + self.step.offset,
            estimate.dual + self.step.offset,
            estimate.exact,
        )

    def above_step(self, found: Certificate) -> Certificate:
        """Return how far the anchor is from what the step can reach."""
        return LocalCertificate(
            self.objective, found.dual - self.step.offset, found.exact
        )

    @property
    def is_settled(self) -> bool:
        """Whether little of what the step promised is left to gain."""
        known = self.active.estimate
        if known is None:
            return False
        bound = known.dual - self.step.offset
        if self.reached - bound <= SETTLED * (self.objective - bound):
            return True
        patience = FIRST_PASSES + self.n_steps // 2
        return self.passes >= patience and self.reached <= self.objective

    def unwrapped(self) -> State:
        """Return the state of the solver at work."""
        return self.active.unwrapped()

    def remark(self) -> str:
        """Say what the certificate means."""
        steps = f"{self.n_steps} convex step{'s' if self.n_steps > 1 else ''}"
        return self.active.remark() + (
            f"; labels are known in part, so that this took {steps}: the gap is that "
            "of the last, to a local optimum, and another start may lead to a better "
            "one"
        )


class DescentState(WrappedState):
    """The state of a solver that goes down the objective itself."""

    kept = ("active",)

    def __init__(self, active: State):
        self.active = active

    @property
    def halted(self) -> str:  # type: ignore[override]
        """Why it cannot continue."""
        return self.active.halted

    def unwrapped(self) -> State:
        """Return the state of the solver at work."""
        return self.active.unwrapped()

    def remark(self) -> str:
        """Say what the certificate means."""
        return self.active.remark() + (
            "; labels are known in part: the gap is that of the convex problem at "
            "these weights, to a local optimum, and another start may lead to a better "
            "one"
        )


@dataclass(frozen=True)
class ConvexConcave(Solver):
    """Complete the right outputs and solve the convex problem, in turn.

    A solver that only asks for gradients goes down the objective of the log loss
    without such steps.

    Parameters
    ----------
    solver : Solver
        What solves the convex problems.
    noise : float
        How random the first weights are.

    Examples
    --------
    The first example is of class 0 or 1, the others of 0 and 2:

    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import ExponentiatedGradient, make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> from partwise.structures.partial import make_partial
    >>> s = make_multiclass(make_dense_rows([[1.0], [1.0], [-1.0]]), [0, 0, 2], 3)
    >>> s = make_partial(s, [0, 1, 3, 5], [2, 1, 2, 0, 1])
    >>> problem = as_partial_problem(make_problem(s, get_loss("log_loss"), 5.0))
    >>> solution = solve(problem, ConvexConcave(ExponentiatedGradient()))
    >>> solution.converged, bool(solution.w[0] > solution.w[1])
    (True, True)
    """

    solver: Solver
    noise: float = 0.0

    names: ClassVar[dict[str, dict[str, Any]]] = {}
    at_least: ClassVar[dict[str, float]] = {"noise": 0}

    @property
    def losses(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the solver of the steps minimises."""
        return self.solver.losses

    @property
    def penalties(self) -> tuple[str, ...]:  # type: ignore[override]
        """The penalties that it knows."""
        return self.solver.penalties

    @property
    def needs(self) -> tuple[Generic, ...]:  # type: ignore[override]
        """What is asked of a structure."""
        return (*self.solver.needs, waist.argmax)

    def at_work(self, state: State | None) -> Solver:
        """Return the solver of the steps."""
        active = state.active if isinstance(state, WrappedState) else None
        return self.solver.at_work(active)

    def memory(self, problem: Problem) -> int:
        """Return about how many bytes the state will take, besides the weights."""
        return self.solver.memory(problem) + 8 * problem.n_weights

    def start(
        self, problem: Problem, rng: np.random.Generator, previous: State | None
    ) -> State:
        """Start with the step at the first weights, or at those of an earlier run."""
        problem = as_partial_problem(problem)
        if self.solver.only_gradients:
            before = None if previous is None else previous.unwrapped()
            state = self.solver.start(problem, rng, before)
            if before is None:
                state.w[:] = problem.first_anchor(self.noise, rng)
            return DescentState(state)
        if previous is None:
            anchor = problem.first_anchor(self.noise, rng)
        else:
            anchor = previous.w.copy()
        step = problem.step_at(anchor)
        before = None if previous is None else previous.retargeted(step.problem)
        active = self.solver.start(step.problem, rng, before)
        return ConvexConcaveState(self.solver, problem, anchor, step, active)

    def run_pass(
        self, problem: Problem, state: Any, rng: np.random.Generator
    ) -> Iterator[float]:
        """Make a pass of the step's solver; begin a new step if this one is settled."""
        if isinstance(state, DescentState):
            whole = as_partial_problem(problem)
            yield from self.solver.run_pass(whole, state.active, rng)
            return
        if state.is_settled:
            self._move(state, rng)
        yield from self.solver.run_pass(state.step.problem, state.active, rng)
        state.passes += 1
        state.take_note()

    def _move(self, state: ConvexConcaveState, rng: np.random.Generator) -> None:
        """Take the weights of the step for the next anchor, if they are better."""
        anchor = state.w.copy()
        step = state.problem.step_at(anchor)
        objective = step.problem.primal(anchor) - step.offset
        if not objective < state.objective:
            return
        state.move_to(anchor, objective)
        if _same_right_outputs(step, state.step):
            return  # the convex problem is the same, and its solver goes on
        before = state.active.unwrapped().retargeted(step.problem)
        state.step, state.n_steps = step, state.n_steps + 1
        state.passes, state.reached = 0, np.inf
        state.hand_over(self.solver.start(step.problem, rng, before))

    def certify(self, problem: Problem, state: Any) -> Certificate:
        """Return the objective at the anchor, and the bound of its step."""
        if isinstance(state, DescentState):
            return self.solver.certify(as_partial_problem(problem), state.active)
        found = self.solver.certify(state.step.problem, state.active)
        state.active.estimate = found
        state.take_note()
        return state.above_step(found)


def _same_right_outputs(one: Step, other: Step) -> bool:
    a, b = find_partial(one.problem.structure), find_partial(other.problem.structure)
    assert a is not None
    assert b is not None
    return not a.expected.ids.size and np.array_equal(a.codes, b.codes)
