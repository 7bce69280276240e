"""A step of exponentiated gradient for the hinge: where the mass lies, and how much.

The dual point of an example is ``alpha = (1 - mass) gold + mass G``: a share of the
mass lies on the right output, the rest is spread by a Gibbs distribution `G`, whose
part scores are ``theta``. A visit moves both:

- ``theta' = theta + eta v`` with ``v = cost + w . phi``, the multiplicative update of
  Bartlett et al. (NIPS 2004), moves the mass that is not on the right output;
- an exact line search towards, or away from, the right output decides how much that is.
  Multiplying alone would never make it zero, as it is for most examples, and would take
  long to change it by orders of magnitude.

The dual along either is a parabola, so that no step lowers it. All lengths are relative
to the range of `v`: multiplying costs, features and weights of examples by constants
that cancel changes nothing.
"""

from __future__ import annotations

from math import copysign
from typing import Any

from partwise._jit import kernel
from partwise.solvers.dual_weights import (
    Weights,
    add_parts,
    haze,
    least_share,
    part_scores,
    saved,
)
from partwise.solvers.part_duals.dual_parts import (
    CLOSE_ENOUGH,
    ROUNDING,
    SMALLEST,
    DualParts,
    Trial,
)
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray, IntArray, Structure
from partwise.structures.scratch import Scratch
from partwise.structures.vectors import dot

FIRST_RANGE = 1.0
"""The range of the scores that an example with all its mass on the right output tries
first: nearly those of the uniform distribution."""
WORTH_IT = 0.1
"""The share of an example's gap that the distribution which it starts with has to
promise. Less soft ones promise more, but rule out outputs that are needed later, and
multiplying is slow to bring these back."""
LARGEST_RANGE = 30.0
"""No step changes scores by more: outputs that it rules out must be able to return."""
SHORTEST_RANGE = 1e-12
"""What a step changes that changes scores by less is their rounding;"""
NEXT_RANGE = 1e-6
"""the next visit begins with this one."""
GROWTH = 4.0
"""How much longer a step gets that moves no mass although there is some to move."""
MOST_GROWTHS = 3
MOST_TRIALS = 100
"""More are never needed, unless the marginals of a damaged checkpoint allow no step."""
LEAST_MASS = 1e-30
"""Less than this off the right output is none."""


@kernel
def _look(
    s: Structure, i: int, weights: Weights, dual: DualParts, trial: Trial, ws: Any
) -> float:
    """Compute part scores and the direction `v`; return the range of `v` and zero."""
    first, n = dual.ptr[i], dual.ptr[i + 1] - dual.ptr[i]
    part_scores(weights, s, i, trial.scores, ws)
    costs = dual.cost[first : first + n]
    lowest, highest = 0.0, 0.0
    for r in range(n):
        trial.direction[r] = trial.scores[r] + costs[r]
        lowest = min(lowest, trial.direction[r])
        highest = max(highest, trial.direction[r])
    return highest - lowest


@kernel
def _sums(trial: Trial, n: int) -> tuple[float, float, float, float]:
    """Return ``v . change``, ``scores . change``, ``|change|^2``, and what cancels."""
    gain, slope, norm, size = 0.0, 0.0, 0.0, 0.0
    for r in range(n):
        change = trial.change[r]
        gain += trial.direction[r] * change
        slope += trial.scores[r] * change
        norm += change * change
        size += (abs(trial.direction[r]) + abs(trial.scores[r])) * abs(change)
    return gain, slope, norm, size


@kernel
def _place(dual: DualParts, i: int, n_gold: int, scratch: Scratch) -> None:
    """Set marginals and expected cost to those of ``(1 - mass) gold + mass spread``."""
    first, n = dual.ptr[i], dual.ptr[i + 1] - dual.ptr[i]
    mu, spread, costs = dual.mu[first:], dual.spread[first:], dual.cost[first:]
    mass = dual.mass[i]
    for r in range(n):
        mu[r] = mass * spread[r]
    for j in range(n_gold):
        mu[scratch.ids[j]] += (1.0 - mass) * scratch.counts[j]
    value = 0.0
    for r in range(n):
        value += costs[r] * mu[r]
    dual.value[i] = value


@kernel
def _soften(
    s: Structure,
    i: int,
    theta: FloatArray,
    spread: FloatArray,
    scratch: Scratch,
    ws: Any,
) -> int:
    """Halve the scores if the marginals stay the same; return the oracle calls.

    Where one output has all the mass, scores run ahead, and outputs would need as many
    steps to come back as they have been ruled out by.
    """
    for r in range(theta.size):
        scratch.theta[r] = 0.5 * theta[r]
    waist.marginals(s, i, scratch.theta, scratch.mu, ws)
    norm = 0.0
    for r in range(theta.size):
        norm += (scratch.mu[r] - spread[r]) ** 2
    if norm <= ROUNDING**2:
        for r in range(theta.size):
            theta[r] = scratch.theta[r]
    return 1


