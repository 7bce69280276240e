"""Topological order: which edges lie on a path, and in what order to read them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.vectors import fill

CYCLE, NO_PATH = 1, 2


class Ordering(NamedTuple):
    """The edges of a corpus that lie on paths, in topological order.

    Edge `e` of it is number ``given[e]`` of those that were given for its example,
    `edge_ptr` says where examples begin, and nodes are renumbered: 0 is the first of
    all paths, ``n_nodes[i] - 1`` their last.
    """

    edge_ptr: IntArray
    given: CodeArray
    source: CodeArray
    target: CodeArray
    n_nodes: IntArray
    problem: IntArray
    """What is wrong, zero if nothing is, and with which example."""


@kernel
def group_edges(node: CodeArray, n: int, ptr: IntArray, edges: Any) -> None:
    """List the edges of every node: those of node `v` are ``ptr[v]:ptr[v + 1]``."""
    fill(ptr, n + 1, 0)
    for e in range(node.size):
        ptr[node[e] + 1] += 1
    for v in range(n):
        ptr[v + 1] += ptr[v]
    for e in range(node.size):
        edges[ptr[node[e]]] = e
        ptr[node[e]] += 1
    for v in range(n, 0, -1):
        ptr[v] = ptr[v - 1]
    ptr[0] = 0


@kernel
def _sort_nodes(
    source: CodeArray, target: CodeArray, out_ptr: IntArray, out: IntArray,
    waiting: IntArray, order: IntArray, n: int,
) -> int:  # fmt: skip
    """List the nodes so that edges go forward; return how many are in no cycle.

    Kahn (1962): a node comes when all edges into it have come. `out` gets the edges in
    the order of their sources, those from node `v` at ``out_ptr[v]:out_ptr[v + 1]``.
    """
    group_edges(source, n, out_ptr, out)
    fill(waiting, n, 0)
    for e in range(target.size):
        waiting[target[e]] += 1
    done = 0
    for v in range(n):
        if waiting[v] == 0:
            order[done] = v
            done += 1
    at = 0
    while at < done:
        v = order[at]
        at += 1
        for j in range(out_ptr[v], out_ptr[v + 1]):
            u = target[out[j]]
            waiting[u] -= 1
            if waiting[u] == 0:
                order[done] = u
                done += 1
    return done


@kernel
def _mark_paths(
    target: CodeArray, out_ptr: IntArray, out: IntArray, order: IntArray,
    start: int, end: int, mark: IntArray, n: int,
) -> None:  # fmt: skip
    """Give numbers to the nodes on paths from `start` to `end`, -1 to others."""
    fill(mark, n, 0)
    mark[start] = 1
    for at in range(n):
        v = order[at]
        if mark[v]:
            for j in range(out_ptr[v], out_ptr[v + 1]):
                mark[target[out[j]]] = 1
    # Two: reached from the start, and going on to the end.
    if mark[end]:
        mark[end] = 2
    for at in range(n - 1, -1, -1):
        v = order[at]
        if mark[v] == 1:
            for j in range(out_ptr[v], out_ptr[v + 1]):
                if mark[target[out[j]]] == 2:
                    mark[v] = 2
    found = 0
    for at in range(n):
        v = order[at]
        if mark[v] == 2:
            mark[v] = found
            found += 1
        else:
            mark[v] = -1


@kernel
def _order_corpus(
    ptr: IntArray, n_nodes: IntArray, source: CodeArray, target: CodeArray,
    start: IntArray, end: IntArray, made: Ordering,
) -> None:  # fmt: skip
    most_nodes, most_edges = 0, 0
    for i in range(n_nodes.size):
        most_nodes = max(most_nodes, n_nodes[i])
        most_edges = max(most_edges, ptr[i + 1] - ptr[i])
    out_ptr = np.zeros(most_nodes + 1, np.int64)
    waiting = np.zeros(most_nodes, np.int64)
    order = np.zeros(most_nodes, np.int64)
    mark = np.zeros(most_nodes, np.int64)
    out = np.zeros(most_edges, np.int64)
    kept = 0
    for i in range(n_nodes.size):
        n, first = n_nodes[i], ptr[i]
        own_source, own_target = source[first : ptr[i + 1]], target[first : ptr[i + 1]]
        if _sort_nodes(own_source, own_target, out_ptr, out, waiting, order, n) < n:
            made.problem[0], made.problem[1] = CYCLE, i
            return
        _mark_paths(own_target, out_ptr, out, order, start[i], end[i], mark, n)
        if mark[end[i]] < 0:
            made.problem[0], made.problem[1] = NO_PATH, i
            return
        for at in range(n):
            v = order[at]
            if mark[v] < 0:
                continue
            made.n_nodes[i] += 1
            for j in range(out_ptr[v], out_ptr[v + 1]):
                e = out[j]
                if mark[own_target[e]] > 0:
                    made.given[kept] = e
                    made.source[kept] = mark[v]
                    made.target[kept] = mark[own_target[e]]
                    kept += 1
        made.edge_ptr[i + 1] = kept


def order_corpus(
    ptr: IntArray, n_nodes: IntArray, source: CodeArray, target: CodeArray,
    start: IntArray, end: IntArray,
) -> Ordering:  # fmt: skip
    """Return the edges that lie on paths, in topological order.

    In time and memory proportional to nodes and edges. If something is wrong with an
    example, `problem` says so, and the rest means nothing.

    Examples
    --------
    Of edges 0-1, 1-3, 0-2 and 0-1, the third leads nowhere:

    >>> given = [np.array(x, np.int32) for x in ([0, 1, 0, 0], [1, 3, 2, 1])]
    >>> one = [np.array(x) for x in ([0, 4], [4])]
    >>> found = order_corpus(*one, *given, np.array([0]), np.array([3]))
    >>> found.given.tolist(), found.source.tolist(), found.target.tolist()
    ([0, 3, 1], [0, 0, 1], [1, 1, 2])
    """
    made = Ordering(
        np.zeros(n_nodes.size + 1, np.int64),
        np.zeros(source.size, np.int32),
        np.zeros(source.size, np.int32),
        np.zeros(source.size, np.int32),
        np.zeros(n_nodes.size, np.int64),
        np.zeros(2, np.int64),
    )
    _order_corpus(ptr, n_nodes, source, target, start, end, made)
    n = int(made.edge_ptr[-1])
    if n == source.size or made.problem[0]:
        return made
    return made._replace(
        given=made.given[:n].copy(),
        source=made.source[:n].copy(),
        target=made.target[:n].copy(),
    )


class PathSizes(NamedTuple):
    """Of every example: the edges of its longest path, how many paths there are."""

    longest: IntArray
    n_paths: FloatArray
    most_features: int
    """The most features that the edges of one path have, all examples together."""


@kernel
def _measure(
    ptr: IntArray, source: CodeArray, target: CodeArray, n_nodes: IntArray,
    row_ptr: IntArray, longest: IntArray, n_paths: FloatArray,
) -> int:  # fmt: skip
    most_nodes, most_features = 0, 0
    for i in range(n_nodes.size):
        most_nodes = max(most_nodes, n_nodes[i])
    length = np.zeros(most_nodes, np.int64)
    weight = np.zeros(most_nodes, np.int64)
    count = np.zeros(most_nodes)
    for i in range(n_nodes.size):
        n = n_nodes[i]
        fill(length, n, 0)
        fill(weight, n, 0)
        fill(count, n, 0.0)
        count[0] = 1.0
        for e in range(ptr[i], ptr[i + 1]):
            u, v = source[e], target[e]
            length[v] = max(length[v], length[u] + 1)
            weight[v] = max(weight[v], weight[u] + row_ptr[e + 1] - row_ptr[e])
            count[v] += count[u]
        longest[i] = length[n - 1]
        n_paths[i] = count[n - 1]
        most_features = max(most_features, weight[n - 1])
    return most_features


def measure_paths(made: Ordering, row_ptr: IntArray) -> PathSizes:
    """Return how long, how many and how heavy the paths are.

    The number of paths is exact up to 2^53, and infinite if it is too large.
    """
    n = made.n_nodes.size
    longest, n_paths = np.zeros(n, np.int64), np.zeros(n)
    with np.errstate(over="ignore"):
        most = _measure(
            made.edge_ptr, made.source, made.target, made.n_nodes, row_ptr, longest,
            n_paths,
        )  # fmt: skip
    return PathSizes(longest, n_paths, int(most))
