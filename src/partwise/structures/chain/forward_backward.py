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

from partwise._jit import fused_kernel, kernel
from partwise.structures import vectors
from partwise.structures.chain.scores import ChainScores, mask_transitions
from partwise.structures.interface import CodeTable, FloatArray, IntArray
from partwise.structures.random_numbers import draw_log

TINY = 1e-250


class ForwardBackwardSpace(NamedTuple):
    """Scratch arrays."""

    legal: FloatArray
    transition: FloatArray
    exp_transition: FloatArray
    exp_transposed: FloatArray
    transition_top: FloatArray
    scores: FloatArray
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
        np.full((n_labels, n_labels), np.nan),  # unlike any: none is known yet
        np.zeros((n_labels, n_labels)),
        np.zeros((n_labels, n_labels)),
        np.zeros(1),
        np.zeros((longest, n_labels)),
        np.zeros((longest, n_labels)),
        np.zeros((longest, n_labels)),
        np.zeros((longest, n_labels)),
        np.zeros(n_labels),
        np.zeros((longest, n_labels), np.uint8),
        np.zeros(n_labels, np.uint8),
        np.zeros(n_labels, np.uint8),
    )


@kernel
def log_sum_of_paths(given: ChainScores, space: ForwardBackwardSpace) -> float:
    """Return log Z, -inf if nothing is legal."""
    log_z, safe = _scaled_forward(given, space)
    return log_z if safe else _log_forward(given, space)


@kernel
def forward_backward(
    given: ChainScores,
    node_mu: FloatArray,
    transition_mu: FloatArray,
    space: ForwardBackwardSpace,
) -> float:
    """Return log Z, -inf if nothing is legal; add the expected counts.

    `node_mu` and `transition_mu` have the shapes of the scores of nodes and transitions
    and start at zero.
    """
    log_z, safe = _scaled_forward(given, space)
    if safe and log_z > -np.inf:
        safe = _scaled_backward(given, node_mu, transition_mu, space)
    if not safe:
        node_mu[:] = 0.0
        transition_mu[:] = 0.0
        log_z = _log_forward(given, space)
        if log_z > -np.inf:
            _log_backward(given, node_mu, transition_mu, space)
    return log_z


@kernel
def draw_paths(
    given: ChainScores, ys: CodeTable, state: IntArray, space: ForwardBackwardSpace
) -> bool:
    """Draw a path into every row of `ys`; return False if nothing is legal.

    Forward once, then backward from a last label: one before another in proportion to
    the paths that lead to it.
    """
    if _log_forward(given, space) == -np.inf:
        return False
    length, n_labels = given.node.shape
    tied = given.transition.shape[0] == 1
    forward, ahead, legal = space.forward, space.ahead, space.legal
    for j in range(ys.shape[0]):
        ys[j, length - 1] = draw_log(forward[length - 1], state)
        for t in range(length - 2, -1, -1):
            if not tied:
                mask_transitions(given.transition[t], given.mask.transitions, legal)
            for a in range(n_labels):
                ahead[a] = forward[t, a] + legal[a, ys[j, t + 1]]
            ys[j, t] = draw_log(ahead, state)
    return True


@kernel
def _exp_transitions(
    transition: FloatArray, mask: Any, space: ForwardBackwardSpace
) -> float:
    """Exponentiate the legal transitions over the largest; return that score.

    The scores of the last call are recognised: visits that leave the weights alone
    ask for the same ones at every example.
    """
    n_labels = transition.shape[0]
    known = True
    for a in range(n_labels):
        if not known:
            break
        for b in range(n_labels):
            known &= transition[a, b] == space.transition[a, b]
    if not known:
        vectors.copy(transition.ravel(), space.transition.ravel())
        mask_transitions(transition, mask.transitions, space.legal)
        top = vectors.largest(space.legal.ravel())
        space.transition_top[0] = top if top > -np.inf else 0.0
        vectors.exponentials(
            space.legal.ravel(), space.transition_top[0], space.exp_transition.ravel()
        )
        for a in range(n_labels):
            for b in range(n_labels):
                space.exp_transposed[b, a] = space.exp_transition[a, b]
    return space.transition_top[0]