@kernel
def _multiply(
    s: Structure,
    i: int,
    C: float,
    weights: Weights,
    dual: DualParts,
    span: float,
    n_gold: int,
    trial: Trial,
    scratch: Scratch,
    ws: Any,
) -> tuple[float, int]:
    """Move the mass that is not on the right output; return the rise and oracle calls.

    `span` is the range of the direction, and the right output has `n_gold` entries in
    ``scratch.ids``.
    """
    first, n = dual.ptr[i], dual.ptr[i + 1] - dual.ptr[i]
    theta, spread, mass = dual.theta[first:], dual.spread[first:], dual.mass[i]
    calls, growths = 0, 0
    shortest = SHORTEST_RANGE / span
    while calls < MOST_TRIALS and dual.step[i] >= shortest:
        calls += 1
        eta = dual.step[i]
        for r in range(n):
            scratch.theta[r] = theta[r] + eta * trial.direction[r]
        waist.marginals(s, i, scratch.theta, scratch.mu, ws)
        for r in range(n):
            trial.change[r] = mass * (scratch.mu[r] - spread[r])
        gain, slope, norm, size = _sums(trial, n)
        rise, blur = C * gain, ROUNDING * C * size + haze(weights)
        if not rise > blur:
            if not dual.gap[i] > blur:
                return 0.0, calls
            # Marginals that are zero move only when scores have come a long way. Others
            # must stay those of their scores: what separates them is never made up for.
            if norm <= (ROUNDING * mass) ** 2:
                for r in range(n):
                    theta[r] = scratch.theta[r]
                calls += _soften(s, i, theta[:n], spread, scratch, ws)
            # No output gains more on the present ones than the gap says.
            dual.step[i] = min(GROWTH * eta, LARGEST_RANGE * C / dual.gap[i])
            growths += 1
            if growths > MOST_GROWTHS:
                return 0.0, calls
            continue
        expected = dual.bend[i] * C * C * norm
        if rise < 0.5 * expected:
            dual.step[i] = eta * max(0.1, rise / expected)
            continue
        grown = add_parts(weights, s, i, trial.change, -C, ws)
        # Rounding must not make the way look flat.
        seen = max(grown + 2.0 * C * slope, 0.0)
        sqnorm = max(seen + blur, SMALLEST)
        if seen > blur:
            dual.bend[i] = seen / max(C * C * norm, SMALLEST)
        best = rise / sqnorm
        if best < 0.5:
            add_parts(weights, s, i, trial.change, C, ws)
            dual.step[i] = eta * max(0.1, best)
            continue
        for r in range(n):
            theta[r], spread[r] = scratch.theta[r], scratch.mu[r]
        _place(dual, i, n_gold, scratch)
        dual.step[i] = min(eta * min(best, 2.0), LARGEST_RANGE / span)
        return rise - 0.5 * sqnorm, calls
    dual.step[i] = NEXT_RANGE / span
    return 0.0, calls


@kernel
def _start_scores(
    s: Structure,
    i: int,
    dual: DualParts,
    span: float,
    trial: Trial,
    scratch: Scratch,
    ws: Any,
) -> int:
    """Choose part scores for an example with all its mass on the right output.

    The softest ones in the direction `v` that are worth it; return the oracle calls.
    """
    first, n = dual.ptr[i], dual.ptr[i + 1] - dual.ptr[i]
    theta, spread = dual.theta[first : first + n], dual.spread[first:]
    here = dot(trial.direction[:n], dual.mu[first : first + n])
    eta, calls = FIRST_RANGE / span, 1
    while True:
        for r in range(n):
            theta[r] = eta * trial.direction[r]
        log_z = waist.marginals(s, i, theta, scratch.mu, ws)
        there = dot(trial.direction[:n], scratch.mu[:n])
        # No output has more of `v` than log_z / eta.
        enough = WORTH_IT * (log_z / eta - here)
        if there - here >= enough or eta * span >= LARGEST_RANGE:
            break
        eta *= GROWTH
        calls += 1
    dual.step[i] = eta
    for r in range(n):
        spread[r] = scratch.mu[r]
    return calls


