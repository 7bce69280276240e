"""NIST scores: n-grams count by how much they tell (Doddington 2002).

An n-gram is worth the logarithm of how much rarer it is than what it begins with, in
all references.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.translation.vocabulary import IntArray

FloatArray = NDArray[np.float64]

ORDER = 5
LENGTH, REFERENCE, WORTH, TOTALS = 0, 1, 2, 2 + ORDER
# Two thirds of the length halve the score.
BETA = np.log(0.5) / np.log(1.5) ** 2


def _ngrams(words: Sequence[int], n: int) -> Counter[tuple[int, ...]]:
    return Counter(tuple(words[at : at + n]) for at in range(len(words) - n + 1))


def nist_sums(
    hypotheses: Sequence[IntArray], references: Sequence[IntArray]
) -> FloatArray:
    """Return for every sentence what the score of many is made of, to be summed."""
    references_ = [reference.tolist() for reference in references]
    seen: Counter[tuple[int, ...]] = Counter()
    for reference in references_:
        for n in range(1, ORDER + 1):
            seen.update(_ngrams(reference, n))
    n_words = sum(map(len, references_))
    result = np.zeros((len(references_), 2 + 2 * ORDER))
    for i, reference in enumerate(references_):
        hypothesis = hypotheses[i].tolist()
        result[i, LENGTH], result[i, REFERENCE] = len(hypothesis), len(reference)
        for n in range(1, ORDER + 1):
            mine = _ngrams(hypothesis, n)
            result[i, TOTALS + n - 1] = sum(mine.values())
            for ngram, count in (mine & _ngrams(reference, n)).items():
                before = seen[ngram[:-1]] if n > 1 else n_words
                worth = np.log2(before / seen[ngram])
                result[i, WORTH + n - 1] += count * worth
    return result


def nist(sums: FloatArray) -> FloatArray:
    """Return the NIST score of sums; of many if they have more than one axis."""
    worth, totals = sums[..., WORTH:TOTALS], sums[..., TOTALS:]
    precision = (worth / np.maximum(totals, 1)).sum(-1)
    ratio = np.minimum(sums[..., LENGTH] / np.maximum(sums[..., REFERENCE], 1), 1.0)
    with np.errstate(divide="ignore"):
        penalty = np.exp(BETA * np.log(ratio) ** 2)
    return np.asarray(precision * penalty)
