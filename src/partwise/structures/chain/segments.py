"""The probability of a stretch of labels inside a chain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.chain.corpus import Chain
from partwise.structures.interface import CodeArray, FloatArray, IntArray, Structure
from partwise.structures.parallel import Threads, Worker


@kernel
def _segment_log_probabilities(
    s: Structure,
    first: int,
    last: int,
    worker: Worker,
    w: FloatArray,
    ptr: IntArray,
    owner: IntArray,
    start: IntArray,
    stop: IntArray,
    codes: CodeArray,
    groups: CodeArray,
    legal: NDArray[np.uint8],
    allowed: NDArray[np.uint8],
    out: FloatArray,
) -> None:
    """Compute them; `allowed` is the mask of `s`, which holds what is `legal`."""
    scratch, ws = worker.scratch, worker.ws
    before, log_z = -1, 0.0
    for j in range(first, last):
        i = owner[j]
        if i != before:
            waist.part_scores(s, i, w, scratch.theta, ws)
            log_z = waist.log_partition(s, i, scratch.theta, ws)
            before = i
        at = ptr[i]
        for t in range(at + start[j], at + stop[j]):
            for k in range(groups.size):
                if groups[k] != groups[codes[t]]:
                    allowed[t, k] = 0
        out[j] = waist.log_partition(s, i, scratch.theta, ws) - log_z
        for t in range(at + start[j], at + stop[j]):
            for k in range(groups.size):
                allowed[t, k] = legal[t, k]


def segment_probabilities(
    s: Chain,
    w: FloatArray,
    owner: IntArray,
    start: IntArray,
    stop: IntArray,
    codes: CodeArray,
    n_jobs: int = 1,
    groups: CodeArray | None = None,
) -> FloatArray:
    """Return the probability that positions start..stop-1 carry these labels.

    Parameters
    ----------
    s : Chain
        The corpus, or one of higher order.
    w : array
        The weights.
    owner, start, stop : arrays of int
        Segment `j` is the positions ``start[j]:stop[j]`` of sequence ``owner[j]``;
        sequences come in order.
    codes : array of int32
        A label for every position of the corpus.
    n_jobs : int
        Threads that share the sequences.
    groups : array of int32, optional
        Labels with the same number are as good as each other; by default each has its
        own.
    """
    if groups is None:
        groups = np.arange(s.layout.n_labels, dtype=np.int32)
    n_tokens = int(s.ptr[-1])
    legal = (
        s.mask.tokens
        if s.mask.tokens.size
        else np.ones((n_tokens, s.layout.n_labels), np.uint8)
    )
    allowed = legal.copy()
    out = np.zeros(owner.size)
    restricted = s._replace(mask=s.mask._replace(tokens=allowed))

    def work(s: Chain, begin: int, end: int, worker: Worker) -> None:
        first, last = np.searchsorted(owner, [begin, end]).tolist()
        _segment_log_probabilities(
            s,
            first,
            last,
            worker,
            w,
            s.ptr,
            owner,
            start,
            stop,
            codes,
            groups,
            legal,
            allowed,
            out,
        )

    Threads(restricted, n_jobs).run(work)
    return np.exp(np.minimum(out, 0.0))
