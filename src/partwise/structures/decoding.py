"""Answers for a whole corpus: best outputs, k best outputs, marginals.

Every call has scratch arrays of its own, so that one model can serve several
threads at once; and `n_jobs` threads share the examples of one call. The answers do
not depend on how many there are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import bound, generic_with_default, kernel
from partwise.structures import interface as waist
from partwise.structures.interface import CodeArray, FloatArray, IntArray, Structure
from partwise.structures.parallel import Worker, make_crew
from partwise.structures.scratch import make_scratch
from partwise.structures.sharing import borders, changed, filled
from partwise.structures.vectors import copy


class Decoded(NamedTuple):
    """Outputs of a corpus, end to end: example `i` is ``codes[ptr[i]:ptr[i + 1]]``.

    What the codes mean is said by the class of the structure: labels of a chain, edges
    of a lattice.
    """

    ptr: IntArray
    codes: CodeArray
    scores: FloatArray


@generic_with_default
def output_pointers(s: Structure) -> Any:
    """Return where the outputs of a corpus lie when put end to end."""
    return _output_pointers(s)


@kernel
def _output_pointers(s: Structure) -> IntArray:
    ptr = np.zeros(waist.n_examples(s) + 1, np.int64)
    for i in range(ptr.size - 1):
        ptr[i + 1] = ptr[i] + waist.output_size(s, i)
    return ptr


class Bounded(NamedTuple):
    """Outputs as in `Decoded`, and a bound on the score of the best output of each."""

    ptr: IntArray
    codes: CodeArray
    scores: FloatArray
    bounds: FloatArray


@kernel
def _decode(
    s: Structure, start: int, stop: int, worker: Worker, w: FloatArray, found: Bounded
) -> None:
    scratch, ws = worker.scratch, worker.ws
    for i in range(start, stop):
        waist.visit(s, i, ws)
        waist.part_scores(s, i, w, scratch.theta, ws)
        y = found.codes[found.ptr[i] : found.ptr[i + 1]]
        found.scores[i] = waist.argmax(s, i, scratch.theta, y, ws)
        found.bounds[i] = found.scores[i] + waist.shortfall(s, i, ws)


def decode(s: Structure, w: FloatArray, n_jobs: int = 1) -> Decoded:
    """Return the best output of every example and its score, -inf if none is legal.

    Parameters
    ----------
    s : structure
        A corpus, of any structure.
    w : array
        The weights of its features.
    n_jobs : int
        How many threads share the examples.

    Returns
    -------
    Decoded
        Outputs and scores.

    Examples
    --------
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 0], 2)
    >>> found = decode(s, np.array([0.5, -0.5]))
    >>> found.codes.tolist(), found.scores.tolist()
    ([0, 1], [0.5, 0.5])
    """
    return Decoded(*decode_with_bounds(s, w, n_jobs)[:3])


def decode_with_bounds(s: Structure, w: FloatArray, n_jobs: int = 1) -> Bounded:
    """Return what `decode` does, and how high the score of an output can be at most.

    Where the bound is the score, the output is proved to be the best, as it always is
    where inference is exact.
    """
    ptr = output_pointers(s)
    count = ptr.size - 1
    codes = np.zeros(ptr[-1], np.int32)
    found = Bounded(ptr, codes, np.zeros(count), np.zeros(count))
    shared = Bounded(
        borders(ptr), filled(codes, ptr), filled(found.scores), filled(found.bounds)
    )
    make_crew(s, n_jobs).run(_decode, w, shared, doing="predicting")
    return found


class Decoder:
    """Finds the best output of a corpus of one example, which changes between calls.

    Everything a call needs is made once: for a short example that takes most of the
    time. It is for one thread at a time.

    Parameters
    ----------
    s : structure
        A corpus of one example, as large as any that will be written into its arrays.
    w : array
        The weights of its features.

    Examples
    --------
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0]]), [0], 2)
    >>> decoder = Decoder(s, np.array([0.5, -0.5]))
    >>> decoder.decode().codes.tolist()
    [0]
    >>> s.rows.values[0, 0] = -1.0
    >>> decoder.decode().codes.tolist()
    [1]
    """

    def __init__(self, s: Structure, w: FloatArray):
        ptr = output_pointers(s)
        self.w = w
        self._found = Bounded(
            ptr, np.zeros(ptr[-1], np.int32), np.zeros(1), np.zeros(1)
        )
        worker = Worker(0, make_scratch(s), waist.workspace(s, 1))
        self._run = bound(_decode, s, 0, 1, worker, w, self._found)

    def decode(self) -> Bounded:
        """Return the best output; the arrays are those of the next call, too.

        Codes that a smaller example does not need keep old values.
        """
        self._run()
        return self._found


class KBest(NamedTuple):
    """The k best outputs: row `j` of `codes` holds the j-th best of all examples.

    Example `i` has ``found[i]`` of them; its j-th best is ``codes[j,
    ptr[i]:ptr[i + 1]]``, with the score ``scores[i, j]``.
    """

    ptr: IntArray
    codes: NDArray[np.int32]
    scores: NDArray[np.float64]
    found: IntArray


@kernel
def _decode_kbest(
    s: Structure,
    start: int,
    stop: int,
    worker: Worker,
    w: FloatArray,
    k: int,
    best: KBest,
    ys: NDArray[np.int32],
) -> None:
    scratch, ws, ptr = worker.scratch, worker.ws, best.ptr
    for i in range(start, stop):
        waist.visit(s, i, ws)
        waist.part_scores(s, i, w, scratch.theta, ws)
        best.found[i] = waist.kbest(s, i, scratch.theta, k, ys, best.scores[i], ws)
        for j in range(best.found[i]):
            copy(ys[j, : ptr[i + 1] - ptr[i]], best.codes[j, ptr[i] :])


def decode_kbest(s: Structure, w: FloatArray, k: int, n_jobs: int = 1) -> KBest:
    """Return the `k` best outputs of every example, and how many there are.

    Parameters
    ----------
    s : structure
        A corpus, of any structure that answers `kbest`.
    w : array
        The weights of its features.
    k : int
        How many outputs of each example; there may be fewer.
    n_jobs : int
        How many threads share the examples.

    Returns
    -------
    KBest
        Outputs and scores, the best first.

    Examples
    --------
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0]]), [0], 3)
    >>> found = decode_kbest(s, np.array([0.5, -0.5, 2.0]), 2)
    >>> found.codes.tolist(), found.scores.tolist(), found.found.tolist()
    ([[2], [0]], [[2.0, 0.5]], [2])
    """
    ptr = output_pointers(s)
    count = ptr.size - 1
    codes, scores = np.zeros((k, ptr[-1]), np.int32), np.full((count, k), -np.inf)
    best = KBest(ptr, codes, scores, np.zeros(count, np.int64))
    shared = KBest(
        borders(ptr), filled(codes, ptr, axis=1), changed(scores), filled(best.found)
    )
    crew = make_crew(s, n_jobs, None, max(k, 1))
    crew.run(_find_kbest, w, k, shared, doing="finding the best outputs")
    return best


def _find_kbest(
    s: Structure, start: int, stop: int, worker: Worker, w: FloatArray, k: int, b: KBest
) -> None:
    ys = np.zeros((k, worker.scratch.y.size), np.int32)
    _decode_kbest(s, start, stop, worker, w, k, b, ys)


@kernel
def _part_marginals(
    s: Structure,
    start: int,
    stop: int,
    worker: Worker,
    w: FloatArray,
    ptr: IntArray,
    out: FloatArray,
    log_z: FloatArray,
) -> None:
    scratch, ws = worker.scratch, worker.ws
    for i in range(start, stop):
        waist.visit(s, i, ws)
        waist.part_scores(s, i, w, scratch.theta, ws)
        log_z[i] = waist.marginals(s, i, scratch.theta, scratch.mu, ws)
        copy(scratch.mu[: ptr[i + 1] - ptr[i]], out[ptr[i] :])


def part_marginals(
    s: Structure, w: FloatArray, wanted: IntArray, n_jobs: int = 1
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the marginals of the first ``wanted[i]`` parts of every example.

    Returns
    -------
    ptr, marginals, log_z
        Example `i` is ``marginals[ptr[i]:ptr[i + 1]]``.

    Examples
    --------
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0]]), [0], 2)
    >>> ptr, marginals, log_z = part_marginals(s, np.zeros(2), np.array([2]))
    >>> marginals.tolist()
    [0.5, 0.5]
    """
    ptr = np.zeros(wanted.size + 1, np.int64)
    np.cumsum(wanted, out=ptr[1:])
    out, log_z = np.zeros(ptr[-1]), np.zeros(wanted.size)
    things = w, borders(ptr), filled(out, ptr), filled(log_z)
    crew = make_crew(s, n_jobs)
    crew.run(_part_marginals, *things, doing="computing probabilities")
    return ptr, out, log_z


@kernel
def _find_other(s: Structure, owner: IntArray, at: IntArray, codes: CodeArray) -> int:
    """Return the number of the first that is no output, -1 if all are."""
    for j in range(owner.size):
        size = waist.output_size(s, owner[j])
        if at[j] < 0 or at[j] > codes.size - size:
            return j
        if not waist.is_output(s, owner[j], codes[at[j] : at[j] + size]):
            return j
    return -1


def check_outputs(
    s: Structure, owner: IntArray, at: IntArray, codes: CodeArray
) -> None:
    """Raise `ValueError` unless codes are outputs of their examples.

    Parameters
    ----------
    s : structure
        A corpus, of any structure.
    owner : array of int
        The example of every output.
    at : array of int
        Where its codes begin, in `codes`.
    codes : array of int32
        What came from a file.
    """
    j = int(_find_other(s, owner, at, codes))
    if j >= 0:
        raise ValueError(f"an output of example {owner[j]} is damaged")
