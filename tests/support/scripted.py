"""A solver that only pretends, to see what the loop makes of what it is told."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from partwise.losses import Certificate
from partwise.solvers import Problem, Solver
from partwise.solvers.base import State


class ScriptedState(State):
    """How many passes there were; the weights are that number."""

    kept = ("w", "passes")
    passes = 0


class Scripted(Solver):
    """A solver whose estimated and exact gaps are given, pass by pass."""

    names: ClassVar[dict[str, dict[str, Any]]] = {}
    losses: ClassVar[tuple[str, ...]] = ("squared_hinge",)
    needs: ClassVar[tuple[Any, ...]] = ()

    def __init__(self, estimates: Sequence[float | None], gaps: Sequence[float]):
        self.estimates, self.gaps = estimates, gaps
        self.looks: list[int] = []

    def __repr__(self) -> str:
        return "Scripted()"

    def start(self, problem: Problem, rng: Any, previous: State | None) -> State:
        state = ScriptedState()
        state.w = np.zeros(problem.n_weights)
        return state

    def run_pass(self, problem: Problem, state: State, rng: Any) -> Iterator[float]:
        assert isinstance(state, ScriptedState)
        yield 0.5
        gap = self.estimates[state.passes]
        state.estimate = None if gap is None else Certificate(1.0, 1.0 - gap, False)
        state.passes += 1
        state.w[:] = state.passes
        yield 1.0

    def certify(self, problem: Problem, state: State) -> Certificate:
        assert isinstance(state, ScriptedState)
        self.looks.append(state.passes)
        return Certificate(1.0, 1.0 - self.gaps[state.passes - 1])
