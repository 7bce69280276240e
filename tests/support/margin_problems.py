"""The margin losses by enumeration, as independent references minimise them."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

import problems
from partwise.solvers import Problem
from problems import Floats


def best_margin(problem: Problem, power: int) -> float:
    """Minimise a hinge, or its square, over ``w = u - v`` and slacks, by SciPy."""
    outputs = problems.enumerate_outputs(problem.structure)
    C, r = problem.C, problem.l1_ratio
    d, n = problem.n_weights, problem.n_examples
    rows = np.vstack(
        [
            np.hstack([own.dphi, -own.dphi, np.tile(np.eye(n)[i], (len(own.cost), 1))])
            for i, own in enumerate(outputs)
        ]
    )
    costs = np.concatenate([own.cost for own in outputs])

    def value(x: Floats) -> tuple[float, Floats]:
        w, slack = x[:d] - x[d : 2 * d], x[2 * d :]
        slope = (1 - r) * w
        total = 0.5 * w @ slope + r * x[: 2 * d].sum() + C @ slack**power
        slacks = power * C * slack ** (power - 1)
        return float(total), np.concatenate([slope + r, r - slope, slacks])

    start = np.concatenate([np.zeros(2 * d), [own.cost.max() for own in outputs]])
    found = minimize(
        value, start, jac=True, bounds=[(0.0, None)] * start.size, method="SLSQP",
        constraints={"type": "ineq", "fun": lambda x: rows @ x - costs,
                     "jac": lambda x: rows},
        options={"ftol": 1e-12, "maxiter": 1000},
    )  # fmt: skip
    return problem.primal(found.x[:d] - found.x[d : 2 * d])
