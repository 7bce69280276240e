"""Small hinge problems, for the tests of every solver of the hinge."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import problems
from partwise.losses import get_loss
from partwise.solvers import Solver, make_problem
from partwise.solvers.base import Problem
from problems import Floats, Maker, Outputs

HINGE = get_loss("hinge")
WEIGHTS = np.array([0.5, 2.0, 1.0, 0.25, 1.0, 3.0])


def small(make: Maker = problems.ANY, C: float = 1.0, **how: Any) -> Problem:
    """Make a small problem."""
    return make_problem(problems.make_small(make, **how), HINGE, C)


def with_and_without(make: Maker) -> tuple[Problem, Problem]:
    """Make a problem with examples of weight zero, and one without them."""
    chosen = problems.draw(make)
    weight = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    kept = [x for x, n in zip(chosen, weight, strict=True) if n]
    return make_problem(make(chosen), HINGE, 1.0, weight), make_problem(
        make(kept), HINGE
    )


def passes(problem: Problem, solver: Solver, count: int) -> Iterator[Any]:
    """Run some passes and show the state after each."""
    rng = np.random.default_rng(0)
    state = solver.start(problem, rng, None)
    for _ in range(count):
        for _ in solver.run_pass(problem, state, rng):
            pass
        yield state


def sum_up(
    problem: Problem, outputs: list[Outputs], duals: list[dict[Any, float]]
) -> tuple[Floats, float]:
    """Return ``w(alpha)`` and the dual value, by enumeration."""
    w = np.zeros(problem.n_weights)
    value = 0.0
    for out, own, C in zip(outputs, duals, problem.C, strict=True):
        for y, alpha in own.items():
            at = int(np.flatnonzero((out.codes == y).all(axis=1))[0])
            w += C * alpha * out.dphi[at]
            value += C * alpha * out.cost[at]
    return w, value - 0.5 * float(w @ w)
