"""A fast start on shards: iterative parameter mixing (McDonald, Hall and Mann, 2010).

In a round, every shard is trained on by itself, from the same weights, by a solver that
learns from each example at once; the next weights are the average. That approaches good
weights in few rounds, but not the best ones, and proves nothing. So after some rounds a
solver that visits all examples between two steps takes over, and ends with a
certificate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from partwise._jit import Generic
from partwise.losses import Certificate, Loss
from partwise.solvers.base import Problem, Solver, State
from partwise.solvers.facts import within
from partwise.solvers.registry import make_solver, name_of
from partwise.solvers.wrapped_state import WrappedState
from partwise.structures.interface import FloatArray, Structure
from partwise.structures.parallel import Worker
from partwise.structures.sharing import given, summed


class WeightsOnly(State):
    """Weights, and nothing that a solver could know besides."""

    def __init__(self, w: FloatArray):
        self.w = w


def _train_shard(
    s: Structure,
    start: int,
    stop: int,
    worker: Worker,
    C: FloatArray,
    loss: Loss,
    solver: Solver,
    scale: float,
    seed: int,
    w: FloatArray,
    total: FloatArray,
) -> None:
    """Add the share of a shard in the average, after a pass over all of it."""
    if start > 0 or not C.any():
        return
    # A shard stands for the whole corpus, whose losses are so much more.
    problem = Problem(s, loss, C * (scale / C.sum()))
    rng = np.random.Generator(np.random.PCG64(seed))
    state = solver.start(problem, rng, WeightsOnly(w))
    for _ in solver.run_pass(problem, state, rng):
        pass
    total += (C.sum() / scale) * state.w


class MixingState(WrappedState):
    """The weights after some rounds, or the state of the solver that took over."""

    kept = ("rounds", "active")
    facts = (within("rounds", 0),)

    def __init__(self, mixing: ParameterMixing, problem: Problem, w: FloatArray):
        self.mixing, self.problem = mixing, problem
        self.active: State = WeightsOnly(w)
        self.mixed = 0
        self._rounds = 0

    @property
    def rounds(self) -> int:
        """How many rounds of mixing there were."""
        return self._rounds

    @rounds.setter
    def rounds(self, rounds: int) -> None:
        """Make a state of the second solver, for what a checkpoint holds."""
        self._rounds = rounds
        if rounds > self.mixing.rounds:
            unused = np.random.Generator(np.random.PCG64(0))
            self.active = self.mixing.second.start(self.problem, unused, None)

    @property
    def halted(self) -> str:  # type: ignore[override]
        """Why it cannot continue."""
        return self.active.halted

    def unwrapped(self) -> State:
        """Return the state of the solver at work."""
        return self.active.unwrapped()

    def remark(self) -> str:
        """Say who made which passes."""
        local, then = name_of(self.mixing.first), name_of(self.mixing.second)
        count = min(self._rounds, self.mixing.rounds)
        rest = f", {then} made the others" if self._rounds > count else ""
        return f"; the first {count} passes mixed what {local} made of the shards{rest}"

    def count_round(self) -> None:
        """Count a round; one more than there are means that they are over."""
        self._rounds += 1


@dataclass(frozen=True)
class ParameterMixing(Solver):
    """Mix the weights of shards for some rounds, then let another solver take over.

    For a corpus in shards (see `partwise.dask`); one that is here is one shard.

    Parameters
    ----------
    then : Solver or str
        What goes on from there to the certificate; one that only makes passes, such as
        ``"lbfgs"`` or ``"cutting-plane"``.
    local : Solver or str
        What trains on the shards; one that starts at given weights, such as ``"sgd"``.
    rounds : int
        How many rounds of mixing there are.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import ParameterMixing, make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> problem = make_problem(s, get_loss("log_loss"))
    >>> solution = solve(problem, ParameterMixing(rounds=2), tol=1e-4)
    >>> solution.converged, [row.mixed for row in solution.trace][:3]
    (True, [1, 1, 0])
    """

    then: Solver | str = "lbfgs"
    local: Solver | str = "sgd"
    rounds: int = 3

    names: ClassVar[dict[str, dict[str, Any]]] = {}
    only_passes = True
    at_least: ClassVar[dict[str, float]] = {"rounds": 1}

    def __post_init__(self) -> None:
        """Make the solvers, and check the settings."""
        super().__post_init__()
        object.__setattr__(self, "then", make_solver(self.then))
        object.__setattr__(self, "local", make_solver(self.local))

    @property
    def second(self) -> Solver:
        """The solver that takes over."""
        assert isinstance(self.then, Solver)
        return self.then

    @property
    def first(self) -> Solver:
        """The solver of the shards."""
        assert isinstance(self.local, Solver)
        return self.local

    @property
    def losses(self) -> tuple[str, ...]:  # type: ignore[override]
        """What both solvers minimise."""
        return tuple(x for x in self.first.losses if x in self.second.losses)

    @property
    def needs(self) -> tuple[Generic, ...]:  # type: ignore[override]
        """What either of the solvers asks of a structure."""
        return (*self.first.needs, *self.second.needs)

    def at_work(self, state: State | None) -> Solver:
        """Return the solver that takes over, which has the last word."""
        return self.second

    def memory(self, problem: Problem) -> int:
        """Return about how many bytes the state will take, besides the weights."""
        return self.second.memory(problem)

    def start(
        self, problem: Problem, rng: np.random.Generator, previous: State | None
    ) -> MixingState:
        """Start at zero, or at the weights of an earlier run."""
        w = np.zeros(problem.n_weights) if previous is None else previous.w.copy()
        return MixingState(self, problem, w)

    def run_pass(
        self, problem: Problem, state: MixingState, rng: np.random.Generator
    ) -> Iterator[float]:
        """Make a round of mixing, or a pass of the solver that has taken over."""
        if state.rounds < self.rounds:
            yield from self._mix(problem, state, rng)
            state.count_round()
            return
        if state.rounds == self.rounds:
            state.hand_over(self.second.start(problem, rng, state.active))
            state.count_round()
        state.mixed = 0
        yield from self.second.run_pass(problem, state.active, rng)

    def _mix(
        self, problem: Problem, state: MixingState, rng: np.random.Generator
    ) -> Iterator[float]:
        """Let all shards be trained on, from the same weights, and take the average."""
        crew, total = problem.crew(n_sums=problem.n_weights), np.zeros_like(state.w)
        yield from crew.visit(
            _train_shard, given(problem.C), problem.loss, self.first,
            float(problem.C.sum()), int(rng.integers(2**31)), state.w, summed(total),
        )  # fmt: skip
        state.active = WeightsOnly(total)
        state.mixed = crew.size if problem.is_elsewhere else 1
        state.oracle_calls += problem.n_examples

    def certify(self, problem: Problem, state: MixingState) -> Certificate:
        """Let the solver at work certify; nothing is proved of mixed weights."""
        if state.rounds <= self.rounds:
            return Certificate(problem.primal(state.w), 0.0)
        return self.second.certify(problem, state.active)
