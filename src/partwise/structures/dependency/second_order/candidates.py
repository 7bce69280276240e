"""The arcs that trees may have, and which of them meet in a part of second order.

The arcs of a sentence are numbered head by head, and from left to right below a head,
so that those to the inner siblings of a word are neighbours. A part of *siblings* is an
arc and the arc of the same head, on the same side, to the next word towards the head,
or none if there is no such word; the last such part of an arc says that none follows
it, away from the head. A part of *grandparents* is an arc and the arc to its
head; the root has an arc of its own that comes from nowhere, number ``n_arcs``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partwise._jit import kernel
from partwise.structures.interface import CodeArray, IntArray


class Candidates(NamedTuple):
    """The arcs of all sentences; `make_candidates` makes them.

    Arcs of sentence `i` begin at ``first[i]``; what there is for every word and the
    root, and a last number, begins at ``places[i]``. `below` and `into` say where the
    arcs of a head, and those to a word in `arc_into`, begin; `right` where those to the
    right of a head do. `siblings` and `grand` count parts, an arc after the other.
    """

    first: IntArray
    places: IntArray
    head: CodeArray
    modifier: CodeArray
    below: CodeArray
    right: CodeArray
    into: CodeArray
    arc_into: CodeArray
    by_length: CodeArray
    siblings: IntArray
    grand: IntArray


class SentenceArcs(NamedTuple):
    """The arcs of one sentence of `n` words; letters and numbers are its own."""

    n: int
    n_arcs: int
    head: CodeArray
    modifier: CodeArray
    below: CodeArray
    right: CodeArray
    into: CodeArray
    arc_into: CodeArray
    by_length: CodeArray
    siblings: IntArray
    grand: IntArray


def make_candidates(allowed: NDArray[np.uint8], lengths: ArrayLike) -> Candidates:
    """List the arcs that are allowed.

    Parameters
    ----------
    allowed : array of uint8
        A matrix ``[head, modifier]`` for every sentence, one after the other; what is
        on the diagonal or in the first column does not count.
    lengths : array of int
        The number of words of every sentence.

    Examples
    --------
    Two words, each of which may hang from the root or from the other:

    >>> found = make_candidates(np.ones(9, np.uint8), [2])
    >>> found.head.tolist(), found.modifier.tolist()
    ([0, 0, 1, 2], [1, 2, 2, 1])
    """
    sizes = np.asarray(lengths, np.int64)
    of_cells = np.concatenate([[0], np.cumsum((sizes + 1) ** 2)])
    if allowed.size != of_cells[-1]:
        raise ValueError(f"{allowed.size} arcs, but sentences have {of_cells[-1]}")
    first = np.zeros(sizes.size + 1, np.int64)
    _count_arcs(allowed, sizes, of_cells, first)
    places = np.concatenate([[0], np.cumsum(sizes + 2)]).astype(np.int64)
    n_arcs, n_places = int(first[-1]), int(places[-1])
    found = Candidates(
        first,
        places,
        np.zeros(n_arcs, np.int32),
        np.zeros(n_arcs, np.int32),
        np.zeros(n_places, np.int32),
        np.zeros(n_places, np.int32),
        np.zeros(n_places, np.int32),
        np.zeros(n_arcs, np.int32),
        np.zeros(n_arcs, np.int32),
        # One number more for every sentence, the end of its last arc.
        np.zeros(n_arcs + sizes.size, np.int64),
        np.zeros(n_arcs + sizes.size, np.int64),
    )
    _fill(found, allowed, of_cells)
    return found


@kernel
def arcs_of(found: Candidates, i: int) -> SentenceArcs:
    """Return views of the arcs of sentence `i`."""
    a, b = found.first[i], found.first[i + 1]
    p, q = found.places[i], found.places[i + 1]
    return SentenceArcs(
        q - p - 2,
        b - a,
        found.head[a:b],
        found.modifier[a:b],
        found.below[p:q],
        found.right[p:q],
        found.into[p:q],
        found.arc_into[a:b],
        found.by_length[a:b],
        found.siblings[a + i : b + i + 1],
        found.grand[a + i : b + i + 1],
    )


@kernel
def _count_arcs(
    allowed: NDArray[np.uint8], lengths: IntArray, of_cells: IntArray, first: IntArray
) -> None:
    for i in range(lengths.size):
        n = lengths[i]
        cells = allowed[of_cells[i] : of_cells[i + 1]].reshape(n + 1, n + 1)
        total = 0
        for h in range(n + 1):
            for m in range(1, n + 1):
                total += h != m and cells[h, m] != 0
        first[i + 1] = first[i] + total


@kernel
def _fill(found: Candidates, allowed: NDArray[np.uint8], of_cells: IntArray) -> None:
    for i in range(found.first.size - 1):
        arcs = arcs_of(found, i)
        n = arcs.n
        cells = allowed[of_cells[i] : of_cells[i + 1]].reshape(n + 1, n + 1)
        _list_arcs(arcs, cells)
        _list_parents(arcs)
        _sort_by_length(arcs)
        _count_parts(arcs)


@kernel
def _list_arcs(arcs: SentenceArcs, cells: NDArray[np.uint8]) -> None:
    n, a = arcs.n, 0
    for h in range(n + 1):
        arcs.below[h] = a
        for side in range(2):
            start, stop = (1, h) if side == 0 else (h + 1, n + 1)
            arcs.right[h] = a
            for m in range(start, stop):
                if cells[h, m] != 0:
                    arcs.head[a], arcs.modifier[a] = h, m
                    a += 1
    arcs.below[n + 1] = arcs.right[n + 1] = a


@kernel
def _list_parents(arcs: SentenceArcs) -> None:
    """Sort the arcs by their words: count, add up, and put them in place."""
    into = arcs.into
    into[:] = 0
    for a in range(arcs.n_arcs):
        into[arcs.modifier[a] + 1] += 1
    for m in range(1, arcs.n + 2):
        into[m] += into[m - 1]
    for a in range(arcs.n_arcs):
        m = arcs.modifier[a]
        arcs.arc_into[into[m]] = a
        into[m] += 1
    for m in range(arcs.n + 1, 0, -1):
        into[m] = into[m - 1]
    into[0] = 0


@kernel
def _sort_by_length(arcs: SentenceArcs) -> None:
    """Sort the arcs by their lengths, and those of a length by their words."""
    begin = np.zeros(arcs.n + 2, np.int64)
    for a in range(arcs.n_arcs):
        begin[abs(arcs.head[a] - arcs.modifier[a]) + 1] += 1
    for length in range(1, arcs.n + 2):
        begin[length] += begin[length - 1]
    for a in arcs.arc_into:
        length = abs(arcs.head[a] - arcs.modifier[a])
        arcs.by_length[begin[length]] = a
        begin[length] += 1


@kernel
def _count_parts(arcs: SentenceArcs) -> None:
    for b in range(arcs.n_arcs):
        arcs.siblings[b + 1] = arcs.siblings[b] + n_inner(arcs, b) + 2
        arcs.grand[b + 1] = arcs.grand[b] + n_parents(arcs, arcs.head[b])


@kernel
def n_inner(arcs: SentenceArcs, b: int) -> int:
    """Return how many arcs of the same head, on the same side, are shorter."""
    right = arcs.right[arcs.head[b]]
    return b - right if b >= right else right - 1 - b


@kernel
def last_part(arcs: SentenceArcs, b: int) -> int:
    """Return the part of siblings that says that no arc follows arc `b`."""
    return arcs.siblings[b + 1] - 1


@kernel
def inner_arc(arcs: SentenceArcs, b: int, rank: int) -> int:
    """Return the inner arc of a rank from 1, counted from the head."""
    right = arcs.right[arcs.head[b]]
    return right + rank - 1 if b >= right else right - rank


@kernel
def n_parents(arcs: SentenceArcs, h: int) -> int:
    """Return how many arcs there are to a word; to the root, the one from nowhere."""
    return arcs.into[h + 1] - arcs.into[h] if h > 0 else 1


@kernel
def parent_arc(arcs: SentenceArcs, h: int, j: int) -> int:
    """Return the arc number `j` of those to a word."""
    return arcs.arc_into[arcs.into[h] + j] if h > 0 else arcs.n_arcs


@kernel
def covers(arcs: SentenceArcs, a: int, e: int) -> bool:
    """Say whether the head of arc `a` lies between its word and `e`, or is `e`.

    What is below a word cannot reach as far as the word's own head.
    """
    if a == arcs.n_arcs:
        return False
    h, g = arcs.modifier[a], arcs.head[a]
    return h < g <= e if e >= h else e <= g < h


@kernel
def find_arc(arcs: SentenceArcs, h: int, m: int) -> int:
    """Return the arc from `h` to `m`, -1 if there is none."""
    for j in range(arcs.into[m], arcs.into[m + 1]):
        if arcs.head[arcs.arc_into[j]] == h:
            return arcs.arc_into[j]
    return -1
