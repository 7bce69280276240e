"""The best segmentation, and the k best.

Sarawagi and Cohen (NIPS 2004), equation 2, with the label before a segment chosen once
for all its lengths: O(T (K^2 + M)) for M shapes, instead of O(T K M).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures.interface import CodeArray, FloatArray
from partwise.structures.segments.corpus import Segments
from partwise.structures.segments.reach import SegmentScores


@kernel
def best_segments(s: Segments, given: SegmentScores, y: CodeArray, ws: Any) -> float:
    """Write the best legal output to `y`; return its score, or -inf.

    ``enter[t, k]`` is the best score of what comes before a segment of label k that
    begins at t, with the transition; ``leave[k, t]`` that of all up to its end at t.
    """
    K, n = s.layout.n_labels, given.segment.shape[0]
    enter, leave, legal = ws.enter, ws.leave, ws.legal
    for k in range(K):
        enter[0, k] = given.start[k] if s.mask.start[k] else -np.inf
        leave[k, :n] = -np.inf
    for t in range(n):
        if t > 0:
            for b in range(K):
                enter[t, b] = -np.inf
            for a in range(K):
                reached = leave[a, t - 1]
                for b in range(K):
                    enter[t, b] = max(enter[t, b], reached + legal[a, b])
        for k in range(K):
            before, at = enter[t, k], s.shape_at[k]
            scores, there = given.segment[t, at:], leave[k, t:]
            for d in range(ws.reach[k, t]):
                there[d] = max(there[d], before + scores[d])
    result, k = -np.inf, 0
    for b in range(K):
        score = leave[b, n - 1] + given.end[b] if s.mask.end[b] else -np.inf
        if score > result:
            result, k = score, b
    if result > -np.inf:
        _trace_back(s, given, k, y, ws)
    else:
        y[:n] = 0
    return result


@kernel
def _trace_back(
    s: Segments, given: SegmentScores, k: int, y: CodeArray, ws: Any
) -> None:
    """Write the output whose last label is `k`: sums that come out the same again."""
    K, end = s.layout.n_labels, given.segment.shape[0]
    enter, leave = ws.enter, ws.leave
    while end > 0:
        begin = end - 1
        while (
            ws.reach[k, begin] < end - begin
            or enter[begin, k] + given.segment[begin, s.shape_at[k] + end - begin - 1]
            != leave[k, end - 1]
        ):
            begin -= 1
        y[begin] = k
        for t in range(begin + 1, end):
            y[t] = K + k
        if begin > 0:
            before = 0
            while leave[before, begin - 1] + ws.legal[before, k] != enter[begin, k]:
                before += 1
            k = before
        end = begin


@kernel
def kbest_segments(
    s: Segments,
    given: SegmentScores,
    k: int,
    ys: NDArray[np.int32],
    scores: FloatArray,
    ws: Any,
) -> int:
    """Write the `k` best legal outputs, best first; return how many exist.

    Every border of a label keeps its `k` best prefixes, merged from the sorted lists of
    the labels before, and of the lengths of its last segment.
    """
    if k == 1:
        scores[0] = best_segments(s, given, ys[0], ws)
        return 1 if scores[0] > -np.inf else 0
    K, n = s.layout.n_labels, given.segment.shape[0]
    for t in range(n):
        for b in range(K):
            _rank_entries(s, given, t, b, k, ws)
        for b in range(K):
            _rank_exits(s, given, t, b, k, ws)
    cursor, found = ws.cursor, 0
    cursor[:K] = 0
    while found < k:
        top, best = -np.inf, -1
        for b in range(K):
            if s.mask.end[b] and cursor[b] < k:
                score = ws.ranked_leave[n - 1, b, cursor[b]] + given.end[b]
                if score > top:
                    top, best = score, b
        if best < 0:
            break
        scores[found] = top
        _write_ranked(s, n, best, cursor[best], ys[found], ws)
        cursor[best] += 1
        found += 1
    return found


@kernel
def _rank_entries(
    s: Segments, given: SegmentScores, t: int, b: int, k: int, ws: Any
) -> None:
    """Rank what may come before a segment of label `b` that begins at `t`."""
    ranked, cursor = ws.ranked_enter[t, b], ws.cursor
    ranked[:k] = -np.inf
    if t == 0:
        ranked[0] = given.start[b] if s.mask.start[b] else -np.inf
        return
    K = s.layout.n_labels
    cursor[:K] = 0
    for j in range(k):
        top, best = -np.inf, -1
        for a in range(K):
            if cursor[a] < k:
                score = ws.ranked_leave[t - 1, a, cursor[a]] + ws.legal[a, b]
                if score > top:
                    top, best = score, a
        if best < 0:
            return
        ranked[j] = top
        ws.enter_label[t, b, j], ws.enter_rank[t, b, j] = best, cursor[best]
        cursor[best] += 1


@kernel
def _rank_exits(
    s: Segments, given: SegmentScores, t: int, b: int, k: int, ws: Any
) -> None:
    """Rank the prefixes whose last segment, of label `b`, ends at `t`."""
    ranked, cursor = ws.ranked_leave[t, b], ws.cursor
    ranked[:k] = -np.inf
    at = s.shape_at[b]
    longest = min(s.shape_at[b + 1] - at, t + 1)
    cursor[:longest] = 0
    for j in range(k):
        top, best = -np.inf, -1
        for d in range(longest):
            if cursor[d] < k and ws.reach[b, t - d] > d:
                before = ws.ranked_enter[t - d, b, cursor[d]]
                score = before + given.segment[t - d, at + d]
                if score > top:
                    top, best = score, d
        if best < 0:
            return
        ranked[j] = top
        ws.leave_length[t, b, j], ws.leave_rank[t, b, j] = best + 1, cursor[best]
        cursor[best] += 1


@kernel
def _write_ranked(
    s: Segments, end: int, label: int, rank: int, y: CodeArray, ws: Any
) -> None:
    """Write the output that is the prefix of a rank up to `end`."""
    while end > 0:
        begin = end - ws.leave_length[end - 1, label, rank]
        rank = ws.leave_rank[end - 1, label, rank]
        y[begin] = label
        for t in range(begin + 1, end):
            y[t] = s.layout.n_labels + label
        before = ws.enter_label[begin, label, rank]
        rank = ws.enter_rank[begin, label, rank]
        label = before
        end = begin
