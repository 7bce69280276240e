"""The k best paths through a lattice, each found from better ones.

The next path to a node is the best of: for every edge into it, the next path to that
edge's source that was not used yet (Jimenez and Marzal, WAE 1999). A node has at most
one candidate for every edge into it, so that all of them fit into one array of edges;
and each further path asks for one more path to some of the nodes that it passes. So k
paths take ``O(E + k L log d)``: edges, the length of the longest path, edges into a
node.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.structures.heap import rise, sink, take_first
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.lattice.best_path import score_nodes, turn_round
from partwise.structures.lattice.ordering import group_edges

NONE = -1
CLOSED = -1


class PathSpace(NamedTuple):
    """Scratch arrays: candidates by node, and the paths that are known.

    The edges into node `v` begin at ``in_ptr[v]``. Once it is asked for a second path,
    they are a heap of its candidates, `n_candidates[v]` of them, `CLOSED` before: to go
    over edge `e` after path ``candidate_path[e]``. Path number `v` is the best to node
    `v`; path `p` goes `before[p]` and then over `edge[p]`, and `after[p]` is the
    next one to the same node, whose last known one is `last[v]`.
    """

    in_ptr: IntArray
    n_candidates: IntArray
    into: CodeArray
    candidate_path: IntArray
    candidate_score: FloatArray
    edge: CodeArray
    before: IntArray
    after: IntArray
    score: FloatArray
    last: IntArray
    size: IntArray
    waiting: IntArray


def make_path_space(n_nodes: int, n_edges: int, longest: int, k: int) -> PathSpace:
    """Make the scratch arrays for up to `k` paths; none for one."""
    if k < 2:
        n_nodes, n_edges, longest = -1, 0, 0
    n_paths = n_nodes + k * (longest + 1)
    return PathSpace(
        np.zeros(n_nodes + 1, np.int64),
        np.zeros(n_nodes + 1, np.int64),
        np.zeros(n_edges, np.int32),
        np.zeros(n_edges, np.int64),
        np.zeros(n_edges),
        np.zeros(n_paths, np.int32),
        np.zeros(n_paths, np.int64),
        np.zeros(n_paths, np.int64),
        np.zeros(n_paths),
        np.zeros(n_nodes + 1, np.int64),
        np.zeros(1, np.int64),
        np.zeros(longest + 1, np.int64),
    )


@kernel
def _open(source: CodeArray, theta: FloatArray, v: int, space: PathSpace) -> None:
    """Make the candidates of a node: the best paths over all its edges but the best."""
    heap = space.into[space.in_ptr[v] : space.in_ptr[v + 1]]
    size = 0
    for j in range(heap.size):
        e = heap[j]
        if e != space.edge[v]:
            heap[size] = e
            space.candidate_path[e] = source[e]
            space.candidate_score[e] = space.score[source[e]] + theta[e]
            size += 1
    space.n_candidates[v] = size
    for at in range(size // 2 - 1, -1, -1):
        sink(heap, size, at, space.candidate_score, None)


@kernel
def _offer(theta: FloatArray, v: int, e: int, path: int, space: PathSpace) -> None:
    """Add a candidate to the heap of a node: edge `e` after `path`."""
    at, heap = space.n_candidates[v], space.into[space.in_ptr[v] :]
    space.n_candidates[v] += 1
    space.candidate_path[e] = path
    space.candidate_score[e] = space.score[path] + theta[e]
    heap[at] = e
    rise(heap, at, space.candidate_score, None)


@kernel
def _accept_best(v: int, space: PathSpace) -> None:
    """Make the best candidate of a node, if it has one, the next path to it."""
    size, heap = space.n_candidates[v], space.into[space.in_ptr[v] :]
    if size == 0:
        return
    e = take_first(heap, size, space.candidate_score, None)
    space.n_candidates[v] -= 1
    p = space.size[0]
    space.size[0] += 1
    space.edge[p] = e
    space.before[p] = space.candidate_path[e]
    space.score[p] = space.candidate_score[e]
    space.after[p] = NONE
    space.after[space.last[v]] = p
    space.last[v] = p


@kernel
def _find_next(
    source: CodeArray, theta: FloatArray, goal: int, space: PathSpace
) -> None:
    """Find one more path to a node, if there is one.

    The last path to a node came over some edge, after a path to the edge's source. The
    next path to that source must be known first: nodes wait for it in
    line, and the very first node has no second path.
    """
    depth, v = 0, goal
    while True:
        if space.n_candidates[v] == CLOSED:
            _open(source, theta, v, space)
        space.waiting[depth] = v
        depth += 1
        p = space.last[v]
        u = source[space.edge[p]]
        # The path before may have been followed by another one already.
        if u == 0 or space.after[space.before[p]] != NONE:
            break
        v = u
    while depth > 0:
        depth -= 1
        v = space.waiting[depth]
        p = space.last[v]
        if source[space.edge[p]] != 0 and space.after[space.before[p]] != NONE:
            _offer(theta, v, space.edge[p], space.after[space.before[p]], space)
        _accept_best(v, space)


@kernel
def _prepare(
    source: CodeArray, target: CodeArray, n_nodes: int, score: FloatArray,
    best: CodeArray, space: PathSpace,
) -> None:  # fmt: skip
    """List the edges into every node, and the best path to it."""
    group_edges(target, n_nodes, space.in_ptr, space.into)
    for v in range(n_nodes):
        space.n_candidates[v] = CLOSED
        space.edge[v] = best[v]
        space.before[v] = source[best[v]] if v > 0 else NONE
        space.after[v] = NONE
        space.score[v] = score[v]
        space.last[v] = v
    space.size[0] = n_nodes


@kernel
def _write(p: int, y: CodeArray, size: int, space: PathSpace) -> None:
    length = 0
    while space.before[p] != NONE:
        y[length] = space.edge[p]
        length += 1
        p = space.before[p]
    turn_round(y, length, size)


@kernel
def best_paths(
    source: CodeArray, target: CodeArray, theta: FloatArray, n_nodes: int, k: int,
    ys: CodeArray, size: int, scores: FloatArray, node_score: FloatArray,
    best: CodeArray, space: PathSpace,
) -> int:  # fmt: skip
    """Write the `k` best paths, best first; return how many there are."""
    score_nodes(source, target, theta, n_nodes, node_score, best)
    _prepare(source, target, n_nodes, node_score, best, space)
    goal = n_nodes - 1
    p, found = goal, 0
    while True:
        scores[found] = space.score[p]
        _write(p, ys[found], size, space)
        found += 1
        if found == k or goal == 0:
            return found
        _find_next(source, theta, goal, space)
        p = space.after[p]
        if p == NONE:
            return found
