"""A corpus of graphs as flat arrays, and its checks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partwise.errors import DataError
from partwise.structures.costs import make_cost_matrix, make_token_weight
from partwise.structures.graph import layout as layouts
from partwise.structures.graph.junction_tree import JunctionTrees, TreeBuilder
from partwise.structures.graph.layout import FORBIDDEN, CliqueKind, Layout
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.rows import SparseRows, check_rows

MAX_TABLE = 2**24
"""The most numbers in the tables of one example, by default: 128 MiB."""


class Vertices(NamedTuple):
    """The vertices of all examples: those of example `i` are ``ptr[i]:ptr[i + 1]``.

    Label `y` of vertex `v` costs ``costs[cost_at[v] + y]``, counted in clique
    ``home[v]``, where the vertex has the stride ``home_stride[v]``.
    """

    ptr: IntArray
    n_labels: IntArray
    labels: CodeArray
    cost_at: IntArray
    costs: FloatArray
    home: IntArray
    home_stride: IntArray


class CliqueTable(NamedTuple):
    """The cliques of all examples: those of example `i` are ``ptr[i]:ptr[i + 1]``.

    Members are numbered within their example, and have strides in the configurations of
    the clique, whose parts are ``part_at[c]:part_at[c + 1]``.
    """

    ptr: IntArray
    kind: IntArray
    part_at: IntArray
    member_ptr: IntArray
    members: IntArray
    strides: IntArray


class KindTable(NamedTuple):
    """The kinds of cliques: classes, and where their weights begin.

    `is_plain`: every configuration is its own class. `is_free`: none is forbidden.
    """

    n_classes: IntArray
    weight_at: IntArray
    class_at: IntArray
    classes: IntArray
    is_plain: NDArray[np.bool_]
    is_free: NDArray[np.bool_]


class FactorGraph(NamedTuple):
    """A corpus of graphs, however labels are inferred.

    Feature `f` of a clique has the weight ``weight_at[kind] + f * n_classes[kind] +
    class`` for its configuration.
    """

    vertices: Vertices
    cliques: CliqueTable
    kinds: KindTable
    rows: SparseRows
    n_weights: int
    inference: Any


class Graph(FactorGraph):
    """A corpus of graphs with exact inference; make one with `make_graph`."""

    inference: JunctionTrees


def make_graph(
    layout: Layout,
    kinds: Sequence[CliqueKind],
    rows: SparseRows,
    labels: ArrayLike | None,
    *,
    costs: ArrayLike | None = None,
    vertex_weight: ArrayLike | None = None,
    max_table: int = MAX_TABLE,
) -> Graph:
    """Check the arrays of a corpus of graphs, and find their junction trees.

    Parameters
    ----------
    layout : Layout
        Vertices and cliques. A vertex in no clique gets one of its own, without
        features.
    kinds : sequence of CliqueKind
        What the cliques of a kind share.
    rows : SparseRows
        The features of every clique, counted within its kind.
    labels : array of int or None
        The right label of every vertex; None when only predicting.
    costs : array, optional
        A matrix ``costs[right, predicted]``, or the cost of every label of every
        vertex, end to end; 1 for every wrong label by default.
    vertex_weight : array, optional
        What multiplies the costs, for every vertex.
    max_table : int
        The most numbers that the tables of one example may hold; a thread needs 8 bytes
        for each.

    Examples
    --------
    An edge between a vertex with two labels and one with three:

    >>> from partwise.structures import make_sparse_rows
    >>> layout = Layout([0, 2], [2, 3], [0, 2], [0, 1, 3], [0, 0, 1], [0, 1])
    >>> kinds = [CliqueKind((2,)), CliqueKind((2, 3))]
    >>> s = make_graph(layout, kinds, make_sparse_rows([0, 1, 2], [0, 0]), [1, 2])
    >>> s.n_weights, s.cliques.part_at.tolist()
    (8, [0, 2, 8])
    """
    s = make_factor_graph(layout, kinds, rows, labels, costs, vertex_weight)
    return Graph(*s._replace(inference=grow_trees(s, max_table)))


def make_factor_graph(
    layout: Layout,
    kinds: Sequence[CliqueKind],
    rows: SparseRows,
    labels: ArrayLike | None,
    costs: ArrayLike | None,
    vertex_weight: ArrayLike | None,
) -> FactorGraph:
    """Check the arrays of a corpus of graphs, before anything is inferred."""
    layout = Layout(*(np.ascontiguousarray(field, np.int64) for field in layout))
    layouts.check_pointers(layout)
    check_rows(rows, layout.kind.size, 1)
    layouts.check_members(layout)
    layout, kinds, rows = layouts.cover_all(layout, list(kinds), rows)
    layouts.check_kinds(layout, kinds, rows)
    cliques = tabulate_cliques(layout)
    table = _make_kind_table(kinds)
    counts = np.array([kind.n_columns for kind in kinds], np.int64) * table.n_classes
    vertices = _make_vertices(layout, cliques, labels, costs, vertex_weight)
    s = FactorGraph(vertices, cliques, table, rows, int(counts.sum()), ())
    if labels is not None:
        _check_gold(s, layout)
    return s


def tabulate_cliques(layout: Layout) -> CliqueTable:
    """Return the cliques with numbers for their parts, and strides of their members."""
    sizes = np.diff(layout.member_ptr)
    first = np.repeat(layout.vertex_ptr[layouts.clique_owner(layout)], sizes)
    n_labels = layout.n_labels[first + layout.members]
    strides = np.zeros(layout.members.size, np.int64)
    n_parts = np.ones(sizes.size, np.int64)
    for from_last in range(1, int(sizes.max(initial=0)) + 1):
        large = np.flatnonzero(sizes >= from_last)
        at = layout.member_ptr[1:][large] - from_last
        strides[at] = n_parts[large]
        n_parts[large] *= n_labels[at]
    return CliqueTable(
        layout.clique_ptr,
        layout.kind,
        np.concatenate([[0], np.cumsum(n_parts)]).astype(np.int64),
        layout.member_ptr,
        layout.members,
        strides,
    )


def _check_gold(s: FactorGraph, layout: Layout) -> None:
    """Raise `DataError` if the right labels of a clique are forbidden."""
    cliques = s.cliques
    suspects = np.flatnonzero(~s.kinds.is_free[cliques.kind])
    owner = layouts.clique_owner(layout)
    for c in suspects.tolist():
        members = slice(int(cliques.member_ptr[c]), int(cliques.member_ptr[c + 1]))
        first = s.vertices.ptr[owner[c]]
        labels = s.vertices.labels[first + cliques.members[members]]
        at = s.kinds.class_at[cliques.kind[c]] + labels @ cliques.strides[members]
        if s.kinds.classes[at] == FORBIDDEN:
            raise DataError(
                f"{layouts.name_clique(layout, c)}: its right labels {labels.tolist()} "
                f"are forbidden for kind {cliques.kind[c]} (correct the labels, or "
                "allow them)"
            )


def _make_kind_table(kinds: list[CliqueKind]) -> KindTable:
    tables = []
    for number, kind in enumerate(kinds):
        n_configurations = prod(kind.shape)
        given = kind.classes
        table = np.arange(n_configurations) if given is None else np.asarray(given)
        if table.shape != (n_configurations,) or table.min(initial=0) < FORBIDDEN:
            raise ValueError(
                f"the classes of kind {number} must be {n_configurations} numbers, one "
                "for each configuration, from -1 on"
            )
        tables.append(table.astype(np.int64))
    n_classes = np.array([int(t.max(initial=-1)) + 1 for t in tables], np.int64)
    columns = np.array([kind.n_columns for kind in kinds], np.int64)
    sizes = np.array([t.size for t in tables], np.int64)
    return KindTable(
        n_classes,
        np.cumsum(columns * n_classes) - columns * n_classes,
        np.cumsum(sizes) - sizes,
        np.concatenate([np.zeros(0, np.int64), *tables]),
        np.array([np.array_equal(t, np.arange(t.size)) for t in tables], bool),
        np.array([bool((t >= 0).all()) for t in tables], bool),
    )


def _make_vertices(
    layout: Layout,
    cliques: CliqueTable,
    labels: ArrayLike | None,
    costs: ArrayLike | None,
    vertex_weight: ArrayLike | None,
) -> Vertices:
    n_labels, n = layout.n_labels, layout.n_labels.size
    right = np.zeros(n, np.int32)
    if labels is not None:
        right = np.ascontiguousarray(labels, np.int32)
        if right.shape != (n,):
            raise ValueError(f"{right.size} labels for {n} vertices")
    outside = (right < 0) | (right >= n_labels)
    if outside.any():
        v = int(np.argmax(outside))
        i = int(np.searchsorted(layout.vertex_ptr, v, side="right")) - 1
        raise DataError(
            f"example {i}, vertex {v - layout.vertex_ptr[i]}: label {right[v]} is not "
            f"one of its {n_labels[v]} labels, 0..{n_labels[v] - 1}"
        )
    cost_at = np.cumsum(n_labels) - n_labels
    home, home_stride = find_homes(layout, cliques.strides)
    return Vertices(
        layout.vertex_ptr,
        n_labels,
        right,
        cost_at,
        _vertex_costs(n_labels, cost_at, right, costs, vertex_weight),
        home,
        home_stride,
    )


def find_homes(layout: Layout, strides: IntArray) -> tuple[IntArray, IntArray]:
    """Assign every vertex to the smallest of its cliques, the first of several."""
    sizes = np.diff(layout.member_ptr)
    clique = np.repeat(np.arange(sizes.size), sizes)
    vertex = layout.vertex_ptr[layouts.clique_owner(layout)][clique] + layout.members
    # Written last, the smallest and first wins.
    order = np.lexsort((-clique, -sizes[clique]))
    home, stride = (np.zeros(layout.n_labels.size, np.int64) for _ in range(2))
    home[vertex[order]] = clique[order]
    stride[vertex[order]] = strides[order]
    return home, stride


def _vertex_costs(
    n_labels: IntArray,
    cost_at: IntArray,
    right: CodeArray,
    costs: ArrayLike | None,
    vertex_weight: ArrayLike | None,
) -> FloatArray:
    """Return the cost of every label of every vertex, end to end."""
    owner = np.repeat(np.arange(n_labels.size), n_labels)
    label = np.arange(owner.size) - cost_at[owner]
    given = None if costs is None else np.asarray(costs, np.float64)
    if given is None:
        result = (label != right[owner]).astype(np.float64)
    elif given.ndim == 2:
        most = int(n_labels.max(initial=0))
        result = make_cost_matrix(given, max(most, len(given)))[right[owner], label]
    else:
        if given.shape != owner.shape:
            raise ValueError(f"{given.size} costs for {owner.size} labels of vertices")
        if not np.isfinite(given).all() or (given < 0).any():
            raise ValueError("costs must be finite and not negative")
        if given[cost_at + right].any():
            raise ValueError("the cost of a right label must be zero")
        result = given.copy()
    weight = make_token_weight(vertex_weight, n_labels.size)
    return result * weight[owner] if weight.size else result


def grow_trees(
    s: FactorGraph, max_table: int, orders: Sequence[list[int]] | None = None
) -> JunctionTrees:
    """Find a junction tree for every topology; `orders` are good for the examples."""
    vertices, cliques = s.vertices, s.cliques
    builder = TreeBuilder(max_table)
    known: dict[tuple[bytes, bytes, bytes], int] = {}
    topology = []
    for i in range(vertices.ptr.size - 1):
        first, last = int(cliques.ptr[i]), int(cliques.ptr[i + 1])
        ends = cliques.member_ptr[first : last + 1]
        members = cliques.members[ends[0] : ends[-1]]
        n_labels = vertices.n_labels[vertices.ptr[i] : vertices.ptr[i + 1]]
        ends = ends - ends[0]
        key = (n_labels.tobytes(), ends.tobytes(), members.tobytes())
        if key not in known:
            names, bounds = members.tolist(), ends.tolist()
            known[key] = builder.add(
                n_labels.tolist(),
                [names[start:stop] for start, stop in pairwise(bounds)],
                i,
                None if orders is None else orders[i],
            )
        topology.append(known[key])
    return builder.finish(topology)
