"""BLEU from counts of n-grams, of words that are numbers.

`sacrebleu` says what is reported in the end; here are the counts that tuning needs for
millions of translations, with the same smoothing for single sentences.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.translation.vocabulary import IntArray
from partwise._jit import kernel

FloatArray = NDArray[np.float64]

ORDER = 4
LENGTH, REFERENCE, MATCHES, TOTALS = 0, 1, 2, 2 + ORDER
N_COUNTS = 2 + 2 * ORDER


@kernel
def _same(a: IntArray, at: int, b: IntArray, other: int, n: int) -> bool:
    for k in range(n):
        if a[at + k] != b[other + k]:
            return False
    return True


@kernel
def _count(hypothesis: IntArray, reference: IntArray, out: IntArray) -> None:
    """Write lengths, n-grams found in the reference, and all n-grams."""
    out[LENGTH], out[REFERENCE] = hypothesis.size, reference.size
    for n in range(1, ORDER + 1):
        matches = 0
        for at in range(hypothesis.size - n + 1):
            there = 0
            for other in range(reference.size - n + 1):
                there += _same(hypothesis, at, reference, other, n)
            if there == 0:
                continue
            # Of one n-gram only as many count as the reference has.
            before = 0
            for other in range(at):
                before += _same(hypothesis, at, hypothesis, other, n)
            matches += before < there
        out[MATCHES + n - 1] = matches
        out[TOTALS + n - 1] = max(hypothesis.size - n + 1, 0)


def bleu_counts(hypothesis: IntArray, reference: IntArray) -> IntArray:
    """Return the counts that BLEU is made of."""
    out = np.zeros(N_COUNTS, np.int64)
    _count(hypothesis.astype(np.int64), reference.astype(np.int64), out)
    return out


def corpus_bleu(counts: NDArray[np.generic]) -> float:
    """Return the BLEU of summed counts in percent; zero without any 4-gram.

    Examples
    --------
    >>> import numpy as np
    >>> counts = bleu_counts(np.array([1, 2, 3, 4, 5]), np.array([1, 2, 3, 4, 6]))
    >>> round(corpus_bleu(counts), 2)
    66.87
    """
    c = np.asarray(counts, np.float64)
    matches, totals = c[MATCHES:TOTALS], c[TOTALS:]
    if (matches == 0).any():
        return 0.0
    brevity = min(1.0 - c[REFERENCE] / c[LENGTH], 0.0)
    return float(100 * np.exp(np.mean(np.log(matches / totals)) + brevity))


def sentence_bleu(counts: NDArray[np.generic]) -> float:
    """Return the BLEU of one sentence in percent, smoothed as by sacrebleu.

    The n-th order in a row without matches counts as 1 / 2^n of one; orders that the
    sentence is too short for do not count.
    """
    c = np.asarray(counts, np.float64)
    totals = c[TOTALS:][c[TOTALS:] > 0]
    matches = c[MATCHES : MATCHES + totals.size]
    if not matches.any():
        return 0.0
    misses = np.cumsum(matches == 0)
    smooth = np.where(matches > 0, matches, 0.5**misses)
    brevity = min(1.0 - c[REFERENCE] / c[LENGTH], 0.0)
    return float(100 * np.exp(np.mean(np.log(smooth / totals)) + brevity))


def total_bleu(
    hypotheses: Sequence[IntArray], references: Sequence[IntArray]
) -> float:
    """Return the BLEU of many sentences in percent."""
    pairs = zip(hypotheses, references, strict=True)
    counts = [bleu_counts(one, other) for one, other in pairs]
    return corpus_bleu(np.sum(counts, axis=0))
