"""Training, watched: the objective and a test score after every pass."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from partwise.solvers import solve
from partwise.solvers.automatic import choose_solver
from partwise.solvers.base import Problem, Solver
from partwise.solvers.loop import Callback
from partwise.solvers.registry import make_solver
from partwise.solvers.trace import TraceRow

Clock = Callable[[], float]
WALL: Clock = time.perf_counter
CPU: Clock = time.process_time


class Task(Protocol):
    """What is learnt, and how well weights do on test data."""

    def problem(self) -> Problem:
        """Return the problem to solve."""

    def score(self, w: Any) -> float:
        """Return the test score of weights in percent."""


class Point(NamedTuple):
    """A pass: what it cost so far, and what the benchmark itself measured after it.

    Only `dual` is as the solver says; the certificate of the run is exact.
    """

    seconds: float
    primal: float
    score: float
    calls: int
    dual: float


class Run(NamedTuple):
    """A run of one solver with one seed.

    `primal`, `score`, `gap` and `dual` are those of the solution; `seconds` and `calls`
    include the proof.
    """

    points: list[Point]
    passes: int
    gap: float
    dual: float
    primal: float
    score: float
    seconds: float
    calls: int


class Watch(Callback):
    """Measures objective and test score after every so many passes, off the clock.

    The clock starts when the watch is made, since some solvers do much of their work
    before the first pass. When it has gone on for `limit`, training is interrupted.
    """

    def __init__(
        self, task: Task, every: int = 1, clock: Clock = WALL, limit: float = math.inf
    ) -> None:
        self.task = task
        self.every = every
        self.points: list[Point] = []
        self._clock, self._limit = clock, limit
        self._off_clock = 0.0
        self._made = clock()

    @property
    def seconds(self) -> float:
        """Return the time since the watch was made, without that of measuring."""
        return self._clock() - self._made - self._off_clock

    def on_start(self, problem: Problem, solver: Any, max_iter: int) -> None:
        """Remember whose objective it is."""
        self.problem = problem

    def on_progress(self, iteration: int, fraction: float) -> None:
        """Look at the clock."""
        if self.seconds > self._limit:
            raise KeyboardInterrupt

    def on_pass(self, row: TraceRow, w: Any) -> None:
        """Measure."""
        if row.iteration % self.every:
            return
        seconds, begin = self.seconds, self._clock()
        self.points.append(
            Point(
                seconds,
                self.problem.primal(w),
                self.task.score(w),
                row.oracle_calls,
                row.dual,
            )
        )
        self._off_clock += self._clock() - begin


def run_solver(
    task: Task,
    solver: str | Solver,
    seed: int,
    tol: float,
    max_iter: int,
    limit: float,
    every: int = 1,
    clock: Clock = WALL,
) -> Run:
    """Train once, watched; ``"auto"`` chooses on the clock.

    `CPU` is the clock for machines that are shared: it stops while others compute.
    """
    problem = task.problem()
    watch = Watch(task, every, clock, limit)
    auto = solver == "auto"
    solution = solve(
        problem,
        choose_solver(problem).solver if auto else make_solver(solver),
        tol=tol,
        max_iter=max_iter,
        time_limit=limit if clock is WALL else None,
        random_state=seed,
        callbacks=[watch],
    )
    seconds = watch.seconds
    certificate = solution.certificate
    return Run(
        watch.points,
        len(solution.trace),
        math.nan if certificate is None else certificate.relative_gap,
        math.nan if certificate is None else certificate.dual,
        problem.primal(solution.w),
        task.score(solution.w),
        seconds,
        solution.state.oracle_calls,
    )


def time_to(run: Run, field: str, goal: float) -> float:
    """Return the time at which the score rose to, or the objective fell to, a value."""
    for point in run.points:
        value = getattr(point, field)
        if value >= goal if field == "score" else value <= goal:
            return point.seconds
    return math.inf
