"""The step rule that Globerson et al. used: start at a step, halve it until it helps.

"For every sample point we start out with some eta_0 and halve it until the objective is
decreased" (ICML 2007, section 7). The dual rises with every step, but every visit
starts from the same step again, and each trial costs one computation of marginals. What
`ExponentiatedGradient` does by default needs about one a visit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from partwise._jit import kernel
from partwise.solvers.base import Problem, chunks
from partwise.solvers.dual_weights import Weights, add_parts, part_scores
from partwise.solvers.part_duals.dual_parts import (
    ROUNDING,
    DualParts,
    Trial,
    look_ahead,
)
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray, IntArray, Structure
from partwise.structures.scratch import Scratch

MOST_HALVINGS = 60
"""After these a step is gone: 2^-60 of it changes no number."""


@kernel
def _point_up(
    s: Structure, i: int, weights: Weights, dual: DualParts, trial: Trial, ws: Any
) -> None:
    """Write the direction of the update: minus the gradient, part by part."""
    first, n = dual.ptr[i], dual.ptr[i + 1] - dual.ptr[i]
    part_scores(weights, s, i, trial.scores, ws)
    for r in range(n):
        if dual.cost.size > 0:
            trial.direction[r] = dual.cost[first + r] + trial.scores[r]
        else:
            trial.direction[r] = trial.scores[r] - dual.theta[first + r]


@kernel
def halve_step(
    s: Structure,
    i: int,
    C: float,
    weights: Weights,
    dual: DualParts,
    eta: float,
    trial: Trial,
    scratch: Scratch,
    ws: Any,
) -> tuple[float, int]:
    """Take a step for example `i`, halved until the dual rises.

    Return the rise and the number of trials, which are what the paper counts.
    """
    first, n = dual.ptr[i], dual.ptr[i + 1] - dual.ptr[i]
    waist.visit(s, i, ws)
    _point_up(s, i, weights, dual, trial, ws)
    for trials in range(1, MOST_HALVINGS + 1):
        value, slope, gain, _, size = look_ahead(s, i, dual, eta, trial, scratch, ws)
        blur = ROUNDING * C * size
        if dual.cost.size == 0:
            dual.gap[i] = max(0.5 * C * gain / eta, 0.0)  # to second order
        grown = add_parts(weights, s, i, trial.change, C, ws)
        sqnorm = max(grown - 2.0 * C * slope, 0.0)
        rise = C * (value - dual.value[i] - slope) - 0.5 * sqnorm
        if rise > 0.0:
            for r in range(n):
                dual.mu[first + r] -= trial.change[r]
                dual.theta[first + r] += eta * trial.direction[r]
            dual.value[i] = value
            return rise, trials
        add_parts(weights, s, i, trial.change, -C, ws)
        if not C * gain > blur:
            return 0.0, trials  # no step promises what rounding would not eat
        eta *= 0.5
    return 0.0, MOST_HALVINGS


@kernel
def _halve_all(
    s: Structure,
    order: IntArray,
    start: int,
    stop: int,
    C: FloatArray,
    weights: Weights,
    dual: DualParts,
    first_step: FloatArray,
    total: float,
    trial: Trial,
    scratch: Scratch,
    ws: Any,
) -> tuple[float, int]:
    """Take a step for some examples; return the dual value and oracle calls."""
    calls = 0
    for position in range(start, stop):
        i = order[position]
        rise, trials = halve_step(
            s, i, C[i], weights, dual, first_step[i], trial, scratch, ws
        )
        total += rise
        calls += trials
    return total, calls


def halve_in_turn(
    problem: Problem, state: Any, order: IntArray, first_step: FloatArray
) -> Iterator[float]:
    """Take a step for every example of `order`; yield the fraction done."""
    s, C, weights, dual = problem.structure, problem.C, state.weights(), state.dual
    for start, stop in chunks(order.size):
        state.dual_value, calls = _halve_all(
            s, order, start, stop, C, weights, dual, first_step,
            state.dual_value, state.trial, state.scratch, state.workspace,
        )  # fmt: skip
        state.oracle_calls += int(calls)
        yield stop / order.size
    state.settle_weights()


def halve_together(state: Any, first_step: float) -> Iterator[float]:
    """Take one step for all examples at once, halved until the dual rises."""
    eta = first_step
    for _ in range(MOST_HALVINGS):
        yield from state.move(eta, 0.0)
        reached = state.tried_dual()
        if reached > state.dual_value:
            state.dual_value = reached
            state.keep()
            return
        eta *= 0.5
