"""The best multiple of the weights, for a dual point that is better than they are.

With a large C the dual may be all but solved while the objective is far from it: a
margin that is a thousandth too short costs C for every example. Weights that are a
thousandth longer cost next to nothing. The objective is convex along the ray through
the weights, and every output stays as probable, or as wrong, as it is: predictions do
not change.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from partwise.solvers.base import Problem
from partwise.structures.interface import FloatArray

EVALUATIONS = 12
"""How often the objective may be computed in a search."""
NEAREST = 1e-6
"""A multiple that is nearer to one changes nothing that matters."""
FIRST = 1e-3
"""How much longer, or shorter, the weights are that show on which side to search."""


class Multiple(NamedTuple):
    """By what the weights are multiplied, and the objective there."""

    scale: float
    primal: float


def find_best_multiple(problem: Problem, w: FloatArray, primal: float) -> Multiple:
    """Search for the multiple of `w` with the least objective; `primal` is that of `w`.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> problem = make_problem(s, get_loss("hinge"), C=1000.0)
    >>> w = np.array([0.49, -0.49])
    >>> scale, least = find_best_multiple(problem, w, problem.primal(w))
    >>> f"{problem.primal(w):.3f}, {scale:.2f} times as long {least:.3f}"
    '40.240, 1.02 times as long 0.250'
    """
    from scipy.optimize import minimize_scalar

    def at(scale: float) -> float:
        return problem.primal(scale * w)

    penalty = problem.penalise(w)
    longest = math.sqrt(primal / penalty) if penalty > 0.0 else 1.0
    for side, farthest in ((1.0, longest - 1.0), (-1.0, 1.0)):
        # Beyond the farthest the penalty alone is more, or the weights have turned.
        if farthest <= FIRST or not at(1.0 + side * FIRST) < primal:
            continue
        found = minimize_scalar(
            lambda away, side=side: at(1.0 + side * math.exp(away)),
            bounds=(math.log(NEAREST), math.log(farthest)),
            method="bounded",
            options={"maxiter": EVALUATIONS, "xatol": 0.01},
        )
        return Multiple(1.0 + side * math.exp(found.x), float(found.fun))
    return Multiple(1.0, primal)
