"""Junction trees as flat arrays, one for every topology of a corpus.

A *bag* is a set of vertices with a table of scores, one for each of their
configurations. Its *own* vertices are in no bag nearer the root; the others it *shares*
with its parent. The own vertices vary slowest, so that the reduction of a table to the
message for its parent runs along rows. Bags come before their parents.

All bags sort their vertices by the order of elimination. So cliques and messages meet a
table in few runs: axes that lie side by side in both are one longer axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError
from partwise.structures.graph.triangulation import Elimination, best_elimination
from partwise.structures.interface import IntArray

Cliques = Sequence[Sequence[int]]


class TooWideError(DataError):
    """A graph whose tables would be too large, and the vertices to blame."""

    example: int

    def __init__(self, example: int, fault: str, vertices: Sequence[int]):
        self.fault, self.vertices = fault, vertices
        relax = "raise max_table, cut edges between these, or relax: make_relaxed_graph"
        super().__init__(self.told("vertices", vertices, relax), example=example)

    def told(self, what: str, names: Sequence[object], remedy: str) -> str:
        """Say what is wrong with other names of the vertices, and what to do."""
        named = ", ".join(map(str, names[:12])) + (", ..." if len(names) > 12 else "")
        return (
            f"{self.fault}: the largest one joins the {len(names)} {what} {named} "
            f"({remedy})"
        )


class Bags(NamedTuple):
    """The bags of all topologies: those of topology `t` are ``ptr[t]:ptr[t + 1]``.

    A table has ``n_own * n_shared`` numbers from ``table_at`` on, its message
    ``n_shared`` from ``message_at`` on. The members of a bag, the first
    ``n_own_members`` of them its own, have `strides` in its table. Roots share nothing,
    and have no parent.
    """

    ptr: IntArray
    n_own: IntArray
    n_shared: IntArray
    table_at: IntArray
    message_at: IntArray
    member_ptr: IntArray
    members: IntArray
    strides: IntArray
    n_own_members: IntArray
    has_parent: NDArray[np.bool_]


class Factors(NamedTuple):
    """What is added up in the bags: scores of cliques and messages of children.

    `source` is a clique of the example, or ``~child`` for the message of a bag. Walking
    through the bag's table takes axes of some `sizes`, the last one fastest, and moves
    through the factor by `strides`; every factor has at least two axes.
    """

    ptr: IntArray
    source: IntArray
    axis_ptr: IntArray
    sizes: IntArray
    strides: IntArray


class JunctionTrees(NamedTuple):
    """The junction trees of a corpus; example `i` has topology ``topology[i]``.

    ``largest`` holds the most numbers in the tables, the messages, one table, one
    message, and the most axes of a factor, of any topology.
    """

    topology: IntArray
    bags: Bags
    factors: Factors
    largest: IntArray


class Bag(NamedTuple):
    """One bag while the tree is built."""

    own: list[int]
    shared: list[int]


def _merge(found: Elimination) -> tuple[list[Bag], list[int]]:
    """Return bags, none inside another, children first, and the bag of each vertex.

    A vertex whose table is what a child shares with it joins that child.
    """
    place = {v: position for position, v in enumerate(found.order)}
    bags: list[Bag] = []
    bag_of: dict[int, int] = {}
    waiting: dict[tuple[int, ...], int] = {}
    for v, scope in zip(found.order, found.scopes, strict=True):
        around = sorted(scope, key=place.__getitem__)
        b = waiting.pop(tuple(around), None)
        if b is None:
            b = len(bags)
            bags.append(Bag([v], around[1:]))
        else:
            bags[b] = Bag([*bags[b].own, v], around[1:])
        bag_of[v] = b
        if around[1:]:
            waiting[tuple(around[1:])] = b
    children_first = sorted(range(len(bags)), key=lambda b: place[bags[b].own[-1]])
    rank = {b: position for position, b in enumerate(children_first)}
    home = [rank[bag_of[v]] for v in range(len(found.order))]
    return [bags[b] for b in children_first], home


def strides_of(sizes: Sequence[int]) -> list[int]:
    """Return the strides of a table whose last axis is the fastest.

    Examples
    --------
    >>> strides_of([4, 3, 2])
    [6, 2, 1]
    """
    return [prod(sizes[j + 1 :]) for j in range(len(sizes))]


def _merge_axes(sizes: list[int], strides: list[int]) -> tuple[list[int], list[int]]:
    """Join neighbouring axes that are one in the factor, too; keep at least two."""
    joined: list[tuple[int, int]] = []
    for size, stride in zip(sizes, strides, strict=True):
        if size == 1:
            continue
        if joined and joined[-1][1] == stride * size:
            joined[-1] = (joined[-1][0] * size, stride)
        else:
            joined.append((size, stride))
    joined = [(1, 0)] * (2 - len(joined)) + joined
    return [size for size, _ in joined], [stride for _, stride in joined]


class TreeBuilder:
    """Collects the junction trees of a corpus, one for each topology.

    Parameters
    ----------
    budget : int
        The most numbers that the tables of one example may hold.

    Examples
    --------
    >>> builder = TreeBuilder(100)
    >>> builder.add([2, 3], [(0,), (0, 1)], "example 0"), builder.n_topologies
    (0, 1)
    >>> builder.finish([0]).bags.n_own.tolist()
    [6]
    """

    def __init__(self, budget: int):
        self.budget = budget
        self.n_topologies = 0
        self._bag_ptr = [0]
        self._bags: list[tuple[int, int, int, int, int]] = []
        self._members: list[tuple[list[int], list[int]]] = []
        self._factors: list[list[tuple[int, list[int], list[int]]]] = []
        self._largest = [0, 0, 0, 0, 2]

    def add(
        self,
        n_labels: Sequence[int],
        cliques: Cliques,
        example: int,
        order: list[int] | None = None,
    ) -> int:
        """Build the tree of a topology; return its number.

        `example` is the one to name if it is too wide; `order` is an order
        of elimination that is known to be good.
        """
        found = best_elimination(n_labels, cliques, self.budget, order)
        bags, home = _merge(found) if found.complete else ([], [])
        needed = sum(prod(n_labels[v] for v in bag.own + bag.shared) for bag in bags)
        if not found.complete or needed > self.budget:
            needed = needed if found.complete else found.total
            raise _too_wide(found, needed, n_labels, self.budget, example)
        place = {v: position for position, v in enumerate(found.order)}
        first = self._bag_ptr[-1]
        factors: list[list[tuple[int, Sequence[int]]]] = [[] for _ in bags]
        for c, clique in enumerate(cliques):
            factors[home[min(clique, key=place.__getitem__)]].append((c, clique))
        table_at = message_at = 0
        for b, bag in enumerate(bags):
            members = bag.own + bag.shared
            sizes = [n_labels[v] for v in members]
            strides = strides_of(sizes)
            n_shared = prod(n_labels[v] for v in bag.shared)
            n_own = prod(sizes) // n_shared
            self._bags.append((n_own, n_shared, table_at, message_at, len(bag.own)))
            self._members.append((members, strides))
            walks = []
            for source, scope in factors[b]:
                moves = dict(
                    zip(scope, strides_of([n_labels[v] for v in scope]), strict=True)
                )
                axes = _merge_axes(sizes, [moves.get(v, 0) for v in members])
                walks.append((source, *axes))
                self._largest[4] = max(self._largest[4], len(axes[0]))
            self._factors.append(walks)
            if bag.shared:
                factors[home[bag.shared[0]]].append((~(first + b), bag.shared))
            table_at += n_own * n_shared
            message_at += n_shared
            self._largest[2] = max(self._largest[2], n_own * n_shared)
            self._largest[3] = max(self._largest[3], n_shared)
        self._largest[0] = max(self._largest[0], table_at)
        self._largest[1] = max(self._largest[1], message_at)
        self._bag_ptr.append(first + len(bags))
        self.n_topologies += 1
        return self.n_topologies - 1

    def finish(self, topology: Sequence[int]) -> JunctionTrees:
        """Return all trees as arrays, and which of them each example has."""
        columns = np.array(self._bags, np.int64).reshape(-1, 5).T.copy()
        flat = [factor for walks in self._factors for factor in walks]
        sizes = [len(members) for members, _ in self._members]
        bags = Bags(
            ptr=np.array(self._bag_ptr, np.int64),
            n_own=columns[0],
            n_shared=columns[1],
            table_at=columns[2],
            message_at=columns[3],
            member_ptr=_pointers(sizes),
            members=_join(members for members, _ in self._members),
            strides=_join(strides for _, strides in self._members),
            n_own_members=columns[4],
            has_parent=np.array(sizes, np.int64) > columns[4],
        )
        factors = Factors(
            _pointers([len(walks) for walks in self._factors]),
            np.array([source for source, _, _ in flat], np.int64),
            _pointers([len(sizes) for _, sizes, _ in flat]),
            _join(sizes for _, sizes, _ in flat),
            _join(strides for _, _, strides in flat),
        )
        return JunctionTrees(
            np.array(topology, np.int64),
            bags,
            factors,
            np.array(self._largest, np.int64),
        )


def _pointers(counts: Sequence[int]) -> IntArray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _join(lists: Iterable[list[int]]) -> IntArray:
    return np.array([value for values in lists for value in values], np.int64)


def _too_wide(
    found: Elimination, needed: int, n_labels: Sequence[int], budget: int, example: int
) -> TooWideError:
    """Say how large the tables would be, and because of which vertices."""
    least = "" if found.complete else "at least "
    return TooWideError(
        example,
        f"exact inference needs tables of {least}{_number(needed)} numbers, but "
        f"max_table is {_number(budget)}",
        found.widest(n_labels),
    )


def _number(n: int) -> str:
    return f"{n:,}" if n < 10**12 else f"10^{len(str(n)) - 1}"
