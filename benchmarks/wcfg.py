"""Constituency parsing: margins and likelihood against a PCFG (Bartlett et al. 2004).

The trees of the WSJ sample, sentences of at most 15 words and of at most 40, from words
alone. All methods share the grammar, read from the training trees, and the features of
`ConstituencyParser`; each chooses C on the development sentences of at most 15 words.
The PCFG by relative frequency chooses how much its symbols remember in the same way.
Where a parser finds no tree, one without phrases counts.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from benchmarks.harness.bench import Bench
from benchmarks.harness.constituency_task import ConstituencyTask, Trees, read_sample
from benchmarks.harness.pcfg import PCFG
from benchmarks.harness.report import Figure, Plot, Report, Table
from benchmarks.harness.tuned import Budget, Method, Tuned, train, tune
from partwise.metrics.brackets import BracketScores

SHORT, LONG = 15, 40
# Long ones come after the short ones in any case, on which each C is chosen.
PARTS = {longest: f"at most {longest} words" for longest in (SHORT, LONG)}
COSTS = [0.01, 0.1, 1.0]
PERCEPTRON, DCD = "perceptron", "DCD, squared hinge"
MARGIN, CRF = "EG, hinge", "EG, log loss"
METHODS = [
    Method(PERCEPTRON, "perceptron", "hinge", online=True, uses_C=False),
    Method(DCD, "dcd-ssvm", "squared_hinge"),
    Method(MARGIN, "eg", "hinge"),
    Method(CRF, "eg", "log_loss"),
]
MEMORIES = [(horizontal, vertical) for vertical in (1, 2) for horizontal in (0, 1, 2)]
LEAST_GAIN = 5.0
LEAST_PARSED = 50.0


class Result(NamedTuple):
    """What was found on sentences of some length."""

    longest: int
    trees: Trees
    tuned: dict[str, Tuned]
    scores: dict[str, BracketScores]
    n_failed: dict[str, int]
    pcfg: tuple[int, int, BracketScores, BracketScores]
    parsed: float


def run(bench: Bench) -> Report:
    """Take short sentences, then all but the longest."""
    budget = bench.choose(Budget(COSTS, 8, 20, [0]), Budget([0.1], 1, 2, [0]))
    short = _measure(bench, SHORT, budget)
    results = [short]
    if not bench.quick and PARTS[LONG] in bench.parts(PARTS.values()):
        chosen = {name: tuned.C for name, tuned in short.tuned.items()}
        results.append(_measure(bench, LONG, Budget(COSTS, 0, 6, [0]), chosen))
    return _report(results, budget)


def _measure(
    bench: Bench,
    longest: int,
    budget: Budget,
    chosen: dict[str, float | None] | None = None,
) -> Result:
    trees = read_sample(bench, longest)
    task = ConstituencyTask(trees)
    tuned, scores, n_failed = {}, {}, {}
    parsed = float("nan")
    for method in METHODS:
        bench.say(f"{longest} words: {method.name}, compiling")
        few = {part: some[:5] for part, some in trees.items()}
        train(ConstituencyTask(few), method, 0.1, 1)
        bench.say(f"{longest} words: {method.name}")
        costs = budget.costs if chosen is None else [chosen[method.name] or 1.0]
        own = budget._replace(costs=costs)
        if chosen is not None:
            own = own._replace(search_passes=1)
        one = tune(task, method, own)
        begin = time.perf_counter()
        n_failed[method.name] = len(task.predicted(one.w, "test")[1])
        parsed = len(trees["test"]) / (time.perf_counter() - begin)
        scores[method.name] = task.scores(one.w, "test")
        tuned[method.name] = one._replace(w=None)
    bench.say(f"{longest} words: PCFG")
    return Result(longest, trees, tuned, scores, n_failed, _pcfg(trees), parsed)


def _pcfg(trees: Trees) -> tuple[int, int, BracketScores, BracketScores]:
    """Return the memory that is best on development data, and the scores with it."""
    grammars = {memory: PCFG(trees["train"], *memory) for memory in MEMORIES}
    dev = {memory: one.scores(trees["dev"]) for memory, one in grammars.items()}
    best = max(dev, key=lambda memory: dev[memory].f1)
    return (*best, dev[best], grammars[best].scores(trees["test"]))


def _report(results: list[Result], budget: Budget) -> Report:
    figures, tables, plots = [], [], []
    for result in results:
        name, (*memory, dev, test) = f"<= {result.longest} words", result.pcfg
        short = result.longest == SHORT
        for method in (DCD, MARGIN, CRF):
            figures.append(
                Figure(
                    f"{name}: {method}, F1 above the PCFG",
                    100 * (result.scores[method].f1 - test.f1),
                    "points",
                    at_least=LEAST_GAIN if short else None,
                )
            )
        figures.append(
            Figure(
                f"{name}: parsed a second, one thread",
                result.parsed,
                "1/s",
                at_least=LEAST_PARSED if short else None,
            )
        )
        rows = [
            [
                method,
                one.C,
                one.dev,
                *_percent(result.scores[method]),
                result.n_failed[method],
                one.seconds,
                100 * one.gap,
            ]
            for method, one in result.tuned.items()
        ]
        remembers = "PCFG, horizontal {}, vertical {}".format(*memory)
        rows.append([remembers, None, 100 * dev.f1, *_percent(test), None, None, None])
        sizes = ", ".join(f"{len(some)} {part}" for part, some in result.trees.items())
        tables.append(Table(f"Sentences of {name} ({sizes})", HEADINGS, rows))
        plots.append(
            Plot(
                f"words_{result.longest}",
                "seconds",
                "test F1, %",
                [one.curve for one in result.tuned.values()],
            )
        )
    return Report(
        figures,
        settings={"C": list(budget.costs), "passes": budget.passes},
        seeds=list(budget.seeds),
        tables=tables,
        plots=plots,
        notes=[
            "There are few test sentences: a difference of two points is chance as "
            "likely as not.",
            "Tags are found by the parsers, not given.",
        ],
    )


HEADINGS = [
    "",
    "C",
    "dev F1",
    "test F1",
    "precision",
    "recall",
    "exact",
    "tags",
    "no tree",
    "s",
    "gap, %",
]


def _percent(scores: BracketScores) -> list[float]:
    overall = scores.overall
    return [
        100 * value
        for value in (
            overall.f1,
            overall.precision,
            overall.recall,
            overall.exact_match,
            overall.tagging_accuracy,
        )
    ]
