"""Which solver is fastest: seconds to a gap, for every loss, on six data sets.

The time to a gap is what a user waits for: that of ``solve(tol=gap)``, the proof
included. Beside it stands the time after which the weights were that good without
anybody knowing it: their objective, computed here and off the clock, is compared with
the best dual value that any solver found. The defaults of ``solver="auto"`` rest on
four of the data sets; on all six it is measured against the fastest, and on data of
extreme shapes too: one long sequence, few with a large C, very many short ones.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from benchmarks.harness.bench import Bench
from benchmarks.harness.race import (
    PATIENCE,
    SHORT,
    Course,
    Outcome,
    Result,
    Time,
    race,
)
from benchmarks.harness.report import Curve, Figure, Plot, Report, Table
from benchmarks.harness.training_sets import training_sets
from partwise.solvers.automatic import choose_solver, name_of

GOALS = [1e-1, 1e-2, 1e-3]
WITHIN, WITHIN_SHAPES = 1.3, 1.5  # of the fastest
# How many times as long as the log loss a margin loss may take, to a gap of 1%.
AGAINST_LIKELIHOOD = {"squared_hinge": 2.0, "hinge": 3.0}
ONE_PERCENT = 1e-2
# Who is never nearer than that runs only on the data that decides.
FAR_BEHIND = 3.0


class Field(NamedTuple):
    """An objective, and who minimises it: those that are usually fast come first.

    A quick run compiles only the first few of them. `only` names the one data set to
    run on, if it is not all.
    """

    loss: str
    C: float
    solvers: list[str]
    l1_ratio: float = 0.0
    quick: int = 2
    only: str = ""

    @property
    def title(self) -> str:
        """The objective in words."""
        penalty = f" with elastic net (l1_ratio {self.l1_ratio:g})"
        return f"{self.loss}{penalty if self.l1_ratio else ''}, C={self.C:g}"


FIELDS = [
    Field("squared_hinge", 0.1, ["dcd", "dcd-light", "cpd", "sgd"]),
    Field(
        "hinge",
        1.0,
        ["frank-wolfe", "smo", "smo-eg", "eg", "cutting-plane", "simplicial", "sgd"],
    ),
    Field(
        "log_loss",
        1.0,
        ["eg", "sdca", "lbfgs", "cg", "eg-batch", "sgd"],
    ),
    # The benchmark `elastic_net` has more.
    Field(
        "log_loss", 1.0, ["eg", "sdca", "owlqn"], l1_ratio=0.5, quick=0, only="MNIST"
    ),
    Field("log_loss", 1.0, ["lbfgs", "eg", "cg", "sgd"], only="one long sequence"),
    Field(
        "squared_hinge",
        1e-4,
        ["cutting-plane", "simplicial", "dcd", "cpd"],
        only="one long sequence",
    ),
    Field(
        "hinge",
        0.1,
        ["cutting-plane", "simplicial", "frank-wolfe", "smo"],
        only="one long sequence",
    ),
    Field("log_loss", 1e4, ["lbfgs", "eg", "cg", "sgd"], only="thirty sequences"),
    Field("log_loss", 0.1, ["eg", "sdca", "lbfgs", "cg"], only="many short sequences"),
    Field(
        "squared_hinge",
        0.01,
        ["dcd", "dcd-light", "cutting-plane"],
        only="many short sequences",
    ),
]


def run(bench: Bench) -> Report:
    """Race on every data set, for one objective after the other."""
    seeds = bench.choose([0, 1], [0])
    goals = bench.choose(GOALS, GOALS[:2])
    limit = bench.choose(25.0, 2.0)
    outcomes: dict[str, list[Outcome]] = {}
    for data in training_sets(bench):
        for field in FIELDS:
            solvers = bench.choose(field.solvers, field.solvers[: field.quick])
            if not solvers or field.only not in ("", data.name):
                continue
            if data.special and not field.only:
                continue
            before = outcomes.setdefault(field.title, [])
            if not data.decides and before:
                solvers = contenders(before, goals)
            course = Course(data, field.loss, field.C, field.l1_ratio)
            # The solver to beat comes first, others are not waited for much longer.
            lined_up = ["auto", *solvers]
            before.append(race(course, lined_up, goals, seeds, limit, bench.say))
    return _report(outcomes, goals, seeds, limit)


def contenders(before: list[Outcome], goals: list[float]) -> list[str]:
    """Return the solvers that were not far behind on any of the data before."""
    named = [
        name
        for one in before
        for name in one.contenders(goals, FAR_BEHIND)
        if name != "auto"
    ]
    return list(dict.fromkeys(named))


class Choice(NamedTuple):
    """What "auto" started with and took, against the fastest."""

    outcome: Outcome
    goal: float
    picked: Result
    fastest: Result

    @property
    def ratio(self) -> float:
        """How many times as long the pick takes; not a number if nobody finished."""
        seconds = self.picked.proved(self.goal).seconds
        best = self.fastest.proved(self.goal).seconds
        return math.nan if math.isinf(best) else seconds / best

    def row(self) -> list[Any]:
        """Return the row of a table."""
        goal = self.goal
        return [
            self.outcome.course.data.name,
            goal,
            name_of(choose_solver(self.outcome.course.problem()).solver),
            cell(self.picked.proved(goal), self.picked.limit),
            self.fastest.solver,
            cell(self.fastest.proved(goal), self.fastest.limit),
            self.ratio,
        ]


def judge(outcome: Outcome, goals: list[float]) -> list[Choice]:
    """Compare what "auto" picks with the fastest, for every gap."""
    return [
        Choice(
            outcome,
            goal,
            outcome.result_of("auto"),
            outcome.fastest(goal),
        )
        for goal in goals
    ]


def against_likelihood(outcomes: dict[str, list[Outcome]]) -> list[Figure]:
    """Compare the time of each margin loss to 1% with that of the log loss."""
    took: dict[tuple[str, str], float] = {}
    for one in (one for some in outcomes.values() for one in some):
        plain = not one.course.data.special and not one.course.l1_ratio
        if plain:
            picked = one.result_of("auto")
            # Who has not got there has taken all its time, at least.
            seconds = min(picked.proved(ONE_PERCENT).seconds, picked.limit)
            took[one.course.data.name, one.course.loss] = seconds
    return [
        Figure(
            f"{loss} / log_loss to a proved {ONE_PERCENT:.0%}, {data}",
            seconds / took[data, "log_loss"],
            "ratio",
            at_most=AGAINST_LIKELIHOOD[loss],
        )
        for (data, loss), seconds in took.items()
        if loss in AGAINST_LIKELIHOOD and (data, "log_loss") in took
    ]


def cell(time: Time, limit: float) -> str:
    """Return a time as tables show it."""
    if math.isinf(time.seconds):
        return f"> {limit:.3g}"
    return f"{time.seconds:.3g} ({time.passes:g})"


def _report(
    outcomes: dict[str, list[Outcome]],
    goals: list[float],
    seeds: list[int],
    limit: float,
) -> Report:
    figures, tables, plots = against_likelihood(outcomes), [], []
    for title, some in outcomes.items():
        choices = {one.course.data.name: judge(one, goals) for one in some}
        for one in some:
            data = one.course.data
            note = "" if data.decides else " (not used to choose)"
            ratios = [c.ratio for c in choices[data.name] if not math.isnan(c.ratio)]
            figures.append(
                Figure(
                    f"auto / fastest, {title}, {data.name}{note}, worst of the gaps",
                    max(ratios, default=math.nan),
                    "ratio",
                    at_most=WITHIN_SHAPES if data.special else WITHIN,
                )
            )
        headings = [
            "", "solver", *(f"proved {goal:g}" for goal in goals),
            *(f"near {goal:g}" for goal in goals), "last gap",
        ]  # fmt: skip
        rows = [_row(one, result, goals) for one in some for result in one.results]
        tables.append(Table(f"{title}: seconds (passes)", headings, rows))
        headings = ["", "gap", "auto starts with", "", "fastest", "", "ratio"]
        rows = [choice.row() for own in choices.values() for choice in own]
        tables.append(Table(f"{title}: what auto picks", headings, rows))
        if len(some[0].results) > 1:
            plots.append(_plot(some[0]))
    return Report(
        figures,
        settings={
            "objectives": list(outcomes),
            "gaps": goals,
            "seconds at most": limit,
        },
        seeds=seeds,
        tables=tables,
        plots=plots,
        notes=[
            "Seconds are those of the processor: all solvers use one thread.",
            "proved: until solve(tol=gap) was over, with the proof; near: until the "
            "objective was within the gap of the best certified dual value of any "
            "solver, which nobody but the benchmark knew then.",
            f"Nobody was waited for longer than {PATIENCE:g} times as long as the "
            "fastest of those before took to the smallest gap, which '>' stands for.",
            "On the data that was not used to choose, only those run that were "
            f"somewhere within {FAR_BEHIND:g} times the least time before.",
            "Those that are close to the fastest ran with all seeds, and the median "
            f"counts; the others, and whatever takes more than {SHORT:g} s, ran once.",
            "eg-primal, which is slow and there for its little memory, does not run.",
            "A gap that nobody proved in time is not judged.",
            "Text is encoded with all pairs of attribute and label: CoNLL-2000 with "
            "the templates of CRFsuite's tutorial, the others with our default ones. "
            "OCR letters are folds 1-9, MNIST all 10,000 digits.",
        ],
    )


def _row(outcome: Outcome, result: Result, goals: list[float]) -> list[Any]:
    limit = result.limit
    return [
        outcome.course.data.name,
        result.solver,
        *(cell(result.proved(goal), limit) for goal in goals),
        *(cell(result.near(goal, outcome.dual), limit) for goal in goals),
        result.run.gap,
    ]


def _plot(outcome: Outcome) -> Plot:
    """Draw how the objectives fall towards the best dual value."""
    dual = outcome.dual
    curves = [
        Curve(
            result.solver,
            [point.seconds for point in result.run.points],
            [(p.primal - dual) / p.primal for p in result.run.points],
        )
        for result in outcome.results
    ]
    name = outcome.course.loss.replace("_", "-")
    label = f"gap to the best dual, {outcome.course.data.name}"
    return Plot(name, "seconds", label, curves, True, True, (1e-4, 1.0))
