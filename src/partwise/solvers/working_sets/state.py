"""The state of a solver over working sets: dual variables, and what follows from them.

The weights are ``w = sum_i scale_i sum_y alpha_iy dPhi(i, y)``; a solver says what
its `scale` is (one, or the weight C_i of the example).
"""

from __future__ import annotations

import copy
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from partwise._jit import kernel
from partwise.losses import Certificate, DualPoint
from partwise.solvers.base import Problem, State
from partwise.solvers.dual_weights import DualState, Weights
from partwise.solvers.facts import Fact, same_length, shape
from partwise.solvers.working_sets.set_checks import are_working_sets
from partwise.solvers.working_sets.sets import WorkingSets, make_working_sets, with_room
from partwise.structures import interface as waist
from partwise.structures.interface import CodeArray, FloatArray, Structure
from partwise.structures.parallel import Worker
from partwise.structures.scratch import Scratch, make_scratch
from partwise.structures.sharing import summed

MOST_LOOKS = 8
"""Outputs that a visit may find; there is always room for so many."""


@kernel
def _weights_of(
    s: Structure,
    scale: FloatArray,
    start: int,
    stop: int,
    w: FloatArray,
    sets: WorkingSets,
    y_gold: CodeArray,
    diff: waist.Diff,
    ws: Any,
) -> None:
    """Add ``scale_i sum_y alpha dPhi`` of some examples to `w`; set their mass."""
    for i in range(start, stop):
        sets.mass[i] = 0.0
        m = sets.newest[i]
        if m < 0:
            continue
        waist.visit(s, i, ws)
        waist.gold(s, i, y_gold)
        size = waist.output_size(s, i)
        while m >= 0:
            y = sets.codes[sets.code_at[m] : sets.code_at[m] + size]
            if scale[i] != 0.0:
                waist.diff_add(s, i, y, y_gold, scale[i] * sets.alpha[m], w, diff, ws)
            sets.mass[i] += sets.alpha[m]
            m = sets.older[m]


@kernel
def _sum_costs(sets: WorkingSets, out: FloatArray) -> None:
    for i in range(out.size):
        out[i] = 0.0
        m = sets.newest[i]
        while m >= 0:
            out[i] += sets.alpha[m] * sets.cost[m]
            m = sets.older[m]


@kernel
def _renew_constants(
    s: Structure, sets: WorkingSets, y_gold: CodeArray, diff: waist.Diff, ws: Any
) -> None:
    """Compute costs and norms again: features, or what they cost, may have changed."""
    for i in range(sets.newest.size):
        m = sets.newest[i]
        if m < 0:
            continue
        waist.visit(s, i, ws)
        waist.gold(s, i, y_gold)
        size = waist.output_size(s, i)
        while m >= 0:
            y = sets.codes[sets.code_at[m] : sets.code_at[m] + size]
            sets.cost[m] = waist.cost(s, i, y)
            sets.sqnorm[m] = waist.diff_sqnorm(s, i, y, y_gold, diff, ws)
            m = sets.older[m]


class Site(NamedTuple):
    """What a visit works on: corpus, C, weights that follow the duals, and scratch."""

    s: Structure
    C: FloatArray
    weights: Weights
    sets: WorkingSets
    scratch: Scratch
    diff: waist.Diff
    ws: Any


