"""Frank-Wolfe steps of one example: dual mass moves to the best output at hand.

The dual variables of an example are a distribution over the outputs of its working
set. A step moves mass to the output with the largest value ``cost(y) - w . dPhi(y)``,
either from all the others, each by the same share (Frank and Wolfe 1956; block by
block Lacoste-Julien et al., ICML 2013), or from the one of smallest value alone
(*pairwise* steps, Osokin et al., ICML 2016), which can empty it for good.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.solvers.dual_weights import (
    PlainWeights,
    Weights,
    add_diff,
    saved,
    steepness,
)
from partwise.solvers.working_sets import sets as working
from partwise.solvers.working_sets.sets import WorkingSets
from partwise.solvers.working_sets.visits import admit, may_move, move
from partwise.structures import interface as waist
from partwise.structures.interface import Diff, FloatArray, IntArray, Structure
from partwise.structures.scratch import Scratch, score_of

SMALLEST = 1e-300


class Blackboard(NamedTuple):
    """Scratch space of the steps.

    A value and a share for every member, and a vector as long as the weights to add
    up a direction in, which is left at zero but for rounding.
    """

    values: FloatArray
    shares: FloatArray
    direction: FloatArray


class StepRule(NamedTuple):
    """How far a step goes, and from where it takes the mass.

    Without `line_search` the steps shrink with the number of visits before, to
    ``2n / (visits + 2n)``; `visits` counts those with inference. ``gap[i]`` is
    the share of an example in the duality gap when last seen.
    """

    pairwise: bool
    line_search: bool
    visits: IntArray
    board: Blackboard
    gap: FloatArray


def make_blackboard(n_members: int, n_weights: int) -> Blackboard:
    """Make the scratch space for working sets with room for `n_members`."""
    return Blackboard(np.zeros(n_members), np.zeros(n_members), np.zeros(n_weights))


@kernel
def _value_by_parts(
    s: Structure, i: int, sets: WorkingSets, values: FloatArray, scratch: Scratch
) -> None:
    """Do what `value_members` does, from the scores in ``scratch.theta``, with costs.

    After inference they are there, and save the walk over the features.
    """
    size = waist.output_size(s, i)
    right = score_of(s, i, scratch.y_gold, scratch.theta, scratch)
    m = sets.newest[i]
    while m >= 0:
        y = sets.codes[sets.code_at[m] : sets.code_at[m] + size]
        values[m] = score_of(s, i, y, scratch.theta, scratch) - right
        m = sets.older[m]


@kernel
def _add_direction(
    s: Structure,
    i: int,
    scale: float,
    sets: WorkingSets,
    high: int,
    low: int,
    shares: FloatArray,
    weights: Weights,
    diff: Diff,
    ws: Any,
) -> float:
    """Add ``scale * sum_m share_m (Phi(y_m) - Phi(y_high))``; return as `add_diff`.

    Over the members with a share, or over `low` alone unless that is -1.
    """
    change = 0.0
    size = waist.output_size(s, i)
    y_high = sets.codes[sets.code_at[high] : sets.code_at[high] + size]
    m = low if low >= 0 else sets.newest[i]
    while m >= 0:
        if shares[m] > 0.0:
            y = sets.codes[sets.code_at[m] : sets.code_at[m] + size]
            part = scale * shares[m]
            change += add_diff(weights, s, i, y_high, y, -1, part, diff, ws)
        m = -1 if low >= 0 else sets.older[m]
    return change


@kernel
def _sqnorm_of_direction(
    s: Structure,
    i: int,
    sets: WorkingSets,
    high: int,
    low: int,
    board: Blackboard,
    diff: Diff,
    ws: Any,
) -> float:
    """Return the squared norm of what `_add_direction` adds for ``scale = 1``.

    The direction is added up in a vector like the weights and taken off again: with
    dense features that is many times faster than a hash table.
    """
    size = waist.output_size(s, i)
    y_high = sets.codes[sets.code_at[high] : sets.code_at[high] + size]
    shares, u = board.shares, PlainWeights(board.direction)
    _add_direction(s, i, 1.0, sets, high, low, shares, u, diff, ws)
    total = 0.0
    m = low if low >= 0 else sets.newest[i]
    while m >= 0:
        if shares[m] > 0.0:
            y = sets.codes[sets.code_at[m] : sets.code_at[m] + size]
            total += shares[m] * waist.diff_dot(s, i, y_high, y, u.w, diff, ws)
        m = -1 if low >= 0 else sets.older[m]
    _add_direction(s, i, -1.0, sets, high, low, shares, u, diff, ws)
    return max(total, 0.0)


@move.implement(StepRule)
def _(
    rule: StepRule,
    s: Structure,
    i: int,
    C: float,
    weights: Weights,
    sets: WorkingSets,
    scratch: Scratch,
    diff: Diff,
    ws: Any,
    admitted: bool,
) -> float:
    """Move mass to the best output at hand.

    A step of `step` changes the dual by ``C (step slope - step^2 bend / 2)``.
    """
    board = rule.board
    values, shares = board.values, board.shares
    if admitted:
        rule.visits[0] += 1
    else:
        working.value_members(s, i, weights.w, sets, values, scratch.y_gold, diff, ws)
    high, low, _ = working.rank_members(sets, i, values)
    slope = costs = 0.0
    m = sets.newest[i]
    while m >= 0:
        shares[m] = 0.0
        if m != high and (m == low or not rule.pairwise):
            # A pair exchanges up to all of the mass of `low`, the others up to
            # `alpha` each: either way the step is at most the first of these.
            shares[m] = 1.0 if rule.pairwise else sets.alpha[m]
            slope += shares[m] * (values[high] - values[m])
            costs += shares[m] * (sets.cost[high] - sets.cost[m])
        m = sets.older[m]
    if not slope > 0.0 and rule.line_search:
        return 0.0
    source = low if rule.pairwise else -1
    sqnorm = _sqnorm_of_direction(s, i, sets, high, source, board, diff, ws)
    bend = C * steepness(weights) * sqnorm
    step = sets.alpha[low] if rule.pairwise else 1.0
    if not rule.line_search:
        n, before = sets.newest.size, rule.visits[0] - 1
        step = 2.0 * n / (before + 2.0 * n)
    elif step * bend > slope:
        step = slope / bend
    change = _add_direction(
        s, i, C * step, sets, high, source, shares, weights, diff, ws
    )
    most = C * step * (2.0 * (costs - slope) + step * bend)
    emptied = False
    m = sets.newest[i]
    while m >= 0:
        if shares[m] > 0.0:
            moved = step * shares[m]
            sets.alpha[m] -= moved
            sets.alpha[high] += moved
            emptied |= sets.alpha[m] <= SMALLEST
            if sets.alpha[m] <= SMALLEST:
                sets.alpha[m] = 0.0
        m = sets.older[m]
    if emptied:
        working.drop_zeros(sets, i)
    rise = C * step * (slope - 0.5 * step * bend)
    return rise + 0.5 * saved(weights, most, change)


@may_move.implement(StepRule)
def _(rule: StepRule, sets: WorkingSets, i: int) -> bool:
    # A single output has nobody to take mass from.
    return sets.older[sets.newest[i]] >= 0


@admit.implement(StepRule)
def _(
    rule: StepRule,
    s: Structure,
    i: int,
    C: float,
    weights: Weights,
    sets: WorkingSets,
    scratch: Scratch,
    diff: Diff,
    ws: Any,
    slack: float,
    value: float,
    scored: bool,
    looks: int,
) -> bool:
    y, values = scratch.y, rule.board.values
    if scored:
        _value_by_parts(s, i, sets, values, scratch)
    else:
        working.value_members(s, i, weights.w, sets, values, scratch.y_gold, diff, ws)
    high, _, mean = working.rank_members(sets, i, values)
    rule.gap[i] = C * max(slack - mean, 0.0)
    size = waist.output_size(s, i)
    if value > values[high] and not working.is_member(sets, i, y, size):
        working.add_member(sets, i, y, size, waist.cost(s, i, y), 0.0)
        values[sets.newest[i]] = value
    return True
