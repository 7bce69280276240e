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
    """Train parsers with and without labels and crossing arcs, and ask them all."""
    for projective in (True, False):
        for labelled in (True, False):
            parser = DependencyParser(
                projective=projective, labelled=labelled, hash_bits=8, **settings
            )
            parser.fit([SENTENCE], dev=[SENTENCE])
            parser.predict([SENTENCE])
            parser.predict_marginals([SENTENCE])
            parser.predict_kbest([SENTENCE], 2)
            parser.explain(SENTENCE)
