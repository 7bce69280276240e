"""The k best word sequences of a lattice, each with the best path that yields it.

Many paths may yield the same words, so that the best paths do not give the best
sequences. As Mohri and Riley (ICSLP 2002) do, the lattice is made deterministic, but
only as far as the answer asks: a *hypothesis* is a beginning of a sequence with all
edges that may yield its next word, and for each the best way to it. The best way from
every node to the end is known, so that the hypothesis that promises most is always a
beginning of the next sequence: k of them take no more than k times their length to
find, times the edges that share a beginning.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from partwise._jit import kernel
from partwise.structures.heap import rise, take_first
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.lattice.best_path import score_rests, turn_round
from partwise.structures.vectors import fill

NONE = -1


class WordSpace(NamedTuple):
    """Scratch arrays.

    By node: edges from it, the rest of the way, the best way of arriving. By word: the
    last member that yields it. And lists of nodes and of words.
    """

    out_ptr: IntArray
    rest: FloatArray
    arrival: FloatArray
    arrival_trail: IntArray
    arrived: IntArray
    yielding: IntArray
    following: IntArray


def make_word_space(n_nodes: int, n_words: int) -> WordSpace:
    """Make the scratch arrays for up to `n_nodes` nodes and `n_words` words."""
    return WordSpace(
        np.zeros(n_nodes + 1, np.int64),
        np.zeros(n_nodes),
        np.full(n_nodes, -np.inf),
        np.zeros(n_nodes, np.int64),
        np.zeros(n_nodes, np.int64),
        np.full(n_words, NONE, np.int64),
        np.zeros(n_words, np.int64),
    )


class GrowingTable(NamedTuple):
    """A table that grows by rows: numbers, and a value; ``size[0]`` of them."""

    numbers: IntArray
    values: FloatArray
    size: IntArray


Tables: TypeAlias = tuple[GrowingTable, GrowingTable, GrowingTable]
"""The heap of hypotheses, their members, and trails."""

# Trails: an edge, and the trail before it. Members of hypotheses, valued by score: an
# edge that may yield the next word, which of its words that is, its trail, and the
# member before that yields the same word. Hypotheses, valued by what they promise:
# their members from first to last, or the trail of a whole sequence, and the number of
# words. The first rows make up a heap: which hypothesis is where in it.
EDGE, BEFORE = 0, 1
OFFSET, TRAIL, LINK = 1, 2, 3
FIRST, LAST, WHOLE, LENGTH, PLACE = 0, 1, 2, 3, 4


@kernel
def _make_table(room: int, width: int) -> GrowingTable:
    return GrowingTable(
        np.zeros((room, width), np.int64), np.zeros(room), np.zeros(2, np.int64)
    )


@kernel
def _with_room(table: GrowingTable, more: int) -> GrowingTable:
    """Return a table with room for more rows: itself, or one twice as large."""
    size = table.size[0]
    if size + more <= table.values.size:
        return table
    room, width = 2 * (size + more), table.numbers.shape[1]
    numbers, values = np.zeros((room, width), np.int64), np.zeros(room)
    for a in range(size):
        values[a] = table.values[a]
        for c in range(width):
            numbers[a, c] = table.numbers[a, c]
    return GrowingTable(numbers, values, table.size)


@kernel
def _push(
    table: GrowingTable, promise: float, first: int, last: int, whole: int, length: int
) -> GrowingTable:
    """Add a hypothesis."""
    table = _with_room(table, 1)
    new, at = table.size[0], table.size[1]
    table.size[0] += 1
    table.size[1] += 1
    row = table.numbers[new]
    table.values[new] = promise
    row[FIRST], row[LAST], row[WHOLE], row[LENGTH] = first, last, whole, length
    table.numbers[at, PLACE] = new
    # Of equal promises the longer one.
    rise(table.numbers[:, PLACE], at, table.values, table.numbers[:, LENGTH])
    return table


@kernel
def _pop(table: GrowingTable) -> int:
    """Take the first hypothesis out of the heap."""
    heap, length = table.numbers[:, PLACE], table.numbers[:, LENGTH]
    table.size[1] -= 1
    return take_first(heap, table.size[1] + 1, table.values, length)


@kernel
def _add_member(
    members: GrowingTable, e: int, offset: int, trail: int, score: float
) -> GrowingTable:
    members = _with_room(members, 1)
    m = members.size[0]
    members.size[0] += 1
    members.values[m] = score
    row = members.numbers[m]
    row[EDGE], row[OFFSET], row[TRAIL] = e, offset, trail
    return members


@kernel
def _arrive(space: WordSpace, v: int, score: float, trail: int, n: int) -> int:
    """Note a way to arrive at a node; return at how many nodes there are some."""
    if space.arrival[v] == -np.inf:
        space.arrived[n] = v
        n += 1
    if score > space.arrival[v]:
        space.arrival[v] = score
        space.arrival_trail[v] = trail
    return n


@kernel
def _take_first(space: WordSpace, n: int) -> int:
    """Take the first node of those arrived at, `n` of them."""
    at = 0
    for j in range(1, n):
        if space.arrived[j] < space.arrived[at]:
            at = j
    v = space.arrived[at]
    space.arrived[at] = space.arrived[n - 1]
    return v


@kernel
def _go_on(
    target: CodeArray, theta: FloatArray, n_nodes: int, word_ptr: IntArray,
    first: int, n_arrived: int, length: int, tables: Tables,
    space: WordSpace,
) -> Tables:  # fmt: skip
    """Go on from all nodes arrived at to edges with words; add what was found.

    The members from `first` on are in the middle of an edge; the others are found here.
    Nodes come in topological order, so that the best way to each is known when it is
    its turn, through edges without words, too.
    """
    heap, members, trails = tables
    while n_arrived > 0:
        v = _take_first(space, n_arrived)
        n_arrived -= 1
        score, trail = space.arrival[v], space.arrival_trail[v]
        space.arrival[v] = -np.inf
        if v == n_nodes - 1:
            heap = _push(heap, score, 0, 0, trail, length + 1)
        for e in range(space.out_ptr[v], space.out_ptr[v + 1]):
            trails = _with_room(trails, 1)
            t = trails.size[0]
            trails.size[0] += 1
            trails.numbers[t, EDGE], trails.numbers[t, BEFORE] = e, trail
            reached = score + theta[e]
            if word_ptr[e] == word_ptr[e + 1]:
                n_arrived = _arrive(space, target[e], reached, t, n_arrived)
            else:
                members = _add_member(members, e, 0, t, reached)
    last = members.size[0]
    if last > first:
        promise = -np.inf
        for m in range(first, last):
            rest = space.rest[target[members.numbers[m, EDGE]]]
            promise = max(promise, members.values[m] + rest)
        heap = _push(heap, promise, first, last, NONE, length)
    return heap, members, trails


@kernel
def _link_words(
    word_ptr: IntArray, word: CodeArray, first: int, last: int, members: GrowingTable,
    space: WordSpace,
) -> int:  # fmt: skip
    """List the next words of a hypothesis; return how many.

    Members that yield the same word are linked, the last of them at `yielding`.
    """
    n_words = 0
    for m in range(first, last):
        row = members.numbers[m]
        x = word[word_ptr[row[EDGE]] + row[OFFSET]]
        if space.yielding[x] == NONE:
            space.following[n_words] = x
            n_words += 1
        row[LINK] = space.yielding[x]
        space.yielding[x] = m
    return n_words


@kernel
def _write(trails: GrowingTable, trail: int, y: CodeArray, size: int) -> None:
    length = 0
    while trail != NONE:
        y[length] = trails.numbers[trail, EDGE]
        length += 1
        trail = trails.numbers[trail, BEFORE]
    turn_round(y, length, size)


@kernel
def _sort_last(ys: CodeArray, scores: FloatArray, found: int, size: int) -> None:
    """Move the last sequence up where rounding made it come too late."""
    j = found - 1
    while j > 0 and scores[j] > scores[j - 1]:
        scores[j], scores[j - 1] = scores[j - 1], scores[j]
        for c in range(size):
            ys[j, c], ys[j - 1, c] = ys[j - 1, c], ys[j, c]
        j -= 1


@kernel
def _list_edges(
    source: CodeArray, theta: FloatArray, target: CodeArray, n_nodes: int,
    space: WordSpace,
) -> None:  # fmt: skip
    """Prepare what is known of nodes: where their edges are, the rest of the way."""
    out_ptr = space.out_ptr
    fill(out_ptr, n_nodes + 1, 0)
    for e in range(source.size):
        out_ptr[source[e] + 1] += 1
    for v in range(n_nodes):
        out_ptr[v + 1] += out_ptr[v]
    fill(space.arrival, n_nodes, -np.inf)
    score_rests(source, target, theta, n_nodes, space.rest)


@kernel
def best_word_sequences(
    source: CodeArray, target: CodeArray, theta: FloatArray, n_nodes: int,
    word_ptr: IntArray, word: CodeArray, k: int, ys: CodeArray, size: int,
    scores: FloatArray, space: WordSpace,
) -> int:  # fmt: skip
    """Write the best paths of the `k` best word sequences; return how many there are.

    The words of edge `e` are ``word[word_ptr[e]:word_ptr[e + 1]]``.
    """
    _list_edges(source, theta, target, n_nodes, space)
    tables = _make_table(16, 5), _make_table(64, 4), _make_table(64, 2)
    n_arrived = _arrive(space, 0, 0.0, NONE, 0)
    tables = _go_on(target, theta, n_nodes, word_ptr, 0, n_arrived, 0, tables, space)
    found = 0
    while found < k and tables[0].size[1] > 0:
        heap, members, trails = tables
        at = _pop(heap)
        row = heap.numbers[at]
        if row[FIRST] == row[LAST]:
            scores[found] = heap.values[at]
            _write(trails, row[WHOLE], ys[found], size)
            found += 1
            _sort_last(ys, scores, found, size)
            continue
        n_words = _link_words(word_ptr, word, row[FIRST], row[LAST], members, space)
        for j in range(n_words):
            x = space.following[j]
            m = space.yielding[x]
            space.yielding[x] = NONE
            own, n_arrived = members.size[0], 0
            while m != NONE:
                e, offset = members.numbers[m, EDGE], members.numbers[m, OFFSET] + 1
                trail, score = members.numbers[m, TRAIL], members.values[m]
                m = members.numbers[m, LINK]
                if word_ptr[e] + offset == word_ptr[e + 1]:
                    n_arrived = _arrive(space, target[e], score, trail, n_arrived)
                else:
                    members = _add_member(members, e, offset, trail, score)
            tables = _go_on(
                target, theta, n_nodes, word_ptr, own, n_arrived, row[LENGTH] + 1,
                (heap, members, trails), space,
            )  # fmt: skip
            heap, members, trails = tables
    return found
