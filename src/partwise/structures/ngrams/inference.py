"""Inference on sequences of higher order: what the waist asks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.structures import interface as waist
from partwise.structures.interface import CodeArray, FloatArray
from partwise.structures.ngrams.best import best_labels, kbest_labels
from partwise.structures.ngrams.corpus import NGramChain
from partwise.structures.ngrams.scores import part_views
from partwise.structures.ngrams.sums import (
    expect_logs,
    expect_scaled,
    sum_logs,
    sum_scaled,
)


class NGramSpace(NamedTuple):
    """Scratch arrays by position and state, by state, and by step."""

    best: FloatArray
    came: NDArray[np.int32]
    forward: FloatArray
    alive: NDArray[np.uint8]
    scale: FloatArray
    behind: FloatArray
    ahead: FloatArray
    last: FloatArray
    exp_step: FloatArray
    zeros: FloatArray
    unused: FloatArray
    ranked: NDArray[np.float64]
    ranked_step: NDArray[np.int32]
    ranked_rank: NDArray[np.int32]
    cursor: CodeArray


@waist.workspace.implement(NGramChain)
def _(s: NGramChain, k: int) -> Any:
    longest, states = int(np.diff(s.ptr).max(initial=0)), s.grams.label.size
    widest = int(max(states, np.diff(s.grams.step_ptr).max()))
    ranks = (longest, states, k) if k > 1 else (0, 0, 0)
    return NGramSpace(
        np.zeros((longest, states)),
        np.zeros((longest, states), np.int32),
        np.zeros((longest, states)),
        np.zeros((longest, states), np.uint8),
        np.zeros(longest),
        np.zeros(states),
        np.zeros(states),
        np.zeros(states),
        np.zeros(s.grams.source.size),
        np.zeros(s.layout.n_labels),
        np.zeros(s.layout.n_labels),
        np.zeros(ranks),
        np.zeros(ranks, np.int32),
        np.zeros(ranks, np.int32),
        np.zeros(widest, np.int32),
    )


@waist.argmax.implement(NGramChain)
def _(s: NGramChain, i: int, theta: FloatArray, y: CodeArray, ws: Any) -> float:
    if s.ptr[i + 1] == s.ptr[i]:
        return 0.0
    return best_labels(s, part_views(s, i, theta, ws.zeros), y, ws)


@waist.kbest.implement(NGramChain)
def _(
    s: NGramChain,
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
    given = part_views(s, i, theta, ws.zeros)
    if k == 1:
        scores[0] = best_labels(s, given, ys[0], ws)
        return 1 if scores[0] > -np.inf else 0
    return kbest_labels(s, given, k, ys, scores, ws)


@waist.log_partition.implement(NGramChain)
def _(s: NGramChain, i: int, theta: FloatArray, ws: Any) -> float:
    if s.ptr[i + 1] == s.ptr[i]:
        return 0.0
    given = part_views(s, i, theta, ws.zeros)
    log_z, safe = sum_scaled(s, given, ws)
    return log_z if safe else sum_logs(s, given, ws)


@waist.marginals.implement(NGramChain)
def _(s: NGramChain, i: int, theta: FloatArray, mu: FloatArray, ws: Any) -> float:
    n = waist.n_parts(s, i)
    mu[:n] = 0.0
    if s.ptr[i + 1] == s.ptr[i]:
        return 0.0
    given = part_views(s, i, theta, ws.zeros)
    counts = part_views(s, i, mu, ws.unused)
    log_z, safe = sum_scaled(s, given, ws)
    if safe and (log_z == -np.inf or expect_scaled(s, given, counts, ws)):
        return log_z
    mu[:n] = 0.0
    log_z = sum_logs(s, given, ws)
    if log_z > -np.inf:
        expect_logs(s, given, counts, counts.step.reshape(1, -1), log_z, ws)
    return log_z
