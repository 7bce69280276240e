"""The most violated output of every example, found by threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.losses.margin import most_violated
from partwise.solvers.base import Problem
from partwise.structures import interface as waist
from partwise.structures.interface import CodeArray, FloatArray, IntArray, Structure
from partwise.structures.parallel import Worker
from partwise.structures.sharing import borders, changed, filled, given
from partwise.structures.vectors import copy


class WorstOutputs(NamedTuple):
    """Outputs end to end, that of example `i` from ``ptr[i]`` on, with their cost."""

    ptr: IntArray
    codes: CodeArray
    costs: FloatArray


@kernel
def _find_outputs(
    s: Structure,
    start: int,
    stop: int,
    worker: Worker,
    C: FloatArray,
    w: FloatArray,
    found: WorstOutputs,
    slack: FloatArray,
) -> None:
    scratch, ws = worker.scratch, worker.ws
    for i in range(start, stop):
        own = found.codes[found.ptr[i] : found.ptr[i + 1]]
        if C[i] == 0.0:
            waist.gold(s, i, own)
            continue
        waist.visit(s, i, ws)
        slack[i] = most_violated(s, i, w, scratch, ws)
        copy(scratch.y[: own.size], own)
        found.costs[i] = waist.cost(s, i, scratch.y)


def make_worst_outputs(ptr: IntArray) -> WorstOutputs:
    """Make room for an output of every example."""
    return WorstOutputs(ptr, np.zeros(ptr[-1], np.int32), np.zeros(ptr.size - 1))


def find_worst_outputs(
    problem: Problem, w: FloatArray, found: WorstOutputs, slack: FloatArray
) -> Iterator[float]:
    """Write the outputs and their slacks at `w`; yield the fraction done.

    Examples of weight zero have no slack; their output is the right one.
    """
    shared = WorstOutputs(
        borders(found.ptr), filled(found.codes, found.ptr), changed(found.costs)
    )
    things = given(problem.C), w, shared, changed(slack)
    yield from problem.crew().visit(_find_outputs, *things)
