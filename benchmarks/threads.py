"""Threads: one against two for everything that passes over the data, or learns from it.

Chunking with all label/attribute pairs. Both numbers of threads do the same work on
the same weights, taking turns; a ratio is the median time of one thread over that of
two. Adding up the gradients of the threads is part of the time. Predictions and
losses must be the same, bit for bit.

Then solvers that learn from each example, with a thread that looks ahead: chunks,
dependency trees and constituency trees, to a proved gap of 1%, or for some passes if
they prove nothing. Two runs with two threads must end with the same weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness.bench import Bench, Skip
from benchmarks.harness.chunking import TEMPLATE, corpus
from benchmarks.harness.chunking_task import ChunkingTask
from benchmarks.harness.clock import median_seconds
from benchmarks.harness.constituency_task import ConstituencyTask, read_sample
from benchmarks.harness.parsing_task import EWT, ParsingTask, read_treebank
from benchmarks.harness.report import Figure, Report, Table
from partwise._threads import count_jobs
from partwise.data import read_columns
from partwise.features import TemplateEncoder
from partwise.losses import get_loss
from partwise.solvers import (
    DualCoordinateDescent,
    ExponentiatedGradient,
    make_problem,
    solve,
)
from partwise.solvers.base import Problem
from partwise.solvers.gradient import BatchGradient
from partwise.solvers.loop import Solution
from partwise.solvers.registry import all_solvers, make_solver
from partwise.structures.chain import make_chain
from partwise.structures.decoding import decode, decode_kbest, part_marginals
from partwise.structures.rows import make_sparse_rows

THREADS = 2
GOAL = 1.7
LEARNING_GOAL = {"chunks": 1.4, "trees": 1.4, "constituents": 1.6}
GAP, FEW_PASSES, LONGEST = 0.01, 5, 15
# On data that small, two threads may not be slower than one; the rest is noise.
SMALL_GOAL = 0.9
SMALL = 20
C = {"log_loss": 1.0, "hinge": 1.0, "squared_hinge": 0.1}

Job = Callable[[int], Any]


def run(bench: Bench) -> Report:
    """Measure every parallel operation with one thread and with two."""
    if count_jobs(-1) < THREADS:
        raise Skip(f"{THREADS} threads need {THREADS} cores; there is one here")
    train, test = map(read_columns, corpus(bench))
    task = ChunkingTask(train, test, C["squared_hinge"])
    bench.say("training the weights that everything is measured at")
    solution = solve(task.problem(), make_solver("dcd"), max_iter=5)
    w = solution.w
    passes = _visits(task, w) | _predictions(task, w) | _encoding(train)
    learning = _learning(task, w)
    small = _predictions(_Beginning(task, SMALL), w)
    repeats = bench.choose(9, 1)
    rows, figures = [], []
    for jobs, goal, note in (
        (passes, GOAL, ""),
        (learning, None, ""),
        (small, SMALL_GOAL, f", {SMALL} sentences"),
    ):
        for name, job in jobs.items():
            title = name + note
            bench.say(title)
            # What is over in no time is repeated until it can be measured.
            times = 200 if note else 1
            taken = median_seconds(
                {str(n): partial(_repeat, job, n, times) for n in (1, THREADS)}, repeats
            )
            one, two = (taken[str(n)] / times for n in (1, THREADS))
            rows.append([title, 1000 * one, 1000 * two, one / two])
            figures.append(Figure(title, one / two, "x", at_least=goal))
    race, race_rows = _race(bench, task)
    figures += race
    bench.say("comparing what they answer")
    same = _same_answers(task, w)
    figures.append(Figure("same predictions and losses", same, "", at_least=1))
    headings = ["", "1 thread, ms", f"{THREADS} threads, ms", "times faster"]
    return Report(
        figures,
        settings={"threads": THREADS, "repeats": repeats, "C": C},
        seeds=[0],
        tables=[
            Table("Medians", headings, rows),
            Table(
                "Learning, s to the gap",
                [
                    "",
                    "passes, 1 thread",
                    f"{THREADS} threads",
                    "s, 1 thread",
                    f"{THREADS} threads",
                    "times faster",
                ],
                race_rows,
            ),
        ],
        notes=[
            "Passes that learn after they have found all outputs have no goal: only "
            "the search is shared among threads.",
            "Solvers that prove nothing run for a few passes, and have no goal.",
            "Encoding looks the words up in Python before threads share the rest.",
        ],
    )


LEARNERS = {"dcd-ssvm": "squared_hinge", "frank-wolfe": "hinge", "mira": "hinge"}


def _race(bench: Bench, chunks: ChunkingTask) -> tuple[list[Figure], list[list[Any]]]:
    """Let solvers learn with one thread and with two; the first time they compile."""
    treebank = read_treebank(bench, EWT)
    sample = read_sample(bench, LONGEST)
    structures = {
        "chunks": chunks.chain,
        "trees": ParsingTask(treebank).train,
        "constituents": ConstituencyTask(sample).train,
    }
    figures, rows = [], []
    for data, structure in structures.items():
        for name, loss in LEARNERS.items():
            title = f"{name}, {data}"
            bench.say(title)
            runs = [
                _learn(structure, name, loss, n_jobs, bench.choose(GAP, 0.3))
                for n_jobs in (1, THREADS, THREADS, 1)
            ]
            alone, same = runs[3], np.array_equal(runs[1].w, runs[2].w)
            ratio = alone.trace[-1].seconds / runs[2].trace[-1].seconds
            proves = alone.certificate is not None
            goal = LEARNING_GOAL[data] if proves else None
            figures.append(Figure(title, ratio, "x", at_least=goal))
            figures.append(Figure(f"{title}: same weights twice", same, "", at_least=1))
            both = alone, runs[2]
            passes = [len(run.trace) for run in both]
            seconds = [run.trace[-1].seconds for run in both]
            rows.append([title, *passes, *seconds, ratio])
    return figures, rows


def _learn(structure: Any, name: str, loss: str, n_jobs: int, gap: float) -> Solution:
    problem = make_problem(structure, get_loss(loss), C[loss], n_jobs=n_jobs)
    solver = make_solver(name)
    most = 1000 if solver.minimises else FEW_PASSES
    return solve(problem, solver, tol=gap, max_iter=most)


def _repeat(job: Job, n_jobs: int, times: int) -> None:
    for _ in range(times):
        job(n_jobs)


def _exhaust(steps: Iterable[Any]) -> None:
    for _ in steps:
        pass


def _problem(task: ChunkingTask, loss: str, n_jobs: int = 1) -> Problem:
    return make_problem(task.chain, get_loss(loss), C[loss], n_jobs=n_jobs)


def _visits(task: ChunkingTask, w: Any) -> dict[str, Job]:
    """Return what solvers compute from all examples at the same weights."""
    jobs: dict[str, Job] = {
        f"objective, {loss}": lambda n, loss=loss: _problem(task, loss, n).primal(w)  # type: ignore[misc]
        for loss in C
    }
    gradient = np.zeros_like(w)
    batches = {n: BatchGradient(_problem(task, "log_loss", n)) for n in (1, THREADS)}
    jobs["gradient of lbfgs, cg, owlqn"] = lambda n: _exhaust(
        batches[n].visit(w, gradient)
    )
    for name, loss in (("eg", "log_loss"), ("dcd", "squared_hinge"), ("smo", "hinge")):
        jobs[f"certificate of {name}"] = _certificate(task, name, loss)
    for form in ("batch", "primal"):
        jobs[f"step of eg-{form}"] = _batch_step(task, form, w)
    return jobs


def _certificate(task: ChunkingTask, name: str, loss: str) -> Job:
    """Return the job of certifying a state after one pass."""
    solver, problem = make_solver(name), _problem(task, loss)
    rng = np.random.default_rng(0)
    state = solver.start(problem, rng, None)
    _exhaust(solver.run_pass(problem, state, rng))

    def certify(n_jobs: int) -> None:
        if state.estimate is not None:  # what is exact is not computed again
            state.estimate = state.estimate._replace(exact=False)
        solver.certify(replace(problem, n_jobs=n_jobs), state)

    return certify


def _batch_step(task: ChunkingTask, form: str, w: Any) -> Job:
    """Return the job of trying a step from the distributions of the weights."""
    solver = ExponentiatedGradient(form, start_at=w)
    states: dict[int, Any] = {
        n: solver.start(_problem(task, "log_loss", n), np.random.default_rng(0), None)
        for n in (1, THREADS)
    }
    # A short step: far from the optimum a long one leads to scores so large that
    # sums have to be logarithmic, which is another thing to measure.
    return lambda n: _exhaust(states[n].move(1e-4))


def _learning(task: ChunkingTask, w: Any) -> dict[str, Job]:
    """Return some passes of solvers that find all outputs before they learn."""
    solvers: dict[str, tuple[Any, str]] = {
        "cpd, one sweep": (DualCoordinateDescent("cpd", sweeps=1), "squared_hinge")
    }
    if "cutting-plane" in all_solvers():
        solvers["cutting-plane"] = make_solver("cutting-plane"), "hinge"
    return {
        f"3 passes of {name}": lambda n, solver=solver, loss=loss: solve(  # type: ignore[misc]
            _problem(task, loss, n), solver, tol=1e-9, max_iter=3
        )
        for name, (solver, loss) in solvers.items()
    }


def _predictions(task: Any, w: Any) -> dict[str, Job]:
    chain = task.chain
    wanted = len(task.labels) * np.diff(chain.ptr)
    return {
        "best outputs": lambda n: decode(chain, w, n),
        "marginals": lambda n: part_marginals(chain, w, wanted, n),
        "5 best outputs": lambda n: decode_kbest(chain, w, 5, n),
    }


def _encoding(data: Any) -> dict[str, Job]:
    encoder = TemplateEncoder(TEMPLATE, boundaries="single")
    encoder.fit_encode(data)
    return {"encoding through a template": lambda n: encoder.encode(data, n)}


class _Beginning:
    """The first sentences of a task."""

    def __init__(self, task: ChunkingTask, count: int) -> None:
        self.labels = task.labels
        ptr = task.chain.ptr[: count + 1].copy()
        rows = task.rows
        last = int(rows.ptr[ptr[-1]])
        nodes = make_sparse_rows(
            rows.ptr[: ptr[-1] + 1], rows.idx[:last], None, task.n_attributes
        )
        self.chain = make_chain(nodes, ptr, None, len(task.labels))


def _same_answers(task: ChunkingTask, w: Any) -> bool:
    """Say whether predictions and losses agree in every bit."""
    jobs = [*_predictions(task, w).values()]
    jobs += [lambda n, loss=loss: [_problem(task, loss, n).values(w)] for loss in C]  # type: ignore[misc]
    return all(
        np.array_equal(a, b)
        for job in jobs
        for a, b in zip(job(1), job(THREADS), strict=True)
    )
