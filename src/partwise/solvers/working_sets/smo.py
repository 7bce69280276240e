"""Sequential minimal optimisation for the hinge, over pairs of whole outputs.

The dual variables of an example are a distribution over its outputs, which starts
with all its mass on the right one. The smallest change that keeps the sum at one
moves mass from one output to another, and the best amount is known in closed form
(Platt 1998; for structures Taskar, Guestrin and Koller, NIPS 2003). Mass goes to
the output with the largest value ``cost(y) - w . dPhi(y)``, which the
cost-augmented argmax finds, from the one with mass and the smallest value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from partwise._jit import kernel
from partwise.losses import Certificate
from partwise.solvers.base import Problem, Solver, State
from partwise.solvers.dual_weights import (
    PENALTIES,
    Weights,
    add_diff,
    saved,
    steepness,
)
from partwise.solvers.visiting import shuffled
from partwise.solvers.working_sets import sets as working
from partwise.solvers.working_sets.extrapolation import ExtrapolatingState
from partwise.solvers.working_sets.sets import WorkingSets
from partwise.solvers.working_sets.state import least_violation
from partwise.solvers.working_sets.visits import (
    admit,
    infer,
    may_move,
    move,
    sweep_and_infer,
)
from partwise.structures import interface as waist
from partwise.structures.decoding import output_pointers
from partwise.structures.gibbs import part_pointers
from partwise.structures.interface import (
    CodeArray,
    Diff,
    FloatArray,
    IntArray,
    Structure,
)
from partwise.structures.scratch import Scratch, make_scratch


@kernel
def _put_on_gold(
    s: Structure, sets: WorkingSets, first: int, y_gold: CodeArray
) -> None:
    """Give all the mass of examples to their right outputs: there w = 0."""
    for i in range(first, sets.newest.size):
        waist.gold(s, i, y_gold)
        working.add_member(sets, i, y_gold, waist.output_size(s, i), 0.0, 0.0)
        sets.alpha[sets.newest[i]] = 1.0
        sets.mass[i] = 1.0


class PairRule(NamedTuple):
    """Pairs of outputs exchange mass.

    Attributes
    ----------
    values : array
        Scratch space, ``cost - w . dPhi`` of every member.
    slack : array
        The largest violation of every example when last seen.
    pair_steps : int
        The most pairs at a visit.
    least : float
        Outputs exchange mass only if their values differ by more than this.
    """

    values: FloatArray
    slack: FloatArray
    pair_steps: int
    least: float


@move.implement(PairRule)
def _(
    rule: PairRule,
    s: Structure,
    i: int,
    C: float,
    weights: Weights,
    sets: WorkingSets,
    scratch: Scratch,
    diff: Diff,
    ws: Any,
    admitted: bool,
) -> float:
    """Take the best step between each of some pairs.

    Moving `step` from `low` to `high` changes the dual by
    ``C (step violation - step^2 bend / 2)``.
    """
    y_gold, values = scratch.y_gold, rule.values
    size = waist.output_size(s, i)
    rise = 0.0
    emptied = False
    for pair in range(rule.pair_steps):
        if pair > 0 or not admitted:
            working.value_members(s, i, weights.w, sets, values, y_gold, diff, ws)
        high, low, _ = working.rank_members(sets, i, values)
        violation = values[high] - values[low]
        if violation <= rule.least:
            break
        y_high = sets.codes[sets.code_at[high] : sets.code_at[high] + size]
        y_low = sets.codes[sets.code_at[low] : sets.code_at[low] + size]
        steep = steepness(weights)
        bend = C * steep * waist.diff_sqnorm(s, i, y_high, y_low, diff, ws)
        step = sets.alpha[low]
        if step * bend > violation:
            step = violation / bend
        change = add_diff(weights, s, i, y_high, y_low, -1, C * step, diff, ws)
        sets.alpha[high] += step
        sets.alpha[low] -= step
        emptied |= sets.alpha[low] == 0.0
        rise += C * step * (violation - 0.5 * step * bend)
        margin = sets.cost[high] - sets.cost[low] - violation
        most = C * step * (2.0 * margin + step * bend)
        rise += 0.5 * saved(weights, most, change)
        if working.is_pair(sets, i):
            break  # they have nothing more to exchange
    if emptied:
        working.drop_zeros(sets, i)
    return rise


@may_move.implement(PairRule)
def _(rule: PairRule, sets: WorkingSets, i: int) -> bool:
    # A single output has nobody to give its mass to.
    return sets.older[sets.newest[i]] >= 0


@admit.implement(PairRule)
def _(
    rule: PairRule,
    s: Structure,
    i: int,
    C: float,
    weights: Weights,
    sets: WorkingSets,
    scratch: Scratch,
    diff: Diff,
    ws: Any,
    slack: float,
    value: float,
    scored: bool,
    looks: int,
) -> bool:
    y, values = scratch.y, rule.values
    rule.slack[i] = slack
    working.value_members(s, i, weights.w, sets, values, scratch.y_gold, diff, ws)
    _, low, _ = working.rank_members(sets, i, values)
    # No output of all there are is worth more: nothing to gain here.
    if slack - values[low] <= rule.least:
        return False
    size = waist.output_size(s, i)
    if not working.is_member(sets, i, y, size):
        working.add_member(sets, i, y, size, waist.cost(s, i, y), 0.0)
        values[sets.newest[i]] = value
    return True


@kernel
def _normalise(sets: WorkingSets) -> None:
    """Make the dual variables of every example sum to one, which rounding may not."""
    for i in range(sets.newest.size):
        total = 0.0
        m = sets.newest[i]
        while m >= 0:
            total += sets.alpha[m]
            m = sets.older[m]
        m = sets.newest[i]
        while m >= 0:
            sets.alpha[m] /= total
            m = sets.older[m]


@kernel
def _drop_zeros(sets: WorkingSets) -> None:
    for i in range(sets.newest.size):
        working.drop_zeros(sets, i)


class SequentialMinimalState(ExtrapolatingState):
    """Weights, and a distribution over some outputs of every example."""

    def __init__(self, problem: Problem):
        super().__init__(problem)
        s, n = problem.structure, problem.n_examples
        n_codes = int(output_pointers(s)[-1])
        self.sets = working.make_working_sets(n, 2 * n + 16, 2 * n_codes + 64)
        _put_on_gold(s, self.sets, 0, self.scratch.y_gold)
        self.before = self.sets.alpha.copy()
        self.fit_scratch()

    def normalise(self) -> None:
        """Make the dual variables of every example sum to one."""
        _normalise(self.sets)

    def fit_scratch(self) -> None:
        """Make room for the value of every member."""
        self.values = np.zeros(self.sets.alpha.size)

    def grown(self, problem: Problem) -> Self | None:
        """Return the same distributions; those of new examples are on gold."""
        other, s = super().grown(problem), problem.structure
        if other is not None:
            first = self.slack.size
            n_codes = int(np.diff(output_pointers(s)[[first, -1]])[0])
            other.sets = working.with_room(s, other.sets, other.n_new, n_codes)
            _put_on_gold(s, other.sets, first, make_scratch(s).y_gold)
        return other


def expected_parts(
    problem: Problem, state: SequentialMinimalState
) -> tuple[IntArray, FloatArray]:
    """Return the expected count of every part at a dual point.

    Parameters
    ----------
    problem : Problem
        The problem that was solved.
    state : SequentialMinimalState
        Where the solver is.

    Returns
    -------
    ptr, mu
        ``mu_r = sum_y alpha_y n_r(y)``; example `i` is ``mu[ptr[i]:ptr[i + 1]]``.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> problem = make_problem(s, get_loss("hinge"), C=0.1)
    >>> state = solve(problem, SequentialMinimalOptimization()).state
    >>> ptr, mu = expected_parts(problem, state)
    >>> ptr.tolist(), mu.tolist()
    ([0, 2, 4], [0.0, 1.0, 1.0, 0.0])
    """
    s = problem.structure
    ptr = part_pointers(s)
    mu = np.zeros(ptr[-1])
    working.sum_parts(s, state.sets, ptr, mu, state.scratch)
    return ptr, mu


@dataclass(frozen=True)
class SequentialMinimalOptimization(Solver):
    """Sequential minimal optimisation of the hinge, on any structure with argmax.

    Parameters
    ----------
    pair_steps : int
        The most pairs of outputs that exchange mass when an example is visited.
    sweeps : int
        Visits of all examples without inference before each pass.
    delta : float
        Outputs exchange mass only if their values differ enough. What is left as it is
        makes up no more than this share of the duality gap, as the last pass saw it.
    momentum : bool
        Begin the sweeps of each pass with a longer step in the direction in which the
        last one went, kept if it raises the dual. Without, or without sweeps, pairs
        crawl where many examples should move together: with a large C on data that
        cannot be separated.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> problem = make_problem(s, get_loss("hinge"))
    >>> solution = solve(problem, SequentialMinimalOptimization(), tol=1e-6)
    >>> solution.w.round(4).tolist()
    [0.5, -0.5]
    """

    pair_steps: int = 3
    sweeps: int = 5
    delta: float = 0.1
    momentum: bool = True

    names: ClassVar[dict[str, dict[str, Any]]] = {"smo": {}}
    losses = ("hinge",)
    penalties = PENALTIES
    follows_pull = True
    needs = (waist.argmax, waist.add_costs, waist.cost, waist.diff_dot)
    at_least: ClassVar[dict[str, float]] = {"pair_steps": 1, "sweeps": 0, "delta": 0}

    def start(
        self, problem: Problem, rng: np.random.Generator, previous: State | None
    ) -> SequentialMinimalState:
        """Start at the right outputs, or at the dual point of an earlier run.

        A distribution over outputs is feasible for any C and any example weights.
        """
        state = SequentialMinimalState(problem)
        if isinstance(previous, SequentialMinimalState):
            state.take_over(previous)
            state.before = state.sets.alpha.copy()
            self._refresh(problem, state)
        return state

    def run_pass(
        self, problem: Problem, state: SequentialMinimalState, rng: np.random.Generator
    ) -> Iterator[float]:
        """Sweep over the outputs at hand, then look for new ones."""
        n = problem.n_examples
        if state.catches_up:
            rule = partial(self._rule, state, 0.0)
            yield from infer(rule, problem, state, state.new_examples(problem, rng))
            return
        # In the first pass there are only the right outputs.
        count = self.sweeps if state.sets.used[0] > n else 0
        if self.momentum and count:
            state.go_on(problem, problem.C)
            _drop_zeros(state.sets)
        # At the violation v the gap is C v.
        least = least_violation(state, self.delta, float(problem.C.sum()))
        rule = partial(self._rule, state, least)
        sweeps = [shuffled(n, rng) for _ in range(count)]
        order = shuffled(n, rng)
        yield from sweep_and_infer(rule, problem, state, sweeps, lambda: order)
        primal = problem.penalise(state.w) + float(problem.C @ state.slack)
        state.estimate = Certificate(primal, state.dual, exact=False)

    def _rule(self, state: SequentialMinimalState, least: float) -> PairRule:
        return PairRule(state.values, state.slack, self.pair_steps, least)

    def certify(self, problem: Problem, state: SequentialMinimalState) -> Certificate:
        """Recompute the weights from the duals, then primal and dual exactly."""
        self._refresh(problem, state)
        return state.certify(problem)

    def _refresh(self, problem: Problem, state: SequentialMinimalState) -> None:
        state.normalise()
        state.refresh(problem, problem.C)
