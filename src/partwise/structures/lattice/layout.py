"""Nodes and edges as they are given, and their checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from partwise.errors import DataError
from partwise.structures.interface import CodeArray, IntArray
from partwise.structures.lattice import ordering
from partwise.structures.lattice.ordering import CYCLE, NO_PATH


class LatticeLayout(NamedTuple):
    """Nodes and edges of a corpus, as they are given to `make_lattice`.

    Lattice `i` has the nodes ``0 .. n_nodes[i] - 1`` and the edges
    ``edge_ptr[i]:edge_ptr[i + 1]``, from `source` to `target`, whose nodes are counted
    within their lattice. Its paths lead from ``start[i]`` to ``end[i]``.
    """

    n_nodes: ArrayLike
    edge_ptr: ArrayLike
    source: ArrayLike
    target: ArrayLike
    start: ArrayLike
    end: ArrayLike


class CheckedLayout(NamedTuple):
    """A layout whose arrays are checked."""

    n_nodes: IntArray
    edge_ptr: IntArray
    source: CodeArray
    target: CodeArray
    start: IntArray
    end: IntArray


def check_layout(layout: LatticeLayout) -> CheckedLayout:
    """Return arrays of the right types; raise if they do not fit together."""
    n_nodes, ptr, start, end = (
        np.ascontiguousarray(values, np.int64)
        for values in (layout.n_nodes, layout.edge_ptr, layout.start, layout.end)
    )
    source, target = (
        np.ascontiguousarray(values, np.int32)
        for values in (layout.source, layout.target)
    )
    n = n_nodes.size
    if ptr.shape != (n + 1,) or ptr[0] != 0 or (np.diff(ptr) < 0).any():
        raise ValueError(
            f"edge_ptr must start at 0, never decrease, and have {n + 1} entries for "
            f"{n} lattices"
        )
    if not source.shape == target.shape == (ptr[-1],):
        raise ValueError(
            f"the last edge pointer is {ptr[-1]}, but there are {source.size} sources "
            f"and {target.size} targets"
        )
    if not start.shape == end.shape == (n,):
        raise ValueError(f"{n} lattices need {n} starts and ends, one each")
    owner = np.repeat(np.arange(n), np.diff(ptr))
    for what, values, own in (
        ("an edge", source, owner),
        ("an edge", target, owner),
        ("the start", start, np.arange(n)),
        ("the end", end, np.arange(n)),
    ):
        wrong = np.flatnonzero((values < 0) | (values >= n_nodes[own]))
        if wrong.size:
            i = int(own[wrong[0]])
            raise DataError(
                f"{what} names node {values[wrong[0]]}, but there are {n_nodes[i]} "
                "nodes, counted from 0",
                where=f"lattice {i}",
                example=i,
            )
    return CheckedLayout(n_nodes, ptr, source, target, start, end)


class LatticeError(DataError):
    """An invalid lattice, for callers who know its nodes by other names."""

    def __init__(self, example: int, fault: str, nodes: Sequence[int]):
        self.fault, self.nodes = fault, list(nodes)
        super().__init__(
            self.told(self.nodes), where=f"lattice {example}", example=example
        )

    def told(self, names: Sequence[object]) -> str:
        """Say what is wrong with other names of the nodes."""
        return f"{self.fault} {' -> '.join(map(str, names))}"


def order_edges(layout: LatticeLayout) -> ordering.Ordering:
    """Return the edges that lie on paths, in order; raise `LatticeError` if none do.

    Examples
    --------
    >>> layout = LatticeLayout([3], [0, 2], [1, 0], [2, 1], [0], [2])
    >>> order_edges(layout).given.tolist()
    [1, 0]
    """
    return order_checked(check_layout(layout))


def order_checked(given: CheckedLayout) -> ordering.Ordering:
    """Return the edges that lie on paths, in order; see `order_edges`."""
    made = ordering.order_corpus(
        given.edge_ptr, given.n_nodes, given.source, given.target, given.start,
        given.end,
    )  # fmt: skip
    kind, i = made.problem.tolist()
    if kind == CYCLE:
        own = slice(int(given.edge_ptr[i]), int(given.edge_ptr[i + 1]))
        cycle = _find_cycle(given.source[own].tolist(), given.target[own].tolist())
        raise LatticeError(i, "its edges form a cycle:", cycle)
    if kind == NO_PATH:
        ends = [int(given.start[i]), int(given.end[i])]
        raise LatticeError(i, "no path leads to its end:", ends)
    return made


def _find_cycle(source: list[int], target: list[int]) -> list[int]:
    """Return the nodes of a cycle; there must be one."""
    after: dict[int, list[int]] = {}
    for u, v in zip(source, target, strict=True):
        after.setdefault(u, []).append(v)
    finished: set[int] = set()
    for root in after:
        path, following = [root], [iter(after[root])]
        on_path = {root}
        while path:
            v = next((v for v in following[-1] if v not in finished), -1)
            if v < 0:
                finished.add(path[-1])
                on_path.discard(path.pop())
                following.pop()
            elif v in on_path:
                return [*path[path.index(v) :], v]
            else:
                path.append(v)
                on_path.add(v)
                following.append(iter(after.get(v, ())))
    raise AssertionError("there is no cycle")
