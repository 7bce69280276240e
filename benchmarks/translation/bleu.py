"""BLEU from counts of n-grams, of words that are numbers.

`sacrebleu` says what is reported in the end; here are the counts that tuning needs for
millions of translations, with the same smoothing for single sentences.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.translation.vocabulary import IntArray, join
from partwise import kernel

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


@kernel
def _count_all(
    ptr: IntArray, words: IntArray, owner: IntArray, reference_ptr: IntArray,
    reference: IntArray, out: IntArray,
) -> None:  # fmt: skip
    for h in range(owner.size):
        i = owner[h]
        own = reference[reference_ptr[i] : reference_ptr[i + 1]]
        _count(words[ptr[h] : ptr[h + 1]], own, out[h])


def all_counts(
    hypotheses: Sequence[IntArray], owner: IntArray, references: Sequence[IntArray]
) -> IntArray:
    """Return the counts of many hypotheses, each of sentence ``owner[h]``."""
    words, ptr = join(hypotheses)
    other, other_ptr = join(references)
    out = np.zeros((owner.size, N_COUNTS), np.int64)
    _count_all(ptr, words, owner, other_ptr, other, out)
    return out


def bleu_counts(hypothesis: IntArray, reference: IntArray) -> IntArray:
    """Return the counts that BLEU is made of."""
    out = np.zeros(N_COUNTS, np.int64)
    _count(hypothesis.astype(np.int64), reference.astype(np.int64), out)
    return out


def corpus_bleu(counts: NDArray[np.generic]) -> FloatArray:
    """Return the BLEU of summed counts in percent; zero without any 4-gram.

    Of many if the counts have more than one axis.

    Examples
    --------
    >>> import numpy as np
    >>> counts = bleu_counts(np.array([1, 2, 3, 4, 5]), np.array([1, 2, 3, 4, 6]))
    >>> round(float(corpus_bleu(counts)), 2)
    66.87
    """
    c = np.asarray(counts, np.float64)
    matches, totals = c[..., MATCHES:TOTALS], c[..., TOTALS:]
    possible = (matches > 0).all(-1)
    logs = np.log(np.maximum(matches, 0.5) / np.maximum(totals, 1)).mean(-1)
    length = np.maximum(c[..., LENGTH], 1)
    brevity = np.minimum(1.0 - c[..., REFERENCE] / length, 0.0)
    return np.asarray(np.where(possible, 100 * np.exp(logs + brevity), 0.0))


def sentence_bleu(counts: NDArray[np.generic]) -> FloatArray:
    """Return the BLEU of every row of counts in percent, smoothed as by sacrebleu.

    The n-th order in a row without matches counts as 1 / 2^n of one; orders that the
    sentence is too short for do not count.
    """
    c = np.atleast_2d(np.asarray(counts, np.float64))
    matches, totals = c[:, MATCHES:TOTALS], c[:, TOTALS:]
    possible = totals > 0
    misses = np.cumsum(matches == 0, axis=1)
    smooth = np.where(matches > 0, matches, 0.5**misses)
    logs = np.where(possible, np.log(smooth / np.maximum(totals, 1)), 0.0)
    length = np.maximum(c[:, LENGTH], 1)
    brevity = np.minimum(1.0 - c[:, REFERENCE] / length, 0.0)
    mean = logs.sum(1) / np.maximum(possible.sum(1), 1)
    return np.where(matches.any(1), 100 * np.exp(mean + brevity), 0.0)


def total_bleu(hypotheses: Sequence[IntArray], references: Sequence[IntArray]) -> float:
    """Return the BLEU of many sentences in percent."""
    owner = np.arange(len(references))
    return float(corpus_bleu(all_counts(hypotheses, owner, references).sum(0)))
