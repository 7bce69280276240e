"""Phrases and the scores of their pairs.

Pairs of phrases are numbered once, from all sentences. Scores may leave out sentences:
a translator that learns from a sentence must not have seen its phrases, or it would
trust rare phrases far too much.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.translation.extraction import Spans
from benchmarks.translation.symmetrise import Links
from benchmarks.translation.vocabulary import IntArray, join

FloatArray = NDArray[np.float64]
Phrase = tuple[int, ...]

N_ORIENTATIONS = 3
SMOOTHING = 0.5  # how much the orientations of all phrases count for each
LEAST = 1e-7


class Phrases(NamedTuple):
    """All pairs of phrases, sorted by source phrase, and where they were found.

    Pair `p` translates phrase ``source[p]`` to ``target[p]``. Occurrence `o` was of
    pair ``pair[o]``. No source phrase has more than `longest` words. `lexical` has the
    logarithms of both lexical weights.
    """

    source_number: dict[Phrase, int]
    longest: int
    source_words: list[Phrase]
    target_words: list[Phrase]
    source: IntArray
    target: IntArray
    lexical: FloatArray
    pair: IntArray
    sentence: IntArray
    backward: IntArray
    forward: IntArray


class PhraseTable(NamedTuple):
    """The scored translations of every source phrase, the likeliest first.

    Source phrase `f` has the entries ``ptr[f]:ptr[f + 1]``: the number of a pair, and
    logarithms: p(e|f), p(f|e), their lexical weights, and the probabilities of the
    three orientations backward, then forward.
    """

    phrases: Phrases
    ptr: IntArray
    pair: IntArray
    scores: FloatArray


def lexical_logs(
    links: Sequence[Links], source: Sequence[IntArray], target: Sequence[IntArray]
) -> tuple[FloatArray, FloatArray]:
    """Return for every word of either side the logarithm of its lexical probability.

    That of a target word is the mean of w(e|f) over the source words it is linked to,
    or w(e|nothing); the lexical weight of a phrase is the product over its words, since
    all links of a consistent phrase lie inside it.
    """
    f_words, f_ptr = join(source)
    e_words, e_ptr = join(target)
    pairs = np.array(
        [
            (f_ptr[s] + i, e_ptr[s] + j)
            for s, own in enumerate(links)
            for i, j in sorted(own)
        ],
        np.int64,
    ).reshape(-1, 2)

    def one_side(
        words: IntArray, given: IntArray, at: IntArray, given_at: IntArray
    ) -> FloatArray:
        n_words = int(words.max(initial=0)) + 1
        n_links = np.bincount(at, minlength=words.size)
        alone = np.flatnonzero(n_links == 0)
        # A word that is linked to nothing has one link, to number 0.
        at = np.concatenate([at, alone])
        origin = np.concatenate([given[given_at] + 1, np.zeros(alone.size, np.int64)])
        keys = origin * n_words + words[at]
        _, kind, count = np.unique(keys, return_inverse=True, return_counts=True)
        w = count[kind] / np.bincount(origin)[origin]
        total = np.bincount(at, w, words.size)
        return np.log(total / np.maximum(n_links, 1))

    return (
        one_side(f_words, e_words, pairs[:, 0], pairs[:, 1]),
        one_side(e_words, f_words, pairs[:, 1], pairs[:, 0]),
    )


def number_phrases(
    spans: Spans,
    links: Sequence[Links],
    source: Sequence[IntArray],
    target: Sequence[IntArray],
) -> Phrases:
    """Give numbers to phrases and to their pairs."""
    f_number, f = _number(source, spans.sentence, spans.source_begin, spans.source_end)
    e_number, e = _number(target, spans.sentence, spans.target_begin, spans.target_end)
    n_targets = max(len(e_number), 1)
    keys, pair = np.unique(f * n_targets + e, return_inverse=True)
    f_logs, e_logs = lexical_logs(links, source, target)
    lexical = np.full((keys.size, 2), -np.inf)
    sums = (
        (e_logs, join(target)[1], spans.target_begin, spans.target_end),
        (f_logs, join(source)[1], spans.source_begin, spans.source_end),
    )
    for column, (logs, ptr, begin, end) in enumerate(sums):
        so_far = np.concatenate([[0.0], np.cumsum(logs)])
        first = ptr[spans.sentence]
        weight = so_far[first + end] - so_far[first + begin]
        np.maximum.at(lexical[:, column], pair, weight)
    return Phrases(
        f_number,
        max(map(len, f_number), default=1),
        list(f_number),
        list(e_number),
        keys // n_targets,
        keys % n_targets,
        lexical,
        pair,
        spans.sentence,
        spans.backward,
        spans.forward,
    )


def _number(
    sentences: Sequence[IntArray], sentence: IntArray, begin: IntArray, end: IntArray
) -> tuple[dict[Phrase, int], IntArray]:
    words = [s.tolist() for s in sentences]
    found: dict[Phrase, int] = {}
    numbers = [
        found.setdefault(tuple(words[s][a:b]), len(found))
        for s, a, b in zip(sentence.tolist(), begin.tolist(), end.tolist(), strict=True)
    ]
    return found, np.array(numbers, np.int64)


def score_phrases(
    phrases: Phrases, left_out: NDArray[np.bool_] | None = None, limit: int = 20
) -> PhraseTable:
    """Score the pairs of phrases.

    Parameters
    ----------
    left_out : array of bool, optional
        The sentences whose occurrences do not count.
    limit : int
        How many translations of a source phrase are kept.
    """
    n_pairs = phrases.source.size
    kept = slice(None) if left_out is None else ~left_out[phrases.sentence]
    pair = phrases.pair[kept]
    count = np.bincount(pair, minlength=n_pairs)
    of_source = np.bincount(phrases.source, count, len(phrases.source_number))
    of_target = np.bincount(phrases.target, count, len(phrases.target_words))
    seen = np.flatnonzero(count)
    # By source, then by frequency; the place in this order among those of its source.
    order = seen[np.lexsort((-count[seen], phrases.source[seen]))]
    source = phrases.source[order]
    rank = np.arange(order.size) - np.searchsorted(source, source)
    order = order[rank < limit]
    source, target = phrases.source[order], phrases.target[order]
    scores = np.empty((order.size, 4 + 2 * N_ORIENTATIONS))
    scores[:, 0] = np.log(count[order] / of_source[source])
    scores[:, 1] = np.log(count[order] / of_target[target])
    scores[:, 2:4] = np.maximum(phrases.lexical[order], np.log(LEAST))
    for first, kinds in ((4, phrases.backward[kept]), (7, phrases.forward[kept])):
        by_kind = np.bincount(pair * N_ORIENTATIONS + kinds, minlength=3 * n_pairs)
        table = by_kind.reshape(-1, N_ORIENTATIONS)
        prior = (table.sum(0) + 1) / (table.sum() + N_ORIENTATIONS)
        smooth = (table[order] + SMOOTHING * prior) / (count[order, None] + SMOOTHING)
        scores[:, first : first + N_ORIENTATIONS] = np.log(smooth)
    ptr = np.searchsorted(source, np.arange(len(phrases.source_number) + 1))
    return PhraseTable(phrases, ptr, order, scores)
