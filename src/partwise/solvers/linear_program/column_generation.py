"""Column generation: the hinge with an L1 penalty as a linear program (paper 002).

``min |w|_1 + sum_i C_i xi_i`` with a constraint for every wrong output of every
example: too many to write down. Every round solves a *master problem* of those found
so far, then looks for the most violated wrong output of each example
(Algorithm 1). What the master problem does not know of is decided by where one looks:
between its weights and the best ones so far, so that both get better. The paper's
Algorithm 1 looks at the weights of the master problem; `as_printed` does just that.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from partwise._jit import working_time
from partwise.losses import Certificate, SetHinge
from partwise.losses.wrong_outputs import Search
from partwise.solvers.base import STALLED, Problem, Solver, State
from partwise.solvers.facts import same_length, within
from partwise.solvers.linear_program.extragradient import STEPS, Extragradient
from partwise.solvers.linear_program.generalization import bound_of
from partwise.solvers.linear_program.highs_master import METHODS, HighsMaster
from partwise.solvers.linear_program.master import Master, Task
from partwise.solvers.linear_program.proximal_master import ProximalMaster
from partwise.solvers.linear_program.rows import Rows
from partwise.solvers.linear_program.rows_of_shards import RowsOfShards
from partwise.solvers.linear_program.saddle_steps import ChambollePock
from partwise.solvers.linear_program.warm_up import warm_up
from partwise.solvers.units import cost_unit, feature_unit, power_of_two
from partwise.structures.interface import FloatArray, add_costs, cost, kbest

MASTERS = ("proximal", "chambolle-pock", "extragradient", *METHODS)

FRUITLESS = 20
"""Rounds in a row that improve neither bound: no more of them."""

MASTER_SHARE = 0.1
"""The master problem is solved to this share of the gap, where that can be chosen."""

LEAST_VIOLATION = 1e-9
"""Less than this of the largest margin is rounding."""

SCALED = "scaled"
"""What steps of Chambolle and Pock were called before they were a master."""

MOST_EFFORT = 64
"""How much harder than at first master problems are solved, at most."""

FEW = 1000
"""Examples that tell how large features are."""

TIGHTEN_AT, MOST_ENTRIES = 16, 1_000_000
"""From which effort on, and up to which size, HiGHS finds the last digits."""


class ColumnGenerationState(State):
    """Rows, multipliers, the weights of the master problem, and the best ones.

    Attributes
    ----------
    w : array
        The weights of the lowest objective so far.
    master_w : array
        The weights of the master problem.
    lam : array
        The multipliers of the rows.
    effort : int
        How hard to try in the master problem: harder where no rows are missing.
    reach : float
        How far from the best weights towards those of the master problem to look
        for rows, as a fraction of the distance.
    feature_unit, margin_unit : float
        About the largest of the first rows. Master problems are stated in these units,
        since tolerances of the solvers behind them are absolute; 0 before.
    """

    kept = (
        "row_set", "master", "w", "master_w", "lam", "reach", "primal", "dual",
        "fruitless", "effort", "feature_unit", "margin_unit", "master_seconds",
        "decoding_seconds",
    )  # fmt: skip
    growing = ("lam",)
    unbounded = ("primal",)
    facts = (same_length("lam", "row_set.owner"), within("effort", 1, MOST_EFFORT + 1))

    def __init__(self, problem: Problem, master: Master):
        loss = problem.loss
        rules = (loss if isinstance(loss, SetHinge) else SetHinge("cost")).rules()
        s = problem.structure
        self.search = Search(s, rules, problem.n_jobs, problem.C)
        if problem.is_elsewhere:
            self.row_set: Rows = RowsOfShards(s, rules, problem.n_weights)
            self.row_set.crew = self.search.crew
        else:
            self.row_set = Rows(s, rules, problem.n_weights)
        self.master = master
        self.w = np.zeros(problem.n_weights)
        self.master_w = self.w
        self.lam = np.zeros(0)
        self.reach, self.effort = 0.3, 1
        self.primal, self.dual = np.inf, 0.0
        self.fruitless = 0
        self.feature_unit = self.margin_unit = 0.0

    @contextmanager
    def clock(self, what: str) -> Iterator[None]:
        """Add the time that something takes to its counter."""
        begin = working_time()
        try:
            yield
        finally:
            spent = working_time() - begin
            name = f"{what}_seconds"
            setattr(self, name, getattr(self, name) + spent)

    def units(self) -> tuple[float, float]:
        """Return the units of features and margins in master problems."""
        rows = self.row_set
        if not self.feature_unit:
            largest = float(np.abs(rows.val).max(initial=0.0)) or 1.0
            self.feature_unit = power_of_two(largest)
            self.margin_unit = power_of_two(float(rows.margin.max(initial=0.0)) or 1.0)
        return self.feature_unit, self.margin_unit

    def choices(self) -> list[FloatArray]:
        """Return the best weights, and those of the master problem.

        Until most rows are found, no weights may have a lower objective than zeros,
        while those of the master problem, the paper's, predict well.
        """
        return [self.w, self.master_w]

    def restored(self) -> None:
        """Count the rows."""
        self.rows = len(self.row_set)


@dataclass(frozen=True)
class ColumnGeneration(Solver):
    """The hinge with an L1 penalty: a linear program, solved round by round.

    Weights may be signed, or not negative as in the paper; most of them are exactly
    zero. Margins may be one or costs, and examples may have several good outputs:
    see `SetHinge`.

    Parameters
    ----------
    master : {"proximal", "chambolle-pock", "extragradient", "highs", "pdlp"}
        How the master problem is solved: by proximal steps with dual coordinate
        ascent, by the method of Chambolle and Pock with restarts, by the extragradient
        method (Algorithm 2 of the paper), by HiGHS's simplex method on a model that
        stays warm, or by HiGHS's first-order method.
    step : {"frobenius", "spectral"}
        How long steps of the extragradient method are: by the Frobenius norm, as in the
        paper, or longer, by the spectral norm.
    change : float
        The extragradient method stops where a step changes the point by less than
        this, relatively, and objective and bound are close.
    steps : int
        Steps of "chambolle-pock" and "extragradient" in a round, at most; more where no
        rows are missing.
    passes : int
        Online passes at the start, which find the first rows and weights; none where
        the corpus is in shards elsewhere.
    drop_after : int
        Rows without a multiplier for this many rounds are dropped.
    tighten : bool
        When nothing is violated any more and steps of a first-order master get no
        further, let HiGHS find the last digits, unless there are more than a million
        entries. False leaves all to the master.
    as_printed : bool
        Do what Algorithm 1 of the paper says, line by line: start at ``w = 1``, look
        for wrong outputs at the weights of the master problem and nowhere else, keep
        all rows. `passes`, `drop_after` and `tighten` have no effect then.

    Notes
    -----
    A pass is a round. The lower bound is that of the multipliers, scaled down until
    they are feasible for the dual of the whole problem, whatever the master problem
    left out; the objective is that of slacks from exact decoding. A run that resumes
    from a checkpoint is bit for bit the same, but for "highs" and "pdlp": their model
    is built again from all rows, without the basis.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> problem = make_problem(s, get_loss("set_hinge"), C=2.0, l1_ratio=1.0)
    >>> solution = solve(problem, ColumnGeneration("highs"), tol=1e-6)
    >>> round(solution.certificate.primal, 6)
    1.0
    """

    master: str = "proximal"
    step: str = "frobenius"
    change: float = 1e-4
    steps: int = 100
    passes: int = 5
    drop_after: int = 20
    tighten: bool = True
    as_printed: bool = False

    names: ClassVar[dict[str, dict[str, Any]]] = {
        "column-generation": {},
        "column-generation-chambolle-pock": {"master": "chambolle-pock"},
        "column-generation-extragradient": {"master": "extragradient"},
        "column-generation-highs": {"master": "highs"},
        "column-generation-pdlp": {"master": "pdlp"},
        "column-generation-printed": {"master": "highs", "as_printed": True},
    }
    losses = ("hinge", "set_hinge")
    penalties = ("l1", "positive l1")
    needs = (kbest, add_costs, cost)
    only_passes = True
    choices: ClassVar[dict[str, tuple[Any, ...]]] = {
        "master": MASTERS,
        "step": (*STEPS, SCALED),
    }
    at_least: ClassVar[dict[str, float]] = {"steps": 1, "passes": 0, "drop_after": 1}

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        if not self.change > 0.0:
            raise ValueError(f"change must be positive, not {self.change!r}")
        if self.step == SCALED:
            warnings.warn(
                "step='scaled' is deprecated: it is not the extragradient method; "
                "write master='chambolle-pock'",
                FutureWarning,
                stacklevel=3,
            )

    def memory(self, problem: Problem) -> int:
        """Return about the bytes of the vectors; rows come as they are needed."""
        return 8 * 5 * problem.n_weights

    def _make_master(self, problem: Problem) -> Master:
        if self.master == "proximal":
            return ProximalMaster(problem.positive)
        scaled = self.master == "extragradient" and self.step == SCALED
        if self.master == "chambolle-pock" or scaled:
            return ChambollePock(problem.positive, self.steps)
        if self.master == "extragradient":
            return Extragradient(problem.positive, self.step, self.change, self.steps)
        return HighsMaster(problem.positive, self.master)

    def start(
        self, problem: Problem, rng: np.random.Generator, previous: State | None
    ) -> ColumnGenerationState:
        """Start at zero, or with the rows and weights of an earlier run.

        As printed, start at ``w = 1`` (Algorithm 1, line 2).
        """
        state = ColumnGenerationState(problem, self._make_master(problem))
        if self.as_printed:
            state.w = state.master_w = np.ones(problem.n_weights)
            state.reach = 1.0
        if previous is not None:
            state.check_fits(previous)
            if problem.positive and (previous.w < 0.0).any():
                raise ValueError("the previous run had negative weights")
            state.w = state.master_w = previous.w.copy()
            if (
                isinstance(previous, ColumnGenerationState)
                and previous.search.rules == state.search.rules
            ):
                state.row_set.restore(previous.row_set.tensors())
                state.lam = previous.lam.copy()
        return state

    def run_pass(
        self, problem: Problem, state: ColumnGenerationState, rng: np.random.Generator
    ) -> Iterator[float]:
        """Solve the master problem, and look for rows that are violated."""
        before = (state.primal, state.dual)
        if state.primal == np.inf:
            yield from self._begin(problem, state, rng)
        if len(state.row_set):
            with state.clock("master"):
                self._solve_master(problem, state, rng)
        yield 0.5
        yield from self._generate(problem, state)
        state.estimate = Certificate(state.primal, state.dual)
        same = (state.primal, state.dual) == before
        state.fruitless = state.fruitless + 1 if same else 0
        if state.fruitless >= FRUITLESS:
            state.halted = STALLED

    def _begin(
        self, problem: Problem, state: ColumnGenerationState, rng: np.random.Generator
    ) -> Iterator[float]:
        """Find the first rows, and weights to start from."""
        starts = [state.w]
        with state.clock("decoding"):
            # Online passes need the examples at hand.
            online = self.passes and not (self.as_printed or problem.is_elsewhere)
            if len(state.row_set) == 0 and online:
                average = np.zeros(problem.n_weights)
                for done in warm_up(
                    state.search, state.row_set, self._longest_steps(problem, state),
                    problem.positive, self.passes, rng, average,
                ):  # fmt: skip
                    yield 0.3 * done
                state.oracle_calls += self.passes * problem.n_examples
                state.lam = np.zeros(len(state.row_set))
                starts.append(average)
            for w in starts:
                yield from self._look(problem, state, w, 0.3, 0.5)

    def _longest_steps(
        self, problem: Problem, state: ColumnGenerationState
    ) -> FloatArray:
        """Return how far an online step may go: C, if margins and features are one."""
        some = np.arange(min(problem.n_examples, FEW))
        margin = 1.0 if state.search.rules.unit else cost_unit(problem)
        return problem.C * (margin / feature_unit(problem, some))

    def _look(
        self,
        problem: Problem,
        state: ColumnGenerationState,
        w: FloatArray,
        done: float,
        end: float,
    ) -> Iterator[float]:
        """Decode at `w`; keep the weights if they are the best, add violated rows."""
        for fraction in state.search.run(w):
            yield done + (end - done) * fraction
        state.oracle_calls += problem.n_examples
        found, rows = state.search.found, state.row_set
        primal = problem.penalise(w) + float(problem.C @ found.slack)
        if primal < state.primal:
            state.primal, state.w = primal, w.copy()
        known = rows.slacks(w, problem.n_examples)
        # What all violations below this add up to is a small share of the gap.
        least = 0.1 * (state.primal - state.dual) / problem.C.sum()
        if not np.isfinite(least) or self.as_printed:
            least = 0.0
        rounding = LEAST_VIOLATION * float(rows.margin.max(initial=0.0))
        todo = np.flatnonzero(found.amount > known + max(least, rounding))
        rows.add(todo, found)
        state.lam = np.concatenate([state.lam, np.zeros(todo.size)])
        state.rows = len(rows)

    def _solve_master(
        self, problem: Problem, state: ColumnGenerationState, rng: np.random.Generator
    ) -> None:
        """Solve the master problem, take its bound, drop rows that do nothing."""
        rows = state.row_set
        accuracy = MASTER_SHARE * max(state.primal - state.dual, 0.0)
        master = state.master
        small = rows.idx.size <= MOST_ENTRIES
        tighten = self.tighten and not self.as_printed
        if tighten and state.effort >= TIGHTEN_AT and small:
            # No rows are missing, and steps get nowhere: the last digits.
            master = HighsMaster(problem.positive, "highs")
        feature, margin = state.units()
        weight = margin / feature
        task = Task(
            rows.in_units(feature, margin), problem.C * feature,
            state.master_w[rows.weight_of] / weight, state.lam * feature,
            accuracy / weight, state.effort,
        )  # fmt: skip
        w, lam, bound = master.solve(task, rng)
        w, lam, bound = w * weight, lam / feature, bound * weight
        state.dual = max(state.dual, min(bound, state.primal))
        state.master_w = np.zeros(problem.n_weights)
        state.master_w[rows.weight_of] = w
        rows.idle = np.where(lam > 0.0, 0, rows.idle + 1)
        dropped = np.flatnonzero(rows.idle > self.drop_after)
        if dropped.size and not self.as_printed:
            rows.drop(dropped)
            lam = np.delete(lam, dropped)
            state.master.forget(dropped)
        state.lam = lam

    def _generate(
        self, problem: Problem, state: ColumnGenerationState
    ) -> Iterator[float]:
        """Look between the best weights and those of the master problem.

        As printed, look at those of the master problem (Algorithm 1, lines 4 to 11).
        """
        primal, n_rows = state.primal, len(state.row_set)
        w = state.w + state.reach * (state.master_w - state.w)
        if state.reach == 1.0:
            w = state.master_w
        with state.clock("decoding"):
            yield from self._look(problem, state, w, 0.5, 1.0)
        complete = len(state.row_set) == n_rows
        if complete or state.primal < primal or self.as_printed:
            state.reach = min(1.5 * state.reach, 1.0)
        else:
            state.reach = max(0.7 * state.reach, 0.1)
        effort = 2 * state.effort if complete else state.effort // 2
        state.effort = min(max(effort, 1), MOST_EFFORT)

    def certify(self, problem: Problem, state: ColumnGenerationState) -> Certificate:
        """Return the certificate, which is known after every round."""
        if state.primal == np.inf:  # no round has ended yet
            state.primal = problem.primal(state.w)
        return Certificate(state.primal, state.dual)

    def remark(self, w: FloatArray) -> str:
        """Say how many weights are not zero."""
        n_used = int(np.count_nonzero(w))
        text = f"; {n_used} of {w.size} weights are not zero"
        return text if n_used else f"{text}; C may be too small"

    def error_bound(
        self,
        problem: Problem,
        state: ColumnGenerationState,
        w: FloatArray,
        certificate: Certificate | None,
    ) -> float | None:
        """Return the bound of paper 002; see `generalization_bound`."""
        if certificate is None:
            return None
        return bound_of(problem, w, certificate.primal)
