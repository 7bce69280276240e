"""Dual variables kept part by part, and the step that raises the dual.

The distribution ``alpha_i`` over the outputs of an example is never listed. Three
things stand for it: the expected count ``mu_r`` of every part, which is all that the
weights depend on; a *value*, which is all that the dual depends on besides (a lower
bound on the entropy for the log loss, the expected cost for the hinge); and the part
scores ``theta_r`` of the Gibbs distribution from which the next step starts.

A step looks at one Gibbs distribution and goes towards it:

- ``theta' = theta + eta v`` is the multiplicative update of exponentiated gradient
  (Globerson et al., ICML 2007; Bartlett et al., NIPS 2004); going all the way makes it
  the new `alpha`;
- ``eta = 1``, for the log loss, aims at ``p(y | x; w)`` and going part of the way, by
  an exact line search, is dual coordinate ascent (Le Priol et al., 2018). The entropy
  of a mixture is at least the mixture of the entropies, so that the dual value stays a
  lower bound, whatever the structure.

Either way one computation of marginals is enough: the dual along the way from `alpha`
to the Gibbs distribution is bounded by a parabola whose coefficients are known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from partwise._jit import kernel, vector_kernel
from partwise.solvers.dual_weights import (
    Weights,
    add_parts,
    haze,
    least_share,
    part_scores,
    saved,
)
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray, IntArray, Structure
from partwise.structures.scratch import Scratch, score_of_right
from partwise.structures.vectors import copy

SMALLEST = 1e-300
# Scores of this size times the passes still leave marginals that are exact enough.
LARGEST_STEP = 1e6
# A step that misses the best point of the way by less than this share is left alone:
# correcting it costs another update of the weights and wins little.
CLOSE_ENOUGH = 0.25
# No way from the Gibbs distribution of the scores themselves rises by more than its
# `gain`. With less than this share of the rise, mixing has led the dual point away from
# its scores, which tell neither the gap nor the step: it is mixed with p(y | x; w).
ASTRAY = 0.1
# What rounding leaves uncertain, as a share of the numbers that cancel.
ROUNDING = 1e-15


class DualParts(NamedTuple):
    """The dual point of a corpus; example `i` is the parts ``ptr[i]:ptr[i + 1]``.

    `theta` is empty for solvers that keep no scores. `cost` holds the cost of every
    part for the hinge, and is empty for the log loss. `step` and `bend` remember, per
    example, the best `eta` and how much the weights move for a given change of `mu`;
    `gap` is the example's share of the duality gap when last seen. For the hinge,
    `mass` is the share of the dual mass that the Gibbs distribution spreads, the rest
    lies on the right output, `spread` are the marginals of the Gibbs distribution, and
    `pull` is to `mass` what `bend` is to the scores.
    """

    ptr: IntArray
    theta: FloatArray
    mu: FloatArray
    cost: FloatArray
    value: FloatArray
    step: FloatArray
    bend: FloatArray
    gap: FloatArray
    mass: FloatArray
    spread: FloatArray
    pull: FloatArray


class Trial(NamedTuple):
    """Scratch arrays of a step: part scores, the direction, and the change of `mu`."""

    scores: FloatArray
    direction: FloatArray
    change: FloatArray


@kernel
def add_gold(
    s: Structure, ptr: IntArray, scale: float, out: FloatArray, scratch: Scratch
) -> None:
    """Add `scale` times the part counts of every right output to `out`."""
    for i in range(ptr.size - 1):
        found = waist.right_parts(s, i, scratch.y_gold, scratch.ids, scratch.counts)
        for j in range(found):
            out[ptr[i] + scratch.ids[j]] += scale * scratch.counts[j]


@kernel
def score_gold(
    s: Structure, ptr: IntArray, score: float, theta: FloatArray, scratch: Scratch
) -> None:
    """Give the parts of every right output this score in `theta`, the others none.

    However often they occur: a part that many places share would outweigh the parts
    that only the right output has.
    """
    theta[:] = 0.0
    for i in range(ptr.size - 1):
        found = waist.right_parts(s, i, scratch.y_gold, scratch.ids, scratch.counts)
        for j in range(found):
            theta[ptr[i] + scratch.ids[j]] = score


@kernel
def weights_of(
    s: Structure,
    C: FloatArray,
    ptr: IntArray,
    mu: FloatArray,
    start: int,
    stop: int,
    w: FloatArray,
    scratch: Scratch,
    ws: Any,
) -> None:
    """Add ``C_i sum_r (n_r(gold) - mu_r) phi(i, r)`` to `w`, for some examples."""
    for i in range(start, stop):
        own = mu[ptr[i] : ptr[i + 1]]
        for r in range(own.size):
            scratch.mu[r] = -own[r]
        found = waist.right_parts(s, i, scratch.y_gold, scratch.ids, scratch.counts)
        for j in range(found):
            scratch.mu[scratch.ids[j]] += scratch.counts[j]
        waist.visit(s, i, ws)
        waist.add_parts(s, i, scratch.mu, C[i], w, ws)


@kernel
def margins_of(
    s: Structure,
    w: FloatArray,
    ptr: IntArray,
    mu: FloatArray,
    start: int,
    stop: int,
    out: FloatArray,
    scratch: Scratch,
    ws: Any,
) -> None:
    """Write ``w . sum_r (n_r(gold) - mu_r) phi(i, r)`` to ``out[i]``."""
    for i in range(start, stop):
        waist.visit(s, i, ws)
        waist.part_scores(s, i, w, scratch.theta, ws)
        out[i] = score_of_right(s, i, scratch.theta, scratch)
        own = mu[ptr[i] : ptr[i + 1]]
        for r in range(own.size):
            out[i] -= scratch.theta[r] * own[r]


@kernel
def gibbs_points(
    s: Structure, dual: DualParts, start: int, stop: int, scratch: Scratch, ws: Any
) -> None:
    """Set `mu` and `value` to those of the Gibbs distributions with scores `theta`."""
    log_loss = dual.cost.size == 0
    for i in range(start, stop):
        first, last = dual.ptr[i], dual.ptr[i + 1]
        waist.visit(s, i, ws)
        theta, mu = dual.theta[first:last], dual.mu[first:last]
        value = waist.marginals(s, i, theta, mu, ws)
        if log_loss:
            for r in range(last - first):
                value -= theta[r] * mu[r]
        else:
            value = 0.0
            costs = dual.cost[first:last]
            for r in range(last - first):
                value += costs[r] * mu[r]
        dual.value[i] = value


@kernel
def score_parts(
    s: Structure, w: FloatArray, ptr: IntArray, theta: FloatArray, ws: Any
) -> None:
    """Set `theta` to the part scores of every example at the weights `w`."""
    for i in range(ptr.size - 1):
        waist.visit(s, i, ws)
        waist.part_scores(s, i, w, theta[ptr[i] : ptr[i + 1]], ws)


@vector_kernel
def _compare(
    dual_mu: FloatArray, mu: FloatArray, weigh: FloatArray, trial: Trial, n: int
) -> tuple[float, float, float, float, float]:
    """Write ``change = dual_mu - mu``; return five sums over the parts.

    ``weigh . mu``, ``scores . change``, ``-direction . change``, ``|change|^2`` and
    the absolute values of what the first two add up.
    """
    weighed, slope, gain, norm, size = 0.0, 0.0, 0.0, 0.0, 0.0
    for r in range(n):
        change = dual_mu[r] - mu[r]
        trial.change[r] = change
        weighed += weigh[r] * mu[r]
        slope += trial.scores[r] * change
        gain -= trial.direction[r] * change
        norm += change * change
        size += abs(weigh[r] * mu[r]) + abs(trial.scores[r] * change)
    return weighed, slope, gain, norm, size


@kernel
def look_ahead(
    s: Structure,
    i: int,
    dual: DualParts,
    eta: float,
    trial: Trial,
    scratch: Scratch,
    ws: Any,
) -> tuple[float, float, float, float, float]:
    """Compute the Gibbs distribution at ``theta + eta v``.

    Return its value, ``(mu - mu') . theta_w``, ``v . (mu' - mu)``, ``|mu - mu'|^2``
    and the size of what cancels in these; the change of `mu` is left in `trial`.
    """
    first, n = dual.ptr[i], dual.ptr[i + 1] - dual.ptr[i]
    theta, mu, dual_mu = scratch.theta, scratch.mu, dual.mu[first:]
    if eta == 1.0 and dual.cost.size == 0:
        copy(trial.scores[:n], theta)
    else:
        old = dual.theta[first : first + n]
        for r in range(n):
            theta[r] = old[r] + eta * trial.direction[r]
    if dual.cost.size > 0:
        waist.marginals(s, i, theta, mu, ws)
        return _compare(dual_mu, mu, dual.cost[first:], trial, n)
    log_z = waist.marginals(s, i, theta, mu, ws)
    score, slope, gain, norm, size = _compare(dual_mu, mu, theta, trial, n)
    # The entropy is log Z - theta . mu'.
    return log_z - score, slope, gain, norm, size


@kernel
def _share(rise: float, sqnorm: float) -> float:
    """Return the best share of a way along which the dual is a parabola."""
    return rise / sqnorm if rise < sqnorm else 1.0


@kernel
def ascend(
    s: Structure,
    i: int,
    C: float,
    weights: Weights,
    dual: DualParts,
    mix: bool,
    fixed: float,
    trial: Trial,
    scratch: Scratch,
    ws: Any,
) -> tuple[float, int]:
    """Take one step for example `i`; return the rise of the dual and oracle calls.

    With `mix` the step aims at ``p(y | x; w)`` and stops at the best point of the way.
    Otherwise it goes to ``theta + eta v``, with ``eta = fixed`` if that is positive,
    else, for the log loss, with the best `eta` of the last visit; if the dual would be
    lower there than it is now, the step goes part of the way.
    """
    first, n = dual.ptr[i], dual.ptr[i + 1] - dual.ptr[i]
    log_loss, has_theta = dual.cost.size == 0, dual.theta.size > 0
    waist.visit(s, i, ws)
    part_scores(weights, s, i, trial.scores, ws)
    if not log_loss:
        costs = dual.cost[first : first + n]
        for r in range(n):
            trial.direction[r] = trial.scores[r] + costs[r]
    elif has_theta:
        theta = dual.theta[first : first + n]
        for r in range(n):
            trial.direction[r] = trial.scores[r] - theta[r]
    eta = 1.0 if mix else (fixed if fixed > 0.0 else dual.step[i])
    search = fixed <= 0.0
    calls = 0
    while True:
        calls += 1
        value, slope, gain, norm, size = look_ahead(s, i, dual, eta, trial, scratch, ws)
        blur = ROUNDING * C * size
        # The share g of the way changes the dual by g * rise - 1/2 g^2 |delta|^2.
        rise = C * (value - dual.value[i] - slope)
        expected = dual.bend[i] * C * C * norm
        if log_loss:
            # C KL(alpha || p), exactly or to second order.
            dual.gap[i] = max(rise if eta == 1.0 else 0.5 * C * gain / eta, rise, 0.0)
        if not search or rise > blur:
            break
        if eta == 1.0:
            return 0.0, calls  # nothing to win that rounding would not eat
        eta = 1.0  # towards p(y | x; w) there is no way down
    share = 1.0
    if search and (mix or rise < 0.5 * expected):
        share = max(_share(rise, expected), least_share(weights))
    grown = add_parts(weights, s, i, trial.change, share * C, ws)
    seen = max(grown - 2.0 * share * C * slope, 0.0)
    # Rounding must not make the way look flat: the rest of it is judged by this.
    blurred = share * blur + haze(weights)
    sqnorm = (seen + blurred) / (share * share)
    if seen > blurred:
        dual.bend[i] = sqnorm / max(C * C * norm, SMALLEST)
    if search:
        best = _share(rise, sqnorm)
        if not mix and rise >= 0.5 * sqnorm:
            best = 1.0
        if abs(best - share) > CLOSE_ENOUGH * best or (best == 1.0 and not mix):
            if best != share:
                more = (best - share) * C
                grown += add_parts(weights, s, i, trial.change, more, ws)
            share = best
    lost = share * share * sqnorm
    lost -= saved(weights, lost, max(grown - 2.0 * share * C * slope, 0.0))
    least = least_share(weights) * share
    while search and share * rise < 0.5 * lost and share > least:
        # Where weights leave zero on the way, it is steeper than its beginning.
        share *= 0.5
        grown += add_parts(weights, s, i, trial.change, -share * C, ws)
        lost = max(grown - 2.0 * share * C * slope, 0.0)
    mu = dual.mu[first : first + n]
    for r in range(n):
        mu[r] -= share * trial.change[r]
    dual.value[i] += share * (value - dual.value[i])
    if has_theta:
        # A mixture of Gibbs distributions is nearly the one of the mean scores.
        theta = dual.theta[first : first + n]
        for r in range(n):
            theta[r] += share * eta * trial.direction[r]
    if search:
        astray = C * gain < ASTRAY * rise
        dual.step[i] = 1.0 if astray else _next_step(eta, C * gain, sqnorm)
    return share * rise - 0.5 * lost, calls


@kernel
def _next_step(eta: float, gain: float, sqnorm: float) -> float:
    """Return the best `eta`, judged by a step of `eta`.

    To second order the dual along `eta` is a parabola: it rises by `gain` per `eta`
    squared, and falls by the change of the weights and of the entropy.
    """
    wanted = eta * max(gain, 0.0)
    best = _share(wanted, sqnorm + wanted)
    return min(max(best, 0.5 * eta, 0.02), 2.0 * eta, 1.0)


@kernel
def ascend_all(
    s: Structure,
    order: IntArray,
    start: int,
    stop: int,
    C: FloatArray,
    weights: Weights,
    dual: DualParts,
    mix: bool,
    fixed: FloatArray,
    total: float,
    trial: Trial,
    scratch: Scratch,
    ws: Any,
) -> tuple[float, int]:
    """Take a step for some examples in order; return the dual value and oracle calls.

    The dual value is carried from call to call, so that its rounding does not depend
    on how a pass is cut into calls.
    """
    calls = 0
    for position in range(start, stop):
        i = order[position]
        eta = fixed[i] if fixed.size else 0.0
        rise, count = ascend(s, i, C[i], weights, dual, mix, eta, trial, scratch, ws)
        total += rise
        calls += count
    return total, calls
