"""The best non-projective tree: a maximum spanning arborescence, in O(n^2).

Words are 1..n and 0 is the root; ``score[h, m]`` is the score of the arc from head `h`
to word `m`, and -inf forbids it. Chu and Liu (1965) and Edmonds (1967): every word
takes its best head; where that makes a cycle, the cycle becomes one word, into which
an arc scores by how much better or worse it is than the arc of the cycle that it
replaces. Tarjan's (1977) form for dense graphs walks from a word to its best head and
on until it meets the root, a word that is settled, or itself.

Trees with a single arc from the root come by the same walk. Give every arc from the
root a penalty larger than any difference of scores, as a number of its own that is
compared first. An arc that closes a cycle never comes from the root, so the penalty
of an arc stays what it was through all contractions, and comparing it first means
taking the root as a head only where there is no other. No large constant is ever
added to a score.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures.interface import CodeArray, FloatArray
from partwise.structures.vectors import largest

FRESH, ON_PATH, SETTLED, MERGED = 0, 1, 2, 3


class ArborescenceSpace(NamedTuple):
    """Scratch arrays.

    A cycle that became one word lives on in the place of one of its words. For each
    pair of places there is the best arc: its score, and which words it joins. Words
    and contracted cycles are numbered together as nodes: words first, then the cycles
    as they were found.
    """

    into: FloatArray  # into[m, h]: the transpose of the scores
    arc_head: NDArray[np.int32]
    arc_word: NDArray[np.int32]
    state: NDArray[np.int32]  # of a place, and so on to `path`
    chosen: FloatArray
    node_at: NDArray[np.int32]
    path: NDArray[np.int32]
    parent: NDArray[np.int32]  # of a node: the cycle it became part of
    node_head: NDArray[np.int32]  # the arc chosen for a node
    node_word: NDArray[np.int32]


def make_arborescence_space(n_max: int) -> ArborescenceSpace:
    """Make the scratch arrays for sentences of up to `n_max` words."""
    n = n_max + 1
    return ArborescenceSpace(
        np.zeros((n, n)),
        np.zeros((n, n), np.int32),
        np.zeros((n, n), np.int32),
        np.zeros(n, np.int32),
        np.zeros(n),
        np.zeros(n, np.int32),
        np.zeros(n, np.int32),
        np.zeros(2 * n, np.int32),
        np.zeros(2 * n, np.int32),
        np.zeros(2 * n, np.int32),
    )


@kernel
def arborescence(
    score: FloatArray, single_root: bool, heads: CodeArray, space: ArborescenceSpace
) -> float:
    """Write the heads of the best tree; return its score, or -inf if there is none.

    Parameters
    ----------
    score : array of shape (n + 1, n + 1)
        Column 0 and the diagonal are not read.
    single_root : bool
        Whether only one word may have the root for a head.
    heads : int32 array of n
        ``heads[m - 1]`` becomes the head of word `m`; meaningless if there is no tree.
    space : ArborescenceSpace
        Made by `make_arborescence_space`.

    Returns
    -------
    float
        The sum of the scores of the arcs, added up from the first word to the last.

    Examples
    --------
    The first two words prefer each other to the root:

    >>> score = np.array([
    ...     [0.0, 5.0, 1.0, 1.0],
    ...     [0.0, 0.0, 9.0, 3.0],
    ...     [0.0, 8.0, 0.0, 4.0],
    ...     [0.0, 0.0, 2.0, 0.0],
    ... ])
    >>> heads, space = np.zeros(3, np.int32), make_arborescence_space(3)
    >>> float(arborescence(score, False, heads, space)), heads.tolist()
    (18.0, [0, 1, 2])
    """
    n = heads.size
    _transpose(score, n, space)
    n_nodes = n + 1
    for start in range(1, n + 1):
        if space.state[start] == FRESH:
            n_nodes = _settle(start, n, n_nodes, single_root, space)
            if n_nodes < 0:
                return -np.inf
    # Newest first: the arc into a cycle takes the place of the cycle's own arc into
    # the word, or the smaller cycle, that it enters.
    for node in range(n_nodes - 1, n, -1):
        entered = space.node_word[node]
        while space.parent[entered] != node:
            entered = space.parent[entered]
        space.node_head[entered] = space.node_head[node]
        space.node_word[entered] = space.node_word[node]
    total, n_roots = 0.0, 0
    for m in range(1, n + 1):
        heads[m - 1] = space.node_head[m]
        total += score[space.node_head[m], m]
        n_roots += space.node_head[m] == 0
    return -np.inf if single_root and n_roots > 1 else total


@kernel
def _transpose(score: FloatArray, n: int, space: ArborescenceSpace) -> None:
    """Start with every word a node of its own."""
    for m in range(1, n + 1):
        into, arc_head, arc_word = space.into[m], space.arc_head[m], space.arc_word[m]
        for h in range(n + 1):
            into[h] = score[h, m]
            arc_head[h] = h
            arc_word[h] = m
        into[m] = -np.inf
        space.state[m] = FRESH
        space.node_at[m] = m
    space.state[0] = SETTLED


@kernel
def _settle(
    start: int, n: int, n_nodes: int, single_root: bool, space: ArborescenceSpace
) -> int:
    """Walk from word `start` to heads that are settled, contracting every cycle.

    Return the number of nodes there are now, or -1 if a word has no head.
    """
    state, path = space.state, space.path
    here, length = start, 0
    while state[here] != SETTLED:
        head = _best_head(here, n, single_root, space)
        if head < 0:
            return -1
        node = space.node_at[here]
        space.chosen[here] = space.into[here, head]
        space.node_head[node] = space.arc_head[here, head]
        space.node_word[node] = space.arc_word[here, head]
        state[here] = ON_PATH
        path[length] = here
        length += 1
        if state[head] == ON_PATH:
            first = length - 1
            while path[first] != head:
                first -= 1
            _contract(path[first:length], n, n_nodes, space)
            n_nodes += 1
            length = first
        here = head
    for j in range(length):
        state[path[j]] = SETTLED
    return n_nodes


@kernel
def _best_head(here: int, n: int, single_root: bool, space: ArborescenceSpace) -> int:
    """Return the first of the best heads, -1 if there is none."""
    row = space.into[here, : n + 1]
    words = row[1:]
    top = largest(words)
    last_resort = single_root and top > -np.inf
    if row[0] > -np.inf and row[0] >= top and not last_resort:
        return 0
    if top > -np.inf:
        for h in range(words.size):
            if words[h] == top:
                return h + 1
    return -1


@kernel
def _contract(
    cycle: NDArray[np.int32], n: int, node: int, space: ArborescenceSpace
) -> None:
    """Make one node of a cycle, in the place of its first member."""
    into, arc_head, arc_word = space.into, space.arc_head, space.arc_word
    place = cycle[0]
    for h in range(n + 1):
        into[place, h] -= space.chosen[place]
    space.parent[space.node_at[place]] = node
    for j in range(1, cycle.size):
        member = cycle[j]
        for h in range(n + 1):
            gain = into[member, h] - space.chosen[member]
            if gain > into[place, h]:
                into[place, h] = gain
                arc_head[place, h] = arc_head[member, h]
                arc_word[place, h] = arc_word[member, h]
        space.parent[space.node_at[member]] = node
        space.state[member] = MERGED
    for j in range(cycle.size):
        into[place, cycle[j]] = -np.inf
    space.node_at[place] = node
    space.state[place] = FRESH
    for m in range(1, n + 1):
        # What is settled or merged takes no other head.
        if m != place and space.state[m] <= ON_PATH:
            for j in range(1, cycle.size):
                member = cycle[j]
                if into[m, member] > into[m, place]:
                    into[m, place] = into[m, member]
                    arc_head[m, place] = arc_head[m, member]
                    arc_word[m, place] = arc_word[m, member]
                into[m, member] = -np.inf
