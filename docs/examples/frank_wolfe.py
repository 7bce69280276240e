"""A solver: Frank-Wolfe for the hinge, with one step along the whole dual a pass."""

from dataclasses import dataclass

import numpy as np

from partwise._jit import kernel
from partwise.losses import Certificate
from partwise.losses.margin import most_violated
from partwise.solvers import Solver
from partwise.solvers.base import State, chunks
from partwise.structures import interface as waist
from partwise.structures.scratch import make_scratch


@kernel
def _add_corner(s, start, stop, C, w, corner, scratch, diff, ws):
    """Add ``sum C dPhi(y)`` of the most violated outputs to `corner`; return cost."""
    total = 0.0
    for i in range(start, stop):
        waist.visit(s, i, ws)
        most_violated(s, i, w, scratch, ws)
        waist.diff_add(s, i, scratch.y, scratch.y_gold, C[i], corner, diff, ws)
        total += C[i] * waist.cost(s, i, scratch.y)
    return total


class FrankWolfeState(State):
    """Weights, and the cost of the dual point they belong to."""

    def __init__(self, size):
        self.w, self.cost = np.zeros(size), np.zeros(1)

    def tensors(self):
        """Return what a checkpoint has to hold."""
        return {"w": self.w, "cost": self.cost}

    def restore(self, tensors):
        """Take it back."""
        self.w, self.cost = tensors["w"].copy(), tensors["cost"].copy()


@dataclass(frozen=True)
class FrankWolfe(Solver):
    """Move to the best point between the dual point and the corner it points to."""

    names = {"frank-wolfe": {}}
    losses = ("hinge",)
    needs = (waist.argmax, waist.cost, waist.diff_add)

    def start(self, problem, rng, previous):
        return FrankWolfeState(problem.n_weights)

    def run_pass(self, problem, state, rng):
        s = problem.structure
        scratch, diff, ws = make_scratch(s), waist.make_diff(s), waist.workspace(s, 1)
        corner, cost = np.zeros(problem.n_weights), 0.0
        for start, stop in chunks(problem.n_examples):
            cost += _add_corner(s, start, stop, problem.C, state.w, corner, scratch, diff, ws)
            yield stop / problem.n_examples
        ...
