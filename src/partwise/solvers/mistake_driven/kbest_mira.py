"""k-best MIRA: margins over several outputs at once (McDonald et al., ACL 2005)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.solvers.base import Problem
from partwise.solvers.mistake_driven import base
from partwise.solvers.mistake_driven.base import MistakeSite
from partwise.solvers.mistake_driven.mira import MIRA
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray, IntArray

# A quadratic program of a few variables: steps are cheap, and dozens are usual;
# outputs with nearly dependent features take thousands.
MOST_STEPS = 10_000
PRECISION = 1e-10


class BestOutputs(NamedTuple):
    """The right output of an example, in row 0, and its k best ones.

    `values` are ``cost - w . dPhi``, zero for the right output; `distances` are
    ``|Phi(y) - Phi(y')|^2``.
    """

    ys: NDArray[np.int32]
    scores: FloatArray
    values: FloatArray
    distances: FloatArray
    mass: FloatArray


def make_best_outputs(k: int, most_codes: int) -> BestOutputs:
    """Make room for `k` outputs and the right one."""
    return BestOutputs(
        np.zeros((k + 1, most_codes), np.int32),
        np.zeros(k),
        np.zeros(k + 1),
        np.zeros((k + 1, k + 1)),
        np.zeros(k + 1),
    )


@kernel
def share_mass(
    values: FloatArray, distances: FloatArray, mass: FloatArray, count: int
) -> None:
    """Share the mass of the right output out among the others, as well as can be.

    The smallest change of `w` with ``w . dPhi_j >= cost_j - xi`` for all `j`, at a
    price of C for ``xi >= 0``, is ``sum_j a_j dPhi_j``, where `a` maximises
    ``sum_j a_j values_j - 1/2 |sum_j a_j dPhi_j|^2`` over ``a >= 0`` with a sum of C:
    the right output, whose dPhi is zero, takes what the others leave. Steps on one
    variable would get stuck at that sum; steps between two never do. So mass goes
    from the output with some and the smallest slope to the one with the largest,
    until no two differ. On return `values` are the slopes, up to a constant.
    """
    first = 0.0
    for _ in range(MOST_STEPS):
        high = 0
        low = -1
        for j in range(count):
            if values[j] > values[high]:
                high = j
            if mass[j] > 0.0 and (low < 0 or values[j] < values[low]):
                low = j
        violation = values[high] - values[low]
        first = max(first, violation)
        if violation <= PRECISION * first:
            return
        bend = distances[high, low]
        step = mass[low]
        if step * bend > violation:
            step = violation / bend
        mass[high] += step
        mass[low] -= step
        for j in range(count):
            # dPhi_j . (dPhi_high - dPhi_low), but for what is the same for all j.
            values[j] -= 0.5 * step * (distances[j, low] - distances[j, high])


@kernel
def _find_candidates(
    site: MistakeSite, i: int, delta: float, candidates: BestOutputs
) -> tuple[int, bool]:
    """Fill outputs and values; return how many there are, and if a margin is missed."""
    s, w, scratch, ws = site.s, site.average.now, site.scratch, site.ws
    ys, values = candidates.ys, candidates.values
    waist.visit(s, i, ws)
    waist.part_scores(s, i, w, scratch.theta, ws)
    if site.cost_augmented:
        waist.add_costs(s, i, scratch.theta)
    waist.gold(s, i, ys[0])
    k = candidates.scores.size
    # The right output may come once more; it is as good as a row as any.
    count = 1 + waist.kbest(s, i, scratch.theta, k, ys[1:], candidates.scores, ws)
    values[0] = 0.0
    missed = False
    for j in range(1, count):
        margin = waist.diff_dot(s, i, ys[j], ys[0], w, site.diff, ws)
        cost = waist.cost(s, i, ys[j])
        values[j] = cost - margin
        missed = missed or values[j] > delta * cost
    return count, missed


@kernel
def _learn(
    site: MistakeSite, visits: IntArray, delta: float, candidates: BestOutputs
) -> None:
    """Change the weights by the least that gives all candidates their margin."""
    s, average, diff, ws = site.s, site.average, site.diff, site.ws
    ys, distances, mass = candidates.ys, candidates.distances, candidates.mass
    for i in visits:
        count, missed = _find_candidates(site, i, delta, candidates)
        if missed:
            average.counts[base.MISTAKES] += 1
            for j in range(count):
                mass[j] = 0.0
                for m in range(j):
                    distances[j, m] = waist.diff_sqnorm(s, i, ys[j], ys[m], diff, ws)
                    distances[m, j] = distances[j, m]
            mass[0] = site.C[i]
            share_mass(candidates.values, distances, mass, count)
            for j in range(1, count):
                if mass[j] > 0.0:
                    base.correct(site, i, ys[j], ys[0], mass[j])
        average.counts[base.VISITS] += 1


class KBestState(base.MistakeDrivenState):
    """The running average, and room for the candidates of an example."""

    def __init__(self, problem: Problem, averaging: bool, k: int):
        super().__init__(problem, averaging, k)
        self.candidates = make_best_outputs(k, self.scratch.y.size)


@dataclass(frozen=True)
class KBestMIRA(MIRA):
    """MIRA with the k best outputs, on any structure with k-best outputs.

    At every example the weights change as little as possible so that the right output
    beats each of the `k` best ones by its cost: a small quadratic program, in which C
    is the price of a margin that is missed. With ``k=1`` it is `MIRA`.

    It minimises no objective: the loss is ignored, there is no certificate, and `tol`
    has no meaning. Training ends after `max_iter` passes, best chosen on development
    data, or after a pass in which every example was right by its margin.

    Parameters
    ----------
    averaging : bool
        Return the average of the weights after every visit, not the last weights.
    cost_augmented : bool
        Look for the best outputs by score plus cost, the most violated ones. False is
        McDonald's form: the best outputs by score alone.
    order : {"shuffled", "cyclic"}
        How a pass goes through the examples: in a new random order, or as they come.
    delta : float
        Margins that are missed by no more than this share of the cost are not
        corrected.
    k : int
        How many outputs.

    Examples
    --------
    Both wrong classes get their margin of 1 at once:

    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0]]), [1], 3)
    >>> problem = make_problem(s, get_loss("hinge"))
    >>> solution = solve(problem, KBestMIRA(averaging=False, k=3))
    >>> solution.w.round(6).tolist()
    [-0.333333, 0.666667, -0.333333]
    """

    k: int = 5

    names: ClassVar[dict[str, dict[str, Any]]] = {"mira-kbest": {}}
    needs = (waist.kbest, waist.add_costs, waist.cost)
    at_least: ClassVar[dict[str, float]] = {"delta": 0, "k": 1}
    takes_help = False  # others find one output each

    def make_state(self, problem: Problem) -> KBestState:
        """Make the state at zero weights."""
        return KBestState(problem, self.averaging, self.k)

    def learn(self, problem: Problem, state: KBestState, visits: IntArray) -> None:
        """Visit some examples in order; correct the weights at missed margins."""
        site = state.site(problem, self.cost_augmented)
        _learn(site, visits, self.delta, state.candidates)