class WorkingSetState(DualState):
    """Weights, working sets, the dual value, and the last slack of every example."""

    duals: ClassVar[tuple[str, ...]] = ("slack", "dual", "sets")
    """What another run may start from."""
    kept: ClassVar[tuple[str, ...]] = (*DualState.kept, *duals)
    growing: ClassVar[tuple[str, ...]] = ("sets",)
    facts: ClassVar[tuple[Fact, ...]] = (
        shape("sets.newest", "problem.n_examples"),
        shape("sets.mass", "problem.n_examples"),
        same_length(
            "sets.alpha", "sets.older", "sets.cost", "sets.sqnorm", "sets.code_at"
        ),
        shape("sets.used", 2),
        are_working_sets("sets"),
    )

    def __init__(self, problem: Problem):
        super().__init__(problem)
        s, n = problem.structure, problem.n_examples
        most_codes = waist.largest_sizes(s)[1]
        self.sets = make_working_sets(n, n + 16, 16 * most_codes + 64)
        self.slack = np.zeros(n)
        self.dual = 0.0
        self.scratch = make_scratch(s)
        self.workspace = waist.workspace(s, 1)
        self.fit_scratch()

    def site(self, problem: Problem) -> Site:
        """Return what visits work on, until the working sets grow."""
        own = self.sets, self.scratch, self.diff, self.workspace
        return Site(problem.structure, problem.C, self.weights(), *own)

    def fit_scratch(self) -> None:
        """Remake the arrays that are as long as the working sets have room."""

    def restored(self) -> None:
        """Make room as the working sets have it."""
        self.fit_scratch()

    def form(self) -> tuple[Any, ...]:
        """Return the numbers of weights and of examples."""
        return self.w.size, self.slack.size

    def grown(self, problem: Problem) -> Self | None:
        """Return the same dual variables; new examples have none, where that may be."""
        n_new = problem.n_examples - self.slack.size
        if n_new < 0:
            return None
        other, s, sets = copy.copy(self), problem.structure, self.sets
        other.n_new, other.w = n_new, np.zeros(problem.n_weights)
        other.slack = np.concatenate([self.slack, np.zeros(n_new)])
        other.sets = sets._replace(
            newest=np.concatenate([sets.newest, np.full(n_new, -1)]),
            mass=np.concatenate([sets.mass, np.zeros(n_new)]),
            cost=sets.cost.copy(),
            sqnorm=sets.sqnorm.copy(),
        )
        own = make_scratch(s).y_gold, waist.make_diff(s), waist.workspace(s, 1)
        _renew_constants(s, other.sets, *own)
        return other

    def take_over(self, previous: WorkingSetState) -> None:
        """Take the dual variables of an earlier run."""
        self.check_fits(previous)
        self.take_back(previous.tensors(), WorkingSetState.duals)
        self.n_new = previous.n_new

    def make_room(self, s: Structure, n_visits: int) -> None:
        """Let the working sets grow for so many visits, at least by those of one."""
        room = n_visits + 16
        largest = MOST_LOOKS * self.scratch.y.size
        self.sets = with_room(s, self.sets, room, largest + 16 * room)
        self.fit_scratch()

    def normalise(self) -> None:
        """Make the dual variables feasible, where only their sum may not be."""

    def refresh(self, problem: Problem, scale: FloatArray) -> None:
        """Recompute weights and dual value from the dual variables."""
        sets = self.sets

        def add(
            s: Structure, start: int, stop: int, worker: Worker, w: FloatArray
        ) -> None:
            own = worker.scratch.y_gold, waist.make_diff(s), worker.ws
            _weights_of(s, scale, start, stop, w, sets, *own)

        v = np.zeros_like(self.w)  # the old ones stay whole if Ctrl-C comes
        problem.crew(n_sums=v.size).run(add, summed(v))
        self.follow(v)
        costs = np.zeros(problem.n_examples)
        _sum_costs(sets, costs)
        used = problem.C > 0
        point = DualPoint(sets.mass[used], costs[used], costs[:0], costs[:0])
        self.dual = self.dual_at(problem, problem.C[used], point)

    def certify(self, problem: Problem) -> Certificate:
        """Return the exact certificate; weights and dual value must be fresh."""
        return self.certified(problem, self.dual)


def least_violation(state: State, delta: float, slope: float) -> float:
    """Return the violation at which all examples have `delta` of the gap together.

    `slope` is how much of a gap they have for every unit of violation. Before the first
    pass has seen a gap, any violation is one.
    """
    if state.estimate is None or not slope > 0.0:
        return 0.0
    return delta * max(state.estimate.gap, 0.0) / slope
