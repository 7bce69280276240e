"""The scores of a sequence, part by part, as the dynamic programmes read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures.chain.corpus import Chain, ChainMask
from partwise.structures.chain.parts import n_transition_parts
from partwise.structures.interface import FloatArray


class ChainScores(NamedTuple):
    """Views of the scores of a sequence's parts, and which labels are legal there.

    `transition` is (1, K, K) when tied over positions, else (T - 1, K, K).
    """

    node: FloatArray
    transition: FloatArray
    start: FloatArray
    end: FloatArray
    mask: ChainMask
    token_mask: NDArray[np.uint8]


@kernel
def part_views(s: Chain, i: int, theta: FloatArray, zeros: FloatArray) -> ChainScores:
    """Cut `theta`; `zeros` are the scores of starts and ends that have no parts."""
    K = s.layout.n_labels
    length = s.ptr[i + 1] - s.ptr[i]
    node = theta[: length * K].reshape(length, K)
    at = length * K
    stop = at + n_transition_parts(s, i)
    transition = theta[at:stop].reshape((stop - at) // (K * K), K, K)
    start = end = zeros
    if s.layout.has_start:
        start = theta[stop : stop + K]
        stop += K
    if s.layout.has_end:
        end = theta[stop : stop + K]
    tokens = s.mask.tokens
    if tokens.shape[0] > 0:
        tokens = tokens[s.ptr[i] : s.ptr[i + 1]]
    return ChainScores(node, transition, start, end, s.mask, tokens)


@kernel
def mask_transitions(
    scores: FloatArray, allowed: NDArray[np.uint8], out: FloatArray
) -> None:
    """Copy transition scores, with -inf where a transition is forbidden."""
    n_labels = scores.shape[0]
    for a in range(n_labels):
        for b in range(n_labels):
            out[a, b] = scores[a, b] if allowed[a, b] else -np.inf
