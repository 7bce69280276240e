"""A race: solvers minimise one objective, timed to several gaps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, NamedTuple

from benchmarks.harness.training_sets import TrainingSet
from benchmarks.harness.watched import CPU, Run, run_solver
from partwise.losses import get_loss
from partwise.solvers import make_problem
from partwise.solvers.automatic import choose_solver, name_of
from partwise.solvers.base import Problem
from partwise.solvers.relay import Relay
from partwise.structures.interface import Structure

# Who takes that many times as long as the fastest so far is not waited for.
PATIENCE = 2.0
LEAST = 2.0  # seconds that everybody has
AGAIN = 1.6  # times the fastest: those are close, and timed with every seed,
SHORT = 10.0  # unless the fastest takes longer than that: then once is enough
MOMENT = 1.0  # seconds: with less, a median needs more runs
MORE = 5  # times as many
ENDLESS = 100_000  # passes


class Course(NamedTuple):
    """An objective on some data."""

    data: TrainingSet
    loss: str
    C: float
    l1_ratio: float = 0.0

    def on(self, structure: Structure) -> Problem:
        """Return the same objective on other data."""
        loss = get_loss(self.loss)
        return make_problem(structure, loss, self.C, l1_ratio=self.l1_ratio)

    def problem(self) -> Problem:
        """Return the problem to solve."""
        return self.on(self.data.structure)

    def score(self, w: Any) -> float:
        """Nothing is tested in a race."""
        return math.nan


class _Few(NamedTuple):
    """A few of the examples, to compile with."""

    course: Course

    def problem(self) -> Problem:
        return self.course.on(self.course.data.few)

    def score(self, w: Any) -> float:
        return math.nan


class Time(NamedTuple):
    """When a gap was reached; infinite if it was not."""

    seconds: float
    passes: float


NEVER = Time(math.inf, math.inf)


@dataclass
class Result:
    """What a solver did: the run to the smallest gap, and all times to a proof."""

    solver: str
    run: Run
    limit: float
    times: dict[float, list[Time]] = field(default_factory=dict)

    def proved(self, goal: float) -> Time:
        """Return when solving to this gap was over, median over seeds."""
        times = self.times.get(goal)
        if not times:
            return NEVER
        return Time(median(t.seconds for t in times), median(t.passes for t in times))

    def near(self, goal: float, dual: float) -> Time:
        """Return when the objective was that near to a dual value."""
        for number, point in enumerate(self.run.points, start=1):
            if point.primal - dual <= goal * point.primal:
                return Time(point.seconds, number)
        return NEVER

    def came_to(self, goal: float) -> bool:
        """Say whether its own dual value ever proved the gap."""
        dual = -math.inf
        for point in self.run.points:
            if point.dual > dual:
                dual = point.dual
            if point.primal - dual <= goal * point.primal:
                return True
        return self.run.gap <= goal


class Outcome(NamedTuple):
    """How a race ended; `dual` is the best value that any solver found."""

    course: Course
    results: list[Result]
    dual: float

    def fastest(self, goal: float) -> Result:
        """Return the solver that proved the gap first."""
        return min(self.results, key=lambda result: result.proved(goal).seconds)

    def contenders(self, goals: Sequence[float], within: float) -> list[str]:
        """Return who proved some gap in at most `within` times the least time."""
        return [
            result.solver
            for result in self.results
            if any(
                result.proved(goal).seconds
                <= within * self.fastest(goal).proved(goal).seconds
                < math.inf
                for goal in goals
            )
        ]

    def result_of(self, solver: str) -> Result:
        """Return what a solver did."""
        return next(result for result in self.results if result.solver == solver)


def race(
    course: Course,
    solvers: Sequence[str],
    goals: Sequence[float],
    seeds: Sequence[int],
    limit: float,
    say: Callable[[str], None],
) -> Outcome:
    """Let solvers run to the smallest of the goals, and then to the others.

    Seconds are those of the processor, so that other jobs do not decide the race. The
    first solver has `limit` of them; put one first that is known to be good.
    """
    results: list[Result] = []
    for solver in solvers:
        say(f"{course.data.name}, {course.loss}: {solver}")
        for name in _at_work(course, solver):  # compiles
            run_solver(_Few(course), name, 0, goals[-1], 3, math.inf)
        best = min((r.proved(goals[-1]).seconds for r in results), default=math.inf)
        most = min(limit, max(LEAST, PATIENCE * best))
        run = run_solver(course, solver, seeds[0], goals[-1], ENDLESS, most, clock=CPU)
        result = Result(solver, run, most)
        if run.gap <= goals[-1]:
            result.times[goals[-1]] = [Time(run.seconds, run.passes)]
        for goal in goals[:-1]:
            if result.came_to(goal):
                result.times[goal] = _prove(course, solver, goal, seeds[:1], most)
        results.append(result)
    for goal in goals:
        best = min(result.proved(goal).seconds for result in results)
        if best > SHORT or len(seeds) == 1:
            continue
        for result in results:
            if result.proved(goal).seconds <= AGAIN * best:
                say(f"{course.data.name}, {course.loss}: {result.solver} to {goal:g}")
                again = [*seeds[1:]] if best > MOMENT else [*seeds] * MORE
                result.times[goal] += _prove(
                    course, result.solver, goal, again, result.limit
                )
    dual = max(_best_dual(result.run) for result in results)
    return Outcome(course, results, dual)


def _at_work(course: Course, solver: str) -> list[str]:
    """Return the solvers that a name stands for; few examples may have others."""
    if solver != "auto":
        return [solver]
    chosen = choose_solver(course.problem()).solver
    parts = [chosen.first, chosen.second] if isinstance(chosen, Relay) else [chosen]
    return ["auto", *(name_of(part) for part in parts)]


def _prove(
    course: Course, solver: str, goal: float, seeds: Sequence[int], limit: float
) -> list[Time]:
    """Solve to a gap, unwatched; leave out what ended otherwise."""
    runs = [
        run_solver(course, solver, s, goal, ENDLESS, limit, ENDLESS, CPU) for s in seeds
    ]
    return [Time(run.seconds, run.passes) for run in runs if run.gap <= goal]


def _best_dual(run: Run) -> float:
    """Return the certified dual: those on the way may be estimates."""
    return -math.inf if math.isnan(run.dual) else run.dual
