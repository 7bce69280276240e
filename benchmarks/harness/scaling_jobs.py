"""Corpora of any size, what a pass over them costs, and what it keeps in memory."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.bench import Skip
from benchmarks.harness.child import MIB
from benchmarks.harness.chunking import TEMPLATE
from benchmarks.harness.clock import seconds
from benchmarks.harness.training_sets import encode
from partwise.losses import get_loss
from partwise.solvers import make_problem, solve
from partwise.solvers.base import Problem
from partwise.solvers.loop import Callback
from partwise.solvers.registry import make_solver
from partwise.solvers.trace import TraceRow
from partwise.structures.chain import Chain, make_chain
from partwise.structures.decoding import decode
from partwise.structures.rows import make_sparse_rows
from partwise.synthetic import make_corpus

SOLVERS = {"dcd-ssvm": ("squared_hinge", 0.1), "eg": ("log_loss", 1.0)}
VALUES = 500  # of every feature of a drawn corpus


def text(n_sentences: int) -> Chain:
    """Encode generated sentences for chunking."""
    corpus = make_corpus(n_sentences, random_state=0, noise=0.05)
    labels = sorted({chunk for sentence in corpus for chunk in sentence.chunks})
    tokens = [zip(s.words, s.tags, s.chunks, strict=True) for s in corpus]
    return encode([list(one) for one in tokens], TEMPLATE, labels)


class Shape(NamedTuple):
    """The size of a corpus that is drawn at random."""

    n_sentences: int
    length: int
    n_labels: int
    n_features: int


def draw(shape: Shape) -> Chain:
    """Draw a corpus: a label follows, mostly, from the first feature of its token."""
    n, length, K, n_features = shape
    rng = np.random.default_rng(0)
    # Some values are frequent and most are rare, as with words.
    values = (VALUES * rng.random((n * length, n_features)) ** 3).astype(np.int32)
    labels = values[:, 0] % K
    wrong = rng.random(labels.size) < 0.1
    labels[wrong] = rng.integers(0, K, int(wrong.sum()))
    idx = values + np.arange(n_features, dtype=np.int32) * VALUES
    ptr = np.arange(0, idx.size + 1, n_features)
    rows = make_sparse_rows(ptr, idx.ravel(), None, n_features * VALUES)
    return make_chain(rows, np.arange(0, labels.size + 1, length), labels, K)


class Costs(NamedTuple):
    """Seconds of a pass of every solver, and of decoding the corpus."""

    passes: dict[str, float]
    decoding: float

    def all(self) -> dict[str, float]:
        """Return all of them by name."""
        return {**self.passes, "decoding": self.decoding}


def measure_time(chain: Chain, n_passes: int, repeats: int) -> Costs:
    """Time the first passes of the solvers, and decoding; medians of the repeats."""
    found = {}
    for name, (loss, C) in SOLVERS.items():
        problem = make_problem(chain, get_loss(loss), C)
        tries = [partial(_pass_seconds, problem, name, n_passes)] * repeats
        found[name] = median(one() for one in tries)
    w = solve(problem, make_solver(name), tol=1e-12, max_iter=1).w
    job: Callable[[], Any] = partial(decode, chain, w)
    return Costs(found, median(seconds(job) for _ in range(repeats + 2)))


def _pass_seconds(problem: Problem, name: str, n_passes: int) -> float:
    """Return the mean time of the first passes, without the proof after the last."""
    gc.collect()
    solution = solve(problem, make_solver(name), tol=1e-12, max_iter=n_passes + 1)
    return float(solution.trace["seconds"][n_passes - 1]) / n_passes


# --- memory, in a process of its own -----------------------------------------------


class _Scale(Callback):
    """Weighs the process after every pass."""

    def __init__(self) -> None:
        self.most = 0

    def on_pass(self, row: TraceRow, w: Any) -> None:
        self.most = max(self.most, resident_bytes())


def measure_memory(n_sentences: int, solver: str, n_passes: int) -> dict[str, Any]:
    """Return by how much solving made the process grow, and what was predicted."""
    loss, C = SOLVERS[solver]
    # Compiled code is no part of it.
    few = make_problem(text(50), get_loss(loss), C)
    solve(few, make_solver(solver), tol=1e-12, max_iter=3)
    problem = make_problem(text(n_sentences), get_loss(loss), C)
    gc.collect()
    before, scale = resident_bytes(), _Scale()
    solution = solve(
        problem,
        make_solver(solver),
        tol=1e-12,
        max_iter=n_passes,
        callbacks=[scale],
    )
    weights = 8 * problem.n_weights
    duals = make_solver(solver).memory(problem) + _working_sets(solution.state)
    return {
        "weights_mib": weights / MIB,
        "duals_mib": duals / MIB,
        "measured_mib": (scale.most - before) / MIB,
    }


def _working_sets(state: Any) -> int:
    """Return what the outputs in use take as documented, if there are any.

    How many there will be nobody knows before.
    """
    sets = getattr(state, "sets", None)
    if sets is None:
        return 0
    n_members, n_codes = map(int, sets.used)
    return 16 * int(sets.newest.size) + 40 * n_members + 4 * n_codes


def resident_bytes() -> int:
    """Return how much memory this process holds now."""
    path = Path("/proc/self/status")
    if path.exists():
        for line in path.read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) * 1024
    raise Skip("the memory of a process is measured on Linux only")
