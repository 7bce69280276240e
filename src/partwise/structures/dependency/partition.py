"""The k best trees, labelled or not, by Lawler's partition, from best ones.

All trees but the best one fall into disjoint sets: those that differ from it first at
word 1, at word 2, and so on. The best tree of each set is that of a sentence with some
words held to their arcs and some arcs forbidden at one word (Murty, 1968; Lawler,
1972). The next best tree of all is the best of these; its own set is split in the same
way. Each tree found costs at most `n` searches for a best one, whatever finds it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import generic, kernel
from partwise.structures.interface import CodeArray, FloatArray
from partwise.structures.vectors import copy, place_of_largest


@generic
def best_allowed(
    search: Any, allowed: FloatArray, single_root: bool, heads: CodeArray
) -> float:
    """Write the heads of the best tree; return its score, -inf if there is none.

    `search` says how, and has the scratch arrays; arcs that score -inf are forbidden.
    """
    raise NotImplementedError("best_allowed is required of every search for trees")


class PartitionSpace(NamedTuple):
    """Scratch arrays: the sets of trees that are waiting, each with its best tree.

    A set holds the words before `free_from` to the arcs of its best tree, and forbids
    some arcs into word `free_from` itself: the heads in `banned`, where a head that is
    listed `j` times has lost its `j` best labels. A place without a set has the score
    -inf.
    """

    allowed: FloatArray
    heads: NDArray[np.int32]
    ranks: NDArray[np.int32]
    scores: FloatArray
    free_from: NDArray[np.int32]
    banned: NDArray[np.int32]
    n_banned: NDArray[np.int32]
    n_lost: NDArray[np.int32]
    new_heads: CodeArray


def make_partition_space(n_max: int, k: int) -> PartitionSpace:
    """Make the scratch arrays for up to `k` trees of up to `n_max` words."""
    # The set that is being split, and of those that wait the k - 1 best: once a tree
    # is found no more can matter.
    n_sets = max(k, 1)
    return PartitionSpace(
        np.zeros((n_max + 1) ** 2),
        np.zeros((n_sets, n_max), np.int32),
        np.zeros((n_sets, n_max), np.int32),
        np.zeros(n_sets),
        np.zeros(n_sets, np.int32),
        np.zeros((n_sets, n_sets), np.int32),
        np.zeros(n_sets, np.int32),
        np.zeros(n_max + 1, np.int32),
        np.zeros(n_max, np.int32),
    )


@kernel
def best_trees_by_partition(
    ranked: NDArray[np.float64],
    single_root: bool,
    k: int,
    heads: NDArray[np.int32],
    ranks: NDArray[np.int32],
    scores: FloatArray,
    space: PartitionSpace,
    search: Any,
) -> int:
    """Write the `k` best trees, best first; return how many there are.

    Parameters
    ----------
    ranked : array of shape (n + 1, n + 1, n_ranks)
        ``ranked[h, m, j]`` is the score of the arc from `h` to `m` with its j-th best
        label, in descending order, and -inf where there are no more labels. Without
        labels ``n_ranks`` is 1.
    single_root : bool
        Whether only one word may have the root for a head.
    k : int
        How many trees are wanted.
    heads, ranks : int32 arrays of shape (k, n)
        The head of every word, and the rank of the label of its arc.
    scores : array of k
        The scores of the trees.
    space : PartitionSpace
        Made by `make_partition_space`.
    search
        What `best_allowed` finds the best tree with.

    Returns
    -------
    int
        `k`, or the number of trees if there are fewer.

    Examples
    --------
    >>> ranked = np.array([[0.0, 3.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.5, 0.0]])
    >>> heads, ranks = np.zeros((5, 2), np.int32), np.zeros((5, 2), np.int32)
    >>> scores, space = np.zeros(5), make_partition_space(2, 5)
    >>> from partwise.structures.dependency.arborescence import make_arborescence_space
    >>> best_trees_by_partition(
    ...     ranked[:, :, None], False, 5, heads, ranks, scores, space,
    ...     make_arborescence_space(2),
    ... )
    3
    >>> heads[:3].tolist(), scores[:3].tolist()
    ([[0, 1], [0, 0], [2, 0]], [5.0, 4.0, 1.5])
    """
    n = ranked.shape[0] - 1
    allowed = space.allowed[: (n + 1) ** 2].reshape((n + 1, n + 1))
    space.scores[:] = -np.inf
    _allow_all(ranked, allowed)
    space.scores[0] = best_allowed(search, allowed, single_root, space.heads[0, :n])
    space.ranks[0, :n] = 0
    space.free_from[0] = 1
    space.n_banned[0] = 0
    found = 0
    while found < k:
        best = place_of_largest(space.scores[:k])
        if space.scores[best] == -np.inf:
            break
        scores[found] = space.scores[best]
        copy(space.heads[best, :n], heads[found])
        copy(space.ranks[best, :n], ranks[found])
        found += 1
        if found < k:
            # Higher than all, even where sums are rounded: nothing overwrites the set
            # while it is being split.
            space.scores[best] = np.inf
            _split(ranked, single_root, best, k, allowed, space, search)
        space.scores[best] = -np.inf
    _put_in_order(scores, heads, ranks, found)
    return found


@kernel
def _split(
    ranked: NDArray[np.float64],
    single_root: bool,
    parent: int,
    k: int,
    allowed: FloatArray,
    space: PartitionSpace,
    search: Any,
) -> None:
    """Take the best tree out of a set; put in line what is left, in disjoint sets."""
    n = ranked.shape[0] - 1
    heads, ranks = space.heads[parent], space.ranks[parent]
    new_heads, n_lost = space.new_heads[:n], space.n_lost
    _allow_all(ranked, allowed)
    for m in range(1, space.free_from[parent]):
        _allow_only(ranked, heads[m - 1], m, ranks[m - 1], allowed)
    for m in range(space.free_from[parent], n + 1):
        n_inherited = space.n_banned[parent] if m == space.free_from[parent] else 0
        for h in range(n + 1):
            n_lost[h] = 0
        for j in range(n_inherited):
            n_lost[space.banned[parent, j]] += 1
        n_lost[heads[m - 1]] += 1
        for h in range(n + 1):
            lost = n_lost[h]
            allowed[h, m] = ranked[h, m, lost] if lost < ranked.shape[2] else -np.inf
        score = best_allowed(search, allowed, single_root, new_heads)
        place = _lowest(space.scores[:k])
        if score > space.scores[place]:
            space.scores[place] = score
            copy(new_heads, space.heads[place])
            for before in range(m - 1):
                space.ranks[place, before] = ranks[before]
            space.ranks[place, m - 1] = n_lost[new_heads[m - 1]]
            for after in range(m, n):
                space.ranks[place, after] = 0
            space.free_from[place] = m
            for j in range(n_inherited):
                space.banned[place, j] = space.banned[parent, j]
            space.banned[place, n_inherited] = heads[m - 1]
            space.n_banned[place] = n_inherited + 1
        _allow_only(ranked, heads[m - 1], m, ranks[m - 1], allowed)


@kernel
def _allow_all(ranked: NDArray[np.float64], allowed: FloatArray) -> None:
    """Let every word choose among all arcs, each with its best label."""
    for h in range(allowed.shape[0]):
        for m in range(1, allowed.shape[0]):
            allowed[h, m] = ranked[h, m, 0]


@kernel
def _allow_only(
    ranked: NDArray[np.float64], head: int, m: int, rank: int, allowed: FloatArray
) -> None:
    """Hold word `m` to one arc with one label."""
    for h in range(allowed.shape[0]):
        allowed[h, m] = -np.inf
    allowed[head, m] = ranked[head, m, rank]


@kernel
def _lowest(scores: FloatArray) -> int:
    worst = 0
    for j in range(1, scores.size):
        if scores[j] < scores[worst]:
            worst = j
    return worst


@kernel
def _put_in_order(
    scores: FloatArray, heads: NDArray[np.int32], ranks: NDArray[np.int32], found: int
) -> None:
    """Sort the trees, which are in order but for rounding errors of their sums."""
    for j in range(1, found):
        i = j
        while i > 0 and scores[i - 1] < scores[i]:
            scores[i - 1], scores[i] = scores[i], scores[i - 1]
            _swap(heads[i - 1], heads[i])
            _swap(ranks[i - 1], ranks[i])
            i -= 1


@kernel
def _swap(one: CodeArray, other: CodeArray) -> None:
    for j in range(one.size):
        one[j], other[j] = other[j], one[j]
