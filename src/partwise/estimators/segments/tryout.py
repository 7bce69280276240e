"""Segment taggers of a few words, which use all that others use."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.estimators.segments.tagger import SegmentTagger

WORDS = [["Ada", "Lovelace", "met", "Alan"]] * 3
CUTS = [[(0, 2, "PER"), (3, 4, "PER")], [(0, 1, "PER")], [(1, 3, "ORG")]]


def try_out(**settings: Any) -> None:
    """Train segment taggers on columns, on feature dicts and on arrays; ask them."""
    _ask(SegmentTagger(template="default", whole_min_count=1, **settings), WORDS)
    dicts = [[{"word": word, "n": len(word) / 2} for word in words] for words in WORDS]
    _ask(SegmentTagger(**settings), dicts)
    arrays = [np.array([[len(word), 1.0] for word in words]) for words in WORDS]
    _ask(SegmentTagger(**settings), arrays)


def _ask(tagger: SegmentTagger, X: Any) -> None:
    tagger.fit(X, CUTS, dev=(X, CUTS))
    tagger.predict(X)
    tagger.predict_marginals(X)
    tagger.predict_spans(X)
    tagger.predict_kbest(X, 2)
