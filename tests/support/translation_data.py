"""Small things to translate, and every translation of them."""

import itertools
from collections.abc import Iterator

import numpy as np
from benchmarks.translation.dense_features import N_DENSE
from benchmarks.translation.extraction import DISCONTINUOUS, MONOTONE, SWAP
from benchmarks.translation.language_model import log_probability
from benchmarks.translation.options import Options
from benchmarks.translation.vocabulary import BEGIN, END

Step = tuple[int, int, int, int]
"""Where a phrase begins and ends, its orientation, and the distance to it."""


def segmentations(n: int, longest: int) -> Iterator[list[tuple[int, int]]]:
    """Yield all ways to cut a sentence into spans."""
    if n == 0:
        yield []
    for size in range(1, min(longest, n) + 1):
        for rest in segmentations(n - size, longest):
            yield [*rest, (n - size, n)]


def orders(spans: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Yield all orders in which only adjacent spans change places, each once."""
    if len(spans) < 2:
        yield spans
        return
    for rest in orders(spans[1:]):
        yield [spans[0], *rest]
    for rest in orders(spans[2:]):
        yield [spans[1], spans[0], *rest]


def oriented(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the orientation of each span towards the one before, and its distance.

    After an exchange the way back to where the next words are counts as well.
    """
    result, before = [], (0, 0)
    for begin, end in spans:
        distance = abs(begin - before[1])
        if begin == before[1]:
            kind = MONOTONE
        else:
            kind = SWAP if end == before[0] else DISCONTINUOUS
        result.append((kind, distance))
        before = begin, end
    return result


def all_translations(
    options: Options, model, longest: int
) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """Yield the words and the dense features of every translation."""
    n = options.size
    for cut in segmentations(n, longest):
        for spans in orders(cut):
            kinds = oriented(spans)
            choices = [
                range(options.ptr[b * n + e - 1], options.ptr[b * n + e])
                for b, e in spans
            ]
            for chosen in itertools.product(*choices):
                yield translation(options, model, spans, kinds, chosen)


def translation(options, model, spans, kinds, chosen):
    """Return words and features of one translation, straight from their meaning."""
    features, words = np.zeros(N_DENSE), [BEGIN, BEGIN]
    n = options.size
    for k, o in enumerate(chosen):
        kind, distance = kinds[k]
        scores = options.scores[o]
        features[kind] += scores[4 + kind]
        at_end = MONOTONE if spans[k][1] == n else DISCONTINUOUS
        following = kinds[k + 1][0] if k + 1 < len(kinds) else at_end
        features[3 + following] += scores[7 + following]
        features[7:11] += scores[:4]
        own = options.words[options.word_ptr[o] : options.word_ptr[o + 1]]
        features[11] += own.size
        features[12] += 1
        features[13] -= distance
        words += own.tolist()
    if spans and spans[-1][1] != n:
        features[13] -= n - spans[-1][1]
    words.append(END)
    for a, b, word in zip(words, words[1:], words[2:], strict=False):
        features[6] += log_probability(model, a, b, word)
    return tuple(words[2:-1]), features
