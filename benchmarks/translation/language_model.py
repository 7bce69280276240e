"""A trigram language model with interpolated Kneser-Ney smoothing.

Shorter n-grams count by how many different words come before them; what discounting
takes from the seen goes to the next shorter n-gram (Chen and Goodman 1999), and in the
end to all words alike, the unknown one among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.translation.vocabulary import BEGIN, END, UNKNOWN, WIDTH, IntArray
from partwise import kernel

FloatArray = NDArray[np.float64]

FREE = -1


class LanguageModel(NamedTuple):
    """Log probabilities of n-grams, and what backing off from their histories costs.

    The keys of bigrams and trigrams are sorted. A bigram that is only a history has the
    probability that backing off gives.
    """

    unigram: FloatArray
    unigram_backoff: FloatArray
    bigram_keys: IntArray
    bigram: FloatArray
    bigram_backoff: FloatArray
    trigram_keys: IntArray
    trigram: FloatArray


@kernel
def find(keys: IntArray, key: int) -> int:
    """Return the place of a key among sorted ones, or -1."""
    at = np.searchsorted(keys, key)
    if at < keys.size and keys[at] == key:
        return int(at)
    return FREE


@kernel
def pair_key(a: int, b: int) -> int:
    """Return the key of two words."""
    return a * WIDTH + b


@kernel
def triple_key(a: int, b: int, c: int) -> int:
    """Return the key of three words."""
    return (a * WIDTH + b) * WIDTH + c


@kernel
def known(model: LanguageModel, word: int) -> int:
    """Return a word as the model knows it."""
    return word if word < model.unigram.size else UNKNOWN


@kernel
def log_probability(model: LanguageModel, a: int, b: int, word: int) -> float:
    """Return the log probability of a word after `a` and `b`."""
    a, b, word = known(model, a), known(model, b), known(model, word)
    at = find(model.trigram_keys, triple_key(a, b, word))
    if at != FREE:
        return model.trigram[at]
    history = find(model.bigram_keys, pair_key(a, b))
    lost = 0.0 if history == FREE else model.bigram_backoff[history]
    at = find(model.bigram_keys, pair_key(b, word))
    if at != FREE:
        return lost + model.bigram[at]
    return lost + model.unigram_backoff[b] + model.unigram[word]


def trigrams(sentences: Sequence[IntArray]) -> IntArray:
    """Return all three words in a row; two begins before a sentence, one end after."""
    rows = [np.concatenate([[BEGIN, BEGIN], s, [END]]) for s in sentences]
    return np.concatenate(
        [np.zeros((0, 3), np.int64)]
        + [np.stack([row[:-2], row[1:-1], row[2:]], axis=1) for row in rows]
    )


def trigram_keys(sentences: Sequence[IntArray]) -> IntArray:
    """Return the sorted keys of all trigrams."""
    a, b, c = trigrams(sentences).T
    return np.unique(triple_key(a, b, c))


def _discount(counts: IntArray) -> float:
    once, twice = np.sum(counts == 1), np.sum(counts == 2)
    return float(once / (once + 2 * twice)) if once and twice else 0.5


def train_language_model(sentences: Sequence[IntArray], n_words: int) -> LanguageModel:
    """Train a model of the words numbered below `n_words`."""
    a, b, c = trigrams(sentences).T
    keys3, count3 = np.unique(triple_key(a, b, c), return_counts=True)
    # A bigram counts by the words before it, a word by the bigrams that it ends.
    keys2, count2 = np.unique(keys3 % WIDTH**2, return_counts=True)
    count1 = np.bincount(keys2 % WIDTH, minlength=n_words)
    count1[BEGIN] = 0

    # Words: discounted, the rest to all words that can follow, alike.
    discount = _discount(count1)
    total, kinds = count1.sum(), np.count_nonzero(count1)
    can_follow = np.ones(n_words)
    can_follow[BEGIN] = 0.0
    shared = discount * kinds / total * can_follow / can_follow.sum()
    p1 = np.maximum(count1 - discount, 0) / total + shared

    # Bigrams, by history.
    discount = _discount(count2)
    history, word = keys2 // WIDTH, keys2 % WIDTH
    total2 = np.bincount(history, count2, n_words)
    left1 = discount * np.bincount(history, minlength=n_words)
    backoff1 = np.where(total2 > 0, left1 / np.maximum(total2, 1), 1.0)
    p2 = np.maximum(count2 - discount, 0) / total2[history]
    p2 += backoff1[history] * p1[word]

    # Trigrams; their histories are bigrams, but for two begins all of them seen.
    discount = _discount(count3)
    history3, place = np.unique(keys3 // WIDTH, return_inverse=True)
    total3 = np.bincount(place, count3)
    backoff2 = discount * np.bincount(place) / total3
    shorter = np.searchsorted(keys2, keys3 % WIDTH**2)
    p3 = np.maximum(count3 - discount, 0) / total3[place]
    p3 += backoff2[place] * p2[shorter]

    all2 = np.union1d(keys2, history3)
    prob2 = backoff1[all2 // WIDTH] * p1[all2 % WIDTH]
    prob2[np.searchsorted(all2, keys2)] = p2
    weight2 = np.ones(all2.size)
    weight2[np.searchsorted(all2, history3)] = backoff2
    with np.errstate(divide="ignore"):  # nothing goes back to the begin
        logs = [np.log(p) for p in (p1, backoff1, prob2, weight2, p3)]
    return LanguageModel(logs[0], logs[1], all2, logs[2], logs[3], keys3, logs[4])
