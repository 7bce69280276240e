"""Training on a Dask cluster: one worker against two, and bytes a pass.

A generated corpus in files, which the workers read: the log loss by ``lbfgs``, with and
without a start by parameter mixing. Workers are processes of this machine, with one
thread each. A pass sends the weights and one number for every example, and brings a sum
as long as the weights back from every shard; what was handed out is compared with that.
The time of a pass is taken apart into computing and sending, which tells what larger
clusters would need. `cluster_faults` kills workers.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.bench import Bench, Skip
from benchmarks.harness.report import Figure, Report, Table
from partwise import SequenceTagger
from partwise.data import ColumnData, write_columns
from partwise.solvers import Callback, ParameterMixing, Problem, Solver
from partwise.structures.interface import FloatArray
from partwise.synthetic import make_corpus

SHARDS = 8
GAP = 0.01
BYTES = 8
TOKENS_A_SENTENCE = 14
LARGER = (8, 64, 512)
BILLION = 1_000_000_000
BATCH, MIXING = "lbfgs alone", "mixing, then lbfgs"
SENT = (
    "Sent in a pass: 8 bytes for every weight and every example, once; what comes back "
    "is a vector of weights from every shard, added on the way."
)
GIGABIT = 125e6
"""Bytes a second between machines, assumed for clusters that are not here."""


class Watch(Callback):
    """Keeps the problem, and how much was handed out."""

    def on_start(self, problem: Problem, solver: Solver, max_iter: int) -> None:
        """Note what there was before the first pass."""
        self.problem: Any = problem
        self.team = problem.structure.team
        self.before = self.team.bytes_sent
        self.passes = [self.before]

    def on_pass(self, row: Any, w: FloatArray) -> None:
        """Note how much has been sent by now."""
        self.passes.append(self.team.bytes_sent)


class Run(NamedTuple):
    """What one training was like."""

    weights: FloatArray
    passes: int
    seconds: float
    a_pass: float
    sent: float
    n_examples: int


def run(bench: Bench) -> Report:
    """Train with one worker and with two."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise Skip('Dask is not installed: pip install "partwise[dask]"') from None
    if (os.cpu_count() or 1) < 2:
        raise Skip("two workers need two cores; there is one here")
    n_sentences = bench.choose(1_000_000 // TOKENS_A_SENTENCE, 100)
    pattern, gap = _write(bench, n_sentences), bench.choose(GAP, 0.3)
    rows: list[list[Any]] = []
    figures: list[Figure] = []
    tables, notes, same = [], [SENT], []
    for what in bench.parts([BATCH, MIXING]):
        runs = {}
        for workers in (1, 2):
            bench.say(f"{what}, workers: {workers}")
            mixes = what == MIXING
            with _cluster(workers) as (_, client):
                _train(client, pattern, mixes, gap, max_iter=1)  # compiles
                found = runs[workers] = _train(client, pattern, mixes, gap)
            sent = found.sent / (BYTES * (found.weights.size + found.n_examples))
            rows.append(
                [what, workers, found.passes, found.a_pass, found.seconds, sent]
            )
        one, two = runs[1], runs[2]
        same.append(np.array_equal(one.weights, two.weights))
        if what == MIXING:
            ratio = two.seconds / one.seconds
            figures.append(Figure("s to 1%, two workers / one", ratio, "", at_most=0.7))
            continue
        figures += [
            Figure("s a pass, one worker / two", one.a_pass / two.a_pass, "x", 1.7),
            Figure("sent in a pass / formula", rows[-1][-1], "", at_most=1.1),
        ]
        model = _model(one, two, n_sentences)
        tables.append(
            Table("A pass over 10^9 tokens, on paper", model.headings, model.rows)
        )
        notes.append(
            f"On paper: computing {model.compute:.3g} s for 10^6 tokens, as measured "
            "with one worker; weights and sums go through a tree of workers, with "
            f"{GIGABIT / 1e6:.0f} MB/s between machines and as many weights as here."
        )
    figures.append(
        Figure("same weights from one worker and two", float(all(same)), "", 1)
    )
    headings = ["", "workers", "passes", "s a pass", "s to the gap", "sent / formula"]
    return Report(
        figures,
        settings={"sentences": n_sentences, "shards": SHARDS, "gap": gap},
        seeds=[0],
        tables=[Table("Training", headings, rows), *tables],
        notes=notes,
    )


def _write(bench: Bench, n_sentences: int) -> str:
    """Write the corpus to files, one for each shard; return the pattern of names."""
    corpus = make_corpus(n_sentences)
    words, tags = corpus.column("words"), corpus.column("chunks")
    cuts = [n_sentences * n // SHARDS for n in range(SHARDS + 1)]
    for number, (a, b) in enumerate(pairwise(cuts)):
        some = [
            list(zip(x, y, strict=True))
            for x, y in zip(words[a:b], tags[a:b], strict=True)
        ]
        data = ColumnData.from_sentences(some)
        write_columns(bench.scratch / f"shard-{number}.txt", data)
    return str(bench.scratch / "shard-*.txt")


@contextmanager
def _cluster(n_workers: int) -> Iterator[tuple[Any, Any]]:
    from distributed import Client, LocalCluster

    settings = {"threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(n_workers=n_workers, processes=True, **settings) as cluster:
        with Client(cluster, set_as_default=False) as client:
            yield cluster, client


def _train(
    client: Any, pattern: str, mixes: bool, gap: float, max_iter: int = 200
) -> Run:
    import warnings

    import partwise.dask

    watch = Watch()
    tagger = SequenceTagger(
        "log_loss",
        template="default",
        tol=gap,
        solver=ParameterMixing("lbfgs") if mixes else "lbfgs",
        max_iter=max_iter,
        callbacks=[watch],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one pass is not enough, on purpose
        partwise.dask.fit(tagger, pattern, client)
    trace = list(tagger.trace_)
    times = np.diff([0.0, *(row.seconds for row in trace)])
    sent = np.diff(watch.passes)
    return Run(
        tagger.weights_,
        len(trace),
        trace[-1].seconds,
        float(np.median(times)),
        float(np.median(sent)),
        watch.problem.n_examples,
    )


class Model(NamedTuple):
    """What a pass costs, and would cost on larger clusters."""

    compute: float
    headings: list[str]
    rows: list[list[Any]]


def _model(one: Run, two: Run, n_sentences: int) -> Model:
    """Take a pass apart: computing shrinks with workers, sending does not.

    With `t` seconds to compute and `f` for all the rest, one worker takes ``t + f`` and
    two take ``t / 2 + f``.
    """
    compute = max(2.0 * (one.a_pass - two.a_pass), 0.0)
    rest = max(one.a_pass - compute, 0.0)
    million = n_sentences * TOKENS_A_SENTENCE / 1e6
    a_million = compute / million
    rows = []
    for workers in LARGER:
        computing = a_million * (BILLION / 1e6) / workers
        levels = 2 * math.ceil(math.log2(workers))  # out, and back
        sending = levels * BYTES * one.weights.size / GIGABIT
        total = computing + sending + rest
        rows.append([workers, computing, sending, rest, computing / total])
    headings = ["workers", "s computing", "s sending", "s fixed", "efficiency"]
    return Model(a_million, headings, rows)
