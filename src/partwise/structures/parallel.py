"""A crew of threads for passes over a corpus without updates in between.

Every worker has scratch arrays and a contiguous slice of the examples, cut so that
all have about as many parts. A pass that is over before threads would have started
runs in the calling thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from partwise._jit import kernel
from partwise._threads import count_jobs, cut_evenly, run_slices
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray, IntArray, Structure
from partwise.structures.scratch import Scratch, make_scratch

PARTS_A_THREAD = 50_000
"""Fewer need no thread: they take half a millisecond, threads start in an eighth."""

NUMBERS_A_PART = 8
"""This many numbers are set to zero and added up in the time that a part takes."""

NUMBERS_A_THREAD = PARTS_A_THREAD * NUMBERS_A_PART


class Worker(NamedTuple):
    """One thread's number and its scratch arrays."""

    number: int
    scratch: Scratch
    ws: Any


Work: TypeAlias = Callable[[int, int, Worker], object]
"""Does the examples ``start:stop``: ``work(start, stop, worker)``."""

Adding: TypeAlias = Callable[[int, int, Worker, FloatArray], object]
"""Does the same, and adds to a vector: ``work(start, stop, worker, vector)``."""


@kernel
def _count_parts(s: Structure, out: IntArray) -> None:
    for i in range(out.size):
        out[i] = waist.n_parts(s, i)


def worth_threads(n_parts: int, n_sums: int) -> int:
    """Return how many threads a pass over this many parts can keep busy.

    Examples
    --------
    >>> worth_threads(n_parts=10_000, n_sums=0), worth_threads(1_000_000, n_sums=0)
    (0, 20)
    """
    return n_parts // (PARTS_A_THREAD + n_sums // NUMBERS_A_PART)


class Crew:
    """Threads that visit the examples of a corpus.

    Parameters
    ----------
    s : Structure
        The corpus.
    n_jobs : int
        How many threads at most; -1 for one per core.
    used : array, optional
        Examples where this is zero need no work.
    k : int
        The most best outputs that workers will be asked for.
    n_sums : int
        The length of the vector they sum up: adding these vectors is work, too, and has
        to pay off.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> crew = Crew(s, n_jobs=2)
    >>> seen = []
    >>> crew.run(lambda start, stop, worker: seen.extend(range(start, stop)))
    >>> seen
    [0, 1]
    >>> len(crew.workers)  # two examples are not worth a second thread
    1
    """

    def __init__(
        self,
        s: Structure,
        n_jobs: int = 1,
        used: FloatArray | None = None,
        k: int = 1,
        n_sums: int = 0,
    ):
        n_workers = count_jobs(n_jobs)
        count = int(waist.n_examples(s))
        self.slices = [(0, count)]
        if n_workers > 1:
            parts = np.zeros(count, np.int64)
            _count_parts(s, parts)
            if used is not None:
                parts[used == 0.0] = 0
            worth = worth_threads(int(parts.sum()), n_sums)
            self.slices = cut_evenly(parts, max(min(n_workers, worth), 1))
        self.workers = [
            Worker(number, make_scratch(s), waist.workspace(s, k))
            for number in range(len(self.slices))
        ]
        self._others = [np.zeros(0) for _ in self.slices[1:]]

    def visit(self, work: Work) -> Iterator[float]:
        """Do `work` for all examples; yield the fraction done every moment or so."""
        workers = self.workers
        return run_slices(
            self.slices, lambda number, start, stop: work(start, stop, workers[number])
        )

    def run(self, work: Work) -> None:
        """Do `work` for all examples."""
        for _ in self.visit(work):
            pass

    def sum_up(self, work: Adding, total: FloatArray) -> Iterator[float]:
        """Do `work`, with a vector for every worker; set `total` to their sum.

        The vectors are added up in the order of the slices, whichever is done first.
        """
        if self._others and self._others[0].shape != total.shape:
            self._others = [np.zeros_like(total) for _ in self._others]
        vectors = [total, *self._others]  # the first worker needs none of its own
        starts = [first for first, _ in self.slices]
        if self.slices[0][1] == 0:
            total[:] = 0.0

        def add(start: int, stop: int, worker: Worker) -> None:
            vector = vectors[worker.number]
            if start == starts[worker.number]:
                vector[:] = 0.0
            work(start, stop, worker, vector)

        yield from self.visit(add)
        self._add_others(total)

    def _add_others(self, total: FloatArray) -> None:
        """Add the vectors up, each thread some of the numbers."""

        def add(_: int, start: int, stop: int) -> None:
            for other in self._others:
                total[start:stop] += other[start:stop]

        n_threads = max(min(len(self.slices), total.size // NUMBERS_A_THREAD), 1)
        bounds = [total.size * n // n_threads for n in range(n_threads + 1)]
        for _ in run_slices(list(pairwise(bounds)), add):
            pass
