"""Differences of two trees, only at the words where the two differ."""

from __future__ import annotations

from typing import Any

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.dependency.arcs import arc_entries
from partwise.structures.dependency.corpus import DependencyTrees
from partwise.structures.dependency.labels import label_part_entries
from partwise.structures.dependency.parts import label_parts, n_words
from partwise.structures.interface import CodeArray, Diff, FloatArray


@kernel
def _next_difference(
    y: CodeArray, y_ref: CodeArray, n: int, is_labelled: bool, m: int
) -> int:
    """Return the first word after `m` at which two trees differ, or ``n + 1``."""
    m += 1
    while m <= n and y[m - 1] == y_ref[m - 1]:
        if is_labelled and y[n + m - 1] != y_ref[n + m - 1]:
            break
        m += 1
    return m


@kernel
def _word_entries(
    s: DependencyTrees,
    i: int,
    n: int,
    y: CodeArray,
    y_other: CodeArray,
    m: int,
    diff: Diff,
    ws: Any,
) -> int:
    """Write the features of word `m` in tree `y` that the other tree may not have."""
    h, found = y[m - 1], 0
    if h != y_other[m - 1]:
        found = arc_entries(s.arcs, i, n, h, m, diff.idx, diff.val, ws.arcs)
    if s.labels.n_labels > 0:
        label_parts(s, i, n, h, m, y[n + m - 1], diff.ids)
        for j in range(3):
            part = diff.ids[j] - (n + 1) * (n + 1)
            idx, val = diff.idx[found:], diff.val[found:]
            more = label_part_entries(s.labels, i, n, part, idx, val)
            for e in range(more):
                idx[e] += s.layout.label_at
            found += more
    return found


@waist.diff_dot.implement(DependencyTrees)
def _(
    s: DependencyTrees,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    w: FloatArray,
    diff: Diff,
    ws: Any,
) -> float:
    n, is_labelled = n_words(s, i), s.labels.n_labels > 0
    result = 0.0
    m = _next_difference(y, y_ref, n, is_labelled, 0)
    while m <= n:
        for j in range(_word_entries(s, i, n, y_ref, y, m, diff, ws)):
            result += diff.val[j] * w[diff.idx[j]]
        for j in range(_word_entries(s, i, n, y, y_ref, m, diff, ws)):
            result -= diff.val[j] * w[diff.idx[j]]
        m = _next_difference(y, y_ref, n, is_labelled, m)
    return result


@waist.diff_add.implement(DependencyTrees)
def _(
    s: DependencyTrees,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    scale: float,
    w: FloatArray,
    diff: Diff,
    ws: Any,
) -> None:
    n, is_labelled = n_words(s, i), s.labels.n_labels > 0
    m = _next_difference(y, y_ref, n, is_labelled, 0)
    while m <= n:
        for j in range(_word_entries(s, i, n, y_ref, y, m, diff, ws)):
            w[diff.idx[j]] += scale * diff.val[j]
        for j in range(_word_entries(s, i, n, y, y_ref, m, diff, ws)):
            w[diff.idx[j]] -= scale * diff.val[j]
        m = _next_difference(y, y_ref, n, is_labelled, m)


@waist.diff_sqnorm.implement(DependencyTrees)
def _(
    s: DependencyTrees, i: int, y: CodeArray, y_ref: CodeArray, diff: Diff, ws: Any
) -> float:
    n, is_labelled = n_words(s, i), s.labels.n_labels > 0
    m = _next_difference(y, y_ref, n, is_labelled, 0)
    while m <= n:
        for j in range(_word_entries(s, i, n, y_ref, y, m, diff, ws)):
            waist.accumulate(diff.total, diff.idx[j], diff.val[j])
        for j in range(_word_entries(s, i, n, y, y_ref, m, diff, ws)):
            waist.accumulate(diff.total, diff.idx[j], -diff.val[j])
        m = _next_difference(y, y_ref, n, is_labelled, m)
    return waist.take_sqnorm(diff.total)
