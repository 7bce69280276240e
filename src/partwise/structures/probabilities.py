"""The model as a distribution: probabilities of outputs, expected features, samples.

An output has the probability ``exp(w . Phi(i, y)) / Z_i``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.decoding import output_pointers
from partwise.structures.interface import (
    CodeTable,
    FloatArray,
    IntArray,
    SamplingSpace,
    Structure,
)
from partwise.structures.parallel import Worker, make_crew
from partwise.structures.random_numbers import seed_states
from partwise.structures.scratch import score_of
from partwise.structures.sharing import borders, changed, filled, given, summed
from partwise.structures.vectors import copy


@kernel
def _log_probabilities(
    s: Structure, start: int, stop: int, worker: Worker, w: FloatArray, out: FloatArray
) -> None:
    scratch, ws = worker.scratch, worker.ws
    for i in range(start, stop):
        waist.visit(s, i, ws)
        waist.part_scores(s, i, w, scratch.theta, ws)
        waist.gold(s, i, scratch.y)
        score = score_of(s, i, scratch.y, scratch.theta, scratch)
        out[i] = score - waist.log_partition(s, i, scratch.theta, ws)


def log_probabilities(s: Structure, w: FloatArray, n_jobs: int = 1) -> FloatArray:
    """Return the log-probability of the right output of every example.

    Parameters
    ----------
    s : structure
        A corpus of any structure that answers `log_partition`, with right outputs,
        which must be legal.
    w : array
        The weights of its features.
    n_jobs : int
        How many threads share the examples.

    Examples
    --------
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0]]), [0], 2)
    >>> np.exp(log_probabilities(s, np.zeros(2))).tolist()
    [0.5]
    """
    out = np.zeros(int(waist.n_examples(s)))
    make_crew(s, n_jobs).run(_log_probabilities, w, filled(out))
    return out


@kernel
def _log_probabilities_without(
    s: Structure,
    start: int,
    stop: int,
    worker: Worker,
    w: FloatArray,
    ptr: IntArray,
    ids: IntArray,
    out: FloatArray,
) -> None:
    theta, ws = worker.scratch.theta, worker.ws
    for i in range(start, stop):
        waist.visit(s, i, ws)
        waist.part_scores(s, i, w, theta, ws)
        every = waist.log_partition(s, i, theta, ws)
        for j in range(ptr[i], ptr[i + 1]):
            theta[ids[j]] = -np.inf
        some = waist.log_partition(s, i, theta, ws)
        out[i] = min(some - every, 0.0) if some > -np.inf else -np.inf


def log_probabilities_without(
    s: Structure, w: FloatArray, ptr: IntArray, ids: IntArray, n_jobs: int = 1
) -> FloatArray:
    """Return the log-probability that the output of an example has none of some parts.

    Parameters
    ----------
    s : structure
        A corpus of any structure that answers `log_partition`.
    w : array
        The weights of its features.
    ptr, ids : arrays of int
        The parts of example `i` are ``ids[ptr[i]:ptr[i + 1]]``.
    n_jobs : int
        How many threads share the examples.

    Examples
    --------
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0]]), [0], 4)
    >>> parts = np.array([0, 1]), np.array([2])
    >>> np.exp(log_probabilities_without(s, np.zeros(4), *parts)).round(6).tolist()
    [0.75]
    """
    out = np.zeros(int(waist.n_examples(s)))
    make_crew(s, n_jobs).run(
        _log_probabilities_without, w, borders(ptr), given(ids, ptr), filled(out)
    )
    return out


@kernel
def _least_probable_parts(
    s: Structure, start: int, stop: int, worker: Worker, w: FloatArray, out: FloatArray
) -> None:
    scratch, ws = worker.scratch, worker.ws
    for i in range(start, stop):
        waist.visit(s, i, ws)
        waist.part_scores(s, i, w, scratch.theta, ws)
        waist.marginals(s, i, scratch.theta, scratch.mu, ws)
        out[i] = 0.0
        for g in range(waist.n_good(s, i)):
            waist.good_at(s, i, g, scratch.y)
            found = waist.parts_of(s, i, scratch.y, scratch.ids, scratch.counts)
            least = 1.0
            for j in range(found):
                least = min(least, scratch.mu[scratch.ids[j]])
            out[i] = max(out[i], least)


def least_probable_parts(s: Structure, w: FloatArray, n_jobs: int = 1) -> FloatArray:
    """Return, for every example, the probability of the least probable right part.

    Of several good outputs, the one for which it is largest counts. A part that occurs
    more than once has an expected count in the place of a probability.

    Examples
    --------
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0]]), [0], 2)
    >>> least_probable_parts(s, np.zeros(2)).tolist()
    [0.5]
    """
    out = np.zeros(int(waist.n_examples(s)))
    make_crew(s, n_jobs).run(
        _least_probable_parts, w, filled(out), doing="looking for suspects"
    )
    return out


@kernel
def _expected_features(
    s: Structure, start: int, stop: int, worker: Worker, w: FloatArray, out: FloatArray
) -> None:
    scratch, ws = worker.scratch, worker.ws
    for i in range(start, stop):
        waist.visit(s, i, ws)
        waist.part_scores(s, i, w, scratch.theta, ws)
        waist.marginals(s, i, scratch.theta, scratch.mu, ws)
        waist.add_parts(s, i, scratch.mu, 1.0, out, ws)


def expected_features(s: Structure, w: FloatArray, n_jobs: int = 1) -> FloatArray:
    """Return the expected feature vector of the outputs, summed over the examples.

    It is the gradient of the sum of ``log Z`` by the weights.

    Examples
    --------
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [3.0]]), [0, 0], 2)
    >>> expected_features(s, np.zeros(2)).tolist()
    [2.0, 2.0]
    """
    total = np.zeros(int(waist.n_weights(s)))
    crew = make_crew(s, n_jobs, None, 1, total.size)
    crew.run(_expected_features, w, summed(total))
    return total


class Drawn(NamedTuple):
    """Outputs drawn from a model: row `j` of `codes` holds draw `j` of all examples.

    That of example `i` is ``codes[j, ptr[i]:ptr[i + 1]]``; `possible` says whether it
    has any output.
    """

    ptr: IntArray
    codes: NDArray[np.int32]
    possible: NDArray[np.bool_]


@kernel
def _draw(
    s: Structure,
    w: FloatArray,
    start: int,
    stop: int,
    states: NDArray[np.int64],
    drawn: Drawn,
    ys: CodeTable,
    space: SamplingSpace,
    worker: Worker,
) -> None:
    theta, ws, ptr = worker.scratch.theta, worker.ws, drawn.ptr
    for i in range(start, stop):
        waist.visit(s, i, ws)
        waist.part_scores(s, i, w, theta, ws)
        drawn.possible[i] = waist.sample(s, i, theta, space, states[i], ys, ws)
        for j in range(ys.shape[0]):
            copy(ys[j, : ptr[i + 1] - ptr[i]], drawn.codes[j, ptr[i] :])


def _draw_some(
    s: Structure,
    start: int,
    stop: int,
    worker: Worker,
    w: FloatArray,
    states: NDArray[np.int64],
    drawn: Drawn,
) -> None:
    scratch = worker.scratch
    ys = np.zeros((len(drawn.codes), scratch.y.size), np.int32)
    space = SamplingSpace(np.zeros_like(scratch.theta), scratch.mu)
    _draw(s, w, start, stop, states, drawn, ys, space, worker)


def draw(
    s: Structure, w: FloatArray, n: int, random: np.random.Generator, n_jobs: int = 1
) -> Drawn:
    """Draw `n` outputs of every example from the model, independently.

    Parameters
    ----------
    s : structure
        A corpus of any structure that answers `marginals`.
    w : array
        The weights of its features.
    n : int
        How many outputs of each example.
    random : numpy.random.Generator
        Seeds the draws of every example; how many threads there are changes nothing.
    n_jobs : int
        How many threads share the examples.

    Examples
    --------
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0]]), [0], 2)
    >>> drawn = draw(s, np.array([0.0, 50.0]), 3, np.random.default_rng(0))
    >>> drawn.codes.tolist()
    [[1], [1], [1]]
    """
    ptr = output_pointers(s)
    count = ptr.size - 1
    states = seed_states(count, random)
    drawn = Drawn(ptr, np.zeros((n, ptr[-1]), np.int32), np.ones(count, np.bool_))
    shared = Drawn(
        borders(ptr), filled(drawn.codes, ptr, axis=1), changed(drawn.possible)
    )
    make_crew(s, n_jobs).run(_draw_some, w, given(states), shared)
    return drawn
