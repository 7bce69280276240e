"""The k best word sequences of a lattice, each with the best path that yields it.

Many paths may yield the same words, so that the best paths are no way to the best
sequences. As Mohri and Riley (ICSLP 2002) do, the lattice is made deterministic, but
only as far as the answer asks: a *hypothesis* is a beginning of a sequence with all
edges that may yield its next word, and for each the best way to it. The best way from
every node to the end is known, so that the hypothesis that promises most always is a
beginning of the next sequence: k of them take no more than k times their length to
find, times the edges that share a beginning.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.lattice.best_path import score_rests, turn_round

NONE = -1


class WordSpace(NamedTuple):
    """Scratch arrays by node: edges from it, rest of the way, best way of arriving."""

    out_ptr: IntArray
    rest: FloatArray
    arrival: FloatArray
    arrival_trail: IntArray
    arrived: IntArray


def make_word_space(n_nodes: int, is_needed: bool) -> WordSpace:
    """Make the scratch arrays for lattices of up to `n_nodes` nodes."""
    n = n_nodes if is_needed else 0
    return WordSpace(
        np.zeros(n + 1, np.int64),
        np.zeros(n),
        np.full(n, -np.inf),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
    )


class Pool(NamedTuple):
    """Numbers that become more and more: the first ``size[0]`` rows of each array."""

    numbers: IntArray
    values: FloatArray
    size: IntArray


@kernel
def _make_pool(room: int, width: int) -> Pool:
    return Pool(
        np.zeros((room, width), np.int64), np.zeros(room), np.zeros(1, np.int64)
    )


@kernel
def _with_room(pool: Pool, more: int) -> Pool:
    """Return a pool with room for more rows: itself, or one twice as large."""
    size = pool.size[0]
    if size + more <= pool.values.size:
        return pool
    room = 2 * (size + more)
    numbers = np.zeros((room, pool.numbers.shape[1]), np.int64)
    values = np.zeros(room)
    numbers[:size] = pool.numbers[:size]
    values[:size] = pool.values[:size]
    return Pool(numbers, values, pool.size)


# Trails: an edge, and the trail before it. Members of hypotheses: an edge that may
# yield the next word, which of its words that is, and its trail; valued by score.
EDGE, BEFORE = 0, 1
OFFSET, TRAIL = 1, 2
# Hypotheses: their members from first to last; or the trail of a whole sequence, and
# no members. Valued by what they promise; of equal ones the longer goes first.
FIRST, LAST, WHOLE, LENGTH = 0, 1, 2, 3


@kernel
def _precedes(heap: Pool, a: int, b: int) -> bool:
    if heap.values[a] != heap.values[b]:
        return heap.values[a] > heap.values[b]
    return heap.numbers[a, LENGTH] > heap.numbers[b, LENGTH]


@kernel
def _swap(heap: Pool, a: int, b: int) -> None:
    heap.values[a], heap.values[b] = heap.values[b], heap.values[a]
    for c in range(heap.numbers.shape[1]):
        one, other = heap.numbers[a, c], heap.numbers[b, c]
        heap.numbers[a, c], heap.numbers[b, c] = other, one


@kernel
def _push(
    heap: Pool, promise: float, first: int, last: int, whole: int, length: int
) -> Pool:
    heap = _with_room(heap, 1)
    at = heap.size[0]
    heap.size[0] += 1
    heap.values[at] = promise
    heap.numbers[at, FIRST], heap.numbers[at, LAST] = first, last
    heap.numbers[at, WHOLE], heap.numbers[at, LENGTH] = whole, length
    while at > 0 and _precedes(heap, at, (at - 1) // 2):
        _swap(heap, at, (at - 1) // 2)
        at = (at - 1) // 2
    return heap


@kernel
def _pop(heap: Pool) -> int:
    """Take the first hypothesis out of the heap; return where it is kept."""
    heap.size[0] -= 1
    n = heap.size[0]
    _swap(heap, 0, n)
    at = 0
    while 2 * at + 1 < n:
        child = 2 * at + 1
        if child + 1 < n and _precedes(heap, child + 1, child):
            child += 1
        if not _precedes(heap, child, at):
            break
        _swap(heap, at, child)
        at = child
    return n


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
def _add_hypothesis(
    target: CodeArray, theta: FloatArray, n_nodes: int, word_ptr: IntArray,
    first: int, n_arrived: int, length: int, heap: Pool, members: Pool,
    trails: Pool, space: WordSpace,
) -> tuple[Pool, Pool, Pool]:  # fmt: skip
    """Go on from all nodes arrived at to edges with words; add what was found.

    The members from `first` on are in the midst of an edge; the others are found here.
    Nodes come in topological order, so that the best way to each is known when it is
    its turn, through edges without words, too.
    """
    while n_arrived > 0:
        v = _take_first(space, n_arrived)
        n_arrived -= 1
        score, trail = space.arrival[v], space.arrival_trail[v]
        space.arrival[v] = -np.inf
        if v == n_nodes - 1:
            heap = _push(heap, score, 0, 0, trail, length + 1)
            continue
        start, stop = space.out_ptr[v], space.out_ptr[v + 1]
        trails = _with_room(trails, stop - start)
        members = _with_room(members, stop - start)
        for e in range(start, stop):
            t = trails.size[0]
            trails.size[0] += 1
            trails.numbers[t, EDGE], trails.numbers[t, BEFORE] = e, trail
            reached = score + theta[e]
            if word_ptr[e] == word_ptr[e + 1]:
                n_arrived = _arrive(space, target[e], reached, t, n_arrived)
            else:
                m = members.size[0]
                members.size[0] += 1
                members.values[m] = reached
                members.numbers[m, EDGE] = e
                members.numbers[m, OFFSET] = 0
                members.numbers[m, TRAIL] = t
    last = members.size[0]
    if last > first:
        promise = -np.inf
        for m in range(first, last):
            rest = space.rest[target[members.numbers[m, EDGE]]]
            promise = max(promise, members.values[m] + rest)
        heap = _push(heap, promise, first, last, NONE, length)
    return heap, members, trails


@kernel
def _write(trails: Pool, trail: int, y: CodeArray, size: int) -> None:
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
    out_ptr[: n_nodes + 1] = 0
    for e in range(source.size):
        out_ptr[source[e] + 1] += 1
    for v in range(n_nodes):
        out_ptr[v + 1] += out_ptr[v]
    space.arrival[:n_nodes] = -np.inf
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
    heap, members, trails = _make_pool(16, 4), _make_pool(64, 3), _make_pool(64, 2)
    n_arrived = _arrive(space, 0, 0.0, NONE, 0)
    heap, members, trails = _add_hypothesis(
        target, theta, n_nodes, word_ptr, 0, n_arrived, 0, heap, members, trails, space
    )
    found = 0
    while found < k and heap.size[0] > 0:
        at = _pop(heap)
        first, last = heap.numbers[at, FIRST], heap.numbers[at, LAST]
        whole, length = heap.numbers[at, WHOLE], heap.numbers[at, LENGTH]
        if first == last:
            scores[found] = heap.values[at]
            _write(trails, whole, ys[found], size)
            found += 1
            _sort_last(ys, scores, found, size)
            continue
        following = np.zeros(last - first, np.int64)
        for m in range(first, last):
            e, offset = members.numbers[m, EDGE], members.numbers[m, OFFSET]
            following[m - first] = word[word_ptr[e] + offset]
        order = np.argsort(following, kind="mergesort")
        j = 0
        while j < order.size:
            # All members with the same next word go on together.
            own, n_arrived = members.size[0], 0
            same = following[order[j]]
            while j < order.size and following[order[j]] == same:
                m = first + order[j]
                j += 1
                e, offset = members.numbers[m, EDGE], members.numbers[m, OFFSET] + 1
                score, trail = members.values[m], members.numbers[m, TRAIL]
                if word_ptr[e] + offset == word_ptr[e + 1]:
                    n_arrived = _arrive(space, target[e], score, trail, n_arrived)
                else:
                    members = _with_room(members, 1)
                    new = members.size[0]
                    members.size[0] += 1
                    members.values[new] = score
                    members.numbers[new, EDGE] = e
                    members.numbers[new, OFFSET] = offset
                    members.numbers[new, TRAIL] = trail
            heap, members, trails = _add_hypothesis(
                target, theta, n_nodes, word_ptr, own, n_arrived, length + 1, heap,
                members, trails, space,
            )  # fmt: skip
    return found
