"""Features of arcs: an axis of their own, which dependency trees never look into.

A score for every arc of a sentence is a matrix ``score[head, modifier]``, the root
being 0. A sentence of `n` words has ``(n + 1)^2`` entries; the diagonal and the first
column have no meaning.

============  ==================================================================
`ListedArcs`  the caller lists the features of every arc, as CSR rows
`HashedArcs`  templates over the codes of the words, hashed while they are used
`VectorArcs`  the vectors of the two words, by direction and length
`AddedArcs`   two kinds at once
============  ==================================================================
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from partwise._jit import generic, generic_with_default
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.rows import (
    SparseRows,
    n_row_weights,
    n_rows,
    row_add,
    row_dot,
    row_entries,
    row_size,
)

Arcs: TypeAlias = Any
"""A NamedTuple of arrays, of one of the kinds above."""


@generic
def n_arc_weights(arcs: Arcs) -> int:
    """Return how many weights the features of arcs need."""
    raise NotImplementedError("n_arc_weights is required of every kind of arcs")


@generic
def n_arc_features(arcs: Arcs) -> int:
    """Return a bound on the features of one arc."""
    raise NotImplementedError("n_arc_features is required of every kind of arcs")


@generic
def arc_space(arcs: Arcs, n_words: int) -> Any:
    """Make scratch arrays for sentences of up to `n_words` words."""
    raise NotImplementedError("arc_space is required of every kind of arcs")


@generic_with_default
def prepare_arcs(arcs: Arcs, i: int, n: int, space: Any) -> None:
    """Prepare sentence `i`, of `n` words, before the questions below; often nothing."""


@generic
def arc_scores(
    arcs: Arcs, i: int, w: FloatArray, score: FloatArray, space: Any
) -> None:
    """Write the score of every arc; zero where there is no arc."""
    raise NotImplementedError("arc_scores is required of every kind of arcs")


@generic_with_default
def some_arc_scores(
    arcs: Arcs,
    i: int,
    n: int,
    head: CodeArray,
    modifier: CodeArray,
    w: FloatArray,
    score: FloatArray,
    idx: IntArray,
    val: FloatArray,
    space: Any,
) -> None:
    """Write the scores of some arcs only, listed head by head and from left to right.

    `idx` and `val` have room for the features of one arc.
    """
    for b in range(head.size):
        total = 0.0
        for j in range(arc_entries(arcs, i, n, head[b], modifier[b], idx, val, space)):
            total += w[idx[j]] * val[j]
        score[b] = total


@generic
def add_arcs(
    arcs: Arcs, i: int, mu: FloatArray, scale: float, w: FloatArray, space: Any
) -> float:
    """Do ``w += scale * sum mu[h, m] phi(h, m)``; return the change of ``|w|^2``."""
    raise NotImplementedError("add_arcs is required of every kind of arcs")


@generic
def arc_entries(
    arcs: Arcs,
    i: int,
    n: int,
    h: int,
    m: int,
    idx: IntArray,
    val: FloatArray,
    space: Any,
) -> int:
    """Write the features of one arc; return how many. An index may come twice."""
    raise NotImplementedError("arc_entries is required of every kind of arcs")


class ListedArcs(NamedTuple):
    """Rows of features, ``(n + 1)^2`` for a sentence of `n` words; head by head."""

    rows: SparseRows
    first: IntArray


class NoSpace(NamedTuple):
    """Nothing is needed."""


def make_listed_arcs(rows: SparseRows, lengths: ArrayLike) -> ListedArcs:
    """Check features that the caller lists, for sentences of these lengths.

    Examples
    --------
    One sentence of one word: of its four rows, that of the arc from the root (head 0,
    modifier 1) is the second.

    >>> from partwise.structures.rows import make_sparse_rows
    >>> arcs = make_listed_arcs(make_sparse_rows([0, 0, 2, 2, 2], [0, 1], None, 2), [1])
    >>> n_arc_weights(arcs)
    2
    """
    sizes = (np.asarray(lengths, np.int64) + 1) ** 2
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if n_rows(rows) != first[-1]:
        raise ValueError(
            f"{n_rows(rows)} rows of arc features, but sentences of these lengths have "
            f"{first[-1]}: (n + 1)^2 for one of n words"
        )
    return ListedArcs(rows, first)


@n_arc_weights.implement(ListedArcs)
def _(arcs: ListedArcs) -> int:
    return n_row_weights(arcs.rows, 1)


@n_arc_features.implement(ListedArcs)
def _(arcs: ListedArcs) -> int:
    most = 0
    for t in range(n_rows(arcs.rows)):
        most = max(most, row_size(arcs.rows, t))
    return most


@arc_space.implement(ListedArcs)
def _(arcs: ListedArcs, n_words: int) -> Any:
    return NoSpace()


@arc_scores.implement(ListedArcs)
def _(arcs: ListedArcs, i: int, w: FloatArray, score: FloatArray, space: Any) -> None:
    n = score.shape[0] - 1
    for h in range(n + 1):
        row = score[h]
        row[:] = 0.0
        at = arcs.first[i] + h * (n + 1)
        for m in range(1, n + 1):
            if h != m:
                row_dot(arcs.rows, at + m, w, row[m : m + 1])


@add_arcs.implement(ListedArcs)
def _(
    arcs: ListedArcs, i: int, mu: FloatArray, scale: float, w: FloatArray, space: Any
) -> float:
    n = mu.shape[0] - 1
    change = 0.0
    for h in range(n + 1):
        row = mu[h]
        at = arcs.first[i] + h * (n + 1)
        for m in range(1, n + 1):
            if h != m and row[m] != 0.0:
                change += row_add(arcs.rows, at + m, row[m : m + 1], scale, w)
    return change


@arc_entries.implement(ListedArcs)
def _(
    arcs: ListedArcs,
    i: int,
    n: int,
    h: int,
    m: int,
    idx: IntArray,
    val: FloatArray,
    space: Any,
) -> int:
    return row_entries(arcs.rows, arcs.first[i] + h * (n + 1) + m, 0, 1, idx, val)
