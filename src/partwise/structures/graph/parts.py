"""Graphs: sizes, scores, features and costs of parts."""

from __future__ import annotations

from typing import Any

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.graph.corpus import CliqueTable, FactorGraph
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.rows import row_add, row_dot, row_entries
from partwise.structures.vectors import copy


@kernel
def configuration(cliques: CliqueTable, c: int, y: CodeArray) -> int:
    """Return the configuration of clique `c` in the output `y`."""
    result = 0
    for j in range(cliques.member_ptr[c], cliques.member_ptr[c + 1]):
        result += y[cliques.members[j]] * cliques.strides[j]
    return result


@waist.n_examples.implement(FactorGraph)
def _(s: FactorGraph) -> int:
    return s.vertices.ptr.size - 1


@waist.n_weights.implement(FactorGraph)
def _(s: FactorGraph) -> int:
    return s.n_weights


@waist.n_parts.implement(FactorGraph)
def _(s: FactorGraph, i: int) -> int:
    return s.cliques.part_at[s.cliques.ptr[i + 1]] - s.cliques.part_at[s.cliques.ptr[i]]


@waist.output_size.implement(FactorGraph)
def _(s: FactorGraph, i: int) -> int:
    return s.vertices.ptr[i + 1] - s.vertices.ptr[i]


@waist.max_features.implement(FactorGraph)
def _(s: FactorGraph) -> int:
    most = 0
    for i in range(s.vertices.ptr.size - 1):
        entries = s.rows.ptr[s.cliques.ptr[i + 1]] - s.rows.ptr[s.cliques.ptr[i]]
        most = max(most, 2 * entries)
    return most


@waist.part_scores.implement(FactorGraph)
def _(s: FactorGraph, i: int, w: FloatArray, theta: FloatArray, ws: Any) -> None:
    kinds, part_at = s.kinds, s.cliques.part_at
    first = s.cliques.ptr[i]
    for c in range(first, s.cliques.ptr[i + 1]):
        kind = s.cliques.kind[c]
        here = theta[part_at[c] - part_at[first] : part_at[c + 1] - part_at[first]]
        own = w[kinds.weight_at[kind] :]
        if kinds.is_plain[kind]:
            here[:] = 0.0
            row_dot(s.rows, c, own, here)
            continue
        scores = ws.classes[: kinds.n_classes[kind]]
        scores[:] = 0.0
        row_dot(s.rows, c, own, scores)
        classes = kinds.classes[kinds.class_at[kind] :]
        for a in range(here.size):
            here[a] = scores[classes[a]] if classes[a] >= 0 else 0.0


@waist.add_parts.implement(FactorGraph)
def _(
    s: FactorGraph, i: int, mu: FloatArray, scale: float, w: FloatArray, ws: Any
) -> float:
    kinds, part_at = s.kinds, s.cliques.part_at
    first = s.cliques.ptr[i]
    change = 0.0
    for c in range(first, s.cliques.ptr[i + 1]):
        kind = s.cliques.kind[c]
        here = mu[part_at[c] - part_at[first] : part_at[c + 1] - part_at[first]]
        own = w[kinds.weight_at[kind] :]
        if kinds.is_plain[kind]:
            change += row_add(s.rows, c, here, scale, own)
            continue
        sums = ws.classes[: kinds.n_classes[kind]]
        sums[:] = 0.0
        classes = kinds.classes[kinds.class_at[kind] :]
        for a in range(here.size):
            if classes[a] >= 0:
                sums[classes[a]] += here[a]
        change += row_add(s.rows, c, sums, scale, own)
    return change


@waist.is_output.implement(FactorGraph)
def _(s: FactorGraph, i: int, y: CodeArray) -> bool:
    first = s.vertices.ptr[i]
    for v in range(s.vertices.ptr[i + 1] - first):
        if not 0 <= y[v] < s.vertices.n_labels[first + v]:
            return False
    return True


@waist.parts_of.implement(FactorGraph)
def _(s: FactorGraph, i: int, y: CodeArray, ids: IntArray, counts: FloatArray) -> int:
    part_at = s.cliques.part_at
    first = s.cliques.ptr[i]
    found = s.cliques.ptr[i + 1] - first
    for j in range(found):
        ids[j] = (
            part_at[first + j] - part_at[first] + configuration(s.cliques, first + j, y)
        )
        counts[j] = 1.0
    return found


@kernel
def find_clique(cliques: CliqueTable, i: int, r: int) -> int:
    """Return the clique that part `r` of example `i` belongs to, by bisection."""
    part_at = cliques.part_at
    low, high = cliques.ptr[i], cliques.ptr[i + 1]
    wanted = part_at[low] + r
    while high - low > 1:
        middle = (low + high) // 2
        if part_at[middle] <= wanted:
            low = middle
        else:
            high = middle
    return low


@waist.part_row.implement(FactorGraph)
def _(s: FactorGraph, i: int, r: int, idx: IntArray, val: FloatArray, ws: Any) -> int:
    kinds, part_at = s.kinds, s.cliques.part_at
    c = find_clique(s.cliques, i, r)
    kind = s.cliques.kind[c]
    a = r - (part_at[c] - part_at[s.cliques.ptr[i]])
    of_class = kinds.classes[kinds.class_at[kind] + a]
    if of_class < 0:
        return 0
    found = row_entries(s.rows, c, of_class, kinds.n_classes[kind], idx, val)
    for j in range(found):
        idx[j] += kinds.weight_at[kind]
    return found


@waist.gold.implement(FactorGraph)
def _(s: FactorGraph, i: int, y: CodeArray) -> None:
    copy(s.vertices.labels[s.vertices.ptr[i] : s.vertices.ptr[i + 1]], y)


@waist.add_costs.implement(FactorGraph)
def _(s: FactorGraph, i: int, theta: FloatArray) -> None:
    vertices, part_at = s.vertices, s.cliques.part_at
    start = part_at[s.cliques.ptr[i]]
    for v in range(vertices.ptr[i], vertices.ptr[i + 1]):
        c, stride = vertices.home[v], vertices.home_stride[v]
        costs = vertices.costs[vertices.cost_at[v] :]
        here = theta[part_at[c] - start : part_at[c + 1] - start]
        for a in range(here.size):
            here[a] += costs[a // stride % vertices.n_labels[v]]


@waist.cost.implement(FactorGraph)
def _(s: FactorGraph, i: int, y: CodeArray) -> float:
    vertices = s.vertices
    first = vertices.ptr[i]
    total = 0.0
    for v in range(first, vertices.ptr[i + 1]):
        total += vertices.costs[vertices.cost_at[v] + y[v - first]]
    return total
