"""Inference on chains: what the waist asks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise.structures import interface as waist
from partwise.structures.chain.corpus import Chain
from partwise.structures.chain.forward_backward import (
    ForwardBackwardSpace,
    draw_paths,
    forward_backward,
    log_sum_of_paths,
    make_forward_backward_space,
)
from partwise.structures.chain.scores import part_views
from partwise.structures.chain.staggered import (
    MANY_LABELS,
    StaggeredSpace,
    make_staggered_space,
    staggered_viterbi,
)
from partwise.structures.chain.viterbi import (
    ViterbiSpace,
    kbest_paths,
    make_viterbi_space,
    viterbi,
)
from partwise.structures.interface import (
    CodeArray,
    CodeTable,
    FloatArray,
    IntArray,
)


class ChainSpace(NamedTuple):
    """Scratch arrays of a chain."""

    viterbi: ViterbiSpace
    staggered: StaggeredSpace
    sums: ForwardBackwardSpace
    zeros: FloatArray


@waist.workspace.implement(Chain)
def _(s: Chain, k: int) -> Any:
    longest = int(np.diff(s.ptr).max(initial=0))
    n_labels = s.layout.n_labels
    return ChainSpace(
        make_viterbi_space(longest, n_labels, k),
        make_staggered_space(longest, n_labels),
        make_forward_backward_space(longest, n_labels),
        np.zeros(n_labels),
    )


@waist.argmax.implement(Chain)
def _(s: Chain, i: int, theta: FloatArray, y: CodeArray, ws: Any) -> float:
    if s.ptr[i + 1] == s.ptr[i]:
        return 0.0
    given = part_views(s, i, theta, ws.zeros)
    if s.layout.n_labels >= MANY_LABELS and s.edges.n_columns == 0:
        score = staggered_viterbi(given, y, ws.staggered)
        if score > -np.inf:
            return score
    return viterbi(given, y, ws.viterbi)


@waist.kbest.implement(Chain)
def _(
    s: Chain,
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
    return kbest_paths(given, k, ys, scores, ws.viterbi)


@waist.marginals.implement(Chain)
def _(s: Chain, i: int, theta: FloatArray, mu: FloatArray, ws: Any) -> float:
    K = s.layout.n_labels
    mu[: waist.n_parts(s, i)] = 0.0
    if s.ptr[i + 1] == s.ptr[i]:
        return 0.0
    given = part_views(s, i, theta, ws.zeros)
    node_mu, transition_mu, start_mu, end_mu = part_views(s, i, mu, ws.zeros)[:4]
    log_z = forward_backward(given, node_mu, transition_mu, ws.sums)
    if s.layout.has_start:
        for k in range(K):
            start_mu[k] = node_mu[0, k]
    if s.layout.has_end:
        for k in range(K):
            end_mu[k] = node_mu[node_mu.shape[0] - 1, k]
    return log_z


@waist.log_partition.implement(Chain)
def _(s: Chain, i: int, theta: FloatArray, ws: Any) -> float:
    if s.ptr[i + 1] == s.ptr[i]:
        return 0.0
    given = part_views(s, i, theta, ws.zeros)
    return log_sum_of_paths(given, ws.sums)


@waist.sample.implement(Chain)
def _(
    s: Chain,
    i: int,
    theta: FloatArray,
    space: waist.SamplingSpace,
    state: IntArray,
    ys: CodeTable,
    ws: Any,
) -> bool:
    if s.ptr[i + 1] == s.ptr[i]:
        return True
    return draw_paths(part_views(s, i, theta, ws.zeros), ys, state, ws.sums)
