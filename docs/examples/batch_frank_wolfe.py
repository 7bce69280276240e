"""A solver: Frank-Wolfe for the hinge, one step of the whole dual point a pass."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from partwise import kernel
from partwise.losses import Certificate
from partwise.losses.margin import most_violated
from partwise.solvers import Solver
from partwise.solvers.base import State, chunks
from partwise.structures import interface as waist
from partwise.structures.scratch import make_scratch


@kernel
def _add_corner(s, start, stop, C, w, corner, cost, scratch, diff, ws):
    """Add ``C_i dPhi(y)`` of the most violated outputs to `corner`; return the cost."""
    for i in range(start, stop):
        waist.visit(s, i, ws)
        most_violated(s, i, w, scratch, ws)
        waist.diff_add(s, i, scratch.y, scratch.y_gold, C[i], corner, diff, ws)
        cost += C[i] * waist.cost(s, i, scratch.y)
    return cost


class BatchFrankWolfeState(State):
    """Weights, and the cost of the dual point that they are the image of."""

    kept = ("w", "cost")


@dataclass(frozen=True)
class BatchFrankWolfe(Solver):
    """Go from the dual point towards the corner it points to, as far as pays."""

    names: ClassVar = {"batch-frank-wolfe": {}}
    losses: ClassVar = ("hinge",)
    needs: ClassVar = (waist.argmax, waist.add_costs, waist.cost, waist.diff_add)

    def start(self, problem, rng, previous):
        """Start with all the dual mass on the right outputs, where w = 0."""
        state = BatchFrankWolfeState()
        state.w, state.cost = np.zeros(problem.n_weights), 0.0
        return state

    def run_pass(self, problem, state, rng):
        """Find the corner with one argmax an example; take the best step to it."""
        s, w, n = problem.structure, state.w, problem.n_examples
        space = make_scratch(s), waist.make_diff(s), waist.workspace(s, 1)
        corner, cost = np.zeros_like(w), 0.0
        for begin, end in chunks(n):
            cost = _add_corner(s, begin, end, problem.C, w, corner, cost, *space)
            state.oracle_calls += end - begin
            yield end / n
        primal, dual = w @ w / 2 + cost - w @ corner, state.cost - w @ w / 2
        state.estimate = Certificate(primal, dual, exact=False)
        step = min((primal - dual) / max(np.sum((corner - w) ** 2), 1e-300), 1.0)
        state.w = w + step * (corner - w)
        state.cost += step * (cost - state.cost)

    def certify(self, problem, state):
        """Return primal and dual, exactly."""
        dual = state.cost - state.w @ state.w / 2
        return Certificate(problem.primal(state.w), dual)
