"""Dependency parsing: dual, online and log-linear methods (Chang and Yih 2013).

Three treebanks with their own (gold) tags, the same features for all methods: those of
`DependencyParser`. The protocol is that of the paper's Table 1 (section 4.3): ten
passes, and of six values of C the one that is best on development data, after as many;
perceptron and MIRA are not tuned. EG is not in the paper: it chooses after two passes.
Projective trees, single root; the better of DCD and EG on development data is also
trained without the restriction to projective trees.
"""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.harness.bench import Bench
from benchmarks.harness.parsing_task import (
    EWT,
    SLOVENE,
    WSJ,
    ParsingTask,
    Treebank,
    read_treebank,
)
from benchmarks.harness.report import Figure, Plot, Report, Table
from benchmarks.harness.tuned import Budget, Method, Tuned, train, tune

COSTS = [0.01, 0.05, 0.1, 0.5, 1.0, 5.0]
PASSES = 10
DCD, EG = "DCD, squared hinge", "EG, log loss"
METHODS = [
    Method(DCD, "dcd-ssvm", "squared_hinge"),
    Method(EG, "eg", "log_loss", search_passes=2),
    Method("perceptron", "perceptron", "hinge", online=True, uses_C=False),
    Method("MIRA", "mira", "hinge", online=True, uses_C=False),
    Method("SGD", "sgd", "hinge", online=True),
]
OURS = (DCD, EG)
GOALS = {WSJ.name: 89.0, EWT.name: 86.5, SLOVENE.name: 86.0}
# Measured earlier on the same data: UAS (and LAS), gold tags.
QUOTED = {
    WSJ.name: "MSTParser 88.55",
    EWT.name: "UDPipe 1 85.2 / 82.7",
    SLOVENE.name: "UDPipe 1 88.2 / 86.0",
}
LABEL_GAP = 3.0


class Result(NamedTuple):
    """What was found on one treebank; `las` is on test data."""

    treebank: Treebank
    tuned: dict[str, Tuned]
    las: dict[str, float]
    any_tree: tuple[str, float, float, float]


def run(bench: Bench) -> Report:
    """Take the treebanks one after the other."""
    budget = bench.choose(Budget(COSTS, PASSES, PASSES, [0]), Budget(COSTS, 1, 2, [0]))
    methods = METHODS
    if bench.quick:
        methods = [m._replace(search_passes=None) for m in METHODS]
    results = []
    treebanks = {treebank.name: treebank for treebank in (WSJ, EWT, SLOVENE)}
    for name in bench.parts(treebanks):
        results.append(_measure(bench, treebanks[name], methods, budget))
        if bench.quick:
            break
    return _report(results, budget)


def _measure(
    bench: Bench, treebank: Treebank, methods: list[Method], budget: Budget
) -> Result:
    sentences = read_treebank(bench, treebank)
    task = ParsingTask(sentences)
    tuned, las = {}, {}
    for method in methods:
        bench.say(f"{treebank.name}: {method.name}, compiling")
        few = {part: some[:5] for part, some in sentences.items()}
        train(ParsingTask(few), method, 0.1, 1)
        bench.say(f"{treebank.name}: {method.name}")
        one = tune(task, method, budget)
        las[method.name] = task.scores(one.w, "test")[1]
        tuned[method.name] = one._replace(w=None)
    best = max(OURS, key=lambda name: tuned[name].dev)
    bench.say(f"{treebank.name}: {best}, all trees")
    method = next(m for m in methods if m.name == best)
    free = ParsingTask(sentences, projective=False)
    w = train(free, method, tuned[best].C or 1.0, budget.passes).w
    uas, label = free.scores(w, "test")
    return Result(treebank, tuned, las, (best, free.score(w, "dev"), uas, label))


def _report(results: list[Result], budget: Budget) -> Report:
    figures, rows, plots = [], [], []
    for treebank, tuned, las, free in results:
        name = treebank.name
        ours = max(tuned[m].test for m in OURS if m in tuned)
        online = max(t.test for m, t in tuned.items() if m not in OURS)
        figures.append(
            Figure(
                f"{name}: better of DCD and EG, above the best online method",
                ours - online,
                "points",
                at_least=0,
            )
        )
        # Which one, and whether trees are projective, is chosen on development data.
        chosen = max(OURS, key=lambda m: tuned[m].dev if m in tuned else -1)
        best = (tuned[chosen].test, las[chosen])
        if free[1] > tuned[chosen].dev:
            best = free[2:]
        figures.append(Figure(f"{name}: UAS", best[0], "%", at_least=GOALS[name]))
        if best[1] == best[1]:
            figures.append(
                Figure(
                    f"{name}: UAS minus LAS",
                    best[0] - best[1],
                    "points",
                    at_most=LABEL_GAP,
                )
            )
        for method, one in tuned.items():
            rows.append(
                [
                    name,
                    method,
                    one.C,
                    one.dev,
                    one.test,
                    las[method],
                    one.seconds,
                    100 * one.gap,
                ]
            )
        rows.append(
            [name, f"{free[0]}, all trees", tuned[free[0]].C, *free[1:], None, None]
        )
        rows.append([name, f"{QUOTED[name]}, quoted", *[None] * 6])
        plots.append(
            Plot(
                name.split()[0].lower(),
                "seconds",
                "test UAS, %",
                [one.curve for one in tuned.values()],
            )
        )
    headings = [
        "treebank",
        "",
        "C",
        "dev UAS",
        "test UAS",
        "test LAS",
        "seconds",
        "gap %",
    ]
    return Report(
        figures,
        settings={"costs": list(budget.costs), "passes": budget.passes},
        seeds=list(budget.seeds),
        tables=[
            Table("Gold tags, punctuation counted", headings, rows),
            Table(
                "UAS on development data, by C",
                ["treebank", "", *(f"{C:g}" for C in budget.costs)],
                [
                    [result.treebank.name, method, *one.search.values()]
                    for result in results
                    for method, one in result.tuned.items()
                    if one.search
                ],
            ),
        ],
        plots=plots,
        notes=[
            "Gold tags (and lemmas and morphology where the treebank has them) on both "
            "sides, as in the paper; our WSJ is a sample of a tenth of the paper's.",
            "Peers' figures are quoted, not measured in this run.",
        ],
    )
