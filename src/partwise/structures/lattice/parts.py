"""The parts of a lattice, its edges: scores, features, the right path and costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.lattice.corpus import END, Lattice
from partwise.structures.rows import SparseRows, row_entries
from partwise.structures.vectors import copy, fill


@waist.n_examples.implement(Lattice)
def _(s: Lattice) -> int:
    return s.ptr.size - 1


@waist.n_weights.implement(Lattice)
def _(s: Lattice) -> int:
    return s.rows.n_columns


@waist.n_parts.implement(Lattice)
def _(s: Lattice, i: int) -> int:
    return s.ptr[i + 1] - s.ptr[i]


@waist.output_size.implement(Lattice)
def _(s: Lattice, i: int) -> int:
    return s.paths.longest[i]


@waist.max_features.implement(Lattice)
def _(s: Lattice) -> int:
    return 2 * s.paths.most_features


@kernel
def edge_score(rows: SparseRows, e: int, w: FloatArray) -> float:
    """Return the score of an edge of the corpus."""
    total = 0.0
    if rows.val.size == 0:
        for j in range(rows.ptr[e], rows.ptr[e + 1]):
            total += w[rows.idx[j]]
    else:
        for j in range(rows.ptr[e], rows.ptr[e + 1]):
            total += rows.val[j] * w[rows.idx[j]]
    return total


@kernel
def add_edge(rows: SparseRows, e: int, scale: float, w: FloatArray) -> float:
    """Do ``w += scale * phi(e)``; return the change of ``|w|^2``."""
    change = 0.0
    for j in range(rows.ptr[e], rows.ptr[e + 1]):
        step = scale if rows.val.size == 0 else scale * rows.val[j]
        change += step * (2.0 * w[rows.idx[j]] + step)
        w[rows.idx[j]] += step
    return change


@waist.part_scores.implement(Lattice)
def _(s: Lattice, i: int, w: FloatArray, theta: FloatArray, ws: Any) -> None:
    first = s.ptr[i]
    for e in range(s.ptr[i + 1] - first):
        theta[e] = edge_score(s.rows, first + e, w)


@waist.add_parts.implement(Lattice)
def _(
    s: Lattice, i: int, mu: FloatArray, scale: float, w: FloatArray, ws: Any
) -> float:
    first, change = s.ptr[i], 0.0
    for e in range(s.ptr[i + 1] - first):
        if mu[e] != 0.0:
            change += add_edge(s.rows, first + e, scale * mu[e], w)
    return change


@kernel
def path_length(s: Lattice, i: int, y: CodeArray) -> int:
    """Return how many edges a path has."""
    length = 0
    while length < s.paths.longest[i] and y[length] != END:
        length += 1
    return length


@waist.is_output.implement(Lattice)
def _(s: Lattice, i: int, y: CodeArray) -> bool:
    """Follow the path from its start, node 0, to the last node."""
    length, first, node = path_length(s, i, y), s.ptr[i], 0
    for j in range(length):
        if not 0 <= y[j] < s.ptr[i + 1] - first or s.source[first + y[j]] != node:
            return False
        node = s.target[first + y[j]]
    return node == s.paths.n_nodes[i] - 1


@waist.parts_of.implement(Lattice)
def _(s: Lattice, i: int, y: CodeArray, ids: IntArray, counts: FloatArray) -> int:
    found = path_length(s, i, y)
    for j in range(found):
        ids[j] = y[j]
        counts[j] = 1.0
    return found


@waist.part_row.implement(Lattice)
def _(s: Lattice, i: int, r: int, idx: IntArray, val: FloatArray, ws: Any) -> int:
    return row_entries(s.rows, s.ptr[i] + r, 0, 1, idx, val)


@kernel
def write_good(s: Lattice, i: int, j: int, y: CodeArray) -> None:
    """Write the good path number `j` of a lattice."""
    p = s.good.ptr[i] + j
    fill(y, s.paths.longest[i], END)
    copy(s.good.codes[s.good.path_ptr[p] : s.good.path_ptr[p + 1]], y)


@waist.gold.implement(Lattice)
def _(s: Lattice, i: int, y: CodeArray) -> None:
    write_good(s, i, 0, y)


@waist.add_costs.implement(Lattice)
def _(s: Lattice, i: int, theta: FloatArray) -> None:
    first = s.ptr[i]
    for e in range(s.ptr[i + 1] - first):
        theta[e] += s.costs[first + e]


@waist.cost.implement(Lattice)
def _(s: Lattice, i: int, y: CodeArray) -> float:
    first, total = s.ptr[i], 0.0
    for j in range(path_length(s, i, y)):
        total += s.costs[first + np.int64(y[j])]
    return total
