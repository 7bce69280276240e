"""The order in which to sum out the vertices of a graph, so that tables stay small.

To sum a vertex out is to join all its neighbours in a table. Several orders are tried,
and the one with the fewest numbers in all tables is taken; finding the best order of
all is NP-hard.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

MOST_FOR_MIN_FILL = 1000
"""Vertices: with more, looking for the least fill takes longer than it saves."""

FAR_TOO_MUCH = 2**16
"""Beyond this many times the budget, the exact size no longer matters."""

Neighbours = list[set[int]]


class Elimination(NamedTuple):
    """What comes of an order: for every vertex in it, the table that it needs.

    Attributes
    ----------
    order : list of int
        The vertices, first the one that is summed out first.
    scopes : list of list of int
        The vertices of each table, the one summed out first among them.
    total : int
        How many numbers all tables hold; a lower bound unless `complete`.
    complete : bool
        False if it was abandoned because of its size.
    has_fill : bool
        Whether vertices were joined that share no clique.
    """

    order: list[int]
    scopes: list[list[int]]
    total: int
    complete: bool
    has_fill: bool

    def widest(self, n_labels: Sequence[int]) -> list[int]:
        """Return the vertices of the largest table."""
        return sorted(max(self.scopes, key=lambda scope: _size(scope, n_labels)))


def _size(scope: Iterable[int], n_labels: Sequence[int]) -> int:
    return prod(n_labels[v] for v in scope)


def find_neighbours(n_vertices: int, cliques: Iterable[Sequence[int]]) -> Neighbours:
    """Return the vertices that share a clique with each vertex.

    Examples
    --------
    >>> find_neighbours(3, [(0,), (0, 1), (1, 2)])
    [{1}, {0, 2}, {1}]
    """
    neighbours: Neighbours = [set() for _ in range(n_vertices)]
    for clique in cliques:
        if len(clique) > 1:
            for v in clique:
                neighbours[v].update(clique)
    for v, around in enumerate(neighbours):
        around.discard(v)
    return neighbours


def eliminate(
    neighbours: Neighbours,
    n_labels: Sequence[int],
    ceiling: int,
    order: Iterable[int] | None = None,
) -> Elimination:
    """Sum out the vertices in an order, by default one with the fewest neighbours next.

    Examples
    --------
    >>> cycle = find_neighbours(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> eliminate(cycle, [2, 2, 2, 2], 100).total
    22
    """
    left = [set(around) for around in neighbours]
    gone = [False] * len(left)
    greedy = order is None
    # Entries that are out of date are skipped when they come up.
    queue = [(len(around), v) for v, around in enumerate(left)] if greedy else []
    heapq.heapify(queue)
    given = iter(order or ())
    taken: list[int] = []
    scopes: list[list[int]] = []
    total, has_fill = 0, False
    for _ in left:
        v = next(given) if not greedy else heapq.heappop(queue)[1]
        while gone[v]:
            v = heapq.heappop(queue)[1]
        around = left[v]
        gone[v] = True
        taken.append(v)
        scopes.append([v, *around])
        total += _size(scopes[-1], n_labels)
        if total > ceiling:
            return Elimination(taken, scopes, total, False, True)
        for u in around:
            before = len(left[u])
            left[u] |= around
            left[u] -= {u, v}
            has_fill |= len(left[u]) >= before
            if greedy:
                heapq.heappush(queue, (len(left[u]), u))
    return Elimination(taken, scopes, total, True, has_fill)


def _orders(
    neighbours: Neighbours, first: list[int] | None
) -> Iterator[list[int] | None]:
    """Yield orders to try, or None for that of the fewest neighbours."""
    n = len(neighbours)
    # As they come: rows of a grid, words of a sentence.
    yield list(range(n)) if first is None else first
    yield None
    yield _by_distance(neighbours)
    if n <= MOST_FOR_MIN_FILL:
        yield _by_least_fill(neighbours)


def _by_distance(neighbours: Neighbours) -> list[int]:
    """Return an order of small bandwidth, for graphs that are long and narrow."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    ptr = np.cumsum([0, *map(len, neighbours)])
    idx = np.array([u for around in neighbours for u in sorted(around)], np.int32)
    matrix = csr_array((np.ones(idx.size), idx, ptr), shape=(len(neighbours),) * 2)
    order: list[int] = reverse_cuthill_mckee(matrix, symmetric_mode=True).tolist()
    return order


def _by_least_fill(neighbours: Neighbours) -> list[int]:
    """Return an order that joins few vertices which share no clique."""
    import networkx
    from networkx.algorithms.approximation import treewidth_min_fill_in

    graph = networkx.Graph()
    graph.add_nodes_from(range(len(neighbours)))
    graph.add_edges_from((v, u) for v, around in enumerate(neighbours) for u in around)
    _, tree = treewidth_min_fill_in(graph)
    root = next(iter(tree))
    parent = networkx.dfs_predecessors(tree, root)
    # Leaves first: a vertex goes with the bag nearest the root that holds it.
    return [
        v
        for bag in networkx.dfs_postorder_nodes(tree, root)
        for v in sorted(bag - parent.get(bag, frozenset()))
    ]


def best_elimination(
    n_labels: Sequence[int],
    cliques: Sequence[Sequence[int]],
    budget: int,
    first: list[int] | None = None,
) -> Elimination:
    """Return the elimination with the fewest numbers among those tried.

    The order `first` is tried first; where it joins nothing new, none is better.

    Examples
    --------
    >>> best_elimination([2, 2, 2], [(0, 1), (1, 2)], 100).scopes
    [[0, 1], [1, 2], [2]]
    """
    neighbours = find_neighbours(len(n_labels), cliques)
    best: Elimination | None = None
    for order in _orders(neighbours, first):
        ceiling = FAR_TOO_MUCH * budget if best is None else best.total
        found = eliminate(neighbours, n_labels, ceiling, order)
        if best is None or (found.complete and found.total < best.total):
            best = found
        if not found.has_fill:
            break  # every table is a clique: none could be smaller
    assert best is not None
    return best
