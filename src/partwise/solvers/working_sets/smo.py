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
from typing import Any, ClassVar

import numpy as np

from partwise._jit import kernel
from partwise.losses import Certificate
from partwise.losses.margin import most_violated
from partwise.solvers.base import Problem, Solver, State, chunks
from partwise.solvers.working_sets.sets import (
    WorkingSets,
    add_member,
    drop_zeros,
    has_room,
    is_member,
    make_working_sets,
    rank_members,
    sum_parts,
    value_members,
)
from partwise.solvers.working_sets.state import WorkingSetState
from partwise.structures.decoding import output_pointers
from partwise.structures.gibbs import part_pointers
from partwise.structures.interface import (
    CodeArray,
    Diff,
    FloatArray,
    IntArray,
    Structure,
    add_costs,
    argmax,
    cost,
    diff_add,
    diff_dot,
    diff_sqnorm,
    gold,
    output_size,
    shortfall,
    visit,
)
from partwise.structures.scratch import Scratch


@kernel
def _put_on_gold(s: Structure, sets: WorkingSets, y_gold: CodeArray) -> None:
    """Give all the mass of every example to its right output: there w = 0."""
    for i in range(sets.newest.size):
        gold(s, i, y_gold)
        add_member(sets, i, y_gold, output_size(s, i), 0.0, 0.0)
        sets.alpha[sets.newest[i]] = 1.0
        sets.mass[i] = 1.0


@kernel
def _move_mass(
    s: Structure,
    i: int,
    C: float,
    w: FloatArray,
    sets: WorkingSets,
    values: FloatArray,
    pair_steps: int,
    delta: float,
    y_gold: CodeArray,
    diff: Diff,
    ws: Any,
) -> float:
    """Take the best step between each of some pairs; return the rise of the dual.

    Moving `step` from `low` to `high` changes the dual by
    ``C (step violation - step^2 bend / 2)``. `values` must be up to date.
    """
    size = output_size(s, i)
    rise = 0.0
    emptied = False
    for pair in range(pair_steps):
        if pair > 0:
            value_members(s, i, w, sets, values, y_gold, diff, ws)
        high, low, _ = rank_members(sets, i, values)
        violation = values[high] - values[low]
        if violation <= delta:
            break
        y_high = sets.codes[sets.code_at[high] : sets.code_at[high] + size]
        y_low = sets.codes[sets.code_at[low] : sets.code_at[low] + size]
        bend = C * diff_sqnorm(s, i, y_high, y_low, diff, ws)
        step = sets.alpha[low]
        if step * bend > violation:
            step = violation / bend
        diff_add(s, i, y_high, y_low, C * step, w, diff, ws)
        sets.alpha[high] += step
        sets.alpha[low] -= step
        emptied |= sets.alpha[low] == 0.0
        rise += C * step * (violation - 0.5 * step * bend)
    if emptied:
        drop_zeros(sets, i)
    return rise


@kernel
def _sweep(
    s: Structure,
    order: IntArray,
    start: int,
    stop: int,
    C: FloatArray,
    w: FloatArray,
    sets: WorkingSets,
    values: FloatArray,
    dual: float,
    pair_steps: int,
    delta: float,
    y_gold: CodeArray,
    diff: Diff,
    ws: Any,
) -> float:
    """Move mass among the outputs at hand, without inference; return the dual.

    The dual value is carried from call to call, so that its rounding does not depend
    on how a pass is cut into calls.
    """
    for position in range(start, stop):
        i = order[position]
        # A single output has nobody to give its mass to.
        if C[i] == 0.0 or sets.older[sets.newest[i]] < 0:
            continue
        visit(s, i, ws)
        gold(s, i, y_gold)
        value_members(s, i, w, sets, values, y_gold, diff, ws)
        dual += _move_mass(
            s, i, C[i], w, sets, values, pair_steps, delta, y_gold, diff, ws
        )
    return dual


@kernel
def _infer(
    s: Structure,
    order: IntArray,
    start: int,
    stop: int,
    C: FloatArray,
    w: FloatArray,
    sets: WorkingSets,
    values: FloatArray,
    dual: float,
    pair_steps: int,
    delta: float,
    slack: FloatArray,
    scratch: Scratch,
    diff: Diff,
    ws: Any,
) -> tuple[int, float]:
    """Find the most violated outputs and move mass to them.

    Stop early when the working sets need more room. Return the position reached and
    the new dual value.
    """
    for position in range(start, stop):
        i = order[position]
        size = output_size(s, i)
        if not has_room(sets, size):
            return position, dual
        if C[i] == 0.0:
            continue
        visit(s, i, ws)
        slack[i] = most_violated(s, i, w, scratch, ws)
        y, y_gold = scratch.y, scratch.y_gold
        value_members(s, i, w, sets, values, y_gold, diff, ws)
        _, low, _ = rank_members(sets, i, values)
        # No output of all there are is worth more: nothing to gain here.
        if slack[i] - values[low] <= delta:
            continue
        if not is_member(sets, i, y, size):
            add_member(sets, i, y, size, cost(s, i, y), 0.0)
            values[sets.newest[i]] = slack[i] - shortfall(s, i, ws)
        dual += _move_mass(
            s, i, C[i], w, sets, values, pair_steps, delta, y_gold, diff, ws
        )
    return stop, dual


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


