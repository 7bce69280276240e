"""Dependency parsing with siblings and grandparents, after pruning, beside first order.

Three treebanks with their own (gold) tags, `DependencyParser` with its defaults and ten
passes; projective trees, a single root, punctuation counted. A first-order parser that
is trained on the same sentences prunes; what it costs is the share of words whose right
head is left. Speed is that of parsing encoded sentences, pruning included, on one
thread, by the time of the processor.
"""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

from benchmarks.harness.bench import Bench
from benchmarks.harness.parsing_task import EWT, SLOVENE, WSJ, Treebank, read_treebank
from benchmarks.harness.report import Figure, Report, Table
from partwise import DependencyParser
from partwise.estimators.dependency.second_order import measure_pruning, second_order
from partwise.metrics.attachment import attachment_scores
from partwise.structures.decoding import decode

TREEBANKS = {treebank.name: treebank for treebank in (WSJ, EWT, SLOVENE)}
LEAST_UAS = {WSJ.name: 90.5, EWT.name: 89.5, SLOVENE.name: 89.5}
LEAST_SPEED = 1500.0
PASSES = 10
PRUNE = (1e-2, 1e-3, 1e-4)


class Result(NamedTuple):
    """What a parser does on test data, and what it took to train."""

    uas: float
    las: float | None
    oracle: float | None
    heads: float | None
    parsed: float
    trained: float


def run(bench: Bench) -> Report:
    """Train both orders on every treebank."""
    figures, rows, pruned = [], [], []
    for name in bench.parts(TREEBANKS):
        sentences = read_treebank(bench, TREEBANKS[name])
        found = {
            order: _measure(bench, TREEBANKS[name], sentences, order)
            for order in (1, 2)
        }
        for order, (result, _) in found.items():
            rows.append([name, order, *result])
        best, parser = found[2]
        figures += [
            Figure(f"{name}: UAS", best.uas, "%", at_least=LEAST_UAS[name]),
            Figure(f"{name}: above first order", best.uas - found[1][0].uas, "points"),
            Figure(
                f"{name}: parsed sentences a second",
                best.parsed,
                "1/s",
                at_least=LEAST_SPEED,
            ),
        ]
        pruned += [[name, *row] for row in _pruned(parser, sentences["test"])]
        if bench.quick:
            break
    headings = [
        *("treebank", "order", "test UAS", "test LAS", "oracle heads %"),
        *("heads a word", "parsed/s, 1 thread", "training CPU s"),
    ]
    return Report(
        figures,
        settings={"passes": PASSES, "prune": DependencyParser().prune},
        seeds=[0],
        tables=[
            Table("Gold tags, punctuation counted", headings, rows),
            Table(
                "What pruning leaves of the test data",
                ["treebank", "prune", "heads a word", "oracle heads %"],
                pruned,
            ),
        ],
        notes=["Training CPU seconds of order 2 include the parser that prunes."],
    )


def _measure(
    bench: Bench, treebank: Treebank, sentences: Any, order: int
) -> tuple[Result, DependencyParser]:
    settings: dict[str, Any] = {"order": order, "crossing": "lift", "tol": 1e-9}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # trees that are lifted, passes that end
        bench.say(f"{treebank.name}, order {order}: compiling")
        few = sentences["train"][:5]
        DependencyParser(max_iter=1, **settings).fit(few).predict(few)
        bench.say(f"{treebank.name}, order {order}")
        begin = time.process_time()
        parser = DependencyParser(max_iter=bench.choose(PASSES, 2), **settings)
        parser.fit(sentences["train"])
        trained = time.process_time() - begin
    test = sentences["test"]
    scores = attachment_scores(test, parser.predict(test))
    first = parser._trees.structure(test, parser._labels)
    taken = min(_seconds(parser, first) for _ in range(5))
    oracle = heads = None
    if order == 2:
        heads, oracle = _left(parser, test)
    las = None if scores.las is None else 100 * scores.las
    speed = len(test) / taken
    return Result(100 * scores.uas, las, oracle, heads, speed, trained), parser


def _lift(parser: DependencyParser, first: Any) -> Any:
    """Prune arcs, as `predict` does; a parser of first order has nothing to do."""
    if parser._pruner is None:
        return first
    trees = parser._trees
    return second_order(first, trees.templates, trees.hash_bits, parser._pruner, 1)[0]


def _seconds(parser: DependencyParser, first: Any) -> float:
    """Return how long parsing takes; of the processor, since others may use it too."""
    begin = time.process_time()
    decode(_lift(parser, first), parser.weights_, 1)
    return time.process_time() - begin


def _left(parser: DependencyParser, test: Any) -> tuple[float, float]:
    """Return how many heads a word may have, and the share of right ones, in %."""
    first = parser._trees.structure(test, parser._labels)
    right = [head for sentence in test for head in sentence.heads or ()]
    left = measure_pruning(_lift(parser, first), right)
    return left.arcs_per_word, 100 * left.oracle_heads


def _pruned(parser: DependencyParser, test: Any) -> list[list[Any]]:
    """Say what other thresholds would leave."""
    rows, before = [], parser._pruner
    for least in PRUNE:
        parser._pruner = before._replace(least=least)
        rows.append([f"{least:g}", *_left(parser, test)])
    parser._pruner = before
    return rows
