"""Inference on chains: `theta` cut into views for the dynamic programmes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.chain.corpus import Chain
from partwise.structures.chain.forward_backward import (
    ForwardBackwardSpace,
    forward_backward,
    make_forward_backward_space,
)
from partwise.structures.chain.parts import n_transition_parts
from partwise.structures.chain.viterbi import (
    ViterbiSpace,
    kbest_paths,
    make_viterbi_space,
    viterbi,
)
from partwise.structures.interface import CodeArray, FloatArray


class ChainSpace(NamedTuple):
    """Scratch arrays of a chain."""

    viterbi: ViterbiSpace
    sums: ForwardBackwardSpace
    zeros: FloatArray


@waist.workspace.implement(Chain)
def _(s: Chain, k: int) -> Any:
    longest = int(np.diff(s.ptr).max(initial=0))
    n_labels = s.layout.n_labels
    return ChainSpace(
        make_viterbi_space(longest, n_labels, k),
        make_forward_backward_space(longest, n_labels),
        np.zeros(n_labels),
    )


@kernel
def part_views(
    s: Chain, i: int, theta: FloatArray, ws: ChainSpace
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Split `theta` into node, transition, start and end scores."""
    K = s.layout.n_labels
    length = s.ptr[i + 1] - s.ptr[i]
    node = theta[: length * K].reshape(length, K)
    at = length * K
    stop = at + n_transition_parts(s, i)
    transition = theta[at:stop].reshape((stop - at) // (K * K), K, K)
    start = end = ws.zeros
    if s.layout.has_start:
        start = theta[stop : stop + K]
        stop += K
    if s.layout.has_end:
        end = theta[stop : stop + K]
    return node, transition, start, end


@kernel
def _token_mask(s: Chain, i: int) -> NDArray[np.uint8]:
    if s.mask.tokens.shape[0] == 0:
        return s.mask.tokens
    return s.mask.tokens[s.ptr[i] : s.ptr[i + 1]]


@waist.argmax.implement(Chain)
def _(s: Chain, i: int, theta: FloatArray, y: CodeArray, ws: Any) -> float:
    if s.ptr[i + 1] == s.ptr[i]:
        return 0.0
    node, transition, start, end = part_views(s, i, theta, ws)
    return viterbi(
        node, transition, start, end, s.mask, _token_mask(s, i), y, ws.viterbi
    )


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
    node, transition, start, end = part_views(s, i, theta, ws)
    return kbest_paths(
        node, transition, start, end, s.mask, _token_mask(s, i), k, ys, scores,
        ws.viterbi,
    )  # fmt: skip


@waist.marginals.implement(Chain)
def _(s: Chain, i: int, theta: FloatArray, mu: FloatArray, ws: Any) -> float:
    K = s.layout.n_labels
    mu[: waist.n_parts(s, i)] = 0.0
    if s.ptr[i + 1] == s.ptr[i]:
        return 0.0
    node, transition, start, end = part_views(s, i, theta, ws)
    node_mu, transition_mu, start_mu, end_mu = part_views(s, i, mu, ws)
    log_z = forward_backward(
        node, transition, start, end, s.mask, _token_mask(s, i),
        node_mu, transition_mu, ws.sums,
    )  # fmt: skip
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
    node, transition, start, end = part_views(s, i, theta, ws)
    return forward_backward(
        node, transition, start, end, s.mask, _token_mask(s, i),
        node[:0], transition[:0], ws.sums,
    )  # fmt: skip
