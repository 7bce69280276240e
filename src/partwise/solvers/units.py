"""In what units a problem is stated: the sizes of its costs and of its features.

No tolerance and no first step may depend on them. Where a solver has to start with a
number, it is one in these units.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.solvers.base import Problem
from partwise.structures import interface as waist
from partwise.structures.interface import Diff, FloatArray, IntArray, Structure
from partwise.structures.parallel import Worker
from partwise.structures.scratch import Scratch, make_scratch
from partwise.structures.sharing import filled


@kernel
def _largest_costs(
    s: Structure, start: int, stop: int, worker: Worker, out: FloatArray
) -> None:
    costs = worker.scratch.theta
    for i in range(start, stop):
        n = waist.n_parts(s, i)
        costs[:n] = 0.0
        waist.add_costs(s, i, costs)
        for r in range(n):
            out[i] = max(out[i], abs(costs[r]))


def cost_unit(problem: Problem) -> float:
    """Return the largest cost of a part, one if there are no costs.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> rows = make_dense_rows([[1.0], [3.0]])
    >>> s = make_multiclass(rows, [0, 1], 2, costs=[[0, 5], [7, 0]])
    >>> cost_unit(make_problem(s, get_loss("hinge")))
    7.0
    """
    costs = np.zeros(problem.n_examples)
    problem.crew().run(_largest_costs, filled(costs))
    largest = float(costs.max(initial=0.0))
    return largest if largest > 0.0 else 1.0


@kernel
def _largest_feature(
    s: Structure, examples: IntArray, scratch: Scratch, diff: Diff, ws: Any
) -> float:
    largest = 0.0
    for i in examples:
        waist.visit(s, i, ws)
        waist.gold(s, i, scratch.y_gold)
        for p in range(waist.parts_of(s, i, scratch.y_gold, diff.ids, diff.counts)):
            for j in range(waist.part_row(s, i, diff.ids[p], diff.idx, diff.val, ws)):
                largest = max(largest, abs(diff.val[j]))
    return largest


def feature_unit(problem: Problem, examples: IntArray) -> float:
    """Return the largest feature of the right outputs of some examples, or one.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-3.0]]), [0, 1], 2)
    >>> feature_unit(make_problem(s, get_loss("hinge")), np.arange(2))
    3.0
    """
    s = problem.structure
    diff, ws = waist.make_diff(s), waist.workspace(s, 1)
    largest = float(_largest_feature(s, examples, make_scratch(s), diff, ws))
    return largest if largest > 0.0 else 1.0


def power_of_two(value: float) -> float:
    """Return the power of two next to a positive number: a unit that rounds nothing.

    Examples
    --------
    >>> power_of_two(3.0), power_of_two(0.3)
    (4.0, 0.25)
    """
    return 2.0 ** round(math.log2(value))
