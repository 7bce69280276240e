"""A corpus of dependency trees whose parts are of first and of second order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures.dependency import labels
from partwise.structures.dependency.arc_parts import (
    ArcParts,
    LabelParts,
    arc_parts,
    label_parts,
)
from partwise.structures.dependency.corpus import DependencyTrees
from partwise.structures.dependency.families import NonProjective
from partwise.structures.dependency.second_order.candidates import (
    Candidates,
    arcs_of,
    find_arc,
    make_candidates,
)
from partwise.structures.dependency.second_order.triples import HashedTriples
from partwise.structures.interface import CodeArray, IntArray


class LabelRows(NamedTuple):
    """The rows of label parts that arcs have: the others are not needed.

    Those of sentence `i` begin at ``first[i]``; `row` numbers them as `labels` does,
    and `of_arc` says which three an arc has.
    """

    first: IntArray
    row: CodeArray
    of_arc: CodeArray


class SecondOrderTrees(NamedTuple):
    """A corpus of trees; make one with `make_second_order_trees`.

    Outputs, their costs and the weights of arcs and labels are those of `first`; the
    weights of three words come after them.
    """

    first: DependencyTrees
    arcs: Candidates
    rows: LabelRows
    triples: HashedTriples


def make_second_order_trees(
    first: DependencyTrees, allowed: NDArray[np.uint8], triples: HashedTriples
) -> SecondOrderTrees:
    """Make a corpus of second order of one of first order.

    Parameters
    ----------
    first : DependencyTrees
        Projective trees.
    allowed : array of uint8
        Which arcs trees may have: a matrix ``[head, modifier]`` for every sentence, one
        after the other.
    triples : HashedTriples
        The features of siblings and grandparents.
    """
    if isinstance(first.family, NonProjective):
        raise ValueError("parts of second order are for projective trees")
    arcs = make_candidates(allowed, np.diff(first.ptr))
    return SecondOrderTrees(first, arcs, _make_rows(first, arcs), triples)


def _make_rows(s: DependencyTrees, found: Candidates) -> LabelRows:
    n_sentences = s.ptr.size - 1
    if s.labels.n_labels == 0:
        return LabelRows(
            np.zeros(n_sentences + 1, np.int64),
            np.zeros(0, np.int32),
            np.zeros((0, 3), np.int32),
        )
    of_arc = np.zeros((found.head.size, 3), np.int32)
    row = np.zeros(of_arc.size, np.int32)
    first = np.zeros(n_sentences + 1, np.int64)
    most = 0
    for i in range(n_sentences):
        n = int(s.ptr[i + 1] - s.ptr[i])
        most = max(most, int(labels.n_label_rows(s.labels, i, n)))
    _find_rows(s, found, np.zeros(most, np.int32), first, row, of_arc)
    return LabelRows(first, row[: first[-1]].copy(), of_arc)


@kernel
def _find_rows(
    s: DependencyTrees,
    found: Candidates,
    number: CodeArray,
    first: IntArray,
    row: CodeArray,
    of_arc: CodeArray,
) -> None:
    for i in range(first.size - 1):
        arcs = arcs_of(found, i)
        number[:] = -1
        count = 0
        # What words say comes first: these rows decide the labels.
        for kind in range(3):
            for a in range(arcs.n_arcs):
                h, m = arcs.head[a], arcs.modifier[a]
                at = labels.modifier_row(arcs.n, h, m)
                if kind > 0:
                    at = labels.head_row(arcs.n, h, m)
                if kind > 1:
                    at = labels.pair_row(s.labels, i, arcs.n, h, m)
                if number[at] < 0:
                    number[at] = count
                    row[first[i] + count] = at
                    count += 1
                of_arc[found.first[i] + a, kind] = number[at]
        first[i + 1] = first[i] + count


@arc_parts.register
def _(s: SecondOrderTrees, i: int) -> ArcParts:
    arcs = arcs_of(s.arcs, i)
    return ArcParts(
        arcs.head.astype(np.int64),
        arcs.modifier.astype(np.int64),
        np.arange(arcs.n_arcs, dtype=np.int64),
    )


@label_parts.register
def _(s: SecondOrderTrees, i: int) -> LabelParts:
    n = int(s.first.ptr[i + 1] - s.first.ptr[i])
    row = s.rows.row[s.rows.first[i] : s.rows.first[i + 1]].astype(np.int64)
    own = np.flatnonzero(row < 2 * n)  # the others are what heads and pairs say
    first = int(s.arcs.first[i + 1] - s.arcs.first[i])
    return LabelParts(row[own] % max(n, 1) + 1, first + own * s.first.labels.n_labels)


def lost_heads(s: SecondOrderTrees, heads: CodeArray) -> int:
    """Count the words whose head is none of those that are left to choose from."""
    return int(_lost_heads(s.arcs, s.first.ptr, heads))


@kernel
def _lost_heads(found: Candidates, ptr: IntArray, heads: CodeArray) -> int:
    lost = 0
    for i in range(ptr.size - 1):
        arcs = arcs_of(found, i)
        for m in range(1, arcs.n + 1):
            lost += find_arc(arcs, heads[ptr[i] + m - 1], m) < 0
    return lost


@kernel
def sibling_of(y: CodeArray, m: int) -> int:
    """Return the inner sibling of word `m` in a tree: 0 if there is none."""
    h = y[m - 1]
    step = 1 if h < m else -1
    p = m - step
    while p != h:
        if y[p - 1] == h:
            return p
        p -= step
    return 0


@kernel
def is_last(y: CodeArray, n: int, m: int) -> bool:
    """Say whether no sibling follows word `m`, away from their head."""
    h = y[m - 1]
    step = 1 if h < m else -1
    p = m + step
    while 1 <= p <= n:
        if y[p - 1] == h:
            return False
        p += step
    return True


@kernel
def grandparent_of(y: CodeArray, m: int) -> int:
    """Return the head of the head of word `m` in a tree: -1 below the root."""
    h = y[m - 1]
    return y[h - 1] if h > 0 else -1
