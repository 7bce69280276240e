"""The visits that all solvers over working sets make, with inference or without.

What happens at an example is up to a *rule*: a NamedTuple of settings and arrays whose
class answers the questions below. As with structures, the choice is made while the
loop compiles, and costs nothing when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from partwise._jit import generic, kernel
from partwise._threads import chunks
from partwise.solvers.base import Problem
from partwise.solvers.working_sets.sets import has_room
from partwise.solvers.working_sets.state import Site, WorkingSetState
from partwise.structures.interface import FloatArray, IntArray, gold, output_size, visit

MakeRule = Callable[[], Any]
"""Makes the rule, with arrays as long as the working sets have room just then."""


@generic
def may_move(rule: Any, site: Site, i: int) -> bool:
    """Say whether the outputs at hand of example `i` leave anything to do."""
    raise NotImplementedError("may_move is required of a rule")


@generic
def move(rule: Any, site: Site, i: int) -> float:
    """Move the dual variables of the outputs at hand; return the rise of the dual."""
    raise NotImplementedError("move is required of a rule")


@generic
def look(rule: Any, site: Site, i: int) -> float:
    """Find the best output of all there are, let it in if it is worth it, and move.

    There is room for one. Return the rise of the dual.
    """
    raise NotImplementedError("look is required of a rule")


@kernel
def _sweep(
    rule: Any, site: Site, order: IntArray, start: int, stop: int, dual: float
) -> float:
    """Visit some examples without inference; return the new dual value.

    The dual value is carried from call to call, so that its rounding does not depend
    on how a pass is cut into calls.
    """
    for position in range(start, stop):
        i = order[position]
        if site.C[i] != 0.0 and may_move(rule, site, i):
            visit(site.s, i, site.ws)
            gold(site.s, i, site.scratch.y_gold)
            dual += move(rule, site, i)
    return dual


@kernel
def _infer(
    rule: Any, site: Site, order: IntArray, start: int, stop: int, dual: float
) -> tuple[int, float]:
    """Visit some examples with inference; stop early if the sets need more room.

    Return the position reached and the new dual value.
    """
    for position in range(start, stop):
        i = order[position]
        if not has_room(site.sets, output_size(site.s, i)):
            return position, dual
        if site.C[i] != 0.0:
            visit(site.s, i, site.ws)
            dual += look(rule, site, i)
    return stop, dual


def sweep(
    make_rule: MakeRule,
    problem: Problem,
    state: WorkingSetState,
    w: FloatArray,
    order: IntArray,
) -> Iterator[float]:
    """Visit the examples of `order` without inference; yield the fraction done."""
    for start, stop in chunks(order.size):
        site = state.site(problem, w)
        state.dual = _sweep(make_rule(), site, order, start, stop, state.dual)
        yield stop / order.size


def infer(
    make_rule: MakeRule,
    problem: Problem,
    state: WorkingSetState,
    w: FloatArray,
    order: IntArray,
) -> Iterator[float]:
    """Visit the examples of `order` with inference; yield the fraction done."""
    for start, stop in chunks(order.size):
        reached = start
        while reached < stop:
            rule, site = make_rule(), state.site(problem, w)
            reached, state.dual = _infer(rule, site, order, reached, stop, state.dual)
            if reached < stop:
                state.make_room(problem.structure, order, reached)
        state.oracle_calls += stop - start
        yield stop / order.size
