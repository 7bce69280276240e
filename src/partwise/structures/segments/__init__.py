"""Semi-Markov chains: sequences cut into segments, each with a label.

An output has a code for every token: ``k`` where a segment of label k begins, ``K + k``
where one goes on. Parts of a sequence of T tokens, in this order in `theta`:

- ``T * M`` segments, (first token, label, length), for the M pairs of a label and a
  length within its limit; those longer than what is left of the sequence are in no
  output;
- ``K * K`` transitions (label of a segment, label of the next), tied over positions;
- ``K`` start and ``K`` end parts, where the corpus has them.
"""

# Importing the answers registers them with the waist.
from partwise.structures.segments import differences, inference, parts, space
from partwise.structures.segments.corpus import (
    Segments,
    illegal_segment,
    make_segments,
)
from partwise.structures.segments.matches import Matches, make_matches

__all__ = [
    "Matches",
    "Segments",
    "differences",
    "illegal_segment",
    "inference",
    "make_matches",
    "make_segments",
    "parts",
    "space",
]
