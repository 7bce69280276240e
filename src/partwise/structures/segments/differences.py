"""Differences of two segmentations, only where the two differ.

A place is a token, counted from 1: there are the segment that begins there, and the
transition into it.
"""

from __future__ import annotations

from typing import Any

from partwise._jit import kernel
from partwise.structures.differences import compare_by_place
from partwise.structures.interface import CodeArray, Diff
from partwise.structures.segments.corpus import Segments
from partwise.structures.segments.parts import end_of, segment_entries


@kernel
def _size(s: Segments, i: int) -> int:
    return s.ptr[i + 1] - s.ptr[i]


@kernel
def _same_segment(s: Segments, n: int, y: CodeArray, other: CodeArray, t: int) -> bool:
    """Say whether the segment that begins at `t` in `y` does so in the other, too."""
    return other[t] == y[t] and end_of(s, y, t, n) == end_of(s, other, t, n)


@kernel
def _same_before(s: Segments, y: CodeArray, other: CodeArray, t: int) -> bool:
    """Say whether the labels before token `t` are the same, or there are none."""
    K = s.layout.n_labels
    return t == 0 or y[t - 1] % K == other[t - 1] % K


@kernel
def _next_difference(
    s: Segments, n: int, y: CodeArray, y_ref: CodeArray, at: int
) -> int:
    K = s.layout.n_labels
    for t in range(at, n):
        begins, begins_too = y[t] < K, y_ref[t] < K
        if begins != begins_too:
            return t + 1
        if begins and not (
            _same_segment(s, n, y, y_ref, t) and _same_before(s, y, y_ref, t)
        ):
            return t + 1
    return 0


@kernel
def _entries(
    s: Segments,
    i: int,
    n: int,
    y: CodeArray,
    other: CodeArray,
    at: int,
    diff: Diff,
    ws: Any,
) -> int:
    K, t = s.layout.n_labels, at - 1
    if y[t] >= K:
        return 0
    found, end, label = 0, end_of(s, y, t, n), y[t]
    if not _same_segment(s, n, y, other, t):
        found = segment_entries(s, i, t, label, end - t, diff.idx, diff.val)
        # The label of the last token is that of the end, wherever its segment begins.
        if s.layout.has_end and end == n and other[n - 1] % K != label:
            diff.idx[found], diff.val[found] = s.layout.end_at + label, 1.0
            found += 1
    if t == 0:
        if s.layout.has_start and other[0] != label:
            diff.idx[found], diff.val[found] = s.layout.start_at + label, 1.0
            found += 1
    elif other[t] != label or not _same_before(s, y, other, t):
        pair = (y[t - 1] % K) * K + label
        diff.idx[found], diff.val[found] = s.layout.transition_at + pair, 1.0
        found += 1
    return found


compare_by_place(Segments, _size, _next_difference, _entries)
