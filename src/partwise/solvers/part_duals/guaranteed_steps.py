"""Step sizes of exponentiated gradient that need no search.

A step never lowers the dual if the relative entropy between the new and the old
distribution is at least `eta` times the dual's own divergence (Globerson et al., ICML
2007, Lemma 1). By Pinsker's inequality ``eta = 1 / (1 + A_i)`` is small enough for the
log loss and ``1 / A_i`` for the hinge, with ``A_i = C_i R_i^2`` and ``R_i`` the largest
``|Phi(gold) - Phi(y)|`` of any output, which is bounded part by part. When all
examples move at once, the sum of the ``A_i`` takes the place of ``A_i``. With the
elastic net weights move by up to ``1 / (1 - l1_ratio)`` times as much.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.solvers.base import Problem
from partwise.solvers.part_duals.dual_parts import LARGEST_STEP
from partwise.solvers.units import cost_unit
from partwise.structures import interface as waist
from partwise.structures.interface import Diff, FloatArray, Structure
from partwise.structures.scratch import Scratch, make_scratch, score_of_right


@kernel
def _fill_distances(
    s: Structure, out: FloatArray, scratch: Scratch, diff: Diff, ws: Any
) -> None:
    """Bound ``|Phi(gold) - Phi(y)|`` by the norms of the parts of both."""
    for i in range(out.size):
        waist.visit(s, i, ws)
        for r in range(waist.n_parts(s, i)):
            n = waist.part_row(s, i, r, diff.idx, diff.val, ws)
            for j in range(n):
                waist.accumulate(diff.total, diff.idx[j], diff.val[j])
            scratch.theta[r] = np.sqrt(waist.take_sqnorm(diff.total))
        right = score_of_right(s, i, scratch.theta, scratch)
        out[i] = right + max(waist.argmax(s, i, scratch.theta, scratch.y, ws), right)


def guaranteed_steps(problem: Problem, together: bool) -> FloatArray:
    """Return a step size for every example, never too large.

    Parameters
    ----------
    problem : Problem
        Its loss is the log loss or the hinge.
    together : bool
        Whether all examples move at once (batch) or one by one (online).

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-2.0]]), [0, 1], 2)
    >>> problem = make_problem(s, get_loss("log_loss"), C=0.25)
    >>> guaranteed_steps(problem, together=False).tolist()
    [0.5, 0.2]
    """
    s = problem.structure
    distance = np.zeros(problem.n_examples)
    diff, ws = waist.make_diff(s), waist.workspace(s, 1)
    _fill_distances(s, distance, make_scratch(s), diff, ws)
    bound = problem.C * distance**2 / (1.0 - problem.l1_ratio)
    if together:
        bound = np.full(bound.size, bound.sum())
    if problem.loss.name == "log_loss":
        return 1.0 / (1.0 + bound)
    # Without features there is no curvature, and any step would do.
    return 1.0 / np.maximum(bound, cost_unit(problem) / LARGEST_STEP)
