"""Differences of two trees of second order, at the words where a part differs."""

from __future__ import annotations

from typing import Any

from partwise._jit import kernel
from partwise.structures.dependency.arcs import arc_entries
from partwise.structures.dependency.labels import (
    head_row,
    modifier_row,
    pair_row,
    row_part_entries,
)
from partwise.structures.dependency.second_order.corpus import (
    SecondOrderTrees,
    grandparent_of,
    is_last,
    sibling_of,
)
from partwise.structures.dependency.second_order.parts import triple_entries
from partwise.structures.dependency.second_order.triples import (
    grand_triple,
    sibling_triple,
)
from partwise.structures.differences import compare_by_place
from partwise.structures.interface import CodeArray, Diff


@kernel
def _size(s: SecondOrderTrees, i: int) -> int:
    return s.first.ptr[i + 1] - s.first.ptr[i]


@kernel
def _next_difference(
    s: SecondOrderTrees, n: int, y: CodeArray, y_ref: CodeArray, m: int
) -> int:
    is_labelled = s.first.labels.n_labels > 0
    for word in range(m + 1, n + 1):
        if (
            y[word - 1] != y_ref[word - 1]
            or (is_labelled and y[n + word - 1] != y_ref[n + word - 1])
            or grandparent_of(y, word) != grandparent_of(y_ref, word)
            or sibling_of(y, word) != sibling_of(y_ref, word)
            or is_last(y, n, word) != is_last(y_ref, n, word)
        ):
            return word
    return 0


@kernel
def _word_entries(
    s: SecondOrderTrees,
    i: int,
    n: int,
    y: CodeArray,
    other: CodeArray,
    m: int,
    diff: Diff,
    ws: Any,
) -> int:
    """Write what a tree has at word `m`, and the other has not, or not all of it."""
    first, h, found = s.first, y[m - 1], 0
    same_head = h == other[m - 1]
    if not same_head:
        found = arc_entries(first.arcs, i, n, h, m, diff.idx, diff.val, ws.arcs)
    sibling, grandparent = sibling_of(y, m), grandparent_of(y, m)
    if not (same_head and sibling == sibling_of(other, m)):
        one = sibling_triple(s.triples, n, h, sibling, m)
        found += triple_entries(s, one, diff.idx[found:], diff.val[found:], ws)
    if is_last(y, n, m) and not (same_head and is_last(other, n, m)):
        one = sibling_triple(s.triples, n, h, m, 0)
        found += triple_entries(s, one, diff.idx[found:], diff.val[found:], ws)
    if h > 0 and not (same_head and grandparent == grandparent_of(other, m)):
        one = grand_triple(s.triples, grandparent, h, m)
        found += triple_entries(s, one, diff.idx[found:], diff.val[found:], ws)
    if first.labels.n_labels == 0:
        return found
    label = y[n + m - 1]
    if same_head and label == other[n + m - 1]:
        return found
    for kind in range(3):
        row = modifier_row(n, h, m)
        if kind > 0:
            row = head_row(n, h, m) if kind == 1 else pair_row(first.labels, i, n, h, m)
        idx, val = diff.idx[found:], diff.val[found:]
        more = row_part_entries(first.labels, i, n, row, label, idx, val)
        for j in range(more):
            idx[j] += first.layout.label_at
        found += more
    return found


compare_by_place(SecondOrderTrees, _size, _next_difference, _word_entries, listed=True)
