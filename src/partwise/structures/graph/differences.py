"""Differences of two labellings, only in the cliques where they differ."""

from __future__ import annotations

from typing import Any

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.differences import accumulate_row
from partwise.structures.graph.corpus import CliqueTable, FactorGraph, KindTable
from partwise.structures.graph.parts import configuration
from partwise.structures.interface import CodeArray, Diff, FloatArray
from partwise.structures.rows import row_diff_add, row_diff_dot


@kernel
def _class_of(cliques: CliqueTable, kinds: KindTable, c: int, y: CodeArray) -> int:
    """Return the class of weights that clique `c` has in output `y`."""
    at = kinds.class_at[cliques.kind[c]]
    return kinds.classes[at + configuration(cliques, c, y)]


@waist.diff_dot.implement(FactorGraph)
def _(
    s: FactorGraph,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    w: FloatArray,
    diff: Diff,
    ws: Any,
) -> float:
    kinds, result = s.kinds, 0.0
    for c in range(s.cliques.ptr[i], s.cliques.ptr[i + 1]):
        wrong = _class_of(s.cliques, kinds, c, y)
        right = _class_of(s.cliques, kinds, c, y_ref)
        if wrong != right:
            kind = s.cliques.kind[c]
            own = w[kinds.weight_at[kind] :]
            result += row_diff_dot(s.rows, c, right, wrong, kinds.n_classes[kind], own)
    return result


@waist.diff_add.implement(FactorGraph)
def _(
    s: FactorGraph,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    scale: float,
    w: FloatArray,
    diff: Diff,
    ws: Any,
) -> None:
    kinds = s.kinds
    for c in range(s.cliques.ptr[i], s.cliques.ptr[i + 1]):
        wrong = _class_of(s.cliques, kinds, c, y)
        right = _class_of(s.cliques, kinds, c, y_ref)
        if wrong != right:
            kind = s.cliques.kind[c]
            own = w[kinds.weight_at[kind] :]
            row_diff_add(s.rows, c, right, wrong, kinds.n_classes[kind], scale, own)


@waist.diff_collect.implement(FactorGraph)
def _(
    s: FactorGraph, i: int, y: CodeArray, y_ref: CodeArray, diff: Diff, ws: Any
) -> None:
    kinds = s.kinds
    for c in range(s.cliques.ptr[i], s.cliques.ptr[i + 1]):
        wrong = _class_of(s.cliques, kinds, c, y)
        right = _class_of(s.cliques, kinds, c, y_ref)
        if wrong != right:
            kind = s.cliques.kind[c]
            n_classes, at = kinds.n_classes[kind], kinds.weight_at[kind]
            accumulate_row(s.rows, c, right, n_classes, at, 1.0, diff)
            accumulate_row(s.rows, c, wrong, n_classes, at, -1.0, diff)
