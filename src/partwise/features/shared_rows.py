"""Rows of a corpus that threads write together, each for its own sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from partwise._threads import count_jobs, cut_evenly, run_slices

CELLS_A_THREAD = 200_000
"""Fewer attributes than this, a few milliseconds of work, need no thread."""

Write: TypeAlias = Callable[[NDArray[np.int64], NDArray[np.int32]], int]
"""Writes the ids of some sentences: ``write(ptr of the sentences, idx) -> found``."""


def write_rows(
    sentences: NDArray[np.int64],
    ptr: NDArray[np.int64],
    idx: NDArray[np.int32],
    n_lines: int,
    n_jobs: int,
    write: Write,
) -> int:
    """Let threads write ids to `idx`; join their rows, and return how many ids.

    Parameters
    ----------
    sentences : array
        Where sentences begin and end, in tokens.
    ptr, idx : array
        The rows. `write` sets ``ptr`` for the tokens of its sentences, counting
        from zero, and puts their ids, at most `n_lines` per token, into its argument.
    n_lines : int
        The most ids of a token.
    n_jobs : int
        How many threads at most; -1 for one per core.
    write : callable
        Does some sentences.

    Examples
    --------
    >>> ptr, idx = np.zeros(4, np.int64), np.zeros(6, np.int32)
    >>> def write(sentences, idx):
    ...     first, last = sentences[0], sentences[-1]
    ...     ptr[first + 1 : last + 1] = np.arange(1, last - first + 1)
    ...     idx[: last - first] = np.arange(first, last)
    ...     return int(last - first)
    >>> write_rows(np.array([0, 1, 3]), ptr, idx, 2, 1, write)
    3
    >>> ptr.tolist(), idx[:3].tolist()
    ([0, 1, 2, 3], [0, 1, 2])
    """
    n_cells = int(sentences[-1]) * n_lines
    n_slices = max(min(count_jobs(n_jobs), n_cells // CELLS_A_THREAD), 1)
    if n_slices == 1:
        return write(sentences, idx)
    pieces: list[tuple[int, int, int]] = []

    def work(number: int, start: int, stop: int) -> None:
        own = sentences[start : stop + 1]
        first, last = int(own[0]), int(own[-1])
        pieces.append((first, last, write(own, idx[first * n_lines :])))

    for _ in run_slices(cut_evenly(np.diff(sentences), n_slices), work):
        pass
    total = 0
    for first, last, found in sorted(pieces):
        ptr[first + 1 : last + 1] += total
        idx[total : total + found] = idx[first * n_lines : first * n_lines + found]
        total += found
    return total