@kernel
def _position_scores(given: ChainScores, t: int, out: FloatArray) -> float:
    """Write the scores of position `t`, -inf where illegal; return the largest."""
    node, _, start, end, mask, token_mask = given
    length, n_labels = node.shape
    for b in range(n_labels):
        out[b] = node[t, b]
    if t == 0:
        for b in range(n_labels):
            out[b] = out[b] + start[b] if mask.start[b] else -np.inf
    if t == length - 1:
        for b in range(n_labels):
            out[b] = out[b] + end[b] if mask.end[b] else -np.inf
    if token_mask.shape[0] > 0:
        for b in range(n_labels):
            out[b] = out[b] if token_mask[t, b] else -np.inf
    return vectors.largest(out)


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


@fused_kernel
def _scaled_forward(
    given: ChainScores, space: ForwardBackwardSpace
) -> tuple[float, bool]:
    """Sum in scaled probabilities: log Z, and whether nothing was lost on the way."""
    node, transition, _, _, mask, token_mask = given
    length, n_labels = node.shape
    forward = space.forward
    exp_node, exp_transition = space.exp_node, space.exp_transition
    tied = transition.shape[0] == 1
    reached, reached_next = space.reached, space.reached_next
    free = _is_free(mask, token_mask)

    log_z, log_transitions = 0.0, 0.0
    for t in range(length):
        row = space.scores[t]
        top = _position_scores(given, t, row)
        if top == -np.inf:
            return -np.inf, True
        log_z += top
        for b in range(n_labels):
            space.open[t, b] = row[b] > -np.inf
            row[b] -= top
    count = length * n_labels
    vectors.exponentials(space.scores.ravel()[:count], 0.0, exp_node.ravel()[:count])
    for t in range(length):
        row, here = exp_node[t], forward[t]
        if t == 0:
            for b in range(n_labels):
                here[b] = row[b]
                reached[b] = space.open[0, b]
        else:
            if t == 1 or not tied:
                log_transitions = _exp_transitions(transition[t - 1], mask, space)
            log_z += log_transitions
            here[:] = 0.0
            vectors.add_rows(forward[t - 1], exp_transition, here)
            for b in range(n_labels):
                here[b] *= row[b]
            if not free:
                _reach_forward(mask.transitions, reached, reached_next)
                for b in range(n_labels):
                    reached[b] = reached_next[b] & space.open[t, b]
        total = vectors.sum_of(here)
        # Before scaling: a tiny sum has lost its digits, however it is scaled.
        if not _is_safe(here, free, reached) or total < TINY:
            return 0.0, False
        log_z += np.log(total)
        for b in range(n_labels):
            here[b] *= 1.0 / total
    return log_z, True


