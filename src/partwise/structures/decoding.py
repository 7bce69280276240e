"""Answers for a whole corpus: best outputs, k best outputs, marginals.

Every call has scratch arrays of its own, so that one model can serve several
threads at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures.interface import (
    CodeArray,
    FloatArray,
    IntArray,
    Structure,
    argmax,
    kbest,
    marginals,
    n_examples,
    output_size,
    part_scores,
    visit,
    workspace,
)
from partwise.structures.scratch import Scratch, make_scratch


class Decoded(NamedTuple):
    """Outputs of a corpus, end to end: example `i` is ``codes[ptr[i]:ptr[i + 1]]``."""

    ptr: IntArray
    codes: CodeArray
    scores: FloatArray


@kernel
def output_pointers(s: Structure) -> IntArray:
    """Return where the outputs of a corpus lie when put end to end."""
    ptr = np.zeros(n_examples(s) + 1, np.int64)
    for i in range(ptr.size - 1):
        ptr[i + 1] = ptr[i] + output_size(s, i)
    return ptr


@kernel
def _decode(
    s: Structure,
    w: FloatArray,
    ptr: IntArray,
    codes: CodeArray,
    scores: FloatArray,
    scratch: Scratch,
    ws: Any,
) -> None:
    for i in range(scores.size):
        visit(s, i, ws)
        part_scores(s, i, w, scratch.theta, ws)
        scores[i] = argmax(s, i, scratch.theta, codes[ptr[i] : ptr[i + 1]], ws)


def decode(s: Structure, w: FloatArray) -> Decoded:
    """Return the best output of every example and its score, -inf if none is legal."""
    ptr = output_pointers(s)
    codes, scores = np.zeros(ptr[-1], np.int32), np.zeros(ptr.size - 1)
    _decode(s, w, ptr, codes, scores, make_scratch(s), workspace(s, 1))
    return Decoded(ptr, codes, scores)


@kernel
def _decode_kbest(
    s: Structure,
    w: FloatArray,
    k: int,
    ptr: IntArray,
    codes: NDArray[np.int32],
    scores: NDArray[np.float64],
    found: IntArray,
    ys: NDArray[np.int32],
    scratch: Scratch,
    ws: Any,
) -> None:
    for i in range(found.size):
        visit(s, i, ws)
        part_scores(s, i, w, scratch.theta, ws)
        found[i] = kbest(s, i, scratch.theta, k, ys, scores[i], ws)
        for j in range(found[i]):
            codes[j, ptr[i] : ptr[i + 1]] = ys[j, : ptr[i + 1] - ptr[i]]


class KBest(NamedTuple):
    """The k best outputs: row `j` of `codes` holds the j-th best of all examples."""

    ptr: IntArray
    codes: NDArray[np.int32]
    scores: NDArray[np.float64]
    found: IntArray


def decode_kbest(s: Structure, w: FloatArray, k: int) -> KBest:
    """Return the `k` best outputs of every example, and how many there are."""
    ptr = output_pointers(s)
    count = ptr.size - 1
    codes = np.zeros((k, ptr[-1]), np.int32)
    scores = np.full((count, k), -np.inf)
    found = np.zeros(count, np.int64)
    scratch = make_scratch(s)
    ys = np.zeros((k, scratch.y.size), np.int32)
    _decode_kbest(
        s, w, k, ptr, codes, scores, found, ys, scratch, workspace(s, max(k, 1))
    )
    return KBest(ptr, codes, scores, found)


@kernel
def _part_marginals(
    s: Structure,
    w: FloatArray,
    ptr: IntArray,
    out: FloatArray,
    log_z: FloatArray,
    scratch: Scratch,
    ws: Any,
) -> None:
    for i in range(log_z.size):
        visit(s, i, ws)
        part_scores(s, i, w, scratch.theta, ws)
        log_z[i] = marginals(s, i, scratch.theta, scratch.mu, ws)
        out[ptr[i] : ptr[i + 1]] = scratch.mu[: ptr[i + 1] - ptr[i]]


def part_marginals(
    s: Structure, w: FloatArray, wanted: IntArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the marginals of the first ``wanted[i]`` parts of every example.

    Returns
    -------
    ptr, marginals, log_z
        Example `i` is ``marginals[ptr[i]:ptr[i + 1]]``.
    """
    ptr = np.zeros(wanted.size + 1, np.int64)
    np.cumsum(wanted, out=ptr[1:])
    out, log_z = np.zeros(ptr[-1]), np.zeros(wanted.size)
    _part_marginals(s, w, ptr, out, log_z, make_scratch(s), workspace(s, 1))
    return ptr, out, log_z
