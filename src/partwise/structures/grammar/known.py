"""What is known of derivations, as parts that completions do not have.

A known span rules out all spans that cross it: every binary tree without such a span
has it, since the smallest phrase around it would be cut inside of it otherwise. The
``n - 1`` spans of a whole tree leave no other one. Spans are ruled out by their splits,
of which each has one; they are far fewer than spans with symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.structures.grammar.corpus import ConstituencyTrees
from partwise.structures.grammar.parts import part_offsets
from partwise.structures.grammar.places import phrase_at
from partwise.structures.interface import FloatArray, IntArray


class KnownSpan(NamedTuple):
    """A span of two words or more that a derivation has.

    `wrong` says of every class of symbols whether it is not the one of this span.
    """

    start: int
    end: int
    wrong: NDArray[np.bool_]


class WrongParts(NamedTuple):
    """Parts that right derivations do not have, and what they cost.

    Those of sentence `i` are ``ids[ptr[i]:ptr[i + 1]]``.
    """

    ptr: IntArray
    ids: IntArray
    costs: FloatArray


def wrong_parts(
    s: ConstituencyTrees,
    spans: Sequence[Sequence[KnownSpan]],
    wrong_symbols: NDArray[np.bool_],
) -> WrongParts:
    """Return the parts that known spans and symbols of words rule out.

    Parameters
    ----------
    s : ConstituencyTrees
        The corpus; its right outputs may be anything.
    spans : list of lists of KnownSpan
        What is known of every sentence.
    wrong_symbols : array of bool
        Of all symbols that words may have, ``s.sentences.symbol``, which are wrong.
    """
    ptr, ids, costs = [0], [np.zeros(0, np.int64)], [np.zeros(0)]
    for i, known in enumerate(spans):
        for own, cost in _of_sentence(s, i, known, wrong_symbols):
            ids.append(own)
            costs.append(np.full(own.size, cost))
        ptr.append(sum(own.size for own in ids[-3:]) + ptr[-1])
    return WrongParts(np.array(ptr), np.concatenate(ids), np.concatenate(costs))


def _of_sentence(
    s: ConstituencyTrees,
    i: int,
    known: Sequence[KnownSpan],
    wrong_symbols: NDArray[np.bool_],
) -> list[tuple[IntArray, float]]:
    """Return wrong symbols of words, wrong classes of spans, and splits that cross."""
    first, last = s.sentences.ptr[i : i + 2].tolist()
    n, layout, K = last - first, s.layout, s.grammar.n_span_classes
    word_at, span_at, split_at, *_ = part_offsets(s, i)
    a, b = s.sentences.symbol_ptr[[first, last]].tolist()
    words = np.flatnonzero(wrong_symbols[a:b])
    start, end = np.triu_indices(n, 1)
    end = end + 1  # all phrases, in the order of their numbers
    crosses = np.zeros(start.size, bool)
    classes = [np.zeros(0, np.int64)]
    for one in known:
        before = (start < one.start) & (one.start < end) & (end < one.end)
        after = (one.start < start) & (start < one.end) & (one.end < end)
        crosses |= before | after
        phrase = int(phrase_at(n, one.start, one.end))
        classes.append(phrase * K + np.flatnonzero(one.wrong))
    splits = np.flatnonzero(np.repeat(crosses, end - start - 1))
    return [
        (word_at + words, layout.word_cost),
        (span_at + np.concatenate(classes), layout.span_cost),
        (split_at + splits, layout.span_cost),
    ]