@fused_kernel
def _scaled_backward(
    given: ChainScores,
    node_mu: FloatArray,
    transition_mu: FloatArray,
    space: ForwardBackwardSpace,
) -> bool:
    """Add the expected counts after `_scaled_forward`; say if nothing was lost."""
    node, transition, _, _, mask, token_mask = given
    length, n_labels = node.shape
    forward, backward = space.forward, space.backward
    exp_node, exp_transition = space.exp_node, space.exp_transition
    tied = transition.shape[0] == 1
    reached, reached_next = space.reached, space.reached_next
    free = _is_free(mask, token_mask)

    # From here on exp_node[t] becomes what lies ahead of t - 1, and forward[t] the
    # mass that leaves t, so that one matrix product counts all the transitions.
    for b in range(n_labels):
        backward[length - 1, b] = 1.0
        reached[b] = space.open[length - 1, b]
        node_mu[length - 1, b] = forward[length - 1, b]
    for t in range(length - 2, -1, -1):
        if not tied:
            _exp_transitions(transition[t], mask, space)
        here, ahead = backward[t], exp_node[t + 1]
        for b in range(n_labels):
            ahead[b] *= backward[t + 1, b]
        here[:] = 0.0
        vectors.add_rows(ahead, space.exp_transposed, here)
        if not free:
            _reach_backward(mask.transitions, reached, reached_next)
        total = vectors.sum_of(here)
        if not _is_safe(here, free, reached_next) or total < TINY:
            return False
        if not free:
            for a in range(n_labels):
                reached[a] = reached_next[a] & space.open[t, a]
        for a in range(n_labels):
            here[a] *= 1.0 / total
            ahead[a] *= 1.0 / total  # not norm below, which may underflow
        norm = vectors.dot(forward[t], here)
        if norm < TINY:
            return False
        for a in range(n_labels):
            forward[t, a] *= 1.0 / norm
            node_mu[t, a] = forward[t, a] * here[a]
        if not tied:
            for a in range(n_labels):
                for b in range(n_labels):
                    mass = forward[t, a] * ahead[b]
                    transition_mu[t, a, b] += mass * exp_transition[a, b]
    if tied:
        counts = transition_mu[0]
        for a in range(n_labels):
            vectors.add_rows(forward[: length - 1, a], exp_node[1:length], counts[a])
            for b in range(n_labels):
                counts[a, b] *= exp_transition[a, b]
    return True


@kernel
def _is_safe(here: FloatArray, free: bool, reached: NDArray[np.uint8]) -> bool:
    """Say whether no label that can be reached has a mass that is tiny."""
    if free:
        return vectors.all_above(here, TINY)
    for b in range(here.size):
        if reached[b] and here[b] < TINY:
            return False
    return True


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
def _to_shares(values: FloatArray) -> None:
    """Replace logarithms by what they are shares of, one in all."""
    _take_off_largest(values)
    total = 0.0
    for b in range(values.size):
        values[b] = np.exp(values[b])
        total += values[b]
    for b in range(values.size):
        values[b] /= total


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
def _log_forward(given: ChainScores, space: ForwardBackwardSpace) -> float:
    """Sum in logarithms: log Z, for any finite scores.

    At every position the largest logarithm is subtracted and counted separately, so
    that digits are not lost to the length of the sequence.
    """
    node, transition, _, _, mask, _ = given
    length, n_labels = node.shape
    forward, ahead = space.forward, space.ahead
    scores, legal = space.exp_node, space.legal
    tied = transition.shape[0] == 1
    for t in range(length):
        _position_scores(given, t, scores[t])
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
    return log_z + _log_sum_exp(forward[length - 1])


@kernel
def _log_backward(
    given: ChainScores,
    node_mu: FloatArray,
    transition_mu: FloatArray,
    space: ForwardBackwardSpace,
) -> None:
    """Add the expected counts, after `_log_forward`.

    From the last label backward, one before another in proportion to the paths that
    lead to it: so counts of neighbours fit together, and add up to one however few
    digits huge scores leave.
    """
    node, transition, _, _, mask, _ = given
    length, n_labels = node.shape
    forward, ahead, legal = space.forward, space.ahead, space.legal
    tied = transition.shape[0] == 1
    vectors.copy(forward[length - 1], node_mu[length - 1])
    _to_shares(node_mu[length - 1])
    for t in range(length - 2, -1, -1):
        if not tied:
            mask_transitions(transition[t], mask.transitions, legal)
        counts = transition_mu[0] if tied else transition_mu[t]
        for b in range(n_labels):
            if node_mu[t + 1, b] == 0.0:
                continue
            for a in range(n_labels):
                ahead[a] = forward[t, a] + legal[a, b]
            _to_shares(ahead)
            for a in range(n_labels):
                mass = node_mu[t + 1, b] * ahead[a]
                node_mu[t, a] += mass
                counts[a, b] += mass
