"""AROW: adaptive regularisation of weights (Crammer, Kulesza and Dredze, NIPS 2009).

Every weight is a normal distribution with a mean and a variance. A mistake moves the
mean of a weight the further the less is known about it, and makes it better known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from partwise._jit import kernel
from partwise.solvers.base import Problem
from partwise.solvers.mistake_driven import base
from partwise.solvers.mistake_driven.base import MistakeDriven, MistakeSite
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray, IntArray


@kernel
def _learn(
    site: MistakeSite,
    visits: IntArray,
    importance: FloatArray,
    gamma: float,
    variance: FloatArray,
) -> None:
    """Figure 1 of the paper with a diagonal covariance, at the best wrong output."""
    s, average, diff, ws = site.s, site.average, site.diff, site.ws
    y, y_gold, total = site.scratch.y, site.scratch.y_gold, site.diff.total
    for visit in range(visits.size):
        i = visits[visit]
        base.find_output(site, i, visit)
        if base.n_wrong_codes(site, i) > 0:
            average.counts[base.MISTAKES] += 1
            margin = waist.diff_dot(s, i, y, y_gold, average.now, diff, ws)
            loss = waist.cost(s, i, y) - margin
            site.loss[0] += loss
            waist.diff_collect(s, i, y, y_gold, diff, ws)
            doubt = 0.0  # the variance of the margin
            for j in range(total.size[0]):
                slot = total.slots[j]
                total.values[slot] *= importance[i]
                doubt += total.values[slot] ** 2 * variance[total.keys[slot]]
            step = max(loss, 0.0) / (doubt + gamma)
            for j in range(total.size[0]):
                slot = total.slots[j]
                k, value = total.keys[slot], total.values[slot]
                move = step * variance[k] * value
                average.now[k] += move
                if average.late.size > 0:
                    average.late[k] += move * average.counts[base.VISITS]
                variance[k] = 1.0 / (1.0 / variance[k] + value**2 / gamma)
            waist.take_sqnorm(total)  # empties the table
        average.counts[base.VISITS] += 1


class AROWState(base.MistakeDrivenState):
    """The means of the weights, and how uncertain each is."""

    kept = ("w", "average", "variance")

    def __init__(self, problem: Problem, averaging: bool, variance: float):
        super().__init__(problem, averaging)
        self.variance = np.full(problem.n_weights, variance)


@dataclass(frozen=True)
class AROW(MistakeDriven):
    """Adaptive regularisation of weights, on any structure with argmax.

    Where the best output of an example is not the right one, each weight moves in
    proportion to its variance, which shrinks with every such move: weights of frequent
    features settle, those of rare ones stay quick to learn. This is the rule of
    CRFsuite's `arow`.

    It minimises no objective: the loss is ignored, there is no certificate, and `tol`
    has no meaning. Training ends after `max_iter` passes, best chosen on development
    data, or after a pass without a mistake. C itself changes nothing; an example of
    twice the weight counts as one with features twice as large.

    Parameters
    ----------
    averaging : bool
        Return the average of the weights after every visit, not the last weights.
    cost_augmented : bool
        Look for the best output by score plus cost, the most violated one.
    order : {"shuffled", "cyclic"}
        How a pass goes through the examples: in a new random order, or as they come.
    variance : float
        The variance of every weight before anything is learnt.
    gamma : float
        How much a single example is distrusted: larger values make smaller steps, and
        keep variances large for longer.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [1, 0], 2)
    >>> problem = make_problem(s, get_loss("hinge"))
    >>> solve(problem, AROW()).w.round(4).tolist()
    [-0.3333, 0.3333]
    """

    averaging: bool = False
    variance: float = 1.0
    gamma: float = 1.0

    names: ClassVar[dict[str, dict[str, Any]]] = {"arow": {}}
    needs = (waist.argmax, waist.add_costs, waist.cost)

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        for name in ("variance", "gamma"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise ValueError(
                    f"{name} must be positive and finite, not {getattr(self, name)!r}"
                )

    def memory(self, problem: Problem) -> int:
        """Return about how many bytes the state will take, besides the weights."""
        return super().memory(problem) + 8 * problem.n_weights

    def make_state(self, problem: Problem) -> AROWState:
        """Make the state at zero weights, about which nothing is known."""
        return AROWState(problem, self.averaging, self.variance)

    def learn(self, problem: Problem, state: AROWState, visits: IntArray) -> None:
        """Visit some examples in order; correct the weights at mistakes."""
        site = state.site(problem, self.cost_augmented)
        importance = problem.C / problem.C.max()
        _learn(site, visits, importance, self.gamma, state.variance)
