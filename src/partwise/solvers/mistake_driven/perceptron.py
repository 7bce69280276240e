"""The averaged structured perceptron (Collins, EMNLP 2002)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from partwise._jit import kernel
from partwise.solvers.base import Problem
from partwise.solvers.mistake_driven import base
from partwise.solvers.mistake_driven.base import MistakeDriven, MistakeSite
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray, IntArray


@kernel
def _learn(site: MistakeSite, visits: IntArray, steps: FloatArray) -> None:
    """Figure 1 of the paper, the inner loop."""
    y, y_gold, average = site.scratch.y, site.scratch.y_gold, site.average
    for visit in range(visits.size):
        i = visits[visit]
        base.find_output(site, i, visit)
        n_wrong = base.n_wrong_codes(site, i)
        if n_wrong > 0:
            average.counts[base.MISTAKES] += 1
            site.loss[0] += n_wrong / waist.output_size(site.s, i)
            base.correct(site, i, y, y_gold, steps[i])
        average.counts[base.VISITS] += 1


@dataclass(frozen=True)
class Perceptron(MistakeDriven):
    """The averaged structured perceptron, on any structure with argmax.

    Where the best output of an example is not the right one, the weights move by
    ``C_i / max C`` times the difference of their features: by one without sample
    weights, and for twice the weight twice as far. C itself changes nothing.

    It minimises no objective: the loss is ignored, there is no certificate, and `tol`
    has no meaning. Training ends after `max_iter` passes, best chosen on development
    data, or after a pass without a mistake.

    Parameters
    ----------
    averaging : bool
        Return the average of the weights after every visit, not the last weights.
    cost_augmented : bool
        Look for the best output by score plus cost, so that the right one has to win
        by a margin. By score alone, costs change nothing.
    order : {"shuffled", "cyclic"}
        How a pass goes through the examples: in a new random order, or as they come.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [1, 0], 2)
    >>> problem = make_problem(s, get_loss("hinge"))
    >>> solution = solve(problem, Perceptron(averaging=False))
    >>> solution.w.tolist()
    [-1.0, 1.0]
    >>> print(solution.status)
    converged after 2 passes: pass 2 found every training example right
    """

    names: ClassVar[dict[str, dict[str, Any]]] = {"perceptron": {}}
    takes_help = False  # old outputs are corrected again and again

    def learn(
        self, problem: Problem, state: base.MistakeDrivenState, visits: IntArray
    ) -> None:
        """Visit some examples in order; correct the weights at mistakes."""
        site = state.site(problem, self.cost_augmented)
        _learn(site, visits, problem.C / problem.C.max())
