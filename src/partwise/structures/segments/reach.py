"""The scores of a sequence, part by part, and how far segments may reach."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.structures.interface import FloatArray
from partwise.structures.segments.corpus import Segments


class SegmentScores(NamedTuple):
    """Views of the scores of a sequence's parts."""

    segment: FloatArray
    transition: FloatArray
    start: FloatArray
    end: FloatArray


@kernel
def part_views(s: Segments, i: int, theta: FloatArray, ws: Any) -> SegmentScores:
    """Cut `theta`; starts and ends without parts have the score zero."""
    K, M, n = s.layout.n_labels, s.layout.n_shapes, s.ptr[i + 1] - s.ptr[i]
    at = n * M
    stop = at + K * K
    start = end = ws.zeros
    if s.layout.has_start:
        start = theta[stop : stop + K]
        stop += K
    if s.layout.has_end:
        end = theta[stop : stop + K]
    return SegmentScores(
        theta[:at].reshape(n, M), theta[at : at + K * K].reshape(K, K), start, end
    )


@kernel
def find_reach(s: Segments, i: int, ws: Any) -> None:
    """Set ``reach[k, t]`` to the length of the longest legal segment; write `legal`.

    `legal` are the scores of legal transitions, -inf for others, once they are known.
    """
    K, first, n = s.layout.n_labels, s.ptr[i], s.ptr[i + 1] - s.ptr[i]
    tokens = s.mask.tokens
    for k in range(K):
        limit, after = s.shape_at[k + 1] - s.shape_at[k], 0
        for t in range(n - 1, -1, -1):
            may_begin = tokens.shape[0] == 0 or tokens[first + t, k] != 0
            may_go_on = tokens.shape[0] == 0 or tokens[first + t, K + k] != 0
            ws.reach[k, t] = min(limit, 1 + after) if may_begin else 0
            after = 1 + after if may_go_on else 0


@kernel
def mask_transitions(s: Segments, scores: FloatArray, out: FloatArray) -> None:
    """Copy transition scores, with -inf where a transition is forbidden."""
    for a in range(scores.shape[0]):
        for b in range(scores.shape[0]):
            out[a, b] = scores[a, b] if s.mask.transitions[a, b] else -np.inf
