"""Sums over all paths of a chain: log Z and the expected count of every part.

The fast way works with probabilities scaled to a largest value of one: no
exponential inside the K^2 loops. It is exact as long as no state that can be
reached falls below `TINY`, since what underflows is then at least 1e50 times
smaller; whenever one does (scores hundreds apart, or constraints that let a path
lag far behind), the whole example is done again with logarithms, which is slower
and safe for any finite scores.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel, vector_kernel
from partwise.structures.chain.viterbi import mask_transitions
from partwise.structures.interface import FloatArray

TINY = 1e-250


class ForwardBackwardSpace(NamedTuple):
    """Scratch arrays."""

    legal: FloatArray
    exp_transition: FloatArray
    exp_node: FloatArray
    forward: FloatArray
    backward: FloatArray
    ahead: FloatArray
    open: NDArray[np.uint8]
    reached: NDArray[np.uint8]
    reached_next: NDArray[np.uint8]


def make_forward_backward_space(longest: int, n_labels: int) -> ForwardBackwardSpace:
    """Make the scratch arrays for sequences of up to `longest` positions."""
    return ForwardBackwardSpace(
        np.zeros((n_labels, n_labels)),
        np.zeros((n_labels, n_labels)),
        np.zeros((longest, n_labels)),
        np.zeros((longest, n_labels)),
        np.zeros((longest, n_labels)),
        np.zeros(n_labels),
        np.zeros((longest, n_labels), np.uint8),
        np.zeros(n_labels, np.uint8),
        np.zeros(n_labels, np.uint8),
    )


@kernel
def forward_backward(
    node: FloatArray,
    transition: FloatArray,
    start: FloatArray,
    end: FloatArray,
    mask: Any,
    token_mask: NDArray[np.uint8],
    node_mu: FloatArray,
    transition_mu: FloatArray,
    space: ForwardBackwardSpace,
) -> float:
    """Return log Z, -inf if nothing is legal; add expected counts if wanted.

    `node_mu` and `transition_mu` have the shapes of `node` and `transition` and
    start at zero; or they are empty, and only log Z is computed.
    """
    log_z, safe = _scaled(
        node, transition, start, end, mask, token_mask, node_mu, transition_mu, space
    )  # fmt: skip
    if not safe:
        node_mu[:] = 0.0
        transition_mu[:] = 0.0
        log_z = _logarithmic(
            node, transition, start, end, mask, token_mask, node_mu, transition_mu,
            space,
        )  # fmt: skip
    return log_z


@kernel
def _exp_transitions(legal: FloatArray, out: FloatArray) -> float:
    """Set ``out = exp(legal - top)``; return `top`, the largest score."""
    n_labels = legal.shape[0]
    top = -np.inf
    for a in range(n_labels):
        for b in range(n_labels):
            top = max(top, legal[a, b])
    if top == -np.inf:
        top = 0.0
    for a in range(n_labels):
        for b in range(n_labels):
            out[a, b] = np.exp(legal[a, b] - top)
    return top


@kernel
def _position_scores(
    node: FloatArray,
    start: FloatArray,
    end: FloatArray,
    mask: Any,
    token_mask: NDArray[np.uint8],
    t: int,
    out: FloatArray,
) -> float:
    """Write the scores of position `t`, -inf where illegal; return the largest."""
    length, n_labels = node.shape
    top = -np.inf
    for b in range(n_labels):
        out[b] = node[t, b]
        if t == 0:
            out[b] = out[b] + start[b] if mask.start[b] else -np.inf
        if t == length - 1:
            out[b] = out[b] + end[b] if mask.end[b] else -np.inf
        if token_mask.shape[0] > 0 and not token_mask[t, b]:
            out[b] = -np.inf
        top = max(top, out[b])
    return top


@kernel
def _reach_forward(
    allowed: NDArray[np.uint8], here: NDArray[np.uint8], there: NDArray[np.uint8]
) -> None:
    """Find the labels that can follow the labels reached so far."""
    there[:] = 0
    for a in range(here.size):
        if here[a]:
            for b in range(here.size):
                there[b] |= allowed[a, b]


@kernel
def _reach_backward(
    allowed: NDArray[np.uint8], here: NDArray[np.uint8], there: NDArray[np.uint8]
) -> None:
    """Find the labels from which one of the labels `here` can follow."""
    for a in range(here.size):
        there[a] = 0
        for b in range(here.size):
            there[a] |= allowed[a, b] & here[b]


@kernel
def _is_free(mask: Any, token_mask: NDArray[np.uint8]) -> bool:
    """Say whether every sequence of labels is legal."""
    if token_mask.shape[0] > 0:
        return False
    n_labels = mask.start.size
    for a in range(n_labels):
        if not (mask.start[a] and mask.end[a]):
            return False
        for b in range(n_labels):
            if not mask.transitions[a, b]:
                return False
    return True


@vector_kernel
def _dot(x: FloatArray, y: FloatArray) -> float:
    total = 0.0
    for b in range(x.size):
        total += x[b] * y[b]
    return total


@kernel
def _scaled(
    node: FloatArray,
    transition: FloatArray,
    start: FloatArray,
    end: FloatArray,
    mask: Any,
    token_mask: NDArray[np.uint8],
    node_mu: FloatArray,
    transition_mu: FloatArray,
    space: ForwardBackwardSpace,
) -> tuple[float, bool]:
    """Sum in scaled probabilities; say whether nothing was lost on the way."""
    length, n_labels = node.shape
    forward, backward = space.forward, space.backward
    exp_node, exp_transition = space.exp_node, space.exp_transition
    tied = transition.shape[0] == 1
    reached, reached_next = space.reached, space.reached_next
    free = _is_free(mask, token_mask)

    transition_top = 0.0
    log_z = 0.0
    for t in range(length):
        row, here, opened = exp_node[t], forward[t], space.open[t]
        top = _position_scores(node, start, end, mask, token_mask, t, row)
        if top == -np.inf:
            return -np.inf, True
        log_z += top
        for b in range(n_labels):
            opened[b] = row[b] > -np.inf
            row[b] = np.exp(row[b] - top)
        if t == 0:
            for b in range(n_labels):
                here[b] = row[b]
                reached[b] = opened[b]
        else:
            if t == 1 or not tied:
                mask_transitions(transition[t - 1], mask.transitions, space.legal)
                transition_top = _exp_transitions(space.legal, exp_transition)
            log_z += transition_top
            for b in range(n_labels):
                here[b] = 0.0
            for a in range(n_labels):
                mass = forward[t - 1, a]
                for b in range(n_labels):
                    here[b] += mass * exp_transition[a, b]
            for b in range(n_labels):
                here[b] *= row[b]
            if not free:
                _reach_forward(mask.transitions, reached, reached_next)
                for b in range(n_labels):
                    reached[b] = reached_next[b] & opened[b]
        scale = 0.0
        for b in range(n_labels):
            scale = max(scale, here[b])
        if scale < TINY:
            return 0.0, False
        log_z += np.log(scale)
        for b in range(n_labels):
            # Before scaling: a tiny sum has lost its digits, however it is scaled.
            if reached[b] and here[b] < TINY:
                return 0.0, False
            here[b] /= scale
    total = 0.0
    for b in range(n_labels):
        total += forward[length - 1, b]
    log_z += np.log(total)
    if node_mu.shape[0] == 0:
        return log_z, True

    ahead = space.ahead
    for b in range(n_labels):
        backward[length - 1, b] = 1.0
        reached[b] = space.open[length - 1, b]
        node_mu[length - 1, b] = forward[length - 1, b] / total
    for t in range(length - 2, -1, -1):
        if not tied:
            mask_transitions(transition[t], mask.transitions, space.legal)
            _exp_transitions(space.legal, exp_transition)
        for b in range(n_labels):
            ahead[b] = exp_node[t + 1, b] * backward[t + 1, b]
        scale = 0.0
        for a in range(n_labels):
            mass = _dot(exp_transition[a], ahead)
            backward[t, a] = mass
            scale = max(scale, mass)
        if scale < TINY:
            return 0.0, False
        if not free:
            _reach_backward(mask.transitions, reached, reached_next)
        norm = 0.0
        for a in range(n_labels):
            if (free or reached_next[a]) and backward[t, a] < TINY:
                return 0.0, False
            backward[t, a] /= scale
            norm += forward[t, a] * backward[t, a]
        if not free:
            for a in range(n_labels):
                reached[a] = reached_next[a] & space.open[t, a]
        if norm < TINY:
            return 0.0, False
        for b in range(n_labels):
            ahead[b] /= scale  # not norm * scale below, which may underflow
        counts = transition_mu[0] if tied else transition_mu[t]
        for a in range(n_labels):
            node_mu[t, a] = forward[t, a] * backward[t, a] / norm
            mass = forward[t, a] / norm
            for b in range(n_labels):
                counts[a, b] += mass * exp_transition[a, b] * ahead[b]
    return log_z, True


@kernel
def _log_sum_exp(values: FloatArray) -> float:
    top = -np.inf
    for value in values:
        top = max(top, value)
    if top == -np.inf:
        return top
    total = 0.0
    for value in values:
        total += np.exp(value - top)
    return top + np.log(total)


@kernel
def _take_off_largest(values: FloatArray) -> float:
    """Subtract the largest value from all; return it, -inf if there is no other."""
    top = -np.inf
    for value in values:
        top = max(top, value)
    if top > -np.inf:
        for b in range(values.size):
            values[b] -= top
    return top


@kernel
def _logarithmic(
    node: FloatArray,
    transition: FloatArray,
    start: FloatArray,
    end: FloatArray,
    mask: Any,
    token_mask: NDArray[np.uint8],
    node_mu: FloatArray,
    transition_mu: FloatArray,
    space: ForwardBackwardSpace,
) -> float:
    """Sum in logarithms: safe for any finite scores.

    At every position the largest logarithm is taken off and counted apart, so that
    digits are not lost to the length of the sequence.
    """
    length, n_labels = node.shape
    forward, backward, ahead = space.forward, space.backward, space.ahead
    scores, legal = space.exp_node, space.legal
    tied = transition.shape[0] == 1
    for t in range(length):
        _position_scores(node, start, end, mask, token_mask, t, scores[t])
    for b in range(n_labels):
        forward[0, b] = scores[0, b]
    log_z = _take_off_largest(forward[0])
    for t in range(1, length):
        if t == 1 or not tied:
            mask_transitions(transition[t - 1], mask.transitions, legal)
        for b in range(n_labels):
            for a in range(n_labels):
                ahead[a] = forward[t - 1, a] + legal[a, b]
            forward[t, b] = _log_sum_exp(ahead) + scores[t, b]
        log_z += _take_off_largest(forward[t])
    log_z += _log_sum_exp(forward[length - 1])
    if node_mu.shape[0] == 0 or log_z == -np.inf:
        return log_z
    for b in range(n_labels):
        backward[length - 1, b] = 0.0
    total = _log_sum_exp(forward[length - 1])
    for b in range(n_labels):
        node_mu[length - 1, b] = np.exp(forward[length - 1, b] - total)
    for t in range(length - 2, -1, -1):
        if not tied:
            mask_transitions(transition[t], mask.transitions, legal)
        for a in range(n_labels):
            for b in range(n_labels):
                ahead[b] = legal[a, b] + scores[t + 1, b] + backward[t + 1, b]
            backward[t, a] = _log_sum_exp(ahead)
        shift = _take_off_largest(backward[t])
        for a in range(n_labels):
            ahead[a] = forward[t, a] + backward[t, a]
        total = _log_sum_exp(ahead)
        counts = transition_mu[0] if tied else transition_mu[t]
        for a in range(n_labels):
            node_mu[t, a] = np.exp(ahead[a] - total)
            for b in range(n_labels):
                after = legal[a, b] + scores[t + 1, b] + backward[t + 1, b] - shift
                counts[a, b] += np.exp(forward[t, a] + after - total)
    return log_z
