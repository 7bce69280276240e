"""The log loss by enumeration, as independent references minimise it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.optimize import minimize

import problems
from partwise.losses import get_loss
from partwise.solvers import Problem, Solver, make_problem
from problems import Floats, Maker, Outputs
from remembered import remembered

LOG_LOSS = get_loss("log_loss")
WEIGHTS = np.array([0.5, 2.0, 1.0, 0.25, 1.0, 3.0])


def small_problem(
    make: Maker = problems.chain_sparse, C: float = 1.0, l1_ratio: float = 0.0
) -> Problem:
    s = problems.make_small(make)
    return make_problem(s, LOG_LOSS, C, WEIGHTS, l1_ratio)


def log_sum_and_shares(scores: Floats) -> tuple[float, Floats]:
    """Return the logarithm of the sum of their exponentials, and the share of each.

    SciPy's functions for these check so much that minimising by them takes long.
    """
    largest = scores.max()
    shares = np.exp(scores - largest)
    total = shares.sum()
    return float(largest + np.log(total)), shares / total


def smooth_part(
    outputs: list[Outputs], C: Floats, w: Floats, l1_ratio: float = 0.0
) -> tuple[float, Floats]:
    """Return everything but the L1 norm, and its gradient."""
    value = 0.5 * (1 - l1_ratio) * w @ w
    gradient = (1 - l1_ratio) * w
    for out, c in zip(outputs, C, strict=True):
        log_sum, p = log_sum_and_shares(-out.dphi @ w)
        value += c * log_sum
        gradient = gradient - c * p @ out.dphi
    return float(value), gradient


def entropies(outputs: list[Outputs], C: Floats, w: Floats) -> float:
    total = 0.0
    for out, c in zip(outputs, C, strict=True):
        _, p = log_sum_and_shares(-out.dphi @ w)
        total -= c * float(p @ np.log(p))
    return total


@remembered
def best_log_loss(problem: Problem) -> tuple[float, Floats]:
    """Minimise by SciPy over enumerated outputs; return objective and weights.

    The L1 norm becomes smooth by ``w = u - v`` with ``u, v >= 0``.
    """
    outputs = problems.enumerate_outputs(problem.structure)
    n, r = problem.n_weights, problem.l1_ratio

    def split(x: Floats) -> tuple[float, Floats]:
        value, gradient = smooth_part(outputs, problem.C, x[:n] - x[n:], r)
        return value + r * x.sum(), np.concatenate([gradient + r, r - gradient])

    if r:
        bounds = [(0.0, None)] * (2 * n)
        start = np.full(2 * n, 0.1)
        found = minimize(split, start, jac=True, method="L-BFGS-B", bounds=bounds,
                         options={"maxiter": 20000, "maxfun": 50000, "ftol": 0.0,
                                  "gtol": 1e-10, "maxcor": 30})  # fmt: skip
        return float(found.fun), found.x[:n] - found.x[n:]
    found = minimize(
        lambda w: smooth_part(outputs, problem.C, w),
        np.zeros(n),
        jac=True,
        method="BFGS",
        options={"gtol": 1e-8},
    )
    return float(found.fun), found.x


def passes(problem: Problem, solver: Solver, count: int) -> Iterator[Any]:
    """Run some passes and show the state after each."""
    rng = np.random.default_rng(0)
    state = solver.start(problem, rng, None)
    for _ in range(count):
        for _ in solver.run_pass(problem, state, rng):
            pass
        yield state
