"""Differences of two trees, at the words where the two differ."""

from __future__ import annotations

from typing import Any

from partwise._jit import kernel
from partwise.structures.dependency.arcs import arc_entries
from partwise.structures.dependency.corpus import DependencyTrees
from partwise.structures.dependency.labels import label_part_entries
from partwise.structures.dependency.parts import label_parts, n_words
from partwise.structures.differences import compare_by_place
from partwise.structures.interface import CodeArray, Diff


@kernel
def _next_difference(
    s: DependencyTrees, n: int, y: CodeArray, y_ref: CodeArray, m: int
) -> int:
    is_labelled = s.labels.n_labels > 0
    m += 1
    while m <= n and y[m - 1] == y_ref[m - 1]:
        if is_labelled and y[n + m - 1] != y_ref[n + m - 1]:
            break
        m += 1
    return m if m <= n else 0


@kernel
def _word_entries(
    s: DependencyTrees,
    i: int,
    n: int,
    y: CodeArray,
    other: CodeArray,
    m: int,
    diff: Diff,
    ws: Any,
) -> int:
    h, found = y[m - 1], 0
    if h != other[m - 1]:
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


compare_by_place(DependencyTrees, n_words, _next_difference, _word_entries, listed=True)
