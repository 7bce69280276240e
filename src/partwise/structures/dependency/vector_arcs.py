"""Arcs whose two words have vectors.

What the vector of a word says depends on where its head is, and where its modifiers
are: every direction and class of lengths has weights of its own for the vector of the
modifier, and for that of the head. The root, which has no vector, is a class by itself.
So scores are two matrix products a sentence, and a sum for every arc.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from partwise._jit import kernel
from partwise.structures.dependency import arcs as arc_features
from partwise.structures.dependency.hashed_arcs import LENGTHS, length_class
from partwise.structures.interface import FloatArray, IntArray
from partwise.structures.rows import (
    VectorRows,
    n_row_weights,
    n_rows,
    row_entries,
    rows_add,
    rows_dot,
)
from partwise.structures.vectors import fill

N_LENGTHS = len(LENGTHS)
ROOT = 2 * N_LENGTHS
N_CLASSES = ROOT + 1
"""Directions times classes of lengths, and the root."""


class VectorArcs(NamedTuple):
    """The vectors of all words; those of sentence `i` begin at ``first[i]``."""

    words: VectorRows
    first: IntArray


class VectorSpace(NamedTuple):
    """For every word and class: what it is as a modifier, and as a head."""

    modifier: FloatArray
    head: FloatArray


def make_vector_arcs(words: VectorRows, lengths: ArrayLike) -> VectorArcs:
    """Check the vectors of the words of sentences of these lengths.

    Examples
    --------
    >>> from partwise.structures.rows import make_vector_rows
    >>> arcs = make_vector_arcs(make_vector_rows([[0.5, 1.0]] * 3), [1, 2])
    >>> arc_features.n_arc_weights(arcs)
    52
    """
    first = np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64))])
    if n_rows(words) != first[-1]:
        raise ValueError(f"{n_rows(words)} vectors for {first[-1]} words")
    return VectorArcs(words, first.astype(np.int64))


@kernel
def arc_class(h: int, m: int) -> int:
    """Return the class of an arc from head `h` to word `m`."""
    if h == 0:
        return ROOT
    length = length_class(abs(h - m))
    return length if h < m else N_LENGTHS + length


@arc_features.n_arc_weights.implement(VectorArcs)
def _(arcs: VectorArcs) -> int:
    return 2 * n_row_weights(arcs.words, N_CLASSES)


@arc_features.n_arc_features.implement(VectorArcs)
def _(arcs: VectorArcs) -> int:
    return 2 * arcs.words.values.shape[1]


@arc_features.arc_space.implement(VectorArcs)
def _(arcs: VectorArcs, n_words: int) -> Any:
    return VectorSpace(np.zeros(n_words * N_CLASSES), np.zeros(n_words * N_CLASSES))


@arc_features.arc_scores.implement(VectorArcs)
def _(arcs: VectorArcs, i: int, w: FloatArray, score: FloatArray, space: Any) -> None:
    begin, end = arcs.first[i], arcs.first[i + 1]
    of_heads = w[n_row_weights(arcs.words, N_CLASSES) :]
    rows_dot(arcs.words, begin, end, N_CLASSES, w, space.modifier)
    rows_dot(arcs.words, begin, end, N_CLASSES, of_heads, space.head)
    for h in range(score.shape[0]):
        for m in range(score.shape[0]):
            if m == 0 or h == m:
                score[h, m] = 0.0
                continue
            c = arc_class(h, m)
            score[h, m] = space.modifier[(m - 1) * N_CLASSES + c]
            if h > 0:
                score[h, m] += space.head[(h - 1) * N_CLASSES + c]


@arc_features.add_arcs.implement(VectorArcs)
def _(
    arcs: VectorArcs, i: int, mu: FloatArray, scale: float, w: FloatArray, space: Any
) -> float:
    begin, end = arcs.first[i], arcs.first[i + 1]
    fill(space.modifier, (end - begin) * N_CLASSES, 0.0)
    fill(space.head, (end - begin) * N_CLASSES, 0.0)
    for h in range(mu.shape[0]):
        for m in range(1, mu.shape[0]):
            if h != m and mu[h, m] != 0.0:
                c = arc_class(h, m)
                space.modifier[(m - 1) * N_CLASSES + c] += mu[h, m]
                if h > 0:
                    space.head[(h - 1) * N_CLASSES + c] += mu[h, m]
    of_heads = w[n_row_weights(arcs.words, N_CLASSES) :]
    change = rows_add(arcs.words, begin, end, N_CLASSES, space.modifier, scale, w)
    return change + rows_add(
        arcs.words, begin, end, N_CLASSES, space.head, scale, of_heads
    )


@arc_features.arc_entries.implement(VectorArcs)
def _(
    arcs: VectorArcs,
    i: int,
    n: int,
    h: int,
    m: int,
    idx: IntArray,
    val: FloatArray,
    space: Any,
) -> int:
    c, begin = arc_class(h, m), arcs.first[i]
    found = row_entries(arcs.words, begin + m - 1, c, N_CLASSES, idx, val)
    if h == 0:
        return found
    after, at = idx[found:], n_row_weights(arcs.words, N_CLASSES)
    more = row_entries(arcs.words, begin + h - 1, c, N_CLASSES, after, val[found:])
    for j in range(more):
        after[j] += at
    return found + more
