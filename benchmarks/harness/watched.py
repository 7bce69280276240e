"""Training on the chunking corpus, watched: objective and F1 after every pass."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.chunking import TEMPLATE
from partwise.data import ColumnData
from partwise.features import TemplateEncoder
from partwise.losses import get_loss
from partwise.metrics import chunk_f1
from partwise.solvers import make_problem, solve
from partwise.solvers.base import Problem
from partwise.solvers.loop import Callback
from partwise.solvers.registry import make_solver
from partwise.solvers.trace import TraceRow
from partwise.structures.chain import Chain, make_chain
from partwise.structures.decoding import decode
from partwise.structures.rows import (
    SparseRows,
    make_pair_rows,
    make_sparse_rows,
    observed_pairs,
)


class Point(NamedTuple):
    """A pass: time so far, and what the benchmark itself measured after it."""

    seconds: float
    primal: float
    f1: float


class Run(NamedTuple):
    """A run of one solver with one seed."""

    points: list[Point]
    passes: int
    gap: float
    dual: float


class Watch(Callback):
    """Measures the objective and the test F1 after every pass, off the clock."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.points: list[Point] = []

    def on_start(self, problem: Problem, solver: Any, max_iter: int) -> None:
        """Remember whose objective it is."""
        self.problem = problem

    def on_pass(self, row: TraceRow, w: Any) -> None:
        """Measure."""
        primal = self.problem.primal(w)
        self.points.append(Point(row.seconds, primal, self.task.test_f1(w)))


class Task:
    """The encoded corpus, with all label/attribute pairs or the observed ones."""

    def __init__(
        self, train: ColumnData, test: ColumnData, C: float, observed: bool = False
    ) -> None:
        self.C = C
        encoder = TemplateEncoder(TEMPLATE, boundaries="single")
        encoded = encoder.fit_encode(train)
        unseen = encoder.encode(test)
        self.n_attributes = encoder.n_attributes
        self.labels = sorted(set(train.columns[-1]))
        code = {label: number for number, label in enumerate(self.labels)}
        gold = np.array([code[label] for label in train.columns[-1]], np.int32)
        nodes, test_nodes = _rows(encoded.nodes), _rows(unseen.nodes)
        self.rows: Any = nodes
        self.test_rows: Any = test_nodes
        if observed:
            pairs = observed_pairs(nodes, gold, len(self.labels))
            self.rows = make_pair_rows(nodes, pairs)
            self.test_rows = make_pair_rows(test_nodes, pairs)
        K = len(self.labels)
        self.chain: Chain = make_chain(self.rows, encoded.ptr, gold, K)
        self.test_chain: Chain = make_chain(self.test_rows, unseen.ptr, None, K)
        self.test_gold = test.column_sequences(-1)

    def problem(self) -> Problem:
        """Return the problem to solve."""
        return make_problem(self.chain, get_loss("squared_hinge"), self.C)

    def test_f1(self, w: Any) -> float:
        """Return the F1 of the test data in percent."""
        ptr, codes, _ = decode(self.test_chain, w)
        labels = [self.labels[code] for code in codes.tolist()]
        predicted = [labels[a:b] for a, b in pairwise(ptr.tolist())]
        return 100 * chunk_f1(self.test_gold, predicted)


def _rows(rows: Any) -> SparseRows:
    return make_sparse_rows(rows.ptr, rows.idx, rows.val, rows.n_columns)


def run_solver(
    task: Task, solver: str, seed: int, tol: float, max_iter: int, limit: float
) -> Run:
    """Train once, watched."""
    watch = Watch(task)
    solution = solve(
        task.problem(),
        make_solver(solver),
        tol=tol,
        max_iter=max_iter,
        time_limit=limit,
        random_state=seed,
        callbacks=[watch],
    )
    certificate = solution.certificate
    gap = math.nan if certificate is None else certificate.relative_gap
    dual = math.nan if certificate is None else certificate.dual
    return Run(watch.points, len(watch.points), gap, dual)


def time_to(run: Run, field: str, goal: float) -> float:
    """Return the time at which F1 rose to, or the objective fell to, a value."""
    for point in run.points:
        value = getattr(point, field)
        if value >= goal if field == "f1" else value <= goal:
            return point.seconds
    return math.inf
