"""Arcs with features of two kinds, whose scores add up.

What a user lists for every arc is added to what templates hash. The weights of
the listed features come after those of the hashed ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise.structures.dependency.arcs import (
    Arcs,
    add_arcs,
    arc_entries,
    arc_scores,
    arc_space,
    n_arc_features,
    n_arc_weights,
    prepare_arcs,
)
from partwise.structures.interface import FloatArray, IntArray


class AddedArcs(NamedTuple):
    """Hashed and listed features of the arcs of the same sentences.

    Examples
    --------
    >>> from partwise.structures.dependency.arcs import make_listed_arcs
    >>> from partwise.structures.rows import make_sparse_rows
    >>> arcs = make_listed_arcs(make_sparse_rows([0, 0, 2, 2, 2], [0, 1], None, 2), [1])
    >>> n_arc_weights(AddedArcs(arcs, arcs))
    4
    """

    hashed: Arcs
    listed: Arcs


class AddedSpace(NamedTuple):
    """What both kinds need, and the scores of the listed features."""

    hashed: Any
    listed: Any
    score: FloatArray


@n_arc_weights.implement(AddedArcs)
def _(arcs: AddedArcs) -> int:
    return n_arc_weights(arcs.hashed) + n_arc_weights(arcs.listed)


@n_arc_features.implement(AddedArcs)
def _(arcs: AddedArcs) -> int:
    return n_arc_features(arcs.hashed) + n_arc_features(arcs.listed)


@arc_space.implement(AddedArcs)
def _(arcs: AddedArcs, n_words: int) -> Any:
    return AddedSpace(
        arc_space(arcs.hashed, n_words),
        arc_space(arcs.listed, n_words),
        np.zeros((n_words + 1) ** 2),
    )


@prepare_arcs.implement(AddedArcs)
def _(arcs: AddedArcs, i: int, n: int, space: Any) -> None:
    prepare_arcs(arcs.hashed, i, n, space.hashed)
    prepare_arcs(arcs.listed, i, n, space.listed)


@arc_scores.implement(AddedArcs)
def _(arcs: AddedArcs, i: int, w: FloatArray, score: FloatArray, space: Any) -> None:
    side = score.shape[0]
    more = space.score[: side * side].reshape(side, side)
    arc_scores(arcs.hashed, i, w, score, space.hashed)
    arc_scores(arcs.listed, i, w[n_arc_weights(arcs.hashed) :], more, space.listed)
    for h in range(side):
        for m in range(side):
            score[h, m] += more[h, m]


@add_arcs.implement(AddedArcs)
def _(
    arcs: AddedArcs, i: int, mu: FloatArray, scale: float, w: FloatArray, space: Any
) -> float:
    change = add_arcs(arcs.hashed, i, mu, scale, w, space.hashed)
    after = w[n_arc_weights(arcs.hashed) :]
    return change + add_arcs(arcs.listed, i, mu, scale, after, space.listed)


@arc_entries.implement(AddedArcs)
def _(
    arcs: AddedArcs,
    i: int,
    n: int,
    h: int,
    m: int,
    idx: IntArray,
    val: FloatArray,
    space: Any,
) -> int:
    found = arc_entries(arcs.hashed, i, n, h, m, idx, val, space.hashed)
    after, first = idx[found:], n_arc_weights(arcs.hashed)
    more = arc_entries(arcs.listed, i, n, h, m, after, val[found:], space.listed)
    for j in range(more):
        after[j] += first
    return found + more