@kernel
def _weigh(
    s: Structure,
    i: int,
    C: float,
    weights: Weights,
    dual: DualParts,
    n_gold: int,
    trial: Trial,
    scratch: Scratch,
    ws: Any,
) -> float:
    """Move mass from the right output to the others, or back; return the rise."""
    first, n, mass = dual.ptr[i], dual.ptr[i + 1] - dual.ptr[i], dual.mass[i]
    for r in range(n):
        trial.change[r] = dual.spread[first + r]
    for j in range(n_gold):
        trial.change[scratch.ids[j]] -= scratch.counts[j]
    gain, slope, norm, size = _sums(trial, n)
    rise, blur = C * gain, ROUNDING * C * size
    limit = 1.0 - mass if rise > 0.0 else -mass
    if abs(rise) <= blur or abs(limit) < LEAST_MASS:
        return 0.0
    least, most = min(limit, 0.0), max(limit, 0.0)
    expected = dual.pull[i] * C * C * norm
    share = limit
    if expected > 0.0:
        # Not so little that its square would be zero.
        shortest = max(LEAST_MASS, least_share(weights) * abs(limit))
        share = copysign(max(abs(rise / expected), shortest), rise)
        share = min(max(share, least), most)
    grown = add_parts(weights, s, i, trial.change, -share * C, ws)
    seen = max(grown + 2.0 * share * C * slope, 0.0)
    # Rounding must not make the way look flat.
    blurred = abs(share) * blur + haze(weights)
    sqnorm = max((seen + blurred) / (share * share), SMALLEST)
    if seen > blurred:
        dual.pull[i] = seen / max(share * share * C * C * norm, SMALLEST)
    best = min(max(rise / sqnorm, least), most)
    if abs(best - share) > CLOSE_ENOUGH * abs(best):
        grown += add_parts(weights, s, i, trial.change, -(best - share) * C, ws)
        share = best
    lost = share * share * sqnorm
    lost -= saved(weights, lost, max(grown + 2.0 * share * C * slope, 0.0))
    shortest = least_share(weights) * abs(share)
    while share * rise < 0.5 * lost and abs(share) > shortest:
        # Where weights leave zero on the way, it is steeper than its beginning.
        share *= 0.5
        grown += add_parts(weights, s, i, trial.change, share * C, ws)
        lost = max(grown + 2.0 * share * C * slope, 0.0)
    mass = min(mass + share, 1.0)
    dual.mass[i] = mass if mass >= LEAST_MASS else 0.0
    _place(dual, i, n_gold, scratch)
    return share * rise - 0.5 * lost


@kernel
def ascend_hinge(
    s: Structure,
    i: int,
    C: float,
    weights: Weights,
    dual: DualParts,
    trial: Trial,
    scratch: Scratch,
    ws: Any,
) -> tuple[float, int]:
    """Take one step for example `i`; return the rise of the dual and oracle calls."""
    waist.visit(s, i, ws)
    span = _look(s, i, weights, dual, trial, ws)
    if not span > 0.0:
        return 0.0, 0  # all outputs are alike
    n_gold = waist.right_parts(s, i, scratch.y_gold, scratch.ids, scratch.counts)
    if dual.mass[i] > 0.0:
        rise, calls = _multiply(
            s, i, C, weights, dual, span, n_gold, trial, scratch, ws
        )
        if rise > 0.0:
            _look(s, i, weights, dual, trial, ws)
    else:
        rise, calls = 0.0, _start_scores(s, i, dual, span, trial, scratch, ws)
    return rise + _weigh(s, i, C, weights, dual, n_gold, trial, scratch, ws), calls


@kernel
def spread_all(s: Structure, dual: DualParts, start: int, stop: int, ws: Any) -> None:
    """Spread the masses of some examples by their part scores."""
    for i in range(start, stop):
        if dual.mass[i] > 0.0:
            first, last = dual.ptr[i], dual.ptr[i + 1]
            waist.visit(s, i, ws)
            waist.marginals(s, i, dual.theta[first:last], dual.spread[first:last], ws)


@kernel
def place_all(
    s: Structure, dual: DualParts, start: int, stop: int, scratch: Scratch
) -> None:
    """Set marginals and expected costs of some examples to those of their masses."""
    for i in range(start, stop):
        n_gold = waist.right_parts(s, i, scratch.y_gold, scratch.ids, scratch.counts)
        _place(dual, i, n_gold, scratch)


@kernel
def ascend_hinge_all(
    s: Structure,
    order: IntArray,
    start: int,
    stop: int,
    C: FloatArray,
    weights: Weights,
    dual: DualParts,
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
        rise, count = ascend_hinge(s, i, C[i], weights, dual, trial, scratch, ws)
        total += rise
        calls += count
    return total, calls
