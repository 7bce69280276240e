"""A crew makes passes over a corpus, without updates in between.

What a pass does is a `Job`; what it works on is marked (see `sharing`). Those who ask
for a pass do not know who makes it: `Threads` of this process, each with scratch arrays
and a contiguous slice of the examples, or others, wherever shards of the corpus lie
(`shards`). `make_crew` knows which.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from partwise._jit import generic_with_default, kernel
from partwise._threads import count_jobs, cut_evenly, run_slices
from partwise._work import tell
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray, IntArray, Structure
from partwise.structures.scratch import Scratch, make_scratch
from partwise.structures.sharing import Borders, Marked, Places, Sum, marked, replaced

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


Job: TypeAlias = Callable[..., object]
"""Does the examples ``start:stop``: ``job(s, start, stop, worker, *things)``.

Things are arrays where the crew was given marked ones. A kernel, or a function of a
module, so that it can travel by its name."""


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


class Crew(ABC):
    """Those who visit the examples of a corpus.

    Attributes
    ----------
    size : int
        How many work at the same time.
    """

    size: int

    @abstractmethod
    def visit(self, job: Job, *things: Any) -> Iterator[float]:
        """Do `job` for all examples; yield the fraction done every moment or so."""

    def run(self, job: Job, *things: Any, doing: str = "") -> None:
        """Do `job` for all examples; say how far it is if it has a name."""
        if doing:
            tell(doing, 0.0)
        for fraction in self.visit(job, *things):
            if doing:
                tell(doing, fraction)
        if doing:
            tell(doing, 1.0)


class Threads(Crew):
    """Threads that visit the examples of a corpus.

    A pass that is over before threads would have started runs in the calling thread.

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
    >>> crew = Threads(s, n_jobs=2)
    >>> seen = []
    >>> crew.run(lambda s, start, stop, worker: seen.extend(range(start, stop)))
    >>> seen
    [0, 1]
    >>> crew.size  # two examples are not worth a second thread
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
        self.s = s
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
        self.size = len(self.slices)
        self.workers = [
            Worker(number, make_scratch(s), waist.workspace(s, k))
            for number in range(self.size)
        ]
        self._spare: dict[int, list[FloatArray]] = {}

    def visit(self, job: Job, *things: Any) -> Iterator[float]:
        """Do `job` for all examples; yield the fraction done every moment or so.

        Sums are added up in the order of the slices, whichever is done first.
        """
        totals = [thing.total for thing in marked(things) if isinstance(thing, Sum)]
        sums = [[t, *self._others(n, t)] for n, t in enumerate(totals)]
        own = [_unmarked(things, [s[n] for s in sums]) for n in range(self.size)]
        if self.slices[0][1] == 0:
            for total in totals:
                total[:] = 0.0

        def work(number: int, start: int, stop: int) -> None:
            if start == self.slices[number][0]:
                for vectors in sums:
                    vectors[number][:] = 0.0
            job(self.s, start, stop, self.workers[number], *own[number])

        yield from run_slices(self.slices, work)
        for total, *others in sums:
            self._add(total, others)

    def _others(self, number: int, total: FloatArray) -> list[FloatArray]:
        """Return vectors for all workers but the first, who needs none of its own."""
        spare = self._spare.get(number, [])
        if not spare or spare[0].shape != total.shape:
            spare = [np.zeros_like(total) for _ in self.slices[1:]]
            self._spare[number] = spare
        return spare

    def _add(self, total: FloatArray, others: list[FloatArray]) -> None:
        """Add the vectors up, each thread some of the numbers."""

        def add(_: int, start: int, stop: int) -> None:
            for other in others:
                total[start:stop] += other[start:stop]

        n_threads = max(min(self.size, total.size // NUMBERS_A_THREAD), 1)
        bounds = [total.size * n // n_threads for n in range(n_threads + 1)]
        for _ in run_slices(list(pairwise(bounds)), add):
            pass


def _unmarked(things: tuple[Any, ...], sums: list[FloatArray]) -> tuple[Any, ...]:
    """Return the arrays themselves, and this worker's own vectors for sums."""
    own = iter(sums)

    def plain(thing: Marked) -> Any:
        if isinstance(thing, Sum):
            return next(own)
        if isinstance(thing, Borders):
            return thing.ptr
        assert isinstance(thing, Places)
        return thing.array

    unmarked: tuple[Any, ...] = replaced(things, plain)
    return unmarked


@generic_with_default
def make_crew(
    s: Structure,
    n_jobs: int = 1,
    used: FloatArray | None = None,
    k: int = 1,
    n_sums: int = 0,
) -> Any:
    """Return the crew of a corpus, with the parameters of `Threads`."""
    return Threads(s, n_jobs, used, k, n_sums)
