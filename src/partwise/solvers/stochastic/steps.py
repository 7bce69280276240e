"""Steps of stochastic gradient descent, and the dual point that they add up to.

A step down the (sub)gradient of a margin loss adds a multiple of ``dPhi(i, y)`` for
the most violated output `y`; for the log loss, of the expectation of `dPhi` under
``p(y | x_i; w)``. So the weights are always a sum ``sum_i sum_y alpha_iy dPhi(i, y)``,
with a dual point `alpha` of which the account of the weights keeps what its value
takes: the mass ``sum_y alpha_iy`` of every example, and the gain, which is the sum of
all ``alpha cost``, or of each distribution's mass times its entropy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.solvers.stochastic import scaled_weights
from partwise.solvers.stochastic.scaled_weights import ScaledWeights
from partwise.solvers.stochastic.schedule import Schedule, share_in_average, step_size
from partwise.structures import interface as waist
from partwise.structures.interface import Diff, FloatArray, IntArray, Structure
from partwise.structures.scratch import Scratch, score_of

GAIN, ORIGIN = -2, -1
"""Where an account keeps the gain, and the share of the weights at the start."""


class GradientSite(NamedTuple):
    """What steps work on: corpus, weights of examples, and weights to learn.

    `values` takes the loss of every example before its step.
    """

    s: Structure
    weight: FloatArray
    schedule: Schedule
    weights: ScaledWeights
    values: FloatArray
    scratch: Scratch
    diff: Diff
    ws: Any


def empty_account(n_examples: int) -> FloatArray:
    """Return the account of weights before the first step."""
    account = np.zeros(n_examples + 2)
    account[ORIGIN] = 1.0
    return account


@kernel
def _scores(site: GradientSite, i: int) -> None:
    """Leave the part scores under ``w = scale v`` in ``scratch.theta``."""
    theta, scale = site.scratch.theta, site.weights.factors[scaled_weights.SCALE]
    waist.part_scores(site.s, i, site.weights.v, theta, site.ws)
    for r in range(waist.n_parts(site.s, i)):
        theta[r] *= scale


@kernel
def _slack(site: GradientSite, i: int) -> float:
    """Do what `most_violated` does, under ``w = scale v``; infinite on overflow."""
    s, scratch, ws = site.s, site.scratch, site.ws
    waist.gold(s, i, scratch.y_gold)
    _scores(site, i)
    waist.add_costs(s, i, scratch.theta)
    best = waist.argmax(s, i, scratch.theta, scratch.y, ws)
    slack = best - score_of(s, i, scratch.y_gold, scratch.theta, scratch)
    if not np.isfinite(slack):
        return np.inf
    # Two ways to add up the score of the right output may differ by rounding.
    for j in range(waist.output_size(s, i)):
        if scratch.y[j] != scratch.y_gold[j]:
            return max(slack, 0.0)
    return 0.0


@kernel
def _log_loss(site: GradientSite, i: int) -> tuple[float, float]:
    """Return log loss and entropy under ``w = scale v``; infinite on overflow.

    What is expected less what is right, part by part, is left in ``scratch.mu``.
    """
    s, scratch = site.s, site.scratch
    theta, mu = scratch.theta, scratch.mu
    _scores(site, i)
    loss = entropy = waist.marginals(s, i, theta, mu, site.ws)
    for r in range(waist.n_parts(s, i)):
        entropy -= mu[r] * theta[r]
    y, ids, counts = scratch.y_gold, scratch.ids, scratch.counts
    for j in range(waist.right_parts(s, i, y, ids, counts)):
        r = scratch.ids[j]
        loss -= scratch.counts[j] * theta[r]
        mu[r] -= scratch.counts[j]
    if not np.isfinite(loss + entropy):
        return np.inf, 0.0
    return max(loss, 0.0), max(entropy, 0.0)


@kernel
def _enter(
    weights: ScaledWeights, i: int, for_v: float, for_u: float, gain: float
) -> None:
    """Enter a step into the accounts."""
    weights.v_account[i] += for_v
    weights.v_account[GAIN] += for_v * gain
    if weights.u.size:
        weights.u_account[i] += for_u
        weights.u_account[GAIN] += for_u * gain


@kernel
def _end_step(weights: ScaledWeights, schedule: Schedule, eta: float) -> None:
    """Let the penalty pull, at the end of its step, which no length makes unstable."""
    share = share_in_average(schedule, weights.steps[0] + 1)
    scaled_weights.end_step(weights, 1.0 / (1.0 + eta * schedule.decay), share)


@kernel
def descend_margin(
    site: GradientSite,
    order: IntArray,
    start: int,
    stop: int,
    squared: bool,
    capped: bool,
) -> bool:
    """Take a step for each of these examples, on the hinge or its square.

    The loss before its step is written to `values`. Return False, at once, if one is
    not finite. Steps of the squared hinge are as long as the slack, and where they are
    too long the next slack is larger still; if `capped`, none goes past the point
    where its own slack is gone.
    """
    s, weights, diff, ws = site.s, site.weights, site.diff, site.ws
    y, y_gold = site.scratch.y, site.scratch.y_gold
    for position in range(start, stop):
        i = order[position]
        waist.visit(s, i, ws)
        slack = _slack(site, i)
        site.values[i] = slack * slack if squared else slack
        if not np.isfinite(site.values[i]):
            return False
        eta = step_size(site.schedule, weights.steps[0])
        size = eta * site.weight[i]
        if slack > 0.0 and size > 0.0:
            if squared:
                size *= 2.0 * slack
                if capped:
                    sqnorm = waist.diff_sqnorm(s, i, y, y_gold, diff, ws)
                    if size * sqnorm > slack:
                        size = slack / sqnorm
            for_v, for_u = scaled_weights.shares_of(weights, size)
            waist.diff_add(s, i, y, y_gold, for_v, weights.v, diff, ws)
            if weights.u.size:
                waist.diff_add(s, i, y, y_gold, for_u, weights.u, diff, ws)
            _enter(weights, i, for_v, for_u, waist.cost(s, i, y))
        _end_step(weights, site.schedule, eta)
    return True


@kernel
def descend_log(site: GradientSite, order: IntArray, start: int, stop: int) -> bool:
    """Do the same for the log loss."""
    s, weights, ws, mu = site.s, site.weights, site.ws, site.scratch.mu
    for position in range(start, stop):
        i = order[position]
        waist.visit(s, i, ws)
        loss, entropy = _log_loss(site, i)
        site.values[i] = loss
        if not np.isfinite(loss):
            return False
        eta = step_size(site.schedule, weights.steps[0])
        if eta > 0.0:
            for_v, for_u = scaled_weights.shares_of(weights, eta * site.weight[i])
            waist.add_parts(s, i, mu, -for_v, weights.v, ws)
            if weights.u.size:
                waist.add_parts(s, i, mu, -for_u, weights.u, ws)
            _enter(weights, i, for_v, for_u, entropy)
        _end_step(weights, site.schedule, eta)
    return True
