"""Linear chains: one label per position, scored alone and with its neighbour.

Parts of a chain of T positions and K labels, in this order in `theta`:

- ``T * K`` node parts, (position, label);
- ``K * K`` transition parts (label before, label), tied over positions, or
  ``(T - 1) * K * K`` of them when transitions see the observations (`edges`);
- ``K`` start and ``K`` end parts, where the chain has them.
"""

# Importing the answers registers them with the waist.
from partwise.structures.chain import (
    differences,
    distributions,
    gibbs,
    inference,
    parts,
    shrinking,
)
from partwise.structures.chain.corpus import (
    Chain,
    ChainMask,
    check_gold,
    illegal_position,
    legal_sequences,
    make_chain,
    with_observed_transitions,
)
from partwise.structures.chain.gibbs import untied
from partwise.structures.chain.segments import segment_probabilities

__all__ = [
    "Chain",
    "ChainMask",
    "check_gold",
    "differences",
    "distributions",
    "gibbs",
    "illegal_position",
    "inference",
    "legal_sequences",
    "make_chain",
    "parts",
    "segment_probabilities",
    "shrinking",
    "untied",
    "with_observed_transitions",
]
