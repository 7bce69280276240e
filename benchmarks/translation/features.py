"""Features of edges: the dense ones, and a weight for every trigram and phrase.

Dense, or blanket, features are the 14 of `dense_features`. Discriminative ones say
which trigrams of the target language an edge completes, which pair of phrases it uses
and with which orientation towards the phrase before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.translation.beam_search import NO_OPTION, Found
from benchmarks.translation.dense_features import (
    BACKWARD,
    DISTORTION,
    FORWARD,
    LANGUAGE_MODEL,
    N_DENSE,
    N_PHRASES,
    N_WORDS,
    PHRASE_SCORES,
)
from benchmarks.translation.language_model import FREE, find, triple_key
from benchmarks.translation.options import PASSED_THROUGH, Options
from benchmarks.translation.phrase_table import N_ORIENTATIONS
from benchmarks.translation.vocabulary import END, IntArray
from partwise import kernel

FloatArray = NDArray[np.float64]


class FeatureSpace(NamedTuple):
    """The features there are: dense ones, trigrams, pairs, pairs with orientations."""

    trigrams: IntArray
    n_pairs: int

    @property
    def size(self) -> int:
        """The number of features."""
        return N_DENSE + self.trigrams.size + (1 + N_ORIENTATIONS) * self.n_pairs


DENSE_ONLY = FeatureSpace(np.zeros(0, np.int64), 0)


@kernel
def _add(idx: IntArray, val: FloatArray, at: int, feature: int, value: float) -> int:
    if value == 0.0:
        return at
    idx[at], val[at] = feature, value
    return at + 1


@kernel
def _write_rows(
    found: Found, options: Options, space: FeatureSpace, ptr: IntArray, idx: IntArray,
    val: FloatArray,
) -> None:  # fmt: skip
    at, first_pair = 0, N_DENSE + space.trigrams.size
    for e in range(found.source.size):
        at = _add(idx, val, at, LANGUAGE_MODEL, found.language_model[e])
        a, b = found.history[found.source[e]]
        o = found.option[e]
        if o == NO_OPTION:
            k = find(space.trigrams, triple_key(a, b, END))
            if k != FREE:
                at = _add(idx, val, at, N_DENSE + k, 1.0)
            ptr[e + 1] = at
            continue
        back, forth = found.backward[e], found.forward[e]
        at = _add(idx, val, at, BACKWARD + back, options.scores[o, 4 + back])
        at = _add(idx, val, at, FORWARD + forth, options.scores[o, 7 + forth])
        for k in range(4):
            at = _add(idx, val, at, PHRASE_SCORES + k, options.scores[o, k])
        begin, end = options.word_ptr[o], options.word_ptr[o + 1]
        at = _add(idx, val, at, N_WORDS, float(end - begin))
        at = _add(idx, val, at, N_PHRASES, 1.0)
        at = _add(idx, val, at, DISTORTION, -float(found.distance[e]))
        for place in range(begin, end):
            word = options.words[place]
            k = find(space.trigrams, triple_key(a, b, word))
            if k != FREE:
                at = _add(idx, val, at, N_DENSE + k, 1.0)
            a, b = b, word
        pair = options.pair[o]
        if pair != PASSED_THROUGH and space.n_pairs > 0:
            at = _add(idx, val, at, first_pair + pair, 1.0)
            oriented = first_pair + space.n_pairs + N_ORIENTATIONS * pair + back
            at = _add(idx, val, at, oriented, 1.0)
        ptr[e + 1] = at


def feature_rows(
    found: Found, options: Options, space: FeatureSpace
) -> tuple[IntArray, NDArray[np.int32], FloatArray]:
    """Return the features of the edges of a lattice: pointers, numbers and values."""
    n_edges = found.source.size
    sizes = np.diff(options.word_ptr, append=options.word_ptr[-1] + 1)
    # An edge without an option has the last size: that of the end of the sentence.
    room = int(sizes[found.option].sum()) + n_edges * (N_DENSE + 2)
    ptr = np.zeros(n_edges + 1, np.int64)
    idx, val = np.zeros(room, np.int64), np.zeros(room)
    _write_rows(found, options, space, ptr, idx, val)
    return ptr, idx[: ptr[-1]].astype(np.int32), val[: ptr[-1]]
