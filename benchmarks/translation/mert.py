"""Minimum error rate training: the weights with the best BLEU of n-best lists.

Along a line ``w + t d`` every translation scores a linear function of `t`, and the best
one of each sentence changes only where their upper envelope bends. So the BLEU of all
sentences is known at every `t`, and its maximum found exactly (Och 2003). Lines go
along the axes and in random directions, from several starting points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.translation.bleu import corpus_bleu
from benchmarks.translation.vocabulary import IntArray
from partwise import kernel

FloatArray = NDArray[np.float64]

LEAST_GAIN = 0.01  # of BLEU, in percent, for which a search goes on
LEAST_SPREAD = 0.05  # of random directions, for weights near zero
MEAN_WEIGHT = 0.25
MARGIN = 0.1  # beyond the last bend


@kernel
def _envelope(
    offset: FloatArray, slope: FloatArray, first: int, last: int, hull: IntArray,
    begins: FloatArray,
) -> int:  # fmt: skip
    """Write the lines of the upper envelope and where each begins; return how many."""
    order = first + np.argsort(slope[first:last], kind="mergesort")
    n = 0
    for h in order:
        begin = -np.inf
        while n > 0:
            top = hull[n - 1]
            rise = slope[h] - slope[top]
            if rise <= 0.0:  # parallel: the higher one stays
                if offset[h] <= offset[top]:
                    begin = np.inf
                    break
                n -= 1
                continue
            begin = (offset[top] - offset[h]) / rise
            if begin > begins[n - 1]:
                break
            n -= 1
            begin = -np.inf
        if begin < np.inf:
            hull[n], begins[n] = h, begin
            n += 1
    return n


@kernel
def _all_envelopes(
    offset: FloatArray, slope: FloatArray, ptr: IntArray, at: FloatArray,
    before: IntArray, after: IntArray, start: IntArray,
) -> int:  # fmt: skip
    """Write all bends: where, and the translations before and after; return how many.

    `start` gets the translation of every sentence at minus infinity.
    """
    hull = np.zeros(offset.size, np.int64)
    begins = np.zeros(offset.size)
    count = 0
    for i in range(ptr.size - 1):
        n = _envelope(offset, slope, ptr[i], ptr[i + 1], hull, begins)
        start[i] = hull[0]
        for k in range(1, n):
            at[count], before[count], after[count] = begins[k], hull[k - 1], hull[k]
            count += 1
    return count


def line_search(
    w: FloatArray,
    direction: FloatArray,
    features: FloatArray,
    counts: IntArray,
    ptr: IntArray,
) -> tuple[float, float]:
    """Return the step along a direction with the best BLEU, and that BLEU.

    Parameters
    ----------
    features : array
        Of every translation; those of sentence `i` are ``ptr[i]:ptr[i + 1]``.
    counts : array
        For BLEU, of every translation.
    """
    n = features.shape[0]
    at, start = np.zeros(n), np.zeros(ptr.size - 1, np.int64)
    before, after = np.zeros(n, np.int64), np.zeros(n, np.int64)
    found = _all_envelopes(
        features @ w, features @ direction, ptr, at, before, after, start
    )
    order = np.argsort(at[:found], kind="stable")
    bends = at[:found][order]
    change = counts[after[:found][order]] - counts[before[:found][order]]
    first = counts[start].sum(0)
    sums = np.concatenate([[first], first + np.cumsum(change, axis=0)])
    bleu = corpus_bleu(sums)
    if found == 0:
        return 0.0, float(bleu[0])
    edges = np.concatenate([[bends[0] - MARGIN], bends, [bends[-1] + MARGIN]])
    # An interval without width is a bend of several sentences at once.
    bleu[np.flatnonzero(np.diff(edges) <= 1e-9)] = -1.0
    best = int(np.argmax(bleu))
    return float((edges[best] + edges[best + 1]) / 2), float(bleu[best])


class Tuned(NamedTuple):
    """Weights, their BLEU on the lists in percent, and how it rose."""

    w: FloatArray
    bleu: float
    history: list[float]


def bleu_of(
    w: FloatArray, features: FloatArray, counts: IntArray, ptr: IntArray
) -> float:
    """Return the BLEU of the translations that score best."""
    scores = features @ w
    top = np.repeat(np.maximum.reduceat(scores, ptr[:-1]), np.diff(ptr))
    best = np.flatnonzero(scores == top)
    owner = np.searchsorted(ptr, best, "right")
    first = best[np.unique(owner, return_index=True)[1]]
    return float(corpus_bleu(counts[first].sum(0)))


def tune(
    start: FloatArray,
    features: FloatArray,
    counts: IntArray,
    owner: IntArray,
    *,
    n_restarts: int = 5,
    n_directions: int = 6,
    random_state: int = 0,
) -> Tuned:
    """Return the best weights that line searches find.

    Parameters
    ----------
    start : array
        Where the first search starts; the others start at random points near it.
    features, counts : arrays
        Of every translation.
    owner : array
        The sentence of every translation, never falling.
    n_restarts, n_directions : int
        How many searches there are, and how many random directions each round of one
        tries besides the axes.
    """
    ptr = np.searchsorted(owner, np.arange(owner.max(initial=-1) + 2))
    rng = np.random.default_rng(random_state)
    spread = np.maximum(np.abs(start), 2 * LEAST_SPREAD)
    best = Tuned(start, bleu_of(start, features, counts, ptr), [])
    for k in range(n_restarts):
        w = start if k == 0 else start + rng.normal(size=start.size) * spread
        now = _climb(w, features, counts, ptr, n_directions, rng)
        if now.bleu > best.bleu:
            best = now
    return best


def _climb(
    w: FloatArray, features: FloatArray, counts: IntArray, ptr: IntArray,
    n_directions: int, rng: np.random.Generator,
) -> Tuned:  # fmt: skip
    """Search along lines, one after the other, until none leads higher."""
    bleu, history = bleu_of(w, features, counts, ptr), []
    while True:
        history.append(bleu)
        random = rng.normal(size=(n_directions, w.size))
        random *= np.maximum(np.abs(w), LEAST_SPREAD)
        axes = np.eye(w.size)[rng.permutation(w.size)]
        for direction in np.concatenate([axes, random]):
            step, reached = line_search(w, direction, features, counts, ptr)
            if reached > bleu:
                w, bleu = w + step * direction, reached
        # Only the direction of weights matters; this keeps their size.
        w = w / np.abs(w).mean() * MEAN_WEIGHT
        if bleu < history[-1] + LEAST_GAIN:
            return Tuned(w, bleu, history)
