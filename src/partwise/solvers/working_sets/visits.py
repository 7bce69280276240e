"""The visits that all solvers over working sets make, with inference or without.

What happens at an example is up to a *rule*: a NamedTuple of settings and arrays whose
class answers the questions below. As with structures, the choice is made while the
loop compiles, and costs nothing when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from partwise._jit import generic, generic_with_default, kernel
from partwise._threads import Slice, chunks
from partwise.losses.margin import most_violated
from partwise.solvers.base import Problem
from partwise.solvers.dual_weights import Weights
from partwise.solvers.outputs_ahead import (
    NOT_FOUND,
    FoundOutputs,
    find_outputs_ahead,
    recall_output,
    room_for_outputs,
)
from partwise.solvers.working_sets.sets import WorkingSets, has_room
from partwise.solvers.working_sets.state import Site, WorkingSetState
from partwise.structures import interface as waist
from partwise.structures.ahead import make_plan
from partwise.structures.interface import Diff, IntArray, Structure
from partwise.structures.parallel import Threads
from partwise.structures.scratch import Scratch

MakeRule = Callable[[], Any]
"""Makes the rule, with arrays as long as the working sets have room just then."""


@generic
def may_move(rule: Any, sets: WorkingSets, i: int) -> bool:
    """Say whether the outputs at hand of example `i` leave anything to do."""
    raise NotImplementedError("may_move is required of a rule")


@generic
def admit(
    rule: Any,
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
    """Let the output in ``scratch.y`` in, if it is worth it; say whether to move.

    Its violation is `value`, and no output of all there are is violated by more than
    `slack`, now or when it was found. If `scored`, that is now, and the scores of the
    parts, with costs, are in ``scratch.theta``. There is room for it. So many `looks`
    were made before, at this visit.
    """
    raise NotImplementedError("admit is required of a rule")


@generic_with_default
def most_looks(rule: Any) -> int:
    """Return how many outputs may be found at a visit."""
    return 1


@generic_with_default
def wants_another(
    rule: Any, sets: WorkingSets, i: int, C: float, value: float, looks: int
) -> bool:
    """Say whether to look once more at example `i`, after mass has moved.

    The output just found has this `value`, and so many `looks` were made before.
    """
    return False


@generic
def move(
    rule: Any,
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
    """Move the dual variables of the outputs at hand; return the rise of the dual.

    `admitted` says whether `admit` has just looked at them.
    """
    raise NotImplementedError("move is required of a rule")


@kernel
def _sweep(
    rule: Any, site: Site, order: IntArray, start: int, stop: int, dual: float
) -> float:
    """Visit some examples without inference; return the new dual value.

    The dual value is carried from call to call, so that its rounding does not depend
    on how a pass is cut into calls.
    """
    s, C, weights, sets, scratch, diff, ws = site
    for position in range(start, stop):
        i = order[position]
        if C[i] != 0.0 and may_move(rule, sets, i):
            waist.visit(s, i, ws)
            waist.gold(s, i, scratch.y_gold)
            dual += move(rule, s, i, C[i], weights, sets, scratch, diff, ws, False)
    return dual


@kernel
def _infer(
    rule: Any,
    site: Site,
    found: FoundOutputs,
    order: IntArray,
    start: int,
    stop: int,
    dual: float,
) -> tuple[int, float, int]:
    """Visit some examples with inference; stop early if the sets need more room.

    Return the position reached, the new dual value, and how often was looked.
    """
    # Rules that held the whole of inference would be compiled with it twice.
    s, C, weights, sets, scratch, diff, ws = site
    calls = 0
    for position in range(start, stop):
        i = order[position]
        if not has_room(sets, most_looks(rule), waist.output_size(s, i)):
            return position, dual, calls
        if C[i] == 0.0:
            continue
        waist.visit(s, i, ws)
        looks, more = 0, True
        while more:
            scored = found.at.size == 0
            if scored:
                slack = most_violated(s, i, weights.w, scratch, ws)
                value = slack - waist.shortfall(s, i, ws)
            else:
                y, y_gold = scratch.y, scratch.y_gold
                slack = recall_output(s, i, position, found, y)
                waist.gold(s, i, y_gold)
                margin = waist.diff_dot(s, i, y, y_gold, weights.w, diff, ws)
                value = waist.cost(s, i, y) - margin
            more = scored and wants_another(rule, sets, i, C[i], value, looks)
            if admit(
                rule, s, i, C[i], weights, sets, scratch, diff, ws,
                slack, value, scored, looks,
            ):  # fmt: skip
                dual += move(rule, s, i, C[i], weights, sets, scratch, diff, ws, True)
            looks += 1
        calls += looks
    return stop, dual, calls


def sweep(
    make_rule: MakeRule,
    problem: Problem,
    state: WorkingSetState,
    order: IntArray,
) -> Iterator[float]:
    """Visit the examples of `order` without inference; yield the fraction done."""
    for start, stop in chunks(order.size):
        site = state.site(problem)
        state.dual = _sweep(make_rule(), site, order, start, stop, state.dual)
        yield stop / order.size


def infer(
    make_rule: MakeRule,
    problem: Problem,
    state: WorkingSetState,
    order: IntArray,
    found: FoundOutputs = NOT_FOUND,
) -> Iterator[float]:
    """Visit the examples of `order` with inference; yield the fraction done."""
    for block in chunks(order.size):
        _infer_block(make_rule, problem, state, order, found, block)
        yield block[1] / order.size


def _infer_block(
    make_rule: MakeRule,
    problem: Problem,
    state: WorkingSetState,
    order: IntArray,
    found: FoundOutputs,
    block: Slice,
) -> None:
    reached, stop = block
    while reached < stop:
        reached, state.dual, calls = _infer(
            make_rule(), state.site(problem), found, order, reached, stop, state.dual
        )
        state.oracle_calls += calls
        if reached < stop:
            state.make_room(problem.structure, order.size)


def sweep_and_infer(
    make_rule: MakeRule,
    problem: Problem,
    state: WorkingSetState,
    sweeps: Sequence[IntArray],
    choose_order: Callable[[], IntArray],
) -> Iterator[float]:
    """Visit examples without inference, in each of some orders, then with inference.

    With helpers, these find the outputs a block ahead, at the weights of a moment ago,
    and the learner sweeps while they do. What it makes of the outputs is as exact as
    ever. In the first pass, when every example changes all that is known, it is alone.
    """
    helpers = problem.helpers() if state.estimate is not None else None
    if helpers is not None:
        yield from _with_helpers(
            helpers, make_rule, problem, state, sweeps, choose_order()
        )
        return
    for done, order in enumerate(sweeps):
        for part in sweep(make_rule, problem, state, order):
            yield 0.5 * (done + part) / len(sweeps)
    for part in infer(make_rule, problem, state, choose_order()):
        yield 0.5 + 0.5 * part


def _with_helpers(
    helpers: Threads,
    make_rule: MakeRule,
    problem: Problem,
    state: WorkingSetState,
    sweeps: Sequence[IntArray],
    order: IntArray,
) -> Iterator[float]:
    plan = make_plan(order, helpers.n_parts)
    found = room_for_outputs(problem.structure, order)
    swept = np.concatenate([order[:0], *sweeps])
    blocks = find_outputs_ahead(helpers, plan, found, state.weights().w, True)
    with closing(blocks):
        for block in blocks:
            _infer_block(make_rule, problem, state, order, found, block)
            first, last = (swept.size * reached // order.size for reached in block)
            state.dual = _sweep(
                make_rule(), state.site(problem), swept, first, last, state.dual
            )
            yield block[1] / order.size
