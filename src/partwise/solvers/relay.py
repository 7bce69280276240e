"""A solver, and another one that takes over when the first gets nowhere.

Whether it does is seen from the certificates after its passes, not from a clock: the
same data and seed give the same weights, bit for bit, and so does a resumed run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from partwise._jit import Generic
from partwise.losses import Certificate
from partwise.solvers.base import STALLED, Problem, Solver, State
from partwise.solvers.facts import within
from partwise.solvers.registry import name_of
from partwise.solvers.wrapped_state import WrappedState

WINDOW = 10
"""Passes in which the gap must fall,"""
LEAST_FALL = 0.1
"""by this share of it,"""
FAR = 0.1
"""as long as it is more than this share of the objective."""


class RelayState(WrappedState):
    """The state of the solver at work, and how it is getting on.

    Attributes
    ----------
    has_changed : bool
        Whether the second solver is at work.
    changed_after : int
        How many passes the first one made before.
    passes : int
        All passes so far.
    primal, dual : float
        The least objective and the largest bound that were seen, perhaps estimates.
    gaps : array
        What was between them after the last passes, infinite before there were any.
    proved : float
        The lower bound that the first solver has left behind.
    """

    kept = (
        "has_changed", "changed_after", "passes", "primal", "dual", "gaps", "proved",
        "active",
    )  # fmt: skip
    unbounded = ("primal", "gaps")
    facts = (within("passes", 0), within("changed_after", 0))

    def __init__(self, relay: Relay, problem: Problem, active: State):
        self.relay, self.problem, self.active = relay, problem, active
        self._has_changed = False
        self.changed_after = self.passes = 0
        self.primal, self.dual, self.proved = np.inf, 0.0, 0.0
        self.gaps = np.full(WINDOW + 1, np.inf)

    @property
    def has_changed(self) -> bool:
        """Whether the second solver is at work."""
        return self._has_changed

    @has_changed.setter
    def has_changed(self, changed: bool) -> None:
        """Make a state of the second solver, for what a checkpoint holds."""
        if changed and not self._has_changed:
            unused = np.random.Generator(np.random.PCG64(0))
            self.hand_over(self.relay.second.start(self.problem, unused, None))

    def hand_over(self, state: State) -> None:
        """Continue with the second solver."""
        super().hand_over(state)
        self._has_changed = True

    @property
    def halted(self) -> str:  # type: ignore[override]
        """Why it cannot continue; that the first solver stalls is no reason."""
        halted = self.active.halted
        return "" if halted == STALLED and not self.has_changed else halted

    def unwrapped(self) -> State:
        """Return the state of the solver at work."""
        return self.active.unwrapped()

    @property
    def estimate(self) -> Certificate | None:
        """The certificate as far as the last pass has seen it."""
        known = self.active.estimate
        return None if known is None else self.raise_bound(known)

    @estimate.setter
    def estimate(self, estimate: Certificate | None) -> None:
        self.active.estimate = estimate

    def raise_bound(self, certificate: Certificate) -> Certificate:
        """Return the certificate with the lower bound of either solver."""
        return certificate._replace(dual=max(certificate.dual, self.proved))

    def watch(self) -> None:
        """Take note of how large the gap is after a pass."""
        self.passes += 1
        if self.estimate is not None:
            self.primal = min(self.primal, self.estimate.primal)
            self.dual = max(self.dual, self.estimate.dual)
        self.gaps = np.append(self.gaps[1:], self.primal - self.dual)

    @property
    def gets_nowhere(self) -> bool:
        """Whether the gap is large and has hardly fallen."""
        if self.active.halted == STALLED:
            return True
        if not np.isfinite(self.gaps[0]) or not self.gaps[-1] > FAR * self.primal:
            return False
        return bool(self.gaps[-1] > (1.0 - LEAST_FALL) * self.gaps[0])

    def remark(self) -> str:
        """Say when solvers changed, and why."""
        if not self.has_changed:
            return ""
        first, second = name_of(self.relay.first), name_of(self.relay.second)
        return (
            f"; {second} took over from {first} after pass {self.changed_after}, as "
            f"the gap had fallen by less than {LEAST_FALL:.0%} in {WINDOW} passes"
        )


@dataclass(frozen=True)
class Relay(Solver):
    """One solver as long as the gap falls, then another one from where that ended.

    The gap must fall by a tenth within ten passes, until it is a tenth of the
    objective. The second solver starts at the weights of the first one, unless zeros
    are better, and its lower bound is never below that of the first.

    Parameters
    ----------
    first, second : Solver
        The solvers.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import LBFGS, ExponentiatedGradient, make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> problem = make_problem(s, get_loss("log_loss"))
    >>> solve(problem, Relay(ExponentiatedGradient(), LBFGS())).converged
    True
    """

    first: Solver
    second: Solver

    names: ClassVar[dict[str, dict[str, Any]]] = {}

    @property
    def losses(self) -> tuple[str, ...]:  # type: ignore[override]
        """What both solvers minimise."""
        return tuple(x for x in self.first.losses if x in self.second.losses)

    @property
    def penalties(self) -> tuple[str, ...]:  # type: ignore[override]
        """The penalties that both solvers know."""
        return tuple(x for x in self.first.penalties if x in self.second.penalties)

    @property
    def needs(self) -> tuple[Generic, ...]:  # type: ignore[override]
        """What either of the solvers asks of a structure."""
        return (*self.first.needs, *self.second.needs)

    def at_work(self, state: State | None) -> Solver:
        """Return the solver whose turn it is."""
        changed = isinstance(state, RelayState) and state.has_changed
        return self.second if changed else self.first

    def memory(self, problem: Problem) -> int:
        """Return about how many bytes the larger of the states will take."""
        return max(self.first.memory(problem), self.second.memory(problem))

    def start(
        self, problem: Problem, rng: np.random.Generator, previous: State | None
    ) -> RelayState:
        """Start with the first solver."""
        return RelayState(self, problem, self.first.start(problem, rng, previous))

    def run_pass(
        self, problem: Problem, state: RelayState, rng: np.random.Generator
    ) -> Iterator[float]:
        """Make a pass with the solver whose turn it is."""
        if not state.has_changed and state.gets_nowhere:
            self._change(problem, state, rng)
        yield from self.at_work(state).run_pass(problem, state.active, rng)
        state.watch()

    def _change(
        self, problem: Problem, state: RelayState, rng: np.random.Generator
    ) -> None:
        """Let the second solver start, from where the first one ended."""
        # Proved here, so that estimates never become bounds.
        ended = self.first.certify(problem, state.active)
        at_zero = problem.primal(np.zeros(problem.n_weights))
        previous = state.active if ended.primal < at_zero else None
        state.proved, state.changed_after = ended.dual, state.passes
        state.hand_over(self.second.start(problem, rng, previous))

    def certify(self, problem: Problem, state: RelayState) -> Certificate:
        """Let the solver at work certify its weights."""
        solver = self.at_work(state)
        return state.raise_bound(solver.certify(problem, state.active))
