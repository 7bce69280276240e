"""Threads that share a pass over the data, each with a slice of its own.

Compiled kernels release the GIL, so threads are all that is needed. What a pass
computes depends on how the data is cut into slices, never on which of them is done
first: the same number of threads gives the same bits.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from partwise._deadline import check_time
from partwise._jit import working_time

LOOK_AFTER = 0.1
"""Seconds between two reports of how far the threads are."""

Slice: TypeAlias = tuple[int, int]

Work: TypeAlias = Callable[[int, int, int], object]
"""Does the items ``start:stop`` of a slice: ``work(number of the slice, start, stop)``.
"""


def count_jobs(n_jobs: int) -> int:
    """Return how many threads `n_jobs` means; -1 is one for every available core.

    Examples
    --------
    >>> count_jobs(3), count_jobs(-1) >= 1
    (3, True)
    """
    if n_jobs != -1:
        return int(n_jobs)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_jobs(n_jobs: Any) -> None:
    """Raise `ValueError` unless `n_jobs` is a number of threads, or -1.

    Examples
    --------
    >>> check_jobs(0)
    Traceback (most recent call last):
    ...
    ValueError: n_jobs must be an integer >= 1, or -1 for every core, not 0
    """
    whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if not whole or (n_jobs < 1 and n_jobs != -1):
        raise ValueError(
            f"n_jobs must be an integer >= 1, or -1 for every core, not {n_jobs!r}"
        )


def chunks(count: int, seconds: float = 0.1) -> Generator[Slice, None, None]:
    """Cut ``range(count)`` into pieces that take about `seconds` each.

    Where the cuts fall never changes a result; it lets a bar move, Ctrl-C act, and
    work end that is out of time. The first pieces are small, as nobody knows yet how
    long one item takes.

    Examples
    --------
    >>> list(chunks(5))
    [(0, 1), (1, 5)]
    """
    start, size = 0, 1
    while start < count:
        check_time()
        begin = working_time()
        stop = min(start + size, count)
        yield start, stop
        took = working_time() - begin
        start = stop
        size = max(1, min(8 * size, int(size * seconds / max(took, 1e-6))))


def cut_evenly(sizes: NDArray[np.int64], n_slices: int) -> list[Slice]:
    """Cut items into at most `n_slices` runs of about the same total size.

    No slice is empty, unless there is nothing at all.

    Examples
    --------
    >>> cut_evenly(np.array([9, 1, 1, 1, 1, 1, 1, 1, 1, 1]), 2)
    [(0, 1), (1, 10)]
    >>> cut_evenly(np.array([], np.int64), 2)
    [(0, 0)]
    """
    ends = np.cumsum(sizes)
    if n_slices == 1 or ends.size == 0:
        return [(0, ends.size)]
    shares = ends[-1] * np.arange(1, n_slices) // n_slices
    inner = np.searchsorted(ends, shares, side="right").tolist()
    bounds = sorted({0, *inner, ends.size})
    return list(pairwise(bounds))


def run_slices(slices: Sequence[Slice], work: Work) -> Iterator[float]:
    """Do all the slices, each in a thread of its own; yield the fraction done.

    A single slice is done in the calling thread. What goes wrong in a thread is
    raised here, and the threads have ended whichever way the caller leaves: by an
    error, by Ctrl-C, or by closing the iterator.

    Examples
    --------
    >>> total = [0, 0]
    >>> def work(number, start, stop):
    ...     total[number] += sum(range(start, stop))
    >>> for fraction in run_slices([(0, 50), (50, 101)], work):
    ...     pass
    >>> sum(total)
    5050
    """
    count = max(sum(last - first for first, last in slices), 1)
    done = [0] * len(slices)
    stopped = threading.Event()

    def steps(number: int) -> Iterator[None]:
        first, last = slices[number]
        for start, stop in chunks(last - first):
            work(number, first + start, first + stop)
            done[number] = stop
            yield

    kept = np.geterr()  # what to warn of; before NumPy 2 a context does not have it

    def run(number: int) -> None:
        with np.errstate(**kept):
            for _ in steps(number):
                if stopped.is_set():
                    return

    if len(slices) == 1:
        for _ in steps(0):
            yield done[0] / count
        return
    with ThreadPoolExecutor(len(slices)) as pool:
        try:
            # In the caller's context: deadlines and limits are in there.
            running = [
                pool.submit(copy_context().run, run, number)
                for number in range(len(slices))
            ]
            while wait(running, LOOK_AFTER).not_done:
                check_time()
                yield sum(done) / count
        finally:
            stopped.set()
    for future in running:
        future.result()