class SequentialMinimalState(WorkingSetState):
    """Weights, and a distribution over some outputs of every example."""

    def __init__(self, problem: Problem):
        super().__init__(problem)
        s, n = problem.structure, problem.n_examples
        n_codes = int(output_pointers(s)[-1])
        self.sets = make_working_sets(n, 2 * n + 16, 2 * n_codes + 64)
        _put_on_gold(s, self.sets, self.scratch.y_gold)
        self.fit_scratch()

    def fit_scratch(self) -> None:
        """Make room for the value of every member."""
        self.values = np.zeros(self.sets.alpha.size)


def part_marginals(
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
    >>> ptr, mu = part_marginals(problem, state)
    >>> ptr.tolist(), mu.tolist()
    ([0, 2, 4], [0.0, 1.0, 1.0, 0.0])
    """
    s = problem.structure
    ptr = part_pointers(s)
    mu = np.zeros(ptr[-1])
    sum_parts(s, state.sets, ptr, mu, state.scratch)
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
        Outputs exchange mass only if their values differ by more than this.

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
    delta: float = 1e-6

    names: ClassVar[dict[str, dict[str, Any]]] = {"smo": {}}
    losses: ClassVar[tuple[str, ...]] = ("hinge",)
    needs: ClassVar[tuple[Any, ...]] = (argmax, add_costs, cost, diff_dot)

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.pair_steps < 1:
            raise ValueError("pair_steps must be at least 1")
        if self.sweeps < 0 or self.delta < 0:
            raise ValueError("sweeps and delta must not be negative")

    def start(
        self, problem: Problem, rng: np.random.Generator, previous: State | None
    ) -> SequentialMinimalState:
        """Start at the right outputs, or at the dual point of an earlier run.

        A distribution over outputs is feasible for any C and any example weights.
        """
        state = SequentialMinimalState(problem)
        if isinstance(previous, SequentialMinimalState):
            state.check_fits(previous)
            state.take_back(previous.tensors(), WorkingSetState.kept)
            self._refresh(problem, state)
        return state

    def run_pass(
        self, problem: Problem, state: State, rng: np.random.Generator
    ) -> Iterator[float]:
        """Sweep over the outputs at hand, then look for new ones."""
        assert isinstance(state, SequentialMinimalState)
        n = problem.n_examples
        # In the first pass there are only the right outputs.
        sweeps = self.sweeps if state.sets.used[0] > n else 0
        for sweep in range(sweeps):
            for fraction in self._sweep(problem, state, rng.permutation(n)):
                yield 0.5 * (sweep + fraction) / sweeps
        for fraction in self._infer(problem, state, rng.permutation(n)):
            yield 0.5 + 0.5 * fraction
        w, C = state.w, problem.C
        primal = float(0.5 * w @ w + C @ state.slack)
        state.estimate = Certificate(primal, state.dual, exact=False)

    def _sweep(
        self, problem: Problem, state: SequentialMinimalState, order: IntArray
    ) -> Iterator[float]:
        for start, stop in chunks(order.size):
            state.dual = _sweep(
                problem.structure, order, start, stop, problem.C, state.w, state.sets,
                state.values, state.dual, self.pair_steps, self.delta,
                state.scratch.y_gold, state.diff, state.workspace,
            )  # fmt: skip
            yield stop / order.size

    def _infer(
        self, problem: Problem, state: SequentialMinimalState, order: IntArray
    ) -> Iterator[float]:
        s = problem.structure
        for start, stop in chunks(order.size):
            reached = start
            while reached < stop:
                reached, state.dual = _infer(
                    s, order, reached, stop, problem.C, state.w, state.sets,
                    state.values, state.dual, self.pair_steps, self.delta,
                    state.slack, state.scratch, state.diff, state.workspace,
                )  # fmt: skip
                if reached < stop:
                    state.make_room(s, order, reached)
            state.oracle_calls += stop - start
            yield stop / order.size

    def certify(self, problem: Problem, state: State) -> Certificate:
        """Recompute the weights from the duals, then primal and dual exactly."""
        assert isinstance(state, SequentialMinimalState)
        self._refresh(problem, state)
        return state.certify(problem)

    def _refresh(self, problem: Problem, state: SequentialMinimalState) -> None:
        _normalise(state.sets)
        state.refresh(problem, problem.C)
