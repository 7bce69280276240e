"""The scores of a sequence, part by part, as the dynamic programmes read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures.interface import FloatArray
from partwise.structures.ngrams.corpus import NGramChain
from partwise.structures.ngrams.parts import n_steps


class NGramScores(NamedTuple):
    """Views of the scores of a sequence's parts, and which labels are legal there."""

    node: FloatArray
    step: FloatArray
    end: FloatArray
    tokens: NDArray[np.uint8]


@kernel
def part_views(
    s: NGramChain, i: int, theta: FloatArray, zeros: FloatArray
) -> NGramScores:
    """Cut `theta`; `zeros` are the scores of last labels that have no parts."""
    K, length = s.layout.n_labels, s.ptr[i + 1] - s.ptr[i]
    at = length * K
    stop = at + n_steps(s)
    end = theta[stop : stop + K] if s.layout.has_end else zeros
    tokens = s.mask.tokens
    if tokens.shape[0] > 0:
        tokens = tokens[s.ptr[i] : s.ptr[i + 1]]
    return NGramScores(theta[:at].reshape(length, K), theta[at:stop], end, tokens)


@kernel
def node_score(given: NGramScores, t: int, k: int) -> float:
    """Return the score of label `k` at position `t`, -inf if it is illegal."""
    if k < 0 or (given.tokens.shape[0] > 0 and given.tokens[t, k] == 0):
        return -np.inf
    return given.node[t, k]


@kernel
def last_score(s: NGramChain, given: NGramScores, state: int) -> float:
    """Return the score of a state at the end, -inf if it is illegal."""
    k = s.grams.label[state]
    if k < 0 or s.mask.end[k] == 0:
        return -np.inf
    return given.end[k]
