"""Linear programs: the whole program, a certified gap, and how few weights are needed.

Programs small enough to be written out are solved whole by HiGHS and by every master
of column generation. On CoNLL-2000 chunking, with observed pairs, the gap is certified,
and accuracy is set against the number of weights that are not zero, over C, beside
CRFsuite with an L1 penalty.
"""

from __future__ import annotations

import time
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

from benchmarks.harness import crfsuite
from benchmarks.harness.bench import Bench
from benchmarks.harness.chunking import corpus, feature_strings, read_sentences
from benchmarks.harness.chunking_task import ChunkingTask
from benchmarks.harness.report import Curve, Figure, Plot, Report, Table
from partwise.data import ColumnData, read_columns
from partwise.losses import SetHinge
from partwise.metrics import chunk_f1
from partwise.solvers import ColumnGeneration, make_problem, solve
from partwise.structures import make_dense_rows, make_multiclass

# First-order masters alone, and as they are used, with the last digits by HiGHS.
SOLVERS = {
    "proximal, alone": ColumnGeneration("proximal", tighten=False),
    "Chambolle-Pock, alone": ColumnGeneration("chambolle-pock", tighten=False),
    "highs": ColumnGeneration("highs"),
    "pdlp, alone": ColumnGeneration("pdlp", tighten=False),
    "proximal, tightened": ColumnGeneration("proximal"),
    "Chambolle-Pock, tightened": ColumnGeneration("chambolle-pock"),
}
GAP = 0.01


class Trained(NamedTuple):
    """A model on the chunking data."""

    setting: float
    f1: float
    n_used: int
    seconds: float
    gap: float


def run(bench: Bench) -> Report:
    """Do the small programs, then CoNLL-2000."""
    bench.say("whole programs")
    rows, worst = _whole_programs(bench.choose(5, 2))
    costs = bench.choose([0.003, 0.01, 0.03, 0.1], [0.1])
    limit = bench.choose(240.0, 5.0)
    train, test = corpus(bench)
    data = [ColumnData.from_sentences(read_columns(path)) for path in (train, test)]
    task = ChunkingTask(*data, 1.0, observed=True)
    ours = []
    solver = ColumnGeneration()
    few = ColumnData.from_sentences(islice(read_columns(train), 5))
    small = ChunkingTask(few, few, 1.0, observed=True)
    solve(_problem(small, 1.0), solver, max_iter=2)
    for C in costs:
        bench.say(f"CoNLL-2000, C = {C:g}")
        solution = solve(
            _problem(task, C), solver, tol=GAP, max_iter=1000, time_limit=limit
        )
        assert solution.certificate is not None
        ours.append(
            Trained(C, task.score(solution.w), int(np.count_nonzero(solution.w)),
                    float(solution.trace["seconds"][-1]),
                    solution.certificate.relative_gap)
        )  # fmt: skip
    peers = _peers(bench, train, test)
    return _report(rows, worst, ours, peers, task.chain.layout.n_weights)


def _problem(task: ChunkingTask, C: float) -> Any:
    return make_problem(task.chain, SetHinge("cost"), C, l1_ratio=1.0)


def _whole_programs(count: int) -> tuple[list[list[Any]], dict[str, float]]:
    """Solve random programs of 40 examples with 4 classes, and all their rows."""
    rows, worst = [], dict.fromkeys(SOLVERS, 0.0)
    for seed in range(count):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(40, 6))
        y = np.argmax(x[:, :4] + rng.normal(size=(40, 4)), axis=1)
        s = make_multiclass(make_dense_rows(x), y, 4)
        for positive in (True, False):
            begin = time.perf_counter()
            best = _whole(x, y, positive)
            row: list[Any] = [seed, "not negative" if positive else "signed", best]
            row.append(time.perf_counter() - begin)
            problem = make_problem(s, SetHinge(), 1.0, l1_ratio=1.0, positive=positive)
            for name, solver in SOLVERS.items():
                solution = solve(problem, solver, tol=5e-7, max_iter=200)
                assert solution.certificate is not None
                error = abs(solution.certificate.primal - best) / best
                worst[name] = max(worst[name], error)
                row.append(error)
            rows.append(row)
    return rows, worst


def _whole(x: Any, y: Any, positive: bool) -> float:
    n, K = len(y), 4
    H, slack = [], []
    for i in range(n):
        for k in set(range(K)) - {int(y[i])}:
            H.append(np.outer(x[i], np.eye(K)[y[i]] - np.eye(K)[k]).ravel())
            slack.append(np.eye(n)[i])
    weights = np.array(H) if positive else np.hstack([H, -np.array(H)])
    A = np.hstack([weights, slack])
    result = linprog(np.ones(A.shape[1]), -A, -np.ones(len(A)), bounds=(0, None))
    return float(result.fun)


def _peers(bench: Bench, train: Any, test: Any) -> list[Trained]:
    crfsuite.peer()
    sentences = list(read_sentences(train))
    X = [feature_strings(s.words, s.tags) for s in sentences]
    trainer = crfsuite.make_trainer(X, [s.chunks for s in sentences])
    unseen = list(read_sentences(test))
    X_test = [feature_strings(s.words, s.tags) for s in unseen]
    gold = [s.chunks for s in unseen]
    found = []
    for c1 in bench.choose([1.0, 3.0, 10.0], [1.0]):
        bench.say(f"crfsuite, c1 = {c1:g}")
        path = bench.scratch / "peer.crfsuite"
        most = bench.choose(100, 5)
        trained = crfsuite.train(
            trainer, path, "lbfgs", c1=c1, c2=0.0, max_iterations=most
        )
        tagger = crfsuite.open_tagger(path)
        info = tagger.info()
        n_used = len(info.state_features) + len(info.transitions)
        tagger.close()
        f1 = 100 * chunk_f1(gold, crfsuite.tag(path, X_test))
        found.append(Trained(c1, f1, n_used, trained.seconds, float("nan")))
    return found


def _report(
    rows: list[list[Any]],
    worst: dict[str, float],
    ours: list[Trained],
    peers: list[Trained],
    n_weights: int,
) -> Report:
    figures = [
        Figure(
            f"whole programs: relative error of {name}, the largest",
            error,
            "",
            at_most=1e-6,
        )
        for name, error in worst.items()
    ]
    figures.append(
        Figure(
            "CoNLL-2000: smallest certified gap",
            100 * min(one.gap for one in ours),
            "%",
            at_most=1.0,
        )
    )
    kinds = (("column generation", ours), ("CRFsuite, L1", peers))
    headings = ["", "C or c1", "F1", "non-zero", "s", "gap, %"]
    table = [
        [name, one.setting, one.f1, one.n_used, one.seconds, 100 * one.gap]
        for name, some in kinds
        for one in some
    ]
    return Report(
        figures,
        settings={"weights": n_weights, "margin": "cost", "gap": GAP},
        tables=[
            Table("Whole programs: relative error of the objective",
                  ["seed", "weights", "optimum", "s, whole", *SOLVERS], rows),
            Table("CoNLL-2000 chunking, observed pairs", headings, table),
        ],
        plots=[
            Plot("sparsity", "weights that are not zero", "test F1, %",
                 [Curve(name, [o.n_used for o in some], [o.f1 for o in some])
                  for name, some in kinds],
                 log_x=True),
        ],
        notes=["\"Alone\" is without `tighten`, by which HiGHS finds the last digits.",
               "CRFsuite's penalty is c1 times the L1 norm, for the log loss."],
    )  # fmt: skip
