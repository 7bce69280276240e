"""Which parts of a sentence are its arcs, whatever the order of the trees."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from partwise.structures.decoding import part_marginals
from partwise.structures.dependency.corpus import DependencyTrees
from partwise.structures.interface import FloatArray, IntArray


class ArcParts(NamedTuple):
    """The head and the word of every arc that is a part, and the number of the part."""

    head: IntArray
    word: IntArray
    part: IntArray


@singledispatch
def arc_parts(s: Any, i: int) -> ArcParts:
    """List the arcs of sentence `i`; they are among its first parts."""
    raise TypeError(f"{type(s).__name__} is no corpus of dependency trees")


@arc_parts.register
def _(s: DependencyTrees, i: int) -> ArcParts:
    side = int(s.ptr[i + 1] - s.ptr[i]) + 1
    head, word = (cells.ravel() for cells in np.indices((side, side)))
    is_arc = (head != word) & (word > 0)
    return ArcParts(head[is_arc], word[is_arc], np.flatnonzero(is_arc))


class LabelParts(NamedTuple):
    """Words whose labels are parts, and the part of the first label of each."""

    word: IntArray
    part: IntArray


@singledispatch
def label_parts(s: Any, i: int) -> LabelParts:
    """List the rows of parts that every labelled arc to a word has one of."""
    raise TypeError(f"{type(s).__name__} is no corpus of dependency trees")


@label_parts.register
def _(s: DependencyTrees, i: int) -> LabelParts:
    n = int(s.ptr[i + 1] - s.ptr[i])
    row = np.arange(2 * n if s.labels.n_labels else 0)
    return LabelParts(row % max(n, 1) + 1, (n + 1) ** 2 + row * s.labels.n_labels)


def arc_shares(
    s: Any, w: FloatArray, lengths: IntArray, n_jobs: int
) -> list[FloatArray]:
    """Return the probability of every arc, ``[head, modifier]`` of each sentence."""
    found = [arc_parts(s, i) for i in range(lengths.size)]
    wanted = np.array([one.part.max(initial=-1) + 1 for one in found], np.int64)
    ptr, mu, _ = part_marginals(s, w, wanted, n_jobs)
    shares = []
    for i, one in enumerate(found):
        side = int(lengths[i]) + 1
        rows = np.zeros((side, side))
        rows[one.head, one.word] = mu[ptr[i] + one.part]
        shares.append(rows)
    return shares
