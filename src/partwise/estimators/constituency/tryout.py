"""Parsers of two words, which use all that others use."""

from __future__ import annotations

import io
from typing import Any

from partwise.constituents import RuleApplication
from partwise.data import read_brackets
from partwise.estimators.constituency.parser import ConstituencyParser

# What contradicts itself cannot be learnt in a pass: more than one is needed.
TREES = """
(S (NP (NNS dogs)) (VP (VBP bark)))
(S (NP (NNS cats) (NNS dogs)) (VP (VBP sleep)))
(S (NP (NNS cats)) (VP (VBP dogs) (NNS sleep)))
(S (VP (VBP dogs)) (NP (NNS bark)))
"""


def try_out(**settings: Any) -> None:
    """Train a parser, and ask it everything."""
    trees = read_brackets(io.StringIO(TREES))
    parser = ConstituencyParser(hash_bits=8, **settings)
    parser.fit(trees, dev=trees, rule_features=_name_parent)
    words = [["cats", "bark"]]
    parser.predict(words, rule_features=_name_parent)
    parser.predict_marginals(words, rule_features=_name_parent)
    parser.predict_kbest(words, 2, rule_features=_name_parent)


def _name_parent(words: Any, rule: RuleApplication) -> list[str]:
    """Give every rule application a feature, so that all that is for these is used."""
    return [rule.parent]
