"""Sums over all segmentations, in logarithms: log Z, marginals, samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.structures.interface import CodeTable, FloatArray, IntArray
from partwise.structures.random_numbers import draw_log
from partwise.structures.segments.corpus import Segments
from partwise.structures.segments.reach import SegmentScores
from partwise.structures.vectors import largest, log_sum


@kernel
def _log_sum(terms: FloatArray, scratch: FloatArray) -> float:
    """Return ``log sum exp`` of terms of which all may be -inf."""
    if terms.size == 0 or largest(terms) == -np.inf:
        return -np.inf
    return log_sum(terms, scratch)


@kernel
def sum_prefixes(s: Segments, given: SegmentScores, ws: Any) -> float:
    """Sum over what comes before every border; return log Z.

    ``enter`` and ``leave`` are those of `best_segments`, summed up instead.
    """
    K, n = s.layout.n_labels, given.segment.shape[0]
    enter, leave, terms = ws.enter, ws.leave, ws.terms
    for t in range(n):
        for b in range(K):
            if t == 0:
                enter[0, b] = given.start[b] if s.mask.start[b] else -np.inf
                continue
            for a in range(K):
                terms[a] = leave[a, t - 1] + ws.legal[a, b]
            enter[t, b] = _log_sum(terms[:K], ws.exps)
        for b in range(K):
            at, found = s.shape_at[b], 0
            for d in range(min(s.shape_at[b + 1] - at, t + 1)):
                if ws.reach[b, t - d] > d:
                    terms[found] = enter[t - d, b] + given.segment[t - d, at + d]
                    found += 1
            leave[b, t] = _log_sum(terms[:found], ws.exps)
    for b in range(K):
        terms[b] = leave[b, n - 1] + given.end[b] if s.mask.end[b] else -np.inf
    return _log_sum(terms[:K], ws.exps)


@kernel
def draw_segments(
    s: Segments, given: SegmentScores, ys: CodeTable, state: IntArray, ws: Any
) -> bool:
    """Draw an output into every row of `ys`; return False if nothing is legal.

    Forward once, then backward: a last label, a length of its segment, a label before,
    each in proportion to the outputs that lead to it.
    """
    if sum_prefixes(s, given, ws) == -np.inf:
        return False
    K, n, terms = s.layout.n_labels, given.segment.shape[0], ws.terms
    for j in range(ys.shape[0]):
        end = n
        for b in range(K):
            terms[b] = ws.leave[b, n - 1] + given.end[b] if s.mask.end[b] else -np.inf
        while end > 0:
            k = draw_log(terms[:K], state)
            at = s.shape_at[k]
            longest = min(s.shape_at[k + 1] - at, end)
            for d in range(longest):
                t = end - 1 - d
                terms[d] = -np.inf
                if ws.reach[k, t] > d:
                    terms[d] = ws.enter[t, k] + given.segment[t, at + d]
            begin = end - 1 - draw_log(terms[:longest], state)
            ys[j, begin] = k
            for t in range(begin + 1, end):
                ys[j, t] = K + k
            for a in range(K if begin > 0 else 0):
                terms[a] = ws.leave[a, begin - 1] + ws.legal[a, k]
            end = begin
    return True


@kernel
def sum_suffixes(s: Segments, given: SegmentScores, ws: Any) -> None:
    """Sum over what comes after every border.

    ``close[k, t]`` is of what follows a segment of label k that ends at t,
    ``open[t, k]`` of such a segment that begins at t and of what follows it.
    """
    K, n = s.layout.n_labels, given.segment.shape[0]
    opened, close, terms = ws.open, ws.close, ws.terms
    for t in range(n - 1, -1, -1):
        for a in range(K):
            if t == n - 1:
                close[a, t] = given.end[a] if s.mask.end[a] else -np.inf
                continue
            for b in range(K):
                terms[b] = ws.legal[a, b] + opened[t + 1, b]
            close[a, t] = _log_sum(terms[:K], ws.exps)
        for a in range(K):
            at, reach = s.shape_at[a], ws.reach[a, t]
            for d in range(reach):
                terms[d] = given.segment[t, at + d] + close[a, t + d]
            opened[t, a] = _log_sum(terms[:reach], ws.exps)


@kernel
def expect_parts(
    s: Segments, given: SegmentScores, mu: SegmentScores, log_z: float, ws: Any
) -> None:
    """Add the expected counts of all parts to `mu`, from the sums of both sides."""
    K, n = s.layout.n_labels, given.segment.shape[0]
    for t in range(n):
        for k in range(K):
            before, at = ws.enter[t, k] - log_z, s.shape_at[k]
            for d in range(ws.reach[k, t]):
                score = before + given.segment[t, at + d] + ws.close[k, t + d]
                mu.segment[t, at + d] = np.exp(min(score, 0.0))
        for a in range(K if t > 0 else 0):
            before = ws.leave[a, t - 1] - log_z
            for b in range(K):
                score = before + ws.legal[a, b] + ws.open[t, b]
                mu.transition[a, b] += np.exp(min(score, 0.0))
    if s.layout.has_start:
        for k in range(K):
            mu.start[k] = np.exp(min(ws.enter[0, k] + ws.open[0, k] - log_z, 0.0))
    if s.layout.has_end:
        for k in range(K):
            score = ws.leave[k, n - 1] + ws.close[k, n - 1] - log_z
            mu.end[k] = np.exp(min(score, 0.0))
