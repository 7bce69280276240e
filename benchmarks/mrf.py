"""Markov random fields: words with skip edges, pictures, and what width costs.

(a) Handwritten words as graphs: a chain of letters as a `Graph` and as a `Chain` must
agree, and edges between letters that look alike are added. (b) Noisy pictures on grids
of growing width are learnt by exponentiated gradient (log loss) and dual coordinate
descent (squared hinge) to a certified gap. (c) The time of all marginals against size
and width, beside variable elimination in pgmpy, which must agree.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from benchmarks.harness import pgmpy_peer
from benchmarks.harness.bench import Bench
from benchmarks.harness.child import run_in_child
from benchmarks.harness.clock import median_seconds
from benchmarks.harness.graphs import (
    Words,
    pictures,
    word_chain,
    word_graph,
)
from benchmarks.harness.mrf_jobs import all_marginals, make_field
from benchmarks.harness.report import Curve, Figure, Plot, Report, Table
from benchmarks.ocr_letters import generate_words, read_words
from partwise.losses import get_loss
from partwise.solvers import make_problem, solve
from partwise.solvers.registry import make_solver
from partwise.structures.decoding import decode

SOLVERS = {"eg": "log_loss", "dcd-ssvm": "squared_hinge"}
TOL = 0.01
PEER_LIMIT = 120.0  # seconds
JOBS = "benchmarks.harness.mrf_jobs"


def run(bench: Bench) -> Report:
    """Run all three parts."""
    figures: list[Figure] = []
    tables = [
        _words(bench, figures),
        _pictures(bench, figures),
        _fields(bench, figures),
    ]
    growth, plot = _growth(bench)
    return Report(
        figures,
        settings={
            "tol": TOL,
            "C": "words 0.1; pictures: picture_C",
            "solvers": SOLVERS,
        },
        seeds=[0],
        tables=[*tables, growth],
        plots=[plot],
        notes=[
            "Marginals: scores are drawn at random; the median of several calls on one "
            "thread, without building the junction tree, which is made once.",
            "pgmpy: variable elimination, asked for one variable after the other"
            if pgmpy_peer.is_there()
            else f"pgmpy was not asked: set {pgmpy_peer.VARIABLE} (see "
            "benchmarks/harness/pgmpy_peer.py)",
        ],
    )


# --- (a) words ------------------------------------------------------------------------


def _choose(words: Any, folds: Any) -> Words:
    chosen = np.flatnonzero(folds)
    pixels = [words.X[i] for i in chosen]
    letters = [ord(letter) - ord("a") for i in chosen for letter in words.y[i]]
    return Words(
        np.vstack(pixels), np.cumsum([0, *map(len, pixels)]), np.array(letters)
    )


def _words(bench: Bench, figures: list[Figure]) -> Table:
    words = bench.data("letters", ["ocr-letters.npz"], read_words, generate_words)
    limit = bench.choose(len(words.X), 200)
    some = np.arange(len(words.X)) % max(1, len(words.X) // limit) == 0
    train = _choose(words, (words.fold == 0) & some)
    test = _choose(words, (words.fold != 0) & some)
    makers = {
        "chain": word_chain,
        "graph": lambda own: word_graph(own, skips=False),
        "graph, skip edges": lambda own: word_graph(own, skips=True),
    }
    rows, objectives = [], []
    for name, make in makers.items():
        bench.say(f"words: {name}")
        begin = time.perf_counter()
        structure, unseen = make(train), make(test)
        built = time.perf_counter() - begin
        problem = make_problem(structure, get_loss("squared_hinge"), 0.1)
        begin = time.perf_counter()
        found = solve(
            problem, make_solver("dcd-ssvm"), tol=bench.choose(1e-3, TOL), max_iter=500
        )
        seconds = time.perf_counter() - begin
        wrong = decode(unseen, found.w).codes != test.labels
        proof = found.certificate
        assert proof is not None
        if name != "graph, skip edges":  # these two have the same weights
            objectives.append(problem.primal)
            last = found.w
        rows.append(
            [name, 100 * wrong.mean(), proof.primal, proof.dual, seconds, built]
        )
    chain, graph = (objective(last) for objective in objectives)
    figures += [
        Figure(
            "words: objective of the same weights, graph and chain, difference",
            abs(graph - chain) / chain,
            "",
            at_most=1e-10,
        ),
        Figure("words: letter error, graph", rows[1][1], "%"),
        Figure(
            "words: letter error, with skip edges", rows[2][1], "%", at_most=rows[1][1]
        ),
    ]
    return Table(
        "Words, squared hinge, trained on fold 0, tested on the others",
        ["structure", "letter error %", "primal", "dual", "training s", "building s"],
        rows,
    )


# --- (b) pictures ---------------------------------------------------------------------


def picture_C(solver: str, n: int) -> float:
    """Return the weight of a picture: a squared loss grows with its pixels, squared."""
    return 0.3 / (n * n) if solver == "dcd-ssvm" else 0.1


def _pictures(bench: Bench, figures: list[Figure]) -> Table:
    rows = []
    count = bench.choose(40, 4)
    for n in bench.choose([4, 8, 12], [3]):
        train, test = pictures(count, n, 0), pictures(count, n, 1)
        alone, alone_test = (pictures(count, n, seed, edges=False) for seed in (0, 1))
        for solver, loss in SOLVERS.items():
            bench.say(f"pictures of {n} x {n}: {solver}")
            errors = {}
            for what, s, unseen in (
                ("edges", train, test),
                ("pixels", alone, alone_test),
            ):
                problem = make_problem(s, get_loss(loss), picture_C(solver, n))
                solve(problem, make_solver(solver), max_iter=1)  # compiles
                begin = time.perf_counter()
                found = solve(problem, make_solver(solver), tol=TOL, max_iter=500)
                seconds = time.perf_counter() - begin
                wrong = decode(unseen, found.w).codes != unseen.vertices.labels
                errors[what] = 100 * wrong.mean()
                if what == "edges":
                    proof, spent = found.certificate, seconds
                    passes = len(found.trace)
            assert proof is not None
            rows.append(
                [n, solver, passes, spent, proof.relative_gap, *errors.values()]
            )
            figures.append(
                Figure(
                    f"pictures: gap, {n} x {n}, {solver}",
                    proof.relative_gap,
                    "",
                    at_most=TOL,
                )
            )
    return Table(
        f"{count} pictures of n x n pixels, to a proved gap of {TOL:g}",
        ["n", "solver", "passes", "s", "gap", "error %", "error % without edges"],
        rows,
    )


# --- (c) marginals --------------------------------------------------------------------


def _fields(bench: Bench, figures: list[Figure]) -> Table:
    rows = []
    for kind, n, n_labels, goal in (
        ("chain", 50, 10, 1e-3),
        ("grid", 8, 3, 50e-3),
        ("grid", bench.choose(12, 4), 2, None),
    ):
        bench.say(f"marginals: {kind} {n}, {n_labels} labels")
        name = f"{kind} of {n}" if kind == "chain" else f"grid of {n} x {n}"
        found = run_in_child(JOBS, "measure", kind, n, n_labels, 9)
        peer, difference = math.nan, math.nan
        if pgmpy_peer.is_there():
            field = make_field(kind, n, n_labels)
            peer, theirs = pgmpy_peer.marginals(*field, PEER_LIMIT)
            if theirs is not None:
                difference = float(np.abs(theirs - np.array(found["marginals"])).max())
                figures.append(
                    Figure(
                        f"marginals: {name}, {n_labels} labels, difference from pgmpy",
                        difference,
                        "",
                        at_most=1e-8,
                    )
                )
        milliseconds = 1e3 * found["seconds"]
        rows.append(
            [name, n_labels, milliseconds, 1e3 * peer, found["peak_mib"], difference]
        )
        if goal is not None:
            figures.append(
                Figure(
                    f"marginals: {name}, {n_labels} labels",
                    milliseconds,
                    "ms",
                    at_most=1e3 * goal,
                )
            )
        if (kind, n) == ("grid", 8):
            figures.append(
                Figure(
                    f"marginals: {name}, memory of the whole process",
                    found["peak_mib"],
                    "MiB",
                    at_most=200,
                )
            )
    return Table(
        "All marginals of a random field",
        ["field", "labels", "ms", "pgmpy ms", "MiB, whole process", "difference"],
        rows,
    )


def _growth(bench: Bench) -> tuple[Table, Plot]:
    """Measure the time of all marginals of grids, and of chains."""
    rows, curves = [], {}
    for kind, n_labels, sizes in (
        ("chain", 10, bench.choose([50, 200, 800, 3200], [10, 20])),
        ("grid", 2, bench.choose([2, 4, 6, 8, 10, 12, 14, 16], [2, 3])),
        ("grid", 3, bench.choose([2, 4, 6, 8, 10], [2, 3])),
    ):
        curve = []
        for n in sizes:
            bench.say(f"growth: {kind} {n}")
            field = make_field(kind, n, n_labels)
            begin = time.perf_counter()
            graph = field.graph()
            built = time.perf_counter() - begin
            job, _ = all_marginals(field)
            spent = median_seconds({"own": job}, 5)["own"]
            numbers = int(graph.inference.largest[0])
            rows.append(
                [kind, n, n_labels, numbers, 1e3 * spent, 1e9 * spent / numbers, built]
            )
            curve.append((numbers, 1e3 * spent))
        curves[f"{kind}, {n_labels} labels"] = curve
    table = Table(
        "What it costs: all marginals against the numbers in all tables",
        ["field", "n", "labels", "numbers", "ms", "ns a number", "building s"],
        rows,
    )
    plot = Plot(
        "growth",
        "numbers in all tables",
        "ms",
        [
            Curve(label, [x for x, _ in curve], [y for _, y in curve])
            for label, curve in curves.items()
        ],
        log_x=True,
        log_y=True,
    )
    return table, plot
