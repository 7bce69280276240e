"""The best translations that a lattice has, to learn from where it lacks the right one.

BLEU is no sum over edges, but a linear function of matched n-grams comes close to its
logarithm (Tromble et al. 2008), and edges know the two words before them. The best
paths by that sum, or by the model's own score, are listed; their true sentence BLEU
chooses among them (`partwise.find_pseudo_references`). What the model finds far below
its best translation cannot be reached by any weights, and teaches little (Liang et al.
2006, local updates).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import partwise
from benchmarks.translation.bleu import (
    all_counts,
    bleu_counts,
    corpus_bleu,
    sentence_bleu,
)
from benchmarks.translation.dense_features import N_DENSE
from benchmarks.translation.lattices import Corpus
from benchmarks.translation.nbest import dense_matrix, scored_structure
from benchmarks.translation.vocabulary import IntArray, join
from partwise import kernel

FloatArray = NDArray[np.float64]
CodeArray = NDArray[np.int32]

PRECISION, RATIO = 0.85, 0.72  # of unigrams, and from one order to the next
ORDERS = 3
# Weights of the model's score and of the linear form of BLEU; the other breaks ties.
LOCAL, BOLD = (1.0, 1e-6), (1e-6, 1.0)
GAINS = np.array([-1.0] + [1 / (4 * PRECISION * RATIO**n) for n in range(ORDERS)])


@kernel
def _contains(reference: IntArray, a: Any, b: Any, c: Any, n: int) -> bool:
    """Say whether the last `n` of three words come in a row."""
    for at in range(n - 1, reference.size):
        if reference[at] != c:
            continue
        if n == 1 or (reference[at - 1] == b and (n == 2 or reference[at - 2] == a)):
            return True
    return False


@kernel
def _add_gains(
    ptr: IntArray, word_ptr: IntArray, words: CodeArray, history: CodeArray,
    reference_ptr: IntArray, reference: IntArray, gains: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    for i in range(ptr.size - 1):
        own = reference[reference_ptr[i] : reference_ptr[i + 1]]
        for e in range(ptr[i], ptr[i + 1]):
            a, b = np.int64(history[e, 0]), np.int64(history[e, 1])
            for at in range(word_ptr[e], word_ptr[e + 1]):
                word = np.int64(words[at])
                out[e] += gains[0]
                for n in range(1, ORDERS + 1):
                    if not _contains(own, a, b, word, n):
                        break
                    out[e] += gains[n]
                a, b = b, word


def add_gains(
    corpus: Corpus, words: IntArray, ptr: IntArray, gains: FloatArray
) -> FloatArray:
    """Return for every edge the sum of gains: of a word, and of its matched n-grams.

    The words of lattice `i` to match are ``words[ptr[i]:ptr[i + 1]]``.
    """
    out = np.zeros(corpus.source.size)
    _add_gains(
        corpus.ptr, corpus.words.ptr, corpus.words.number, corpus.history, ptr, words,
        gains, out,
    )  # fmt: skip
    return out


def reference_gains(corpus: Corpus, references: Sequence[IntArray]) -> FloatArray:
    """Return what every edge adds to the linear form of BLEU."""
    return add_gains(corpus, *join(references), GAINS)


class PseudoReferences(NamedTuple):
    """Good paths of every lattice, the best first, and their sentence BLEU.

    `counts` are those of the best ones; `n_listed` is how many translations were
    compared.
    """

    paths: list[list[list[int]]]
    bleu: list[FloatArray]
    counts: IntArray
    n_listed: IntArray

    @property
    def corpus_bleu(self) -> float:
        """The BLEU of the best path of every lattice, in percent."""
        return float(corpus_bleu(self.counts.sum(0)))


def find_pseudo_references(
    corpus: Corpus,
    references: Sequence[IntArray],
    w: FloatArray,
    *,
    local: bool = False,
    k: int = 50,
    n_good: int = 1,
    slack: float = 0.0,
) -> PseudoReferences:
    """Return the best translations of every lattice.

    Parameters
    ----------
    w : array
        Weights of the dense features.
    local : bool
        Look among the k best translations by `w`, which can be reached; otherwise
        among those that come closest to the best BLEU of all.
    k : int
        How many translations of each lattice are compared by their sentence BLEU.
    n_good : int
        The most good translations of a lattice.
    slack : float
        How much less sentence BLEU than the best a good one may have, in percent.
    """
    score = dense_matrix(corpus) @ w[:N_DENSE]
    columns = np.stack([score, reference_gains(corpus, references)], axis=1)
    s = scored_structure(corpus, columns)

    def words_of(i: int, y: CodeArray) -> IntArray:
        return corpus.words_of(i, s.path(i, y))

    def bleu(i: int, outputs: Sequence[CodeArray]) -> FloatArray:
        words, owner = [words_of(i, y) for y in outputs], np.zeros(len(outputs), int)
        return sentence_bleu(all_counts(words, owner, [references[i]]))

    found = partwise.find_pseudo_references(
        s, np.array(LOCAL if local else BOLD), bleu, k=k, n_good=n_good, slack=slack
    )
    counts = [
        bleu_counts(words_of(i, one.good_outputs[0]), references[i])
        for i, one in enumerate(found)
    ]
    return PseudoReferences(
        [[s.path(i, y) for y in one.good_outputs] for i, one in enumerate(found)],
        [one.quality[one.good] for one in found],
        np.array(counts),
        np.array([len(one.outputs) for one in found]),
    )
