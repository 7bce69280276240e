"""The weights of a chain that follow another vector: whole rows, or two labels."""

from __future__ import annotations

from typing import Any

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.chain.corpus import Chain
from partwise.structures.chain.parts import add_links, score_links
from partwise.structures.interface import CodeArray, Diff, FloatArray, shrink_at
from partwise.structures.rows import (
    Rows,
    row_entries,
    row_shrink,
    rows_add_shrunk,
    rows_dot_shrunk,
)
from partwise.structures.vectors import shrink


@waist.shrunk_scores.implement(Chain)
def _(
    s: Chain,
    i: int,
    v: FloatArray,
    w: FloatArray,
    l1_ratio: float,
    theta: FloatArray,
    ws: Any,
) -> None:
    K, first, last = s.layout.n_labels, s.ptr[i], s.ptr[i + 1]
    rows_dot_shrunk(s.nodes, first, last, K, v, w, l1_ratio, theta)
    score_links(s, i, w, theta)


@waist.add_shrunk.implement(Chain)
def _(
    s: Chain,
    i: int,
    mu: FloatArray,
    scale: float,
    v: FloatArray,
    w: FloatArray,
    l1_ratio: float,
    diff: Diff,
    ws: Any,
) -> float:
    K, first, last = s.layout.n_labels, s.ptr[i], s.ptr[i + 1]
    tied, edges = s.layout.transition_at, s.layout.edge_at
    change = rows_add_shrunk(s.nodes, first, last, K, mu, scale, v, w, l1_ratio)
    add_links(s, i, mu, scale, v)
    # Transitions without a weight, and what an example does not have, stay at zero.
    change += shrink(v[tied:edges], w[tied:edges], l1_ratio)
    if s.edges.n_columns:
        for t in range(first + 1, last):
            change += row_shrink(s.edges, t, K * K, v[edges:], w[edges:], l1_ratio)
    return change


@kernel
def _shrink_row(
    rows: Rows,
    t: int,
    k: int,
    n_labels: int,
    at: int,
    v: FloatArray,
    w: FloatArray,
    l1_ratio: float,
    diff: Diff,
) -> float:
    """Let the weights of position `t` with label `k` follow; they begin at `at`."""
    change = 0.0
    for j in range(row_entries(rows, t, k, n_labels, diff.idx, diff.val)):
        change += shrink_at(at + diff.idx[j], v, w, l1_ratio)
    return change


@waist.shrink_diff.implement(Chain)
def _(
    s: Chain,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    v: FloatArray,
    w: FloatArray,
    l1_ratio: float,
    diff: Diff,
    ws: Any,
) -> float:
    K = s.layout.n_labels
    first, length = s.ptr[i], s.ptr[i + 1] - s.ptr[i]
    tied, edges = s.layout.transition_at, s.layout.edge_at
    change = 0.0
    for side in range(2):
        own = y_ref if side == 0 else y
        for t in range(length):
            here = y[t] != y_ref[t]
            if here:
                change += _shrink_row(
                    s.nodes, first + t, own[t], K, 0, v, w, l1_ratio, diff
                )
            if t > 0 and (here or y[t - 1] != y_ref[t - 1]):
                pair = own[t - 1] * K + own[t]
                change += shrink_at(tied + pair, v, w, l1_ratio)
                if s.edges.n_columns:
                    change += _shrink_row(
                        s.edges, first + t, pair, K * K, edges, v, w, l1_ratio, diff
                    )
        if length > 0 and s.layout.has_start:
            change += shrink_at(s.layout.start_at + own[0], v, w, l1_ratio)
        if length > 0 and s.layout.has_end:
            change += shrink_at(s.layout.end_at + own[length - 1], v, w, l1_ratio)
    return change
