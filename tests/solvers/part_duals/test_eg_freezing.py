"""Exponentiated gradient does not freeze: mass that has vanished comes back."""

from typing import Any

import numpy as np
import pytest

import problems
from covering import a_third
from log_problems import WEIGHTS
from partwise import MulticlassClassifier
from partwise.losses import get_loss
from partwise.solvers import (
    ExponentiatedGradient,
    FrankWolfe,
    Problem,
    make_problem,
    solve,
)
from partwise.solvers.part_duals.hinge_steps import place_all, spread_all
from partwise.solvers.registry import make_solver
from partwise.structures import make_softmax_margin

if problems.PLAIN_PYTHON:
    from scaled import Scaled

FORMS = ("eg", "eg-batch", "eg-primal")
X = [[-1.9, -3.0], [1.2, 1.6], [1.3, -0.4], [-0.1, -0.3], [1.4, 0.9], [0.1, 0.7]]
Y = [0, 1, 2, 0, 1, 2]
UNEVEN = [[0.0, 1.8, 0.2], [0.9, 0.0, 0.1], [0.0, 1.2, 0.0]]
LARGE = 1000 * (1 - np.eye(3))


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize(("costs", "best"), [(UNEVEN, 1.778), (LARGE, 5985.18)])
def test_eg_freezing_classes_are_learnt_whatever_they_cost(
    name: str, costs: Any, best: float
) -> None:
    """Outputs that were ruled out early are needed later, or all at once."""
    model = MulticlassClassifier(
        "hinge", C=1.0, costs=costs, solver=name, tol=1e-4, max_iter=100
    ).fit(X, Y)
    assert model.certificate_ is not None
    assert model.certificate_.relative_gap <= 1e-4, model.status_
    assert model.certificate_.primal == pytest.approx(best, rel=2e-4)
    assert (np.diff(model.trace_["dual"]) >= -1e-9 * best).all()
    assert model.trace_["dual"][-1] > 0.99 * best


def test_eg_freezing_one_long_step_is_not_final() -> None:
    """A first step that ruled out all outputs but one used to leave a gap of 98%."""
    s = problems.make_small(problems.classes_dense)
    problem = make_problem(s, get_loss("hinge"), 10.0, WEIGHTS)
    solution = solve(problem, make_solver("eg"), tol=1e-4, max_iter=100)
    assert solution.converged, solution.status


KINDS = (*problems.EACH_KIND, problems.trees_labelled)


def problem_of(make: Any, loss: str, seed: int) -> Problem:
    """Draw a problem with costs over six orders of magnitude.

    In the log loss they are those of the softmax-margin.
    """
    size = 10.0 ** np.random.default_rng(seed).uniform(-3, 3)
    corpus: Any = Scaled(problems.make_small(make, 3, seed), costs=size)
    if loss == "log_loss":
        corpus = make_softmax_margin(corpus)
    return make_problem(corpus, get_loss(loss))


@problems.plain_only
@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
@pytest.mark.parametrize("name", FORMS)
def test_eg_freezing_any_costs_are_learnt_on_any_structure(
    name: str, loss: str, make: Any
) -> None:
    for seed in a_third((1, 2, 3), KINDS.index(make) + FORMS.index(name)):
        solution = solve(
            problem_of(make, loss, seed), make_solver(name), tol=1e-4, max_iter=1000
        )
        assert solution.converged, (seed, solution.status)


@problems.plain_only
@pytest.mark.parametrize("name", FORMS)
def test_eg_freezing_costs_that_differ_by_orders_of_magnitude(name: str) -> None:
    """In one problem, against another solver."""
    rng = np.random.default_rng(0)
    for _ in range(6):
        costs = 10.0 ** rng.uniform(-3, 3, (3, 3)) * (1 - np.eye(3))
        model = MulticlassClassifier(
            "hinge", C=1.0, costs=costs, solver=name, tol=1e-4, max_iter=1000
        ).fit(X, Y)
        other = MulticlassClassifier(
            "hinge", C=1.0, costs=costs, solver=FrankWolfe(), tol=1e-6, max_iter=1000
        ).fit(X, Y)
        assert model.certificate_ is not None
        assert other.certificate_ is not None
        assert model.certificate_.relative_gap <= 1e-4, model.status_
        assert model.certificate_.primal == pytest.approx(
            other.certificate_.primal, rel=2e-4
        )


@problems.plain_only
@pytest.mark.parametrize("order", ["gaps", "cyclic"])
def test_eg_freezing_large_C_is_no_plateau(order: str) -> None:
    """Outputs that the first scores rule out are needed for the optimum."""
    corpus = problems.make_small(problems.chain_costs)
    problem = make_problem(corpus, get_loss("hinge"), 10.0)
    solver = ExponentiatedGradient(order=order)
    solution = solve(problem, solver, tol=5e-3, max_iter=300)
    assert solution.converged, solution.status


@problems.plain_only
def test_eg_freezing_scores_that_have_run_away_come_back() -> None:
    """By halves: by steps they would come back in as many visits as they are large."""
    problem = make_problem(
        problems.make_small(problems.classes_costs), get_loss("hinge"), 10.0
    )
    solver, rng = ExponentiatedGradient(), np.random.default_rng(0)
    state: Any = solver.start(problem, rng, None)
    for k in range(200):
        for _ in solver.run_pass(problem, state, rng):
            pass
        if k == 4:
            state.dual.theta[:] *= 1e6
            tools = problem.structure, state.dual, 0, problem.n_examples
            spread_all(*tools, state.workspace)
            place_all(*tools, state.scratch)
            state.refresh(problem)
            assert state.certify_here(problem).relative_gap > 0.5
    assert state.certify(problem).relative_gap <= 1e-3


@problems.plain_only
@pytest.mark.parametrize(
    ("make", "seed"),
    [
        # Steps became so short that nothing but rounding was left of them.
        (problems.lattice_paths, 29),
        # Two examples had to move together, and crawled.
        (problems.trees_projective, 142),
    ],
    ids=["steps", "crawl"],
)
def test_eg_freezing_tiny_costs_are_like_a_large_C(make: Any, seed: int) -> None:
    problem = problem_of(make, "hinge", seed)
    solution = solve(problem, make_solver("eg"), tol=1e-4, max_iter=1000)
    assert solution.converged, solution.status
