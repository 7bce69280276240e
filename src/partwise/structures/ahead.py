"""Threads that look ahead while a learner learns.

A learner that changes the weights at every example leaves nothing that holds still
for other threads to look at. So it takes the examples of a pass in blocks, and while it
goes through one, the others find what it needs for the next:

- *take*, all threads together while nobody learns: note what depends on the weights,
  such as the scores of the parts of every example in the next block;
- *find*, beside the learner: from these notes alone, best outputs. A learner
  that is done with its block helps.

What is found belongs to the weights from before the present block. It is the same
whoever finds it, and when: only where the blocks end decides the bits, not the number
of threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import NamedTuple

import numpy as np

from partwise._threads import Slice, Work, cut_evenly
from partwise.structures.interface import IntArray

LEAST_THREADS = 4
"""With fewer a learner is faster alone. Of two, the time to a gap of 2% was 1.2 times
as long with `dcd-ssvm` and 1.6 times with `frank-wolfe` on chunks, as long on labelled
trees, and 0.9 times on constituents. Inference is a sixth of a pass over chunks: there
is no more to save, and what was found is out of date, and is looked at again."""

PARTS_A_BLOCK = 200_000
"""How many parts the examples of a block have: enough for threads that start twice."""

LEAST_BLOCKS = 24
"""A pass has at least so many, so that little has changed since a block was noted."""

PIECES_A_THREAD = 4
"""Into how many pieces threads cut a block, so that none waits long for the others,"""

PARTS_A_PIECE = 20_000
"""unless pieces had fewer parts than these: a call of compiled code with a corpus takes
a tenth of a millisecond, as long as looking at 6,000 parts of a chain."""


def cut_blocks(n_parts: IntArray) -> list[Slice]:
    """Cut a pass over examples with so many parts into blocks.

    Examples
    --------
    >>> cut_blocks(np.full(48, 10))[:3]
    [(0, 2), (2, 4), (4, 6)]
    """
    wanted = max(LEAST_BLOCKS, -(-int(n_parts.sum()) // PARTS_A_BLOCK))
    return cut_evenly(n_parts.astype(np.int64), wanted)


class Plan(NamedTuple):
    """The visits of a pass, cut into blocks.

    Attributes
    ----------
    order : array
        Which example each visit is to.
    blocks : list of (start, stop)
        The visits of every block.
    at : array
        Where there is room for the parts of every visit. Blocks that follow each other
        have different places; their room is used again.
    room : int
        How many parts there is room for.
    pieces : int
        Into how many pieces a block may be cut.
    """

    order: IntArray
    blocks: list[Slice]
    at: IntArray
    room: int
    pieces: int


def make_plan(order: IntArray, n_parts: IntArray) -> Plan:
    """Cut the visits of a pass to examples with so many parts.

    Examples
    --------
    >>> plan = make_plan(np.arange(48), np.full(48, 10))
    >>> plan.at[:6].tolist(), plan.room
    ([0, 10, 20, 30, 0, 10], 40)
    """
    sizes = n_parts[order]
    blocks = cut_blocks(sizes)
    ends = np.cumsum(sizes)
    begins = ends - sizes
    half = max((int(ends[b - 1] - begins[a]) for a, b in blocks), default=0)
    at = np.zeros_like(begins)
    for number, (a, b) in enumerate(blocks):
        at[a:b] = begins[a:b] - begins[a] + (number % 2) * half
    return Plan(order, blocks, at, 2 * half, max(half // PARTS_A_PIECE, 1))


class _Shared:
    """Work on a block that threads share, piece by piece."""

    def __init__(self, work: Work, block: Slice, n_pieces: int):
        start, stop = block
        size = max(-(-(stop - start) // n_pieces), 1)
        self.work = work
        self.left = deque(
            (first, min(first + size, stop)) for first in range(start, stop, size)
        )

    def do(self, number: int) -> None:
        """Take pieces until there are none."""
        while True:
            try:
                start, stop = self.left.popleft()
            except IndexError:
                return
            self.work(number, start, stop)


def find_ahead(
    n_threads: int, blocks: Sequence[Slice], pieces: int, take: Work, find: Work
) -> Generator[Slice, None, None]:
    """Yield blocks for the caller to learn from, each when all about it is found.

    Whatever goes wrong in a thread is raised here, and no thread is at work when the
    caller leaves.

    Parameters
    ----------
    n_threads : int
        How many threads there are, the caller's among them: it is number 0.
    blocks : sequence of (start, stop)
        The blocks of a pass.
    pieces : int
        Into how many pieces a block may be cut.
    take, find : callable
        What to do for some examples: ``take(number of the thread, start, stop)``.

    Examples
    --------
    >>> w, notes, found = [0], {}, {}
    >>> def take(number, start, stop):
    ...     notes[start] = w[0]
    >>> def find(number, start, stop):
    ...     found[start] = 10 * notes[start]
    >>> for start, stop in find_ahead(2, [(0, 1), (1, 2), (2, 3)], 1, take, find):
    ...     print(found[start])
    ...     w[0] += 1
    0
    0
    10
    """
    n_pieces = min(PIECES_A_THREAD * n_threads, pieces)
    with ThreadPoolExecutor(n_threads - 1) as pool:

        def begin(work: Work, block: Slice) -> Callable[[], None]:
            """Let the helpers begin; return what joins them, and waits for them."""
            shared = _Shared(work, block, n_pieces)
            running = [
                pool.submit(copy_context().run, shared.do, number)
                for number in range(1, min(n_threads, n_pieces + 1))
            ]

            def join() -> None:
                try:
                    shared.do(0)
                finally:
                    shared.left.clear()
                    for future in running:
                        future.result()

            return join

        for work in (take, find):
            begin(work, blocks[0])()
        for block, following in zip(blocks, [*blocks[1:], None], strict=True):
            if following is None:
                yield block
                return
            begin(take, following)()
            join = begin(find, following)
            try:
                yield block
            finally:
                join()
