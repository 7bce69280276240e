"""The visits that all solvers over working sets make, with inference or without.

What happens at an example is up to a *rule*: a NamedTuple of settings and arrays whose
class answers the questions below. As with structures, the choice is made while the
loop compiles, and costs nothing when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

from partwise._jit import generic, kernel
from partwise._threads import Slice, chunks
from partwise.losses.margin import most_violated
from partwise.solvers.base import Problem
from partwise.solvers.dual_weights import Weights
from partwise.solvers.outputs_ahead import (
    NOT_FOUND,
    FoundOutputs,
    find_ahead,
    make_found,
)
from partwise.solvers.working_sets.sets import WorkingSets, has_room
from partwise.solvers.working_sets.state import Site, WorkingSetState
from partwise.structures import interface as waist
from partwise.structures.ahead import make_plan
from partwise.structures.decoding import output_pointers
from partwise.structures.interface import Diff, IntArray, Structure
from partwise.structures.scratch import Scratch
from partwise.structures.vectors import copy

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
) -> bool:
    """Let the output in ``scratch.y`` in, if it is worth it; say whether to move.

    No output of all there are is violated more, by `slack`. There is room for it.
    """
    raise NotImplementedError("admit is required of a rule")


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
) -> tuple[int, float]:
    """Visit some examples with inference; stop early if the sets need more room.

    Return the position reached and the new dual value.
    """
    # Rules that held the whole of inference would be compiled with it twice.
    s, C, weights, sets, scratch, diff, ws = site
    for position in range(start, stop):
        i = order[position]
        if not has_room(sets, waist.output_size(s, i)):
            return position, dual
        if C[i] == 0.0:
            continue
        waist.visit(s, i, ws)
        if found.at.size > 0:
            size = waist.output_size(s, i)
            copy(found.codes[found.at[position] :][:size], scratch.y)
            waist.gold(s, i, scratch.y_gold)
            slack = found.slack[position]
        else:
            slack = most_violated(s, i, weights.w, scratch, ws)
        if admit(rule, s, i, C[i], weights, sets, scratch, diff, ws, slack):
            dual += move(rule, s, i, C[i], weights, sets, scratch, diff, ws, True)
    return stop, dual


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


def _visit(
    make_rule: MakeRule,
    problem: Problem,
    state: WorkingSetState,
    order: IntArray,
    found: FoundOutputs,
    block: Slice,
) -> None:
    """Visit a block of examples, with inference or with what was found before."""
    reached, stop = block
    while reached < stop:
        reached, state.dual = _infer(
            make_rule(), state.site(problem), found, order, reached, stop, state.dual
        )
        if reached < stop:
            state.make_room(problem.structure, order.size)
    state.oracle_calls += stop - block[0]


def infer(
    make_rule: MakeRule,
    problem: Problem,
    state: WorkingSetState,
    order: IntArray,
    found: FoundOutputs = NOT_FOUND,
) -> Iterator[float]:
    """Visit the examples of `order` with inference; yield the fraction done.

    With several threads, outputs are found a block ahead: they are those of the weights
    a little earlier, but what is made of them is as exact as ever.
    """
    blocks: Iterator[Slice] = chunks(order.size)
    crew = problem.helpers()
    if crew is not None and found is NOT_FOUND and order.size:
        plan = make_plan(order, crew.n_parts)
        found = make_found(order, output_pointers(problem.structure))
        blocks = find_ahead(crew, state.weights().w, plan, found)
    with closing(blocks):
        for block in blocks:
            _visit(make_rule, problem, state, order, found, block)
            yield block[1] / order.size
