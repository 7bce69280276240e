"""Inference on segmented sequences: what the waist asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.interface import CodeArray, CodeTable, FloatArray, IntArray
from partwise.structures.segments.best import best_segments, kbest_segments
from partwise.structures.segments.corpus import Segments
from partwise.structures.segments.reach import (
    SegmentScores,
    find_reach,
    mask_transitions,
    part_views,
)
from partwise.structures.segments.sums import (
    draw_segments,
    expect_parts,
    sum_prefixes,
    sum_suffixes,
)


@kernel
def _prepare(s: Segments, i: int, theta: FloatArray, ws: Any) -> SegmentScores:
    """Cut `theta`, and find out what is legal."""
    given = part_views(s, i, theta, ws)
    find_reach(s, i, ws)
    mask_transitions(s, given.transition, ws.legal)
    return given


@waist.argmax.implement(Segments)
def _(s: Segments, i: int, theta: FloatArray, y: CodeArray, ws: Any) -> float:
    if s.ptr[i + 1] == s.ptr[i]:
        return 0.0
    return best_segments(s, _prepare(s, i, theta, ws), y, ws)


@waist.kbest.implement(Segments)
def _(
    s: Segments,
    i: int,
    theta: FloatArray,
    k: int,
    ys: CodeArray,
    scores: FloatArray,
    ws: Any,
) -> int:
    if s.ptr[i + 1] == s.ptr[i]:
        scores[0] = 0.0
        return 1
    return kbest_segments(s, _prepare(s, i, theta, ws), k, ys, scores, ws)


@waist.log_partition.implement(Segments)
def _(s: Segments, i: int, theta: FloatArray, ws: Any) -> float:
    if s.ptr[i + 1] == s.ptr[i]:
        return 0.0
    return sum_prefixes(s, _prepare(s, i, theta, ws), ws)


@waist.sample.implement(Segments)
def _(
    s: Segments,
    i: int,
    theta: FloatArray,
    space: waist.SamplingSpace,
    state: IntArray,
    ys: CodeTable,
    ws: Any,
) -> bool:
    if s.ptr[i + 1] == s.ptr[i]:
        return True
    return draw_segments(s, _prepare(s, i, theta, ws), ys, state, ws)


@waist.marginals.implement(Segments)
def _(s: Segments, i: int, theta: FloatArray, mu: FloatArray, ws: Any) -> float:
    mu[: waist.n_parts(s, i)] = 0.0
    if s.ptr[i + 1] == s.ptr[i]:
        return 0.0
    given = _prepare(s, i, theta, ws)
    log_z = sum_prefixes(s, given, ws)
    if log_z > -np.inf:
        sum_suffixes(s, given, ws)
        expect_parts(s, given, part_views(s, i, mu, ws), log_z, ws)
    return log_z
