"""Choosing C on development data, then training again and testing."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from benchmarks.harness.report import Curve
from benchmarks.harness.tagging_task import TaggingTask
from partwise.solvers import solve
from partwise.solvers.loop import Callback, Solution
from partwise.solvers.registry import make_solver
from partwise.solvers.trace import TraceRow

TWO_AT_A_TIME = 2  # for scores; what is timed runs alone
NEVER = 1e-9  # a gap that no run gets to, so that all make the same number of passes


class Method(NamedTuple):
    """A solver with a loss, and how it is tuned."""

    name: str
    solver: str
    loss: str
    online: bool = False
    uses_C: bool = True
    search_passes: int | None = None  # if other than for the rest
    one_seed: bool = False


class Tuned(NamedTuple):
    """What a method did with the C that was best on development data.

    `tests` has a score for every seed; everything else, the weights `w` too, is of the
    first one. `seconds` is without the certificate at the end.
    """

    C: float | None
    search: dict[float, float]
    dev: float
    tests: list[float]
    seconds: float
    gap: float
    curve: Curve
    w: Any

    @property
    def test(self) -> float:
        """The test score, mean over seeds."""
        return sum(self.tests) / len(self.tests)


class Budget(NamedTuple):
    """Which values of C are tried in how many passes, and how training goes then."""

    costs: Sequence[float]
    search_passes: int
    passes: int
    seeds: Sequence[int]


class Scorer(Callback):
    """Scores weights on test data after every pass, off the clock."""

    def __init__(self, task: TaggingTask) -> None:
        self.task = task
        self.seconds: list[float] = []
        self.scores: list[float] = []
        self._made = time.perf_counter()

    def on_start(self, problem: Any, solver: Any, max_iter: int) -> None:
        """Remember what came before the first pass."""
        self._before = time.perf_counter() - self._made

    def on_pass(self, row: TraceRow, w: Any) -> None:
        """Score."""
        self.seconds.append(self._before + row.seconds)
        self.scores.append(self.task.score(w, "test"))


def train(
    task: TaggingTask,
    method: Method,
    C: float,
    passes: int,
    seed: int = 0,
    watch: Sequence[Callback] = (),
) -> Solution:
    """Make so many passes."""
    return solve(
        task.problem(method.loss, C),
        make_solver(method.solver),
        tol=NEVER,
        max_iter=passes,
        random_state=seed,
        callbacks=watch,
    )


def tune(task: TaggingTask, method: Method, budget: Budget) -> Tuned:
    """Choose C, train with every seed, and test."""
    passes = method.search_passes or budget.search_passes

    def dev_score(C: float) -> float:
        return task.score(train(task, method, C, passes).w, "dev")

    def test_score(seed: int) -> float:
        w = train(task, method, C, budget.passes, seed).w
        return task.score(w, "test")

    with ThreadPoolExecutor(TWO_AT_A_TIME) as pool:
        costs = budget.costs if method.uses_C else []
        search = dict(zip(costs, pool.map(dev_score, costs), strict=True))
        C = max(search, key=search.__getitem__, default=1.0)
        others = [] if method.one_seed else budget.seeds[1:]
        tests = list(pool.map(test_score, others))
    watch = Scorer(task)
    solution = train(task, method, C, budget.passes, budget.seeds[0], [watch])
    proof = solution.certificate
    return Tuned(
        C if method.uses_C else None,
        search,
        task.score(solution.w, "dev"),
        [task.score(solution.w, "test"), *tests],
        watch.seconds[-1],
        math.nan if proof is None else proof.relative_gap,
        Curve(method.name, watch.seconds, watch.scores),
        solution.w,
    )
