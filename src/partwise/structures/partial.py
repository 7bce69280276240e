"""Any structure whose right outputs are known in part.

What is known of a right output forbids parts: a token of a known label may have no
other, a word of a known head no other arc, and a known bracket no span that crosses it.
The *completions* of an example are the outputs without a forbidden part; one of them is
right. An output costs what its forbidden parts cost, so that completions cost nothing.

The losses of such examples are the difference of two convex functions (see
`ConvexConcave`). With the right outputs *completed* in some way, the structure is one
like any other: `best_completions` takes the best of them, `expected_completions` all of
them, weighted by their probabilities, which only shows in their parts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partwise._jit import kernel
from partwise.errors import DataError, PairingError
from partwise.structures import interface as waist
from partwise.structures.decoding import output_pointers
from partwise.structures.delegation import delegate
from partwise.structures.gibbs import part_pointers
from partwise.structures.interface import CodeArray, FloatArray, IntArray, Structure
from partwise.structures.parallel import Worker, make_crew
from partwise.structures.sharing import borders, filled
from partwise.structures.vectors import copy


class PartList(NamedTuple):
    """Some parts of every example, with a number each.

    Those of example `i` are ``ids[ptr[i]:ptr[i + 1]]``.
    """

    ptr: IntArray
    ids: IntArray
    numbers: FloatArray


class PartialOutputs(NamedTuple):
    """A corpus with right outputs that are known in part; `make_partial` makes one.

    The numbers of `forbidden` parts are their costs. The right output of example `i` is
    taken to be ``codes[code_ptr[i]:]``, or to have the `expected` parts, if there are
    any in the corpus.
    """

    corpus: Any
    forbidden: PartList
    code_ptr: IntArray
    codes: CodeArray
    expected: PartList


def make_partial(
    s: Structure, ptr: ArrayLike, ids: ArrayLike, costs: ArrayLike | None = None
) -> PartialOutputs:
    """Return the same corpus, with right outputs that are known in part.

    Parameters
    ----------
    s : structure
        A corpus with argmax. Its right outputs only say what forbidden parts cost.
    ptr, ids : arrays of int
        The parts ``ids[ptr[i]:ptr[i + 1]]`` are not those of the right output of
        example `i`.
    costs : array, optional
        What these parts cost; by default what they cost in the corpus.

    Raises
    ------
    DataError
        If an example has no output without these parts.

    Examples
    --------
    Of three classes, the first example has 0 or 1, and the second any:

    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 0], 3)
    >>> s = make_partial(s, [0, 1, 1], [2])
    >>> best_completions(s, np.array([0.0, 2.0, 5.0])).codes.tolist()
    [1, 0]
    """
    if not waist.argmax.provided_by(type(waist.innermost(s))):
        raise PairingError(
            f"partial labels need 'argmax', which {type(s).__name__} does not provide"
        )
    ptr, ids = np.ascontiguousarray(ptr, np.int64), np.ascontiguousarray(ids, np.int64)
    n = int(waist.n_examples(s))
    if ptr.shape != (n + 1,) or ptr[0] != 0 or (np.diff(ptr) < 0).any():
        raise ValueError(f"ptr must hold {n + 1} numbers, which rise from 0")
    limit = np.repeat(np.diff(part_pointers(s)), np.diff(ptr))
    if ptr[-1] != ids.size or ((ids < 0) | (ids >= limit)).any():
        raise ValueError("ids must be numbers of parts, as many as ptr says")
    code_ptr = output_pointers(s)
    none = PartList(np.zeros(n + 1, np.int64), ids[:0], np.zeros(0))
    partial = PartialOutputs(
        s,
        PartList(ptr, ids, np.zeros(ids.size)),
        code_ptr,
        np.zeros(int(code_ptr[-1]), np.int32),
        none,
    )
    if costs is not None:
        partial.forbidden.numbers[:] = costs
    elif waist.add_costs.provided_by(type(waist.innermost(s))):
        make_crew(s).run(_cost_parts, ptr, ids, partial.forbidden.numbers)
    return best_completions(partial, np.zeros(int(waist.n_weights(s))))


def have_completions(s: Structure, ptr: IntArray, ids: IntArray) -> NDArray[np.bool_]:
    """Say of every example whether it has an output without the forbidden parts.

    Examples
    --------
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 0], 2)
    >>> have_completions(s, np.array([0, 1, 3]), np.array([1, 0, 1])).tolist()
    [True, False]
    """
    code_ptr, forbidden = output_pointers(s), PartList(ptr, ids, np.zeros(ids.size))
    w, codes = np.zeros(int(waist.n_weights(s))), np.zeros(int(code_ptr[-1]), np.int32)
    score = np.zeros(code_ptr.size - 1)
    places = borders(code_ptr), filled(codes, code_ptr), filled(score)
    make_crew(s).run(_complete, w, forbidden, *places)
    return np.asarray(score > -np.inf)


@kernel
def _cost_parts(
    s: Structure,
    start: int,
    stop: int,
    worker: Worker,
    ptr: IntArray,
    ids: IntArray,
    out: FloatArray,
) -> None:
    """Write what forbidden parts cost."""
    theta = worker.scratch.theta
    for i in range(start, stop):
        theta[: waist.n_parts(s, i)] = 0.0
        waist.add_costs(s, i, theta)
        for j in range(ptr[i], ptr[i + 1]):
            out[j] = theta[ids[j]]


# --- the right outputs ---------------------------------------------------------------


@waist.gold.implement(PartialOutputs)
def _(s: PartialOutputs, i: int, y: CodeArray) -> None:
    copy(s.codes[s.code_ptr[i] : s.code_ptr[i + 1]], y)


@waist.right_parts.implement(PartialOutputs)
def _(
    s: PartialOutputs, i: int, y: CodeArray, ids: IntArray, counts: FloatArray
) -> int:
    first, last = s.expected.ptr[i], s.expected.ptr[i + 1]
    if s.expected.ids.size == 0:
        waist.gold(s, i, y)
        return waist.parts_of(s.corpus, i, y, ids, counts)
    for j in range(last - first):
        ids[j] = s.expected.ids[first + j]
        counts[j] = s.expected.numbers[first + j]
    return last - first


# --- costs: those of forbidden parts -------------------------------------------------


@waist.add_costs.implement(PartialOutputs)
def _(s: PartialOutputs, i: int, theta: FloatArray) -> None:
    for j in range(s.forbidden.ptr[i], s.forbidden.ptr[i + 1]):
        theta[s.forbidden.ids[j]] += s.forbidden.numbers[j]


@waist.cost.implement(PartialOutputs)
def _(s: PartialOutputs, i: int, y: CodeArray) -> float:
    n = waist.n_parts(s.corpus, i)
    room = n + 2 * waist.output_size(s.corpus, i)
    ids, counts = np.empty(room, np.int64), np.empty(room)
    costs = np.zeros(n)
    waist.add_costs(s, i, costs)
    total = 0.0
    for j in range(waist.parts_of(s.corpus, i, y, ids, counts)):
        total += counts[j] * costs[ids[j]]
    return total


# One completion is taken to be right at a time: there are no sets of good outputs.
delegate(PartialOutputs, defaults=(waist.n_good, waist.good_at, waist.is_good))


# --- completing them -----------------------------------------------------------------


@kernel
def _score_completions(
    s: Structure, i: int, w: FloatArray, forbidden: PartList, theta: FloatArray, ws: Any
) -> None:
    """Write part scores that leave no outputs but the completions legal."""
    waist.visit(s, i, ws)
    waist.part_scores(s, i, w, theta, ws)
    for j in range(forbidden.ptr[i], forbidden.ptr[i + 1]):
        theta[forbidden.ids[j]] = -np.inf


@kernel
def _complete(
    s: Structure,
    start: int,
    stop: int,
    worker: Worker,
    w: FloatArray,
    forbidden: PartList,
    ptr: IntArray,
    codes: CodeArray,
    score: FloatArray,
) -> None:
    """Write the best completion of every example, and its score."""
    scratch, ws = worker.scratch, worker.ws
    for i in range(start, stop):
        _score_completions(s, i, w, forbidden, scratch.theta, ws)
        y = codes[ptr[i] : ptr[i + 1]]
        score[i] = waist.argmax(s, i, scratch.theta, y, ws)


@kernel
def _expect(
    s: Structure,
    start: int,
    stop: int,
    worker: Worker,
    w: FloatArray,
    forbidden: PartList,
    ptr: IntArray,
    mu: FloatArray,
    entropy: FloatArray,
) -> None:
    """Write the expected parts of the completions of every example, and the entropy."""
    theta, ws = worker.scratch.theta, worker.ws
    for i in range(start, stop):
        _score_completions(s, i, w, forbidden, theta, ws)
        own = mu[ptr[i] : ptr[i + 1]]
        entropy[i] = waist.marginals(s, i, theta, own, ws)
        for r in range(own.size):
            if own[r] != 0.0:  # scores of the others may be infinite
                entropy[i] -= own[r] * theta[r]


def _check(score: FloatArray) -> None:
    bad = np.flatnonzero(~np.isfinite(score))
    if bad.size:
        i = int(bad[0])
        if not np.isneginf(score[i]):
            raise DataError(f"example {i}: its score overflows; scale the features")
        raise DataError(
            f"example {i}: no output agrees with what is known of it and with the "
            "constraints; correct one of them",
            example=i,
        )


def best_completions(
    s: PartialOutputs, w: FloatArray, n_jobs: int = 1
) -> PartialOutputs:
    """Return the corpus with the best completion of every example as the right one."""
    codes, score = np.zeros_like(s.codes), np.zeros(s.code_ptr.size - 1)
    places = borders(s.code_ptr), filled(codes, s.code_ptr), filled(score)
    make_crew(s, n_jobs).run(_complete, w, s.forbidden, *places)
    _check(score)
    none = PartList(np.zeros_like(s.code_ptr), s.forbidden.ids[:0], np.zeros(0))
    return s._replace(codes=codes, expected=none)


def expected_completions(
    s: PartialOutputs, w: FloatArray, n_jobs: int = 1
) -> tuple[PartialOutputs, FloatArray]:
    """Return the corpus with all completions as right ones, and their entropies.

    They are weighted by their probabilities: the right parts are those expected.

    Examples
    --------
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0]]), [0], 3)
    >>> s, entropy = expected_completions(make_partial(s, [0, 1], [2]), np.zeros(3))
    >>> s.expected.ids.tolist(), s.expected.numbers.tolist(), entropy.round(4)
    ([0, 1], [0.5, 0.5], array([0.6931]))
    """
    ptr = part_pointers(s)
    mu, entropy = np.zeros(int(ptr[-1])), np.zeros(ptr.size - 1)
    places = borders(ptr), filled(mu, ptr), filled(entropy)
    make_crew(s, n_jobs).run(_expect, w, s.forbidden, *places)
    _check(entropy)
    kept = np.flatnonzero(mu)
    at = np.searchsorted(kept, ptr)
    ids = kept - np.repeat(ptr[:-1], np.diff(at))
    return s._replace(expected=PartList(at, ids, mu[kept])), np.maximum(entropy, 0.0)


@kernel
def _least_probable_knowledge(
    s: Structure,
    start: int,
    stop: int,
    worker: Worker,
    w: FloatArray,
    forbidden: PartList,
    out: FloatArray,
) -> None:
    scratch, ws = worker.scratch, worker.ws
    theta, y = scratch.theta, scratch.y
    for i in range(start, stop):
        among_completions = np.empty(waist.n_parts(s, i))
        waist.visit(s, i, ws)
        waist.part_scores(s, i, w, theta, ws)
        waist.marginals(s, i, theta, scratch.mu, ws)
        _score_completions(s, i, w, forbidden, theta, ws)
        waist.marginals(s, i, theta, among_completions, ws)
        out[i] = 1.0
        if waist.argmax(s, i, theta, y, ws) == -np.inf:
            continue
        for j in range(waist.parts_of(s, i, y, scratch.ids, scratch.counts)):
            r = scratch.ids[j]
            if among_completions[r] > 0.0:
                out[i] = min(out[i], scratch.mu[r] / among_completions[r])


def least_probable_knowledge(
    s: PartialOutputs, w: FloatArray, n_jobs: int = 1
) -> FloatArray:
    """Return, for every example, how improbable the model finds what is known of it.

    That is the least, over the parts of the best completion, of the probability of a
    part among all outputs, divided by the one among the completions: the probability
    itself where the part is known, and about one where nothing is.

    Examples
    --------
    Of three classes, the first example has 0 or 1, and the second any:

    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 0], 3)
    >>> s = make_partial(s, [0, 1, 1], [2])
    >>> least_probable_knowledge(s, np.zeros(3)).round(6).tolist()
    [0.666667, 1.0]
    """
    out = np.zeros(s.code_ptr.size - 1)
    make_crew(s.corpus, n_jobs).run(
        *(_least_probable_knowledge, w, s.forbidden, filled(out)),
        doing="looking for suspects",
    )
    return out


def find_partial(s: Structure) -> PartialOutputs | None:
    """Return the corpus that is known in part inside other structures, if there is one.

    Examples
    --------
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> find_partial(make_multiclass(make_dense_rows([[1.0]]), [0], 2)) is None
    True
    """
    while not isinstance(s, PartialOutputs):
        if not hasattr(s, "corpus"):
            return None
        s = s.corpus
    return s


def with_partial(s: Structure, completed: PartialOutputs) -> Structure:
    """Return the same structure around a corpus that is completed in another way."""
    if isinstance(s, PartialOutputs):
        return completed
    return s._replace(corpus=with_partial(s.corpus, completed))
