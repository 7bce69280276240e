"""Differences of two label sequences, only where the two differ."""

from __future__ import annotations

from typing import Any

from partwise.structures import interface as waist
from partwise.structures.chain.corpus import Chain
from partwise.structures.chain.parts import has_weight
from partwise.structures.differences import accumulate_row
from partwise.structures.interface import CodeArray, Diff, FloatArray
from partwise.structures.rows import row_diff_add, row_diff_dot


@waist.diff_dot.implement(Chain)
def _(
    s: Chain, i: int, y: CodeArray, y_ref: CodeArray, w: FloatArray, diff: Diff, ws: Any
) -> float:
    K = s.layout.n_labels
    first, length = s.ptr[i], s.ptr[i + 1] - s.ptr[i]
    tied, square = s.layout.transition_at, K * K
    edge_w = w[s.layout.edge_at :]
    result = 0.0
    for t in range(length):
        here = y[t] != y_ref[t]
        if here:
            result += row_diff_dot(s.nodes, first + t, y_ref[t], y[t], K, w)
        if t > 0 and (here or y[t - 1] != y_ref[t - 1]):
            right, wrong = y_ref[t - 1] * K + y_ref[t], y[t - 1] * K + y[t]
            if has_weight(s, right):
                result += w[tied + right]
            if has_weight(s, wrong):
                result -= w[tied + wrong]
            if s.edges.n_columns:
                result += row_diff_dot(s.edges, first + t, right, wrong, square, edge_w)
    if length > 0:
        if s.layout.has_start:
            result += w[s.layout.start_at + y_ref[0]] - w[s.layout.start_at + y[0]]
        if s.layout.has_end:
            result += w[s.layout.end_at + y_ref[length - 1]]
            result -= w[s.layout.end_at + y[length - 1]]
    return result


@waist.diff_add.implement(Chain)
def _(
    s: Chain,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    scale: float,
    w: FloatArray,
    diff: Diff,
    ws: Any,
) -> None:
    K = s.layout.n_labels
    first, length = s.ptr[i], s.ptr[i + 1] - s.ptr[i]
    tied, square = s.layout.transition_at, K * K
    edge_w = w[s.layout.edge_at :]
    for t in range(length):
        here = y[t] != y_ref[t]
        if here:
            row_diff_add(s.nodes, first + t, y_ref[t], y[t], K, scale, w)
        if t > 0 and (here or y[t - 1] != y_ref[t - 1]):
            right, wrong = y_ref[t - 1] * K + y_ref[t], y[t - 1] * K + y[t]
            if has_weight(s, right):
                w[tied + right] += scale
            if has_weight(s, wrong):
                w[tied + wrong] -= scale
            if s.edges.n_columns:
                row_diff_add(s.edges, first + t, right, wrong, square, scale, edge_w)
    # Adding and taking away the same would leave rounding behind.
    if length > 0:
        if s.layout.has_start and y[0] != y_ref[0]:
            w[s.layout.start_at + y_ref[0]] += scale
            w[s.layout.start_at + y[0]] -= scale
        if s.layout.has_end and y[length - 1] != y_ref[length - 1]:
            w[s.layout.end_at + y_ref[length - 1]] += scale
            w[s.layout.end_at + y[length - 1]] -= scale


@waist.diff_collect.implement(Chain)
def _(s: Chain, i: int, y: CodeArray, y_ref: CodeArray, diff: Diff, ws: Any) -> None:
    K = s.layout.n_labels
    first, length = s.ptr[i], s.ptr[i + 1] - s.ptr[i]
    tied, square = s.layout.transition_at, K * K
    for t in range(length):
        here = y[t] != y_ref[t]
        if here:
            accumulate_row(s.nodes, first + t, y_ref[t], K, 0, 1.0, diff)
            accumulate_row(s.nodes, first + t, y[t], K, 0, -1.0, diff)
        if t > 0 and (here or y[t - 1] != y_ref[t - 1]):
            right, wrong = y_ref[t - 1] * K + y_ref[t], y[t - 1] * K + y[t]
            if has_weight(s, right):
                waist.accumulate(diff.total, tied + right, 1.0)
            if has_weight(s, wrong):
                waist.accumulate(diff.total, tied + wrong, -1.0)
            if s.edges.n_columns:
                at = s.layout.edge_at
                accumulate_row(s.edges, first + t, right, square, at, 1.0, diff)
                accumulate_row(s.edges, first + t, wrong, square, at, -1.0, diff)
    if length > 0:
        if s.layout.has_start:
            waist.accumulate(diff.total, s.layout.start_at + y_ref[0], 1.0)
            waist.accumulate(diff.total, s.layout.start_at + y[0], -1.0)
        if s.layout.has_end:
            waist.accumulate(diff.total, s.layout.end_at + y_ref[length - 1], 1.0)
            waist.accumulate(diff.total, s.layout.end_at + y[length - 1], -1.0)
