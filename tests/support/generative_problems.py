"""Small generative models, and their optimum by an independent convex solver."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from partwise.losses import get_loss
from partwise.solvers import make_problem
from partwise.solvers.base import Problem
from partwise.solvers.log_distributions import uniform_reference
from partwise.structures import Chain, make_hidden_markov
from problems import Floats, Outputs, enumerate_outputs
from remembered import remembered

N_STATES, N_SYMBOLS = 3, 2
COSTS = [[0.0, 1.0, 3.0], [0.5, 0.0, 2.0], [1.0, 0.25, 0.0]]


def small_model(seed: int = 0, count: int = 5, **options: Any) -> Chain:
    """Draw a few short sequences whose states follow the symbols, but not always."""
    rng = np.random.default_rng(seed)
    ptr = np.cumsum([0] + [1 + j % 3 for j in range(count)])
    states = rng.integers(N_STATES, size=ptr[-1])
    symbols = np.where(rng.random(ptr[-1]) < 0.7, states % N_SYMBOLS, 0)
    return make_hidden_markov(symbols, ptr, states, N_STATES, N_SYMBOLS, **options)


def generative(
    s: Chain | None = None, C: float = 1.0, loss: str = "hinge", **options: Any
) -> Problem:
    """Make the problem (P) of paper 003, with uniform references unless given."""
    s = small_model() if s is None else s
    problem = make_problem(s, get_loss(loss), C)
    c = options.pop("reference", None)
    c = uniform_reference(problem.distributions()) if c is None else c
    return make_problem(s, get_loss(loss), C, reference=c, **options)


def random_reference(s: Chain, seed: int = 0) -> Floats:
    """Draw reference distributions."""
    groups = make_problem(s, get_loss("hinge")).distributions()
    c = np.random.default_rng(seed).uniform(0.2, 1.0, groups.of.size)
    return np.asarray(c / groups.sums(c)[groups.of])


def penalty_of(problem: Problem) -> tuple[Callable[..., float], Callable[..., Floats]]:
    """Return the penalty of a generative model as a function, and its gradient."""
    c = problem.reference
    assert c is not None
    if problem.divergence == "forward":
        return lambda w: float(-c @ w), lambda w: -c

    def reverse(w: Floats) -> float:
        """Sum up p ln(p / c) - p + c, along its tangent where p is below c / e."""
        p = np.maximum(np.exp(w), c / np.e)
        tangent = c / np.e * np.minimum(w - np.log(c / np.e), 0.0)
        return float(np.sum(p * np.log(p / c) - p + c - tangent))

    def slope(w: Floats) -> Floats:
        above = np.maximum(w - np.log(c), -1.0)
        return np.asarray(c * above * np.exp(above))

    return reverse, slope


@remembered
def best_generative(
    problem: Problem, outputs: list[Outputs] | None = None
) -> tuple[float, Floats]:
    """Minimise (P) by SciPy, over weights and slacks; objective and weights.

    With the `outputs` of the structure unless others are given.
    """
    outputs = enumerate_outputs(problem.structure) if outputs is None else outputs
    C = problem.C
    groups, c = problem.distributions(), problem.reference
    assert c is not None
    n, power = c.size, 2 if problem.loss.name == "squared_hinge" else 1
    unit = np.eye(len(outputs))
    rows = np.vstack(
        [
            np.hstack([out.dphi, np.tile(unit[i], (len(out.cost), 1))])
            for i, out in enumerate(outputs)
        ]
    )
    costs = np.concatenate([out.cost for out in outputs])
    member = np.zeros((len(groups), n))
    member[groups.of, np.arange(n)] = 1.0

    def masses(u: Floats) -> Floats:
        return np.asarray(1.0 - member @ np.exp(u[:n]))

    def slopes(u: Floats) -> Floats:
        return np.hstack([-member * np.exp(u[:n]), np.zeros((len(groups), C.size))])

    penalty, gradient = penalty_of(problem)
    found = minimize(
        lambda u: penalty(u[:n]) + C @ u[n:] ** power,
        np.concatenate([np.log(0.9 * c), [out.cost.max() + 5.0 for out in outputs]]),
        jac=lambda u: np.concatenate(
            [gradient(u[:n]), C * power * u[n:] ** (power - 1)]
        ),
        constraints=[
            {"type": "ineq", "fun": lambda u: rows @ u - costs, "jac": lambda u: rows},
            {"type": "ineq", "fun": masses, "jac": slopes},
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 3000},
    )
    # At this precision it may not call itself done; what counts is the point.
    w = groups.normalise(found.x[:n])
    slack = [max(out.cost - out.dphi @ w) for out in outputs]
    return penalty(w) + float(C @ np.power(slack, power)), w
