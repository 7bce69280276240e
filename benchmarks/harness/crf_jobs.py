"""Training CRFs on the chunking corpus, each run in a process of its own.

A job imports what it needs by itself, so that the peer's memory is without ours.
"""

from __future__ import annotations

import math
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.harness import crfsuite
from benchmarks.harness.child import peak_mib
from benchmarks.harness.chunking import SINGLE, feature_strings, read_sentences

C = 0.5


def warm_up(train: str, plans: list[list[Any]]) -> dict[str, Any]:
    """Compile everything, so that later processes find it in the cache."""
    for solver, observed in plans:
        _warm_up(train, solver, observed)
    return {}


def _warm_up(train: str, solver: str, observed: bool) -> None:
    from benchmarks.harness.chunking_task import ChunkingTask
    from benchmarks.harness.watched import run_solver
    from partwise.data import ColumnData

    few = [list(zip(*s, strict=True)) for s in islice(read_sentences(train), 20)]
    data = ColumnData.from_sentences(few)
    task = ChunkingTask(data, data, C, observed, "log_loss")
    run_solver(task, solver, 0, 1e-3, 3, math.inf)


def train_ours(
    train: str, test: str, plan: dict[str, Any], seed: int, tol: float, most: int
) -> dict[str, Any]:
    """Train once to a gap of `tol`, watched, then again to others, unwatched."""
    from benchmarks.harness.chunking_task import ChunkingTask
    from benchmarks.harness.watched import run_solver
    from partwise.data import read_columns

    solver, observed, limit = plan["solver"], plan["observed"], plan["limit"]
    _warm_up(train, solver, observed)
    data = read_columns(train), read_columns(test)
    task = ChunkingTask(*data, C, observed, "log_loss")
    found = run_solver(task, solver, seed, tol, most, limit, plan["every"])
    memory = peak_mib()
    again = [
        run_solver(task, solver, seed, looser, most, limit, every=most)
        for looser in plan["proofs"]
    ]
    return {
        **found._asdict(),
        "training_mib": memory,
        "n_examples": task.problem().n_examples,
        "n_weights": task.problem().n_weights,
        "proofs": [[run.gap, run.calls, run.seconds] for run in again],
    }


def train_peer(
    train: str, test: str, model: str, algorithm: str, settings: dict[str, Any]
) -> dict[str, Any]:
    """Train the peer; compute its objective from the probabilities it gives."""

    def features(path: str) -> Any:
        sentences = read_sentences(path)
        return (feature_strings(s.words, s.tags, SINGLE) for s in sentences)

    def labels(path: str) -> Any:
        return (s.chunks for s in read_sentences(path))

    trainer = crfsuite.make_trainer(features(train), labels(train))
    trained = crfsuite.train(trainer, Path(model), algorithm, **settings)
    memory = peak_mib()
    del trainer
    account = trained.account
    # It keeps the weights of the last iteration with the least loss.
    best = max(range(len(account.losses)), key=lambda i: (-account.losses[i], i))
    likelihood = crfsuite.log_likelihood(model, features(train), labels(train))
    predicted = crfsuite.tag(model, features(test))
    # Only now that the peer's memory is known.
    from partwise.metrics import chunk_f1

    return {
        **account._asdict(),
        "training_seconds": trained.seconds,
        "loss": account.losses[best],
        "objective": settings["c2"] * account.norms[best] ** 2 - likelihood,
        "f1": 100 * chunk_f1(list(labels(test)), predicted),
        "training_mib": memory,
    }
