"""Taggers of a few words, which use all that others use."""

from __future__ import annotations

from itertools import islice, product
from typing import Any

import numpy as np

from partwise.estimators.given_vectors import WithVectors
from partwise.estimators.sequence.tagger import SequenceTagger

# Sentences that contradict each other cannot be learnt in a pass, and every one of them
# has many outputs to tell from the right one.
WORDS = [["Ada", "met", "Alan"]] * 12
TAGS = [list(tags) for tags in islice(product(("B-PER", "I-PER", "O"), repeat=3), 12)]


def try_out(**settings: Any) -> None:
    """Train taggers on columns, dicts, arrays and vectors, and ask them all."""
    columns = SequenceTagger(template="default", **settings)
    _ask(columns, [[(word, word[0]) for word in words] for words in WORDS])
    _ask(SequenceTagger(template="ner", **settings), WORDS)
    dicts = [[{"word": word, "n": len(word) / 2} for word in words] for words in WORDS]
    _ask(SequenceTagger(**settings), dicts)
    plain = [[{"word": word, "first": word[0]} for word in words] for words in WORDS]
    _ask(SequenceTagger(**settings), plain)
    arrays = [np.array([[len(word), 1.0] for word in words]) for words in WORDS]
    _ask(SequenceTagger(**settings), arrays)
    vectors = [array.astype(np.float32) for array in arrays]
    joined = [WithVectors(*pair) for pair in zip(plain, vectors, strict=True)]
    _ask(SequenceTagger(**settings), joined)


def _ask(tagger: SequenceTagger, X: Any) -> None:
    tagger.fit(X, TAGS, dev=(X, TAGS))
    tagger.predict(X)
    tagger.predict_marginals(X)
    tagger.predict_kbest(X, 2)
    tagger.predict_spans(X)
    tagger.explain(X[0])
