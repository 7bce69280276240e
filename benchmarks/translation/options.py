"""Which phrases may translate which words of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.translation.phrase_table import N_ORIENTATIONS, PhraseTable
from benchmarks.translation.vocabulary import UNKNOWN, IntArray, Vocabulary

FloatArray = NDArray[np.float64]

PASSED_THROUGH = -1
N_SCORES = 4 + 2 * N_ORIENTATIONS


class Options(NamedTuple):
    """The translations of all spans of a sentence of `size` words.

    Span ``begin:end`` has the options ``ptr[k]:ptr[k + 1]`` with
    ``k = begin * size + end - 1``. Option `o` yields the words
    ``words[word_ptr[o]:word_ptr[o + 1]]``, is pair ``pair[o]`` of the phrase table, or
    `PASSED_THROUGH`, and has the scores that the table gives it.
    """

    size: int
    ptr: IntArray
    pair: IntArray
    scores: FloatArray
    word_ptr: IntArray
    words: IntArray

    @property
    def longest(self) -> int:
        """The number of words in the longest span."""
        spans = np.flatnonzero(np.diff(self.ptr))
        begin, last = spans // max(self.size, 1), spans % max(self.size, 1)
        return int((last - begin).max(initial=0)) + 1


def find_options(
    sentence: Sequence[str],
    numbers: IntArray,
    table: PhraseTable,
    target: Vocabulary,
) -> Options:
    """Look the spans of a sentence up.

    A word that no phrase translates alone stays as it is, so that there is a
    translation whatever the table knows; its scores are those of a certain translation,
    its orientations as likely as each other.

    Parameters
    ----------
    sentence : sequence of str
        The words.
    numbers : array
        Their numbers, `UNKNOWN` for those never seen.
    table : PhraseTable
        The phrases.
    target : Vocabulary
        Numbers the target words; words that stay as they are may be added to it.
    """
    n, phrases = len(sentence), table.phrases
    words = numbers.tolist()
    sizes = np.zeros(n * n, np.int64)
    entries: list[IntArray] = []
    yields: list[tuple[int, ...]] = []
    for begin in range(n):
        for end in range(begin + 1, min(begin + phrases.longest, n) + 1):
            phrase = tuple(words[begin:end])
            f = -1 if UNKNOWN in phrase else phrases.source_number.get(phrase, -1)
            own = np.arange(0) if f < 0 else np.arange(table.ptr[f], table.ptr[f + 1])
            yields += [phrases.target_words[e] for e in phrases.target[table.pair[own]]]
            if own.size == 0 and end == begin + 1:
                own = np.array([PASSED_THROUGH])
                yields.append((target.add(sentence[begin]),))
            sizes[begin * n + end - 1] = own.size
            entries.append(own)
    entry = np.concatenate([np.zeros(0, np.int64), *entries]).astype(np.int64)
    is_phrase = entry != PASSED_THROUGH
    pair = np.full(entry.size, PASSED_THROUGH)
    pair[is_phrase] = table.pair[entry[is_phrase]]
    scores = np.zeros((entry.size, N_SCORES))
    scores[:, 4:] = -np.log(N_ORIENTATIONS)
    scores[is_phrase] = table.scores[entry[is_phrase]]
    return Options(
        n,
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        pair,
        scores,
        np.cumsum([0, *map(len, yields)]).astype(np.int64),
        np.array([word for phrase in yields for word in phrase], np.int64),
    )
