"""The most violated outputs of a pass, found a block ahead of the learner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise._threads import Slice
from partwise.losses.margin import augmented_scores, worst_of
from partwise.structures import interface as waist
from partwise.structures.ahead import Plan, look_ahead
from partwise.structures.interface import CodeArray, FloatArray, IntArray, Structure
from partwise.structures.parallel import Threads, Worker
from partwise.structures.vectors import copy


class FoundOutputs(NamedTuple):
    """The most violated output of every visit, from ``at[visit]`` on, and its slack."""

    at: IntArray
    codes: CodeArray
    slack: FloatArray


NOT_FOUND = FoundOutputs(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0))
"""They are found one by one, with the weights of the moment."""


def make_found(order: IntArray, output_ptr: IntArray) -> FoundOutputs:
    """Make room for an output of every visit."""
    sizes = np.diff(output_ptr)[order]
    ends = np.cumsum(sizes)
    n_codes = int(ends[-1]) if ends.size else 0
    return FoundOutputs(ends - sizes, np.zeros(n_codes, np.int32), np.zeros(order.size))


@kernel
def _take_scores(
    s: Structure,
    start: int,
    stop: int,
    order: IntArray,
    at: IntArray,
    w: FloatArray,
    theta: FloatArray,
    worker: Worker,
) -> None:
    for visit in range(start, stop):
        i = order[visit]
        waist.visit(s, i, worker.ws)
        augmented_scores(s, i, w, theta[at[visit] :], worker.ws)


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
        waist.visit(s, i, ws)
        own = theta[at[visit] : at[visit] + waist.n_parts(s, i)]
        found.slack[visit] = worst_of(s, i, own, scratch, ws)
        copy(scratch.y[: waist.output_size(s, i)], found.codes[found.at[visit] :])


def find_ahead(
    crew: Threads, w: FloatArray, plan: Plan, found: FoundOutputs
) -> Iterator[Slice]:
    """Yield blocks of visits whose outputs are found; `w` may change meanwhile."""
    s, workers, theta = crew.s, crew.workers, np.zeros(plan.room)

    def take(number: int, start: int, stop: int) -> None:
        worker = workers[number]
        _take_scores(s, start, stop, plan.order, plan.at, w, theta, worker)

    def find(number: int, start: int, stop: int) -> None:
        worker = workers[number]
        _find_outputs(s, start, stop, plan.order, plan.at, theta, found, worker)

    yield from look_ahead(crew.size, plan.blocks, take, find)
