"""The log loss of a whole corpus and its gradient, in one parallel visit.

One thread visits one contiguous slice of the examples, with a gradient and scratch
arrays of its own; the gradients are added up in the order of the slices. So the
same number of threads gives the same bits, whatever their speed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.solvers.base import Problem, chunks
from partwise.structures.interface import (
    FloatArray,
    IntArray,
    Structure,
    add_parts,
    gold,
    marginals,
    n_parts,
    part_scores,
    parts_of,
    visit,
    workspace,
)
from partwise.structures.scratch import Scratch, make_scratch

LOOK_AFTER = 0.1
"""Seconds between two reports of how far the threads are."""


@kernel
def _add_examples(
    s: Structure,
    start: int,
    stop: int,
    C: FloatArray,
    w: FloatArray,
    gradient: FloatArray,
    totals: FloatArray,
    scratch: Scratch,
    ws: Any,
) -> None:
    """Add up ``C_i loss_i``, ``C_i H(p_i)`` and ``C_i (E[Phi] - Phi(gold))``.

    The totals are carried from call to call, so that their rounding does not depend
    on how a visit is cut into calls.
    """
    theta, mu, y = scratch.theta, scratch.mu, scratch.y_gold
    ids, counts = scratch.ids, scratch.counts
    for i in range(start, stop):
        if C[i] == 0.0:
            continue
        visit(s, i, ws)
        part_scores(s, i, w, theta, ws)
        log_z = marginals(s, i, theta, mu, ws)
        expected = 0.0
        for r in range(n_parts(s, i)):
            expected += mu[r] * theta[r]
        # The right output is taken off the marginals: one walk over the features
        # of an example serves both sides of its gradient.
        right = 0.0
        gold(s, i, y)
        for j in range(parts_of(s, i, y, ids, counts)):
            right += counts[j] * theta[ids[j]]
            mu[ids[j]] -= counts[j]
        loss, entropy = log_z - right, log_z - expected
        # Rounding below zero is cut off, not by max(), which may swallow a NaN.
        totals[0] += 0.0 if loss < 0.0 else C[i] * loss
        totals[1] += 0.0 if entropy < 0.0 else C[i] * entropy
        add_parts(s, i, mu, C[i], gradient, ws)


@kernel
def _count_parts(s: Structure, C: FloatArray, out: IntArray) -> None:
    for i in range(out.size):
        out[i] = n_parts(s, i) if C[i] > 0.0 else 0


def count_jobs(n_jobs: int) -> int:
    """Return how many threads `n_jobs` means; -1 is one for every core at hand.

    Examples
    --------
    >>> count_jobs(3), count_jobs(-1) >= 1
    (3, True)
    """
    if n_jobs != -1:
        return n_jobs
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_jobs(n_jobs: Any) -> None:
    """Raise `ValueError` unless `n_jobs` is a number of threads, or -1."""
    whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if not whole or (n_jobs < 1 and n_jobs != -1):
        raise ValueError(
            f"n_jobs must be an integer >= 1, or -1 for every core, not {n_jobs!r}"
        )


class _Worker:
    """One thread's slice of the examples, and its scratch arrays."""

    def __init__(self, problem: Problem, first: int, last: int):
        self.problem = problem
        self.first, self.last = first, last
        self.totals = np.zeros(2)
        self.done = 0
        self._scratch = make_scratch(problem.structure)
        self._workspace = workspace(problem.structure, 1)

    def steps(self, w: FloatArray, gradient: FloatArray) -> Iterator[None]:
        """Visit the slice, with a pause every moment or so."""
        self.totals[:] = 0.0
        self.done = 0
        gradient[:] = 0.0
        for start, stop in chunks(self.last - self.first):
            # Scores that overflow show in the totals; no need to warn of them.
            with np.errstate(all="ignore"):
                _add_examples(
                    self.problem.structure, self.first + start, self.first + stop,
                    self.problem.C, w, gradient, self.totals, self._scratch,
                    self._workspace,
                )  # fmt: skip
            self.done = stop
            yield

    def run(
        self, w: FloatArray, gradient: FloatArray, stopped: threading.Event
    ) -> None:
        """Visit the slice in a thread, until told to stop."""
        for _ in self.steps(w, gradient):
            if stopped.is_set():
                return


class BatchGradient:
    """Sums of log losses, entropies and gradients over all the examples.

    Parameters
    ----------
    problem : Problem
        Structure and C; the loss is the log loss, whatever the problem's.
    n_jobs : int
        How many threads; -1 for one per core.

    Attributes
    ----------
    loss, entropy : float
        ``sum_i C_i loss_i(w)`` and ``sum_i C_i H(p(.|x_i; w))`` of the last visit.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> batch = BatchGradient(make_problem(s, get_loss("log_loss")))
    >>> gradient = np.zeros(2)
    >>> for fraction in batch.visit(np.zeros(2), gradient):
    ...     pass
    >>> round(batch.loss, 4), gradient.tolist()
    (1.3863, [-1.0, 1.0])
    """

    def __init__(self, problem: Problem, n_jobs: int = 1):
        count = problem.n_examples
        self.n_used = int(np.count_nonzero(problem.C))
        self.loss = self.entropy = 0.0
        n_workers = max(min(count_jobs(n_jobs), self.n_used), 1)
        bounds = [0, count]
        if n_workers > 1:
            parts = np.zeros(count, np.int64)
            _count_parts(problem.structure, problem.C, parts)
            ends = np.cumsum(parts)
            shares = ends[-1] * np.arange(1, n_workers) // n_workers
            cuts = np.searchsorted(ends, shares, side="right").tolist()
            bounds = [0, *cuts, count]
        self._workers = [
            _Worker(problem, first, last) for first, last in pairwise(bounds)
        ]
        # The first worker writes straight into the caller's gradient.
        self._others = [np.zeros(problem.n_weights) for _ in self._workers[1:]]

    def visit(self, w: FloatArray, gradient: FloatArray) -> Iterator[float]:
        """Compute everything at `w`; write the gradient, yield the fraction done."""
        count = max(sum(worker.last - worker.first for worker in self._workers), 1)
        if len(self._workers) == 1:
            for _ in self._workers[0].steps(w, gradient):
                yield self._workers[0].done / count
        else:
            stopped = threading.Event()
            with ThreadPoolExecutor(len(self._workers)) as pool:
                try:
                    running = [
                        pool.submit(worker.run, w, own, stopped)
                        for worker, own in zip(
                            self._workers, [gradient, *self._others], strict=True
                        )
                    ]
                    while wait(running, LOOK_AFTER).not_done:
                        yield sum(worker.done for worker in self._workers) / count
                finally:  # also when the caller has had enough, or on Ctrl-C
                    stopped.set()
            for future in running:
                future.result()
            for other in self._others:
                gradient += other
        self.loss = sum(float(worker.totals[0]) for worker in self._workers)
        self.entropy = sum(float(worker.totals[1]) for worker in self._workers)
