"""Coarse to fine for grammars: what pruning charts saves, and what it costs.

Constituency parsing of the WSJ sample from words alone, with grammars whose symbols
remember two siblings and the parent, and with two hidden states behind each symbol. A
grammar whose symbols remember nothing prunes their charts at several thresholds, in
training and in parsing: speed, share of the right brackets that is left, F1.
"""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

from benchmarks.harness.bench import Bench
from benchmarks.harness.constituency_task import Trees, read_sample
from benchmarks.harness.report import Figure, Report, Table
from partwise import ConstituencyParser
from partwise.constituents import words
from partwise.metrics.brackets import bracket_scores

GRAMMARS: dict[str, dict[str, Any]] = {
    "memory": {"horizontal": 2, "vertical": 2},
    "states": {"horizontal": 0, "states": 2, "loss": "log_loss"},
}
PRUNE = (0.0, 1e-4, 1e-3, 1e-2)
LONGEST = 15
PASSES = 8
MOST_LOST = 1.0
"""At the smallest threshold, F1 may be this many points lower than without pruning."""


class Result(NamedTuple):
    """F1 on test data, what pruning leaves of development data, and speed."""

    f1: float
    phrases: float | None
    oracle: float | None
    parsed: float
    trained: float


def run(bench: Bench) -> Report:
    """Train every grammar with every threshold."""
    trees = read_sample(bench, LONGEST)
    figures, rows = [], []
    for name in bench.parts(GRAMMARS):
        found = {}
        for prune in bench.choose(PRUNE, PRUNE[:2]):
            bench.say(f"{name}, prune {prune:g}")
            found[prune] = _measure(bench, trees, prune, GRAMMARS[name])
            rows.append([name, f"{prune:g}", *found[prune]])
        whole, pruned = found[0.0], found[PRUNE[1]]
        what = f"{name}, prune {PRUNE[1]:g}"
        figures += [
            Figure(f"{what}: F1 above all phrases", pruned.f1 - whole.f1, "points",
                   at_least=-MOST_LOST),
            Figure(f"{what}: times as fast", pruned.parsed / whole.parsed, "x",
                   at_least=1),
        ]  # fmt: skip
    headings = [
        *("grammar", "prune", "test F1", "spans left, dev %", "oracle brackets, dev %"),
        *("parsed/s, 1 thread", "training CPU s"),
    ]
    sizes = ", ".join(f"{len(some)} {part}" for part, some in trees.items())
    return Report(
        figures,
        settings={"passes": PASSES, "longest": LONGEST, "C": "the default"},
        seeds=[0],
        tables=[Table(f"At most {LONGEST} words ({sizes})", headings, rows)],
        notes=[
            "There are few test sentences: a difference of two points is chance as "
            "likely as not.",
            "Times are those of the processor; training includes the coarse grammar.",
        ],
    )


def _measure(bench: Bench, trees: Trees, prune: float, settings: Any) -> Result:
    own = {"tol": 1e-9, "n_jobs": 1, "prune": prune, **settings}
    test = trees["test"]
    sentences = [words(tree) for tree in test]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # passes that end, sentences without a tree
        few = trees["train"][:5]
        ConstituencyParser(max_iter=1, **own).fit(few).predict(few)  # compiles
        begin = time.process_time()
        parser = ConstituencyParser(max_iter=bench.choose(PASSES, 2), **own)
        parser.fit(trees["train"], dev=trees["dev"])
        trained = time.process_time() - begin
        times = []
        for _ in range(3):
            begin = time.process_time()
            predicted = parser.predict(sentences)
            times.append(time.process_time() - begin)
    left = parser.pruning_["dev"] if prune else None
    return Result(
        100 * bracket_scores(test, predicted).f1,
        None if left is None else 100 * left.phrases,
        None if left is None else 100 * left.oracle_brackets,
        len(test) / min(times),
        trained,
    )
