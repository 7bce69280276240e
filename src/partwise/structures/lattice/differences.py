"""Differences of two paths, only where the two differ."""

from __future__ import annotations

from typing import Any

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.differences import accumulate_row
from partwise.structures.interface import CodeArray, Diff, FloatArray
from partwise.structures.lattice.corpus import Lattice
from partwise.structures.lattice.parts import add_edge, edge_score, path_length


@kernel
def write_differing(
    s: Lattice, i: int, y: CodeArray, y_ref: CodeArray, diff: Diff
) -> int:
    """Write the edges of one path only, with a sign; return how many.

    Plus one for those of `y_ref`. The edges of a path increase: the two are merged.
    """
    n, n_ref = path_length(s, i, y), path_length(s, i, y_ref)
    first = s.ptr[i]
    a = b = found = 0
    while a < n or b < n_ref:
        if a < n and b < n_ref and y[a] == y_ref[b]:
            a += 1
            b += 1
        elif b == n_ref or (a < n and y[a] < y_ref[b]):
            diff.ids[found], diff.counts[found] = first + y[a], -1.0
            found += 1
            a += 1
        else:
            diff.ids[found], diff.counts[found] = first + y_ref[b], 1.0
            found += 1
            b += 1
    return found


@waist.diff_dot.implement(Lattice)
def _(
    s: Lattice, i: int, y: CodeArray, y_ref: CodeArray, w: FloatArray, diff: Diff,
    ws: Any,
) -> float:  # fmt: skip
    total = 0.0
    for j in range(write_differing(s, i, y, y_ref, diff)):
        total += diff.counts[j] * edge_score(s.rows, diff.ids[j], w)
    return total


@waist.diff_add.implement(Lattice)
def _(
    s: Lattice, i: int, y: CodeArray, y_ref: CodeArray, scale: float, w: FloatArray,
    diff: Diff, ws: Any,
) -> None:  # fmt: skip
    for j in range(write_differing(s, i, y, y_ref, diff)):
        add_edge(s.rows, diff.ids[j], scale * diff.counts[j], w)


@waist.diff_collect.implement(Lattice)
def _(s: Lattice, i: int, y: CodeArray, y_ref: CodeArray, diff: Diff, ws: Any) -> None:
    for j in range(write_differing(s, i, y, y_ref, diff)):
        accumulate_row(s.rows, diff.ids[j], 0, 1, 0, diff.counts[j], diff)
