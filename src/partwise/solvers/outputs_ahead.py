"""The best outputs of the visits of a pass, found a block ahead of the learner."""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise._threads import Slice
from partwise.losses.margin import worst_of
from partwise.structures import interface as waist
from partwise.structures.ahead import Plan, find_ahead
from partwise.structures.decoding import output_pointers
from partwise.structures.interface import CodeArray, FloatArray, IntArray, Structure
from partwise.structures.parallel import Threads, Worker
from partwise.structures.vectors import copy


class FoundOutputs(NamedTuple):
    """The best output of every visit, from ``at[visit]`` on, and its slack."""

    at: IntArray
    codes: CodeArray
    slack: FloatArray


NOT_FOUND = FoundOutputs(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0))
"""They are found one by one, with the weights of the moment."""


def room_for_outputs(s: Structure, order: IntArray) -> FoundOutputs:
    """Make room for an output of every visit."""
    sizes = np.diff(output_pointers(s))[order]
    ends = np.cumsum(sizes)
    n_codes = int(sizes.sum())
    return FoundOutputs(ends - sizes, np.zeros(n_codes, np.int32), np.zeros(order.size))


@kernel
def take_scores(
    s: Structure,
    start: int,
    stop: int,
    order: IntArray,
    at: IntArray,
    w: FloatArray,
    costs: bool,
    theta: FloatArray,
    worker: Worker,
) -> None:
    """Write the scores of parts at `w`, with their costs if these count."""
    for visit in range(start, stop):
        i = order[visit]
        own = theta[at[visit] : at[visit] + waist.n_parts(s, i)]
        waist.visit(s, i, worker.ws)
        waist.part_scores(s, i, w, own, worker.ws)
        if costs:
            waist.add_costs(s, i, own)


@kernel
def _find_outputs(
    s: Structure,
    start: int,
    stop: int,
    order: IntArray,
    at: IntArray,
    theta: FloatArray,
    found: FoundOutputs,
    worker: Worker,
) -> None:
    scratch, ws = worker.scratch, worker.ws
    for visit in range(start, stop):
        i = order[visit]
        own = theta[at[visit] : at[visit] + waist.n_parts(s, i)]
        waist.visit(s, i, ws)
        found.slack[visit] = worst_of(s, i, own, scratch, ws)
        copy(scratch.y[: waist.output_size(s, i)], found.codes[found.at[visit] :])


def find_outputs_ahead(
    helpers: Threads, plan: Plan, found: FoundOutputs, w: FloatArray, costs: bool
) -> Generator[Slice, None, None]:
    """Yield blocks of visits, the outputs of each in `found`; `w` changes meanwhile."""
    s, workers, theta = helpers.s, helpers.workers, np.zeros(plan.room)

    def score(number: int, start: int, stop: int) -> None:
        own = plan.order, plan.at, w, costs, theta, workers[number]
        take_scores(s, start, stop, *own)

    def find(number: int, start: int, stop: int) -> None:
        own = theta, found, workers[number]
        _find_outputs(s, start, stop, plan.order, plan.at, *own)

    yield from find_ahead(helpers.size, plan.blocks, plan.pieces, score, find)


@kernel
def recall_output(
    s: Structure, i: int, visit: int, found: FoundOutputs, y: CodeArray
) -> float:
    """Write the output that was found for a visit; return its slack."""
    first = found.at[visit]
    copy(found.codes[first : first + waist.output_size(s, i)], y)
    return found.slack[visit]
