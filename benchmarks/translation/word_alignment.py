"""Which word of a sentence translates which: IBM model 1, then a hidden Markov model.

Every word of the *generated* side comes from one word of the *given* side, or from
nothing. Model 1 takes all places for equally likely (Brown et al. 1993), the hidden
Markov model learns how far the place moves from one word to the next (Vogel et al.
1996; words that come from nothing as Och and Ney 2003).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.translation.vocabulary import IntArray, join
from partwise import kernel

FloatArray = NDArray[np.float64]

NOWHERE = -1
FARTHEST = 8  # longer jumps count as this long
FROM_NOTHING = 0.2  # how often a word comes from nothing, under the Markov model
SMALLEST = 1e-12


class Cells(NamedTuple):
    """All pairs of words in the same pair of sentences.

    Word `j` of the generated side (counted over all sentences) has the cells
    ``ptr[j]:ptr[j + 1]``, first that of nothing, then those of the given words.
    `kind` numbers the different pairs of words, `given` the given word of each kind.
    """

    sentence_ptr: IntArray
    ptr: IntArray
    kind: NDArray[np.int32]
    given: IntArray


def make_cells(given: list[IntArray], generated: list[IntArray]) -> Cells:
    """List the cells of all sentences."""
    sizes = np.repeat([g.size + 1 for g in given], [f.size for f in generated])
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    words, sentence_ptr = join(generated)
    n_words = int(words.max(initial=0)) + 1
    # No word has a negative number, so that nothing is -1, and 0 after adding one.
    rows = [np.concatenate([[0], g + 1]) for g in given]
    own = np.concatenate(
        [np.zeros(0, np.int64)]
        + [np.tile(row, f.size) for row, f in zip(rows, generated, strict=True)]
    )
    keys, kind = np.unique(own * n_words + np.repeat(words, sizes), return_inverse=True)
    return Cells(sentence_ptr, ptr, kind.astype(np.int32), keys // n_words)


def normalise(counts: NDArray[Any], cells: Cells) -> FloatArray:
    """Return the probability of each kind of pair, given its given word."""
    total = np.bincount(cells.given, counts)
    return np.maximum(counts / np.maximum(total[cells.given], SMALLEST), SMALLEST)


def model_one(cells: Cells, n_rounds: int) -> FloatArray:
    """Return the probability of each kind of pair, by expectation maximisation."""
    t = normalise(np.ones(cells.given.size), cells)
    sizes = np.diff(cells.ptr)
    for _ in range(n_rounds):
        p = t[cells.kind]
        p /= np.repeat(np.add.reduceat(p, cells.ptr[:-1]), sizes)
        t = normalise(np.bincount(cells.kind, p, cells.given.size), cells)
    return t


@kernel
def _jump(i: int, before: int) -> int:
    return min(max(i - before, -FARTHEST), FARTHEST) + FARTHEST


@kernel
def _moves(jumps: FloatArray, n: int, move: FloatArray) -> None:
    """Write the probability of moving from one of `n` places to another."""
    for before in range(n):
        total = 0.0
        for i in range(n):
            total += jumps[_jump(i, before)]
        for i in range(n):
            move[before, i] = (1.0 - FROM_NOTHING) * jumps[_jump(i, before)] / total


@kernel
def _expect(
    t: FloatArray,
    jumps: FloatArray,
    cells: Cells,
    t_counts: FloatArray,
    jump_counts: FloatArray,
    aligned: IntArray,
) -> float:
    """Add the expected counts of all sentences; return the log likelihood.

    State ``(i, 0)``: the word comes from place `i`; ``(i, 1)``: from nothing, and `i`
    is the last place that was used. Written to `aligned`: the likeliest origin of
    every word.
    """
    log_likelihood = 0.0
    for s in range(cells.sentence_ptr.size - 1):
        first, last = cells.sentence_ptr[s], cells.sentence_ptr[s + 1]
        m = last - first
        n = cells.ptr[first + 1] - cells.ptr[first] - 1
        move = np.zeros((n, n))
        _moves(jumps, n, move)
        alpha, beta = np.zeros((m, n, 2)), np.ones((m, n, 2))
        scale = np.zeros(m)
        for j in range(m):
            at = cells.ptr[first + j]
            for i in range(n):
                come, stay = (1.0 - FROM_NOTHING) / n, FROM_NOTHING / n
                if j > 0:
                    come = 0.0
                    for before in range(n):
                        arrive = alpha[j - 1, before, 0] + alpha[j - 1, before, 1]
                        come += arrive * move[before, i]
                    arrive = alpha[j - 1, i, 0] + alpha[j - 1, i, 1]
                    stay = FROM_NOTHING * arrive
                alpha[j, i, 0] = come * t[cells.kind[at + 1 + i]]
                alpha[j, i, 1] = stay * t[cells.kind[at]]
            scale[j] = np.sum(alpha[j])
            alpha[j] /= scale[j]
            log_likelihood += np.log(scale[j])
        for j in range(m - 2, -1, -1):
            at = cells.ptr[first + j + 1]
            for before in range(n):
                leave = FROM_NOTHING * t[cells.kind[at]] * beta[j + 1, before, 1]
                for i in range(n):
                    emit = t[cells.kind[at + 1 + i]] * beta[j + 1, i, 0]
                    leave += move[before, i] * emit
                beta[j, before, 0] = beta[j, before, 1] = leave / scale[j + 1]
        for j in range(m):
            at = cells.ptr[first + j]
            nothing, best, best_at = 0.0, 0.0, NOWHERE
            for i in range(n):
                here = alpha[j, i, 0] * beta[j, i, 0]
                nothing += alpha[j, i, 1] * beta[j, i, 1]
                t_counts[cells.kind[at + 1 + i]] += here
                if here > best:
                    best, best_at = here, i
                if j > 0:
                    emit = t[cells.kind[at + 1 + i]] * beta[j, i, 0] / scale[j]
                    for before in range(n):
                        arrive = alpha[j - 1, before, 0] + alpha[j - 1, before, 1]
                        moved = arrive * move[before, i] * emit
                        jump_counts[_jump(i, before)] += moved
            t_counts[cells.kind[at]] += nothing
            aligned[first + j] = NOWHERE if nothing > best else best_at
    return log_likelihood


class Aligned(NamedTuple):
    """The given place of every generated word, by sentence, and log likelihoods."""

    places: list[IntArray]
    log_likelihoods: list[float]


def align(
    given: list[IntArray],
    generated: list[IntArray],
    n_rounds: tuple[int, int] = (5, 5),
) -> Aligned:
    """Align pairs of sentences, none of them empty.

    Parameters
    ----------
    given, generated : lists of arrays
        The numbers of words.
    n_rounds : tuple of int
        Of model 1, and of the hidden Markov model (at least one).
    """
    cells = make_cells(given, generated)
    t = model_one(cells, n_rounds[0])
    jumps = np.ones(2 * FARTHEST + 1)
    aligned = np.zeros(cells.ptr.size - 1, np.int64)
    log_likelihoods = []
    for _ in range(n_rounds[1]):
        t_counts, jump_counts = np.zeros(t.size), np.ones(jumps.size)
        log_likelihoods.append(_expect(t, jumps, cells, t_counts, jump_counts, aligned))
        t, jumps = normalise(t_counts, cells), jump_counts / jump_counts.sum()
    return Aligned(np.split(aligned, cells.sentence_ptr[1:-1]), log_likelihoods)
