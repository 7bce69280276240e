"""MERT around the search: translate, collect the best, tune, and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.translation import mert
from benchmarks.translation.beam_search import Limits
from benchmarks.translation.bitext import Sentence
from benchmarks.translation.bleu import corpus_bleu
from benchmarks.translation.dense_features import FIRST_GUESS
from benchmarks.translation.features import DENSE_ONLY
from benchmarks.translation.lattices import join_lattices
from benchmarks.translation.nbest import NBest, dense_matrix, list_best, merge
from benchmarks.translation.translation_model import TranslationModel
from benchmarks.translation.vocabulary import IntArray

FloatArray = NDArray[np.float64]


class Baseline(NamedTuple):
    """The weights of the dense features, and the BLEU before each round and at last."""

    w: FloatArray
    history: list[float]


def tune_dense(
    model: TranslationModel,
    sentences: Sequence[Sentence],
    references: Sequence[IntArray],
    limits: Limits,
    *,
    n_rounds: int = 4,
    k: int = 100,
    say: Callable[[str], None] = lambda text: None,
) -> Baseline:
    """Return the weights with the best BLEU that MERT finds.

    Every round adds the k best translations under the weights of the last one to those
    known, and tunes on all of them.
    """
    if not 0 < len(sentences) == len(references):
        raise ValueError(
            f"{len(sentences)} sentences with {len(references)} references: tuning "
            "needs some, and a reference for each"
        )
    w, pool = FIRST_GUESS, None
    best: tuple[float, FloatArray] = (-1.0, w)
    history = []
    for round_ in range(n_rounds + 1):
        corpus = join_lattices(model.lattices(sentences, w, limits), DENSE_ONLY)
        found = list_best(corpus, references, dense_matrix(corpus), w, k)
        first = np.searchsorted(found.owner, np.arange(len(references)))
        bleu = float(corpus_bleu(found.counts[first].sum(0)))
        say(f"MERT, round {round_}: BLEU {bleu:.2f}")
        history.append(bleu)
        best = max(best, (bleu, w), key=lambda pair: pair[0])
        if round_ < n_rounds:
            pool = _pooled(pool, found)
            w = mert.tune(
                w, pool.features, pool.counts, pool.owner, random_state=round_
            ).w
    return Baseline(best[1], history)


def _pooled(pool: NBest | None, found: NBest) -> NBest:
    return found if pool is None else merge(pool, found)
