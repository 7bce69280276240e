"""Passive-aggressive updates in their three forms (Crammer et al., JMLR 2006)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from partwise._jit import kernel
from partwise.solvers.base import Problem
from partwise.solvers.mistake_driven import base
from partwise.solvers.mistake_driven.base import MistakeDriven, MistakeSite
from partwise.structures import interface as waist
from partwise.structures.interface import IntArray

FREE, BOUNDED, SQUARED = 0, 1, 2
FORMS = {"none": FREE, "linear": BOUNDED, "squared": SQUARED}


@kernel
def _step(loss: float, sqnorm: float, C: float, form: int) -> float:
    """Return tau of PA, PA-I or PA-II (section 3, equation 6 and below)."""
    if form == SQUARED:
        return loss / (sqnorm + 0.5 / C)
    if form == BOUNDED and C * sqnorm < loss:
        return C
    return loss / sqnorm


@kernel
def _learn(site: MistakeSite, visits: IntArray, form: int, by_cost: bool) -> None:
    """Figure 1 of the paper for structures: the best output is the rival."""
    s, average, diff, ws = site.s, site.average, site.diff, site.ws
    y, y_gold = site.scratch.y, site.scratch.y_gold
    for visit in range(visits.size):
        i = visits[visit]
        base.find_output(site, i, visit)
        if base.n_wrong_codes(site, i) > 0:
            average.counts[base.MISTAKES] += 1
            margin = waist.diff_dot(s, i, y, y_gold, average.now, diff, ws)
            wanted = math.sqrt(waist.cost(s, i, y)) if by_cost else 1.0
            loss = wanted - margin
            site.loss[0] += loss
            sqnorm = waist.diff_sqnorm(s, i, y, y_gold, diff, ws)
            if sqnorm > 0.0 and loss > 0.0:
                step = _step(loss, sqnorm, site.C[i], form)
                base.correct(site, i, y, y_gold, step)
        average.counts[base.VISITS] += 1


@dataclass(frozen=True)
class PassiveAggressive(MistakeDriven):
    """Passive-aggressive updates, on any structure with argmax.

    Where the best output of an example is not the right one, the weights change as
    little as possible so that the right one wins by a margin: the square root of the
    cost of the other, or one. `MIRA` also moves the weights where the right output
    wins, but not by its margin. This is the rule of CRFsuite's `pa`.

    It minimises no objective: the loss is ignored, there is no certificate, and `tol`
    has no meaning. Training ends after `max_iter` passes, best chosen on development
    data, or after a pass without a mistake.

    Parameters
    ----------
    averaging : bool
        Return the average of the weights after every visit, not the last weights.
    cost_augmented : bool
        Look for the best output by score plus cost, the most violated one.
    order : {"shuffled", "cyclic"}
        How a pass goes through the examples: in a new random order, or as they come.
    slack : {"linear", "squared", "none"}
        What a margin that is missed costs: C times what is missing (PA-I, which bounds
        the step by C), C times its square (PA-II), or more than anything else, so that
        the step is as long as it takes (PA).
    by_cost : bool
        Whether the margin is the square root of the cost; otherwise it is one.

    Examples
    --------
    After its visit an example has the margin it should, here a cost of 1:

    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[2.0]]), [1], 2)
    >>> problem = make_problem(s, get_loss("hinge"))
    >>> solve(problem, PassiveAggressive(averaging=False)).w.tolist()
    [-0.25, 0.25]
    """

    slack: str = "linear"
    by_cost: bool = True

    names: ClassVar[dict[str, dict[str, Any]]] = {"pa": {}}
    takes_help = False  # old outputs are corrected again and again
    needs = (waist.argmax, waist.add_costs, waist.cost)
    choices: ClassVar[dict[str, tuple[Any, ...]]] = {
        "order": base.WITHOUT_GAPS,
        "slack": tuple(FORMS),
    }

    def learn(self, problem: Problem, state: Any, visits: IntArray) -> None:
        """Visit some examples in order; correct the weights at mistakes."""
        site = state.site(problem, self.cost_augmented)
        _learn(site, visits, FORMS[self.slack], self.by_cost)
