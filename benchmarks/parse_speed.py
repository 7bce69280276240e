"""Parsing speed: sentences a second in training and parsing, and cost against length.

EWT, projective and not, with labels and without, one thread and two; then sentences of
random scores of growing length, for the trees alone.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness.bench import Bench
from benchmarks.harness.clock import median_seconds
from benchmarks.harness.parsing_task import EWT, ParsingTask, read_treebank
from benchmarks.harness.report import Curve, Figure, Plot, Report, Table
from benchmarks.harness.tuned import Method, train
from partwise._jit import kernel
from partwise.structures.decoding import decode
from partwise.structures.dependency.families import (
    NonProjective,
    Projective,
    arc_marginals,
    best_tree,
    tree_space,
)

METHODS = [
    Method("perceptron", "perceptron", "hinge"),
    Method("DCD", "dcd-ssvm", "squared_hinge"),
    Method("EG", "eg", "log_loss"),
]
C = {"hinge": 0.1, "squared_hinge": 0.1, "log_loss": 1.0}
LEAST_PARSED = 6500.0
MOST_PASS = 3.0
LABEL_FACTOR = 2.0
LENGTHS = (20, 40, 80, 160, 320)
# n^3 and n^2, a little more for what no longer fits into a cache.
GROWTH = {
    "projective, best": 3.2,
    "projective, marginals": 3.2,
    "all trees, best": 2.3,
    "all trees, marginals": 3.2,
}
FAMILIES = {"projective": Projective(), "all trees": NonProjective()}


@kernel
def _best(family: Any, score: Any, heads: Any, space: Any, times: int) -> float:
    total = 0.0
    for _ in range(times):
        total += best_tree(family, score, True, heads, space)
    return total


@kernel
def _sum(family: Any, score: Any, mu: Any, space: Any, times: int) -> float:
    total = 0.0
    for _ in range(times):
        total += arc_marginals(family, score, True, mu, space)
    return total


def run(bench: Bench) -> Report:
    """Measure training, parsing, and trees of growing length."""
    sentences = read_treebank(bench, EWT)
    rows, figures = [], []
    speeds = {}
    for projective in (True, False):
        for labelled in (False, True):
            kind = ("projective" if projective else "all trees") + (
                ", labelled" if labelled else ""
            )
            row, speed = _measure(bench, sentences, kind, projective, labelled)
            rows.append(row)
            speeds[kind] = speed
    figures = [
        Figure(
            "parsing EWT test, sentences a second",
            speeds["projective"][0],
            "1/s",
            at_least=LEAST_PARSED,
        ),
        Figure(
            "training pass over EWT, perceptron", rows[0][3], "s", at_most=MOST_PASS
        ),
        Figure(
            "parsing with labels, sentences a second",
            speeds["projective, labelled"][0],
            "1/s",
            at_least=LEAST_PARSED / LABEL_FACTOR,
        ),
        Figure(
            "parsing with labels, times slower than without",
            speeds["projective"][0] / speeds["projective, labelled"][0],
            "x",
        ),
    ]
    bench.say("trees of growing length")
    table, curves, exponents = _lengths(bench)
    figures += [
        Figure(
            f"exponent of the time with words, {name}",
            value,
            "exponent",
            at_most=GROWTH[name],
        )
        for name, value in exponents.items()
    ]
    headings = [
        "",
        "parsed/s, 1 thread",
        "2 threads",
        *(f"s a pass, {m.name}" for m in METHODS),
    ]
    return Report(
        figures,
        settings={"hash_bits": 22},
        seeds=[0],
        tables=[Table("EWT", headings, rows), table],
        plots=[
            Plot(
                "length",
                "words",
                "microseconds a sentence",
                curves,
                log_x=True,
                log_y=True,
            )
        ],
    )


def _measure(
    bench: Bench, sentences: Any, kind: str, projective: bool, labelled: bool
) -> tuple[list[Any], tuple[float, float]]:
    bench.say(f"{kind}: compiling")
    few = {part: some[:5] for part, some in sentences.items()}
    tiny = ParsingTask(few, projective=projective, labelled=labelled)
    task = ParsingTask(sentences, projective=projective, labelled=labelled)
    passes, w = [], None
    for method in METHODS:
        train(tiny, method, C[method.loss], 1)
        bench.say(f"{kind}: {method.name}")
        n = bench.choose(2, 1)
        solution = train(task, method, C[method.loss], n)
        passes.append(float(solution.trace["seconds"][-1]) / n)
        w = solution.w if w is None else w
    corpus = task.parts["test"]
    decode(corpus, w)
    taken = median_seconds(
        {str(n): partial(decode, corpus, w, n) for n in (1, 2)}, bench.choose(7, 1)
    )
    count = len(sentences["test"])
    speed = count / taken["1"], count / taken["2"]
    return [kind, *speed, *passes], speed


def _lengths(bench: Bench) -> tuple[Table, list[Curve], dict[str, float]]:
    times: dict[str, list[float]] = {name: [] for name in GROWTH}
    random = np.random.default_rng(0)
    lengths = bench.choose(LENGTHS, LENGTHS[:2])
    for n in lengths:
        score, mu = random.normal(size=(n + 1, n + 1)), np.zeros((n + 1, n + 1))
        heads = np.zeros(n, np.int32)
        repeats = max(1, 2_000_000 // n**3)
        jobs = {}
        for name, family in FAMILIES.items():
            space = tree_space(family, n, 1)
            best = partial(_best, family, score, heads, space, repeats)
            jobs[f"{name}, best"] = best
            jobs[f"{name}, marginals"] = partial(
                _sum, family, score, mu, space, repeats
            )
        for job in jobs.values():
            job()
        for name, taken in median_seconds(jobs, bench.choose(5, 1)).items():
            times[name].append(1e6 * taken / repeats)
    rows = [[name, *values] for name, values in times.items()]
    exponents = {
        name: math.log(values[-1] / values[-2]) / math.log(lengths[-1] / lengths[-2])
        for name, values in times.items()
    }
    curves = [Curve(name, list(lengths), values) for name, values in times.items()]
    headings = ["microseconds", *(f"{n} words" for n in lengths)]
    return Table("Trees of random scores", headings, rows), curves, exponents
