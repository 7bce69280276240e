"""Parsers of two words, which use all that others use."""

from __future__ import annotations

from typing import Any

from partwise.data import Sentence
from partwise.estimators.dependency.parser import DependencyParser

SENTENCE = Sentence.from_columns(
    forms=["dogs", "bark"],
    upos=["NOUN", "VERB"],
    heads=[2, 0],
    labels=["nsubj", "root"],
)


def try_out(**settings: Any) -> None:
    """Train parsers of all kinds, with and without labels, and ask them all."""
    for kind in ({}, {"projective": False}, {"order": 2}):
        for labelled in (True, False):
            parser = DependencyParser(
                labelled=labelled, hash_bits=8, **kind, **settings
            )
            parser.fit([SENTENCE], dev=[SENTENCE])
            parser.predict([SENTENCE])
            parser.predict_marginals([SENTENCE])
            parser.predict_kbest([SENTENCE], 2)
            parser.explain(SENTENCE)
