"""Part scores of a graph with given marginals, and graphs that have them exactly.

On a junction tree a distribution is the product, over the bags, of the probabilities of
a bag's own vertices given those it shares with its parent. The scores are the
logarithms of these, put on a clique that has all vertices of the bag.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.graph import corpus
from partwise.structures.graph.corpus import Graph
from partwise.structures.graph.layout import Layout, append_cliques
from partwise.structures.interface import LEAST_PROBABILITY, FloatArray, IntArray


@kernel
def _largest_clique(s: Graph, i: int, b: int) -> int:
    """Return the clique of a bag with the most vertices, -1 if it has none."""
    factors, cliques = s.inference.factors, s.cliques
    found, most = -1, 0
    for f in range(factors.ptr[b], factors.ptr[b + 1]):
        if factors.source[f] >= 0:
            c = cliques.ptr[i] + factors.source[f]
            size = cliques.member_ptr[c + 1] - cliques.member_ptr[c]
            if size > most:
                found, most = c, size
    return found


@kernel
def _is_own(s: Graph, b: int, v: int) -> bool:
    bags = s.inference.bags
    first = bags.member_ptr[b]
    for j in range(first, first + bags.n_own_members[b]):
        if bags.members[j] == v:
            return True
    return False


@kernel
def _given(s: Graph, i: int, b: int, c: int, a: int) -> int:
    """Return a configuration without the labels of the bag's own vertices."""
    cliques, n_labels = s.cliques, s.vertices.n_labels[s.vertices.ptr[i] :]
    result = a
    for j in range(cliques.member_ptr[c], cliques.member_ptr[c + 1]):
        v, stride = cliques.members[j], cliques.strides[j]
        if _is_own(s, b, v):
            result -= a // stride % n_labels[v] * stride
    return result


@waist.gibbs_scores.implement(Graph)
def _(s: Graph, i: int, mu: FloatArray, theta: FloatArray, ws: Any) -> None:
    """Write conditional log-probabilities.

    Exact where every bag of the junction tree has a clique with all its vertices: for
    trees with cliques for their edges, and for `untied` graphs. Elsewhere a bag has to
    make do with its largest clique, as if nothing else mattered.
    """
    bags, kinds, part_at = s.inference.bags, s.kinds, s.cliques.part_at
    theta[: waist.n_parts(s, i)] = 0.0
    start = part_at[s.cliques.ptr[i]]
    t = s.inference.topology[i]
    for b in range(bags.ptr[t], bags.ptr[t + 1]):
        c = _largest_clique(s, i, b)
        if c < 0:
            continue
        size = part_at[c + 1] - part_at[c]
        at, kind = part_at[c] - start, s.cliques.kind[c]
        sums = ws.messages.scores[:size]
        sums[:] = 0.0
        for a in range(size):
            sums[_given(s, i, b, c, a)] += mu[at + a]
        for a in range(size):
            whole = sums[_given(s, i, b, c, a)]
            legal = kinds.classes[kinds.class_at[kind] + a] >= 0
            # Any score will do for what is forbidden, or given what never happens.
            if whole > 0.0 and legal:
                theta[at + a] = np.log(max(mu[at + a] / whole, LEAST_PROBABILITY))


@waist.untied.implement(Graph)
def untied(s: Graph) -> Graph:
    """Return the same corpus with a clique for every bag of the junction trees.

    Outputs, features, weights and scores are the same; only `theta` and `mu` are
    longer, so that any distribution that factors along the tree has a Gibbs form.

    Examples
    --------
    A cycle of four vertices has two bags of three:

    >>> from partwise.structures import make_sparse_rows
    >>> from partwise.structures.graph import CliqueKind, make_graph
    >>> members = [0, 1, 1, 2, 2, 3, 3, 0]
    >>> layout = Layout([0, 4], [2] * 4, [0, 4], [0, 2, 4, 6, 8], members, [0] * 4)
    >>> rows = make_sparse_rows(range(5), [0] * 4)
    >>> cycle = make_graph(layout, [CliqueKind((2, 2))], rows, None)
    >>> [int(waist.n_parts(graph, 0)) for graph in (cycle, untied(cycle))]
    [16, 32]
    """
    found = [_uncovered_bags(s, i) for i in range(s.vertices.ptr.size - 1)]
    if not any(found):
        return s
    owner = np.repeat(np.arange(len(found)), [len(bags) for bags in found])
    listed = [bag for bags in found for bag in bags]
    sizes = np.array([len(bag) for bag in listed], np.int64)
    members = np.concatenate(listed)
    first = np.repeat(s.vertices.ptr[owner], sizes)
    n_parts = np.multiply.reduceat(
        s.vertices.n_labels[first + members], np.cumsum(sizes) - sizes
    )
    # Without features, kinds differ by nothing but their size.
    different, kind = np.unique(n_parts, return_inverse=True)
    cliques, vertices, kinds = s.cliques, s.vertices, s.kinds
    layout, rows = append_cliques(
        Layout(
            vertices.ptr,
            vertices.n_labels,
            cliques.ptr,
            cliques.member_ptr,
            cliques.members,
            cliques.kind,
        ),
        owner,
        sizes,
        members,
        kinds.n_classes.size + kind.reshape(-1),
        s.rows,
    )
    table = corpus.tabulate_cliques(layout)
    home, home_stride = corpus.find_homes(layout, table.strides)
    flags = np.ones(different.size, bool)
    extended = s._replace(
        vertices=vertices._replace(home=home, home_stride=home_stride),
        cliques=table,
        kinds=kinds._replace(
            n_classes=np.concatenate([kinds.n_classes, different]),
            weight_at=np.concatenate(
                [kinds.weight_at, np.full(different.size, s.n_weights)]
            ),
            class_at=np.concatenate(
                [kinds.class_at, kinds.classes.size + np.cumsum(different) - different]
            ),
            classes=np.concatenate([kinds.classes, *map(np.arange, different)]),
            is_plain=np.concatenate([kinds.is_plain, flags]),
            is_free=np.concatenate([kinds.is_free, flags]),
        ),
        rows=rows,
    )
    orders = [_order_of(s, i) for i in range(len(found))]
    most = int(s.inference.largest[0])
    return extended._replace(inference=corpus.grow_trees(extended, most, orders))


def _uncovered_bags(s: Graph, i: int) -> list[IntArray]:
    """Return the vertices of the bags that no clique covers."""
    bags, t = s.inference.bags, int(s.inference.topology[i])
    uncovered = []
    for b in range(int(bags.ptr[t]), int(bags.ptr[t + 1])):
        members = bags.members[bags.member_ptr[b] : bags.member_ptr[b + 1]]
        c = _largest_clique(s, i, b)
        ends = s.cliques.member_ptr[c : c + 2]
        if c < 0 or ends[1] - ends[0] < members.size:
            uncovered.append(members)
    return uncovered


def _order_of(s: Graph, i: int) -> list[int]:
    """Return the order of elimination that the junction tree of an example has."""
    bags, t = s.inference.bags, int(s.inference.topology[i])
    order: list[int] = []
    for b in range(int(bags.ptr[t]), int(bags.ptr[t + 1])):
        first = int(bags.member_ptr[b])
        order += bags.members[first : first + int(bags.n_own_members[b])].tolist()
    return order
