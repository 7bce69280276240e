"""What the rest of a sentence promises, so that beginnings can be compared."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.translation.dense_features import (
    LANGUAGE_MODEL,
    N_PHRASES,
    N_WORDS,
    PHRASE_SCORES,
)
from benchmarks.translation.language_model import LanguageModel, log_probability
from benchmarks.translation.options import Options
from benchmarks.translation.vocabulary import END
from partwise import kernel

FloatArray = NDArray[np.float64]


@kernel
def estimate_options(
    options: Options, model: LanguageModel, w: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return what every option scores whatever comes before, and what it may promise.

    The promise counts the language model, too, as far as the option's own words tell.
    """
    n = options.pair.size
    fixed, promise = np.zeros(n), np.zeros(n)
    for o in range(n):
        begin, end = options.word_ptr[o], options.word_ptr[o + 1]
        fixed[o] = w[N_WORDS] * (end - begin) + w[N_PHRASES]
        for k in range(4):
            fixed[o] += w[PHRASE_SCORES + k] * options.scores[o, k]
        promise[o] = fixed[o]
        for at in range(begin, end):
            # An END never comes before a word: no bigram or trigram has it there.
            a = options.words[at - 2] if at - 2 >= begin else END
            b = options.words[at - 1] if at - 1 >= begin else END
            promise[o] += w[LANGUAGE_MODEL] * log_probability(
                model, a, b, options.words[at]
            )
    return fixed, promise


@kernel
def promise_spans(options: Options, promise: FloatArray) -> FloatArray:
    """Return the best that any translation of each span promises."""
    n = options.size
    best = np.full((n + 1, n + 1), -np.inf)
    for begin in range(n + 1):
        best[begin, begin] = 0.0
    for length in range(1, n + 1):
        for begin in range(n - length + 1):
            end = begin + length
            k = begin * n + end - 1
            for o in range(options.ptr[k], options.ptr[k + 1]):
                best[begin, end] = max(best[begin, end], promise[o])
            for middle in range(begin + 1, end):
                both = best[begin, middle] + best[middle, end]
                best[begin, end] = max(best[begin, end], both)
    return best
