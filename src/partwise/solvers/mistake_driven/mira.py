"""MIRA: the smallest change of the weights that makes an example right by its cost.

Crammer and Singer (JMLR 2003); for structures McDonald, Crammer and Pereira (ACL
2005); with a bound on the step, PA-I of Crammer et al. (JMLR 2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from partwise._jit import kernel
from partwise.solvers.base import Problem
from partwise.solvers.mistake_driven import base
from partwise.solvers.mistake_driven.base import MistakeDriven, MistakeSite
from partwise.structures import interface as waist
from partwise.structures.interface import IntArray


@kernel
def _learn(site: MistakeSite, visits: IntArray, delta: float) -> None:
    """Project the weights onto ``now . dPhi >= cost``, as far as C allows."""
    s, average, diff, ws = site.s, site.average, site.diff, site.ws
    y, y_gold = site.scratch.y, site.scratch.y_gold
    for visit in range(visits.size):
        i = visits[visit]
        base.find_output(site, i, visit)
        margin = waist.diff_dot(s, i, y, y_gold, average.now, diff, ws)
        cost = waist.cost(s, i, y)
        violation = cost - margin
        if violation > delta * cost:
            average.counts[base.MISTAKES] += 1
            sqnorm = waist.diff_sqnorm(s, i, y, y_gold, diff, ws)
            step = site.C[i]
            if step * sqnorm > violation:
                step = violation / sqnorm
            base.correct(site, i, y, y_gold, step)
        average.counts[base.VISITS] += 1


@dataclass(frozen=True)
class MIRA(MistakeDriven):
    """MIRA with the one best output, on any structure with argmax.

    At every example the weights change as little as possible so that the right output
    beats the best other one by its cost: by ``min(C_i, violation / |dPhi|^2)`` times
    the difference of their features. C bounds the step and so the harm of a wrong
    label: smaller is more careful.

    It minimises no objective: the loss is ignored, there is no certificate, and `tol`
    has no meaning. Training ends after `max_iter` passes, best chosen on development
    data, or after a pass in which every example was right by its margin.

    Parameters
    ----------
    averaging : bool
        Return the average of the weights after every visit, not the last weights.
    cost_augmented : bool
        Look for the best output by score plus cost, the most violated one. False is
        McDonald's form: the best output by score alone.
    order : {"shuffled", "cyclic"}
        How a pass goes through the examples: in a new random order, or as they come.
    delta : float
        A margin that is missed by no more than this share of the cost is not corrected.

    Examples
    --------
    After its visit an example has the margin it should, here a cost of 1:

    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[2.0]]), [1], 2)
    >>> problem = make_problem(s, get_loss("hinge"))
    >>> solution = solve(problem, MIRA(averaging=False))
    >>> solution.w.tolist()
    [-0.25, 0.25]
    """

    cost_augmented: bool = True
    delta: float = 1e-4

    names: ClassVar[dict[str, dict[str, Any]]] = {"mira": {}}
    needs = (waist.argmax, waist.add_costs, waist.cost)
    at_least: ClassVar[dict[str, float]] = {"delta": 0}

    def learn(self, problem: Problem, state: Any, visits: IntArray) -> None:
        """Visit some examples in order; correct the weights at missed margins."""
        _learn(state.site(problem, self.cost_augmented), visits, self.delta)
