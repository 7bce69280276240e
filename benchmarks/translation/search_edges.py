"""Edges of a beam search while it goes on, in stacks by how much they translate.

They become more and more, so that their tables grow; in the end those on the best paths
are kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.translation.vocabulary import WIDTH, IntArray
from partwise import kernel

FloatArray = NDArray[np.float64]

SHIFT = 1 << 10  # positions in a sentence are below this
DEAD = -1


class Edges(NamedTuple):
    """Edges while they become more: numbers and scores of each, as named below."""

    numbers: IntArray
    scores: FloatArray
    size: IntArray


KEY, FROM, TO, OPTION, BACK, FORTH, FAR, LINK = range(8)
OWN, LM, TOTAL = range(3)


@kernel
def with_room(edges: Edges) -> Edges:
    """Return the edges with room for one more."""
    size = edges.size[0]
    if size < edges.numbers.shape[0]:
        return edges
    numbers = np.zeros((2 * size, edges.numbers.shape[1]), np.int64)
    scores = np.zeros((2 * size, edges.scores.shape[1]))
    numbers[:size] = edges.numbers
    scores[:size] = edges.scores
    return Edges(numbers, scores, edges.size)


@kernel
def add_edge(
    edges: Edges,
    stacks: tuple[IntArray, FloatArray],
    node: int,
    here: FloatArray,
    option: int,
    kinds: tuple[int, int, int],
    step: tuple[int, int, int, int],
    words: tuple[int, int],
    scores: tuple[float, float],
    rest: float,
    width: float,
) -> Edges:
    """Add an edge to the stack it leads to, unless it promises too little."""
    head, best = stacks
    covered, gap_begin, gap_end, following = step
    total = here[node] + scores[0]
    if total + rest < best[covered] - width:
        return edges
    best[covered] = max(best[covered], total + rest)
    edges = with_room(edges)
    e = edges.size[0]
    edges.size[0] += 1
    row = edges.numbers[e]
    place = (gap_begin * SHIFT + gap_end) * 4 + following
    row[KEY] = (place * WIDTH + words[0]) * WIDTH + words[1]
    row[FROM], row[TO], row[OPTION] = node, DEAD, option
    row[BACK], row[FORTH], row[FAR] = kinds
    row[LINK] = head[covered]
    head[covered] = e
    edges.scores[e, OWN], edges.scores[e, LM] = scores
    edges.scores[e, TOTAL] = total + rest
    return edges


@kernel
def keep_best(edges: Edges, here: FloatArray, end: int, most: int) -> IntArray:
    """Return the edges on the best paths, at most so many if scores differ."""
    n = edges.size[0]
    rest = np.full(end + 1, -np.inf)
    rest[end] = 0.0
    through = np.full(n, -np.inf)
    for e in range(n - 1, -1, -1):
        to, source = edges.numbers[e, TO], edges.numbers[e, FROM]
        if to == DEAD:
            continue
        onwards = edges.scores[e, OWN] + rest[to]
        rest[source] = max(rest[source], onwards)
        through[e] = here[source] + onwards
    alive = np.flatnonzero(through > -np.inf)
    if alive.size <= most:
        return alive
    least = np.sort(through[alive])[alive.size - most]
    # The best path has to survive rounding.
    return alive[through[alive] >= min(least, rest[0] - 1e-9)]
