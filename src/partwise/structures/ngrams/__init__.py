"""Sequences whose labels depend on several labels before them.

An output is a label for every position. Parts of a sequence of T positions, in this
order in `theta`:

- ``T * K`` labels, (position, label);
- steps from one label tuple to the next, tied over positions;
- ``K`` last labels, where the corpus has them.
"""

# Importing the answers registers them with the waist.
from partwise.structures.ngrams import differences, inference, known, parts
from partwise.structures.ngrams.corpus import (
    NGramChain,
    illegal_positions,
    make_ngram_chain,
)
from partwise.structures.ngrams.steps import step_shares
from partwise.structures.ngrams.table import NGrams, make_ngrams, observed_tuples

__all__ = [
    "NGramChain",
    "NGrams",
    "differences",
    "illegal_positions",
    "inference",
    "known",
    "make_ngram_chain",
    "make_ngrams",
    "observed_tuples",
    "parts",
    "step_shares",
]
