"""Constituency trees, and their binary form that a grammar can count.

No function here recurs, so trees may be of any depth.
"""

from partwise.constituents.binary import Symbol, binarize, read_symbol, restore
from partwise.constituents.known import KnownBrackets, read_known
from partwise.constituents.tree import (
    EMPTY_TAG,
    Bracket,
    RuleApplication,
    Tree,
    clean,
    spans,
    subtrees,
    tags,
    without_function,
    words,
)

__all__ = [
    "EMPTY_TAG",
    "Bracket",
    "KnownBrackets",
    "RuleApplication",
    "Symbol",
    "Tree",
    "binarize",
    "clean",
    "read_known",
    "read_symbol",
    "restore",
    "spans",
    "subtrees",
    "tags",
    "without_function",
    "words",
]
