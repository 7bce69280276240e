"""The proximal point algorithm: optimum, proof, steps, checkpoints, units."""

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import problems
from log_problems import WEIGHTS
from margin_problems import best_margin
from partwise.errors import PairingError
from partwise.losses import get_loss
from partwise.solvers import Problem, Solution, make_problem, solve
from partwise.solvers.proximal import Proximal, ProximalState
from partwise.solvers.registry import make_solver
from problems import ANY, Maker, plain_only
from resuming import assert_same

if problems.PLAIN_PYTHON:
    from scaled import Scaled

LOSSES = ("squared_hinge", "hinge", "log_loss")


def small(make: Maker, loss: str, C: float = 3.0) -> Problem:
    s = problems.make_small(make)
    return make_problem(s, get_loss(loss), C, WEIGHTS, l1_ratio=1.0)


def best(problem: Problem) -> float:
    """Return the least objective, as another program or another solver finds it."""
    if problem.loss.name == "log_loss":
        found = solve(problem, make_solver("owlqn"), tol=1e-5, max_iter=1000)
        assert found.certificate is not None
        return found.certificate.primal
    return best_margin(problem, 2 if problem.loss.name == "squared_hinge" else 1)


def assert_proved(problem: Problem, solution: Solution, tol: float) -> None:
    assert solution.converged, solution.status
    primal, dual, exact = solution.certificate or (0, 0, False)
    assert exact
    assert primal == pytest.approx(problem.primal(solution.w), rel=1e-12)
    assert primal - dual <= tol * primal


@plain_only
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.3, 30.0])
def test_proximal_reaches_the_optimum_of_others(loss: str, C: float) -> None:
    problem = small(problems.chain_sparse, loss, C)
    solution = solve(problem, Proximal(), tol=1e-3, max_iter=400)
    assert_proved(problem, solution, 1e-3)
    least = best(problem)
    primal, dual, _ = solution.certificate or (0, 0, False)
    assert dual <= least * (1 + 1e-5)
    assert least * (1 - 1e-5) <= primal <= least * (1 + 1.1e-3)


@plain_only
@pytest.mark.parametrize("make", problems.EACH_KIND, ids=lambda make: make.__name__)
@pytest.mark.parametrize("loss", LOSSES)
def test_proximal_proves_its_optimum_on_every_structure(make: Maker, loss: str) -> None:
    problem = small(make, loss)
    solution = solve(problem, Proximal(), tol=1e-2, max_iter=400)
    assert_proved(problem, solution, 1e-2)
    assert (solution.w == 0.0).any() or solution.w.size < 10
    primal = solution.trace["primal"]
    assert (np.diff(primal[solution.trace["exact"]]) <= 1e-12).all()


@plain_only
@pytest.mark.parametrize(
    ("loss", "inner"),
    [
        ("squared_hinge", "dcd-ssvm"),
        ("squared_hinge", "cpd"),
        ("hinge", "smo"),
        ("log_loss", "sdca"),
    ],
)
def test_proximal_takes_any_solver_with_a_dual_point(loss: str, inner: str) -> None:
    problem = small(problems.chain_sparse, loss)
    way = Proximal(make_solver(inner))
    solution = solve(problem, way, tol=1e-2, max_iter=500)
    assert_proved(problem, solution, 1e-2)
    assert solution.certificate is not None
    assert solution.certificate.dual <= best(problem) * (1 + 1e-5)


@plain_only
@pytest.mark.parametrize("loss", LOSSES)
def test_proximal_first_step_that_is_far_too_long_is_given_up(loss: str) -> None:
    """It used to last for ever, without weights better than zero."""
    large = Scaled(problems.make_small(problems.chain_sparse, 4), features=100.0)
    problem = make_problem(large, get_loss(loss), 1e4, l1_ratio=1.0)
    solution = solve(problem, Proximal(), tol=1e-2, max_iter=400)
    assert_proved(problem, solution, 1e-2)


def test_proximal_proof_holds_where_it_is_compiled() -> None:
    problem = small(ANY, "squared_hinge")
    solution = solve(problem, Proximal(), tol=1e-3, max_iter=300)
    assert_proved(problem, solution, 1e-3)
    assert "proximal steps" in solution.status


@pytest.mark.parametrize("inner", ["lbfgs", "perceptron", "cutting-plane"])
def test_proximal_refuses_solvers_without_a_dual_point(inner: str) -> None:
    loss = "log_loss" if inner == "lbfgs" else "hinge"
    with pytest.raises(PairingError):
        solve(small(problems.classes_costs, loss), Proximal(make_solver(inner)))


def test_proximal_is_for_the_l1_penalty() -> None:
    s = problems.make_small(problems.classes_costs)
    with pytest.raises(PairingError, match="proximal cannot minimise 'hinge'"):
        solve(make_problem(s, get_loss("hinge")), Proximal())


def test_proximal_without_anything_to_gain_stays_at_zero() -> None:
    problem = small(problems.classes_costs, "log_loss", C=1e-3)
    solution = solve(problem, Proximal(), tol=1e-6)
    assert solution.converged
    assert not solution.w.any()


@plain_only
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("after", [1, 12])
def test_proximal_resumed_is_unbroken(loss: str, after: int, tmp_path: Path) -> None:
    def run(max_iter: int, **options: Any) -> Solution:
        problem = small(problems.chain_sparse, loss)
        return solve(problem, Proximal(), tol=1e-9, max_iter=max_iter, **options)

    unbroken, path = run(20), tmp_path / "run"
    run(after, checkpoint=path)
    resumed = run(20, checkpoint=path, resume=True)
    assert_same(unbroken, resumed)
    assert isinstance(unbroken.state, ProximalState)
    assert isinstance(resumed.state, ProximalState)
    assert unbroken.state.n_steps == resumed.state.n_steps > 1


@plain_only
@pytest.mark.parametrize("loss", LOSSES)
def test_proximal_goes_on_from_an_earlier_run(loss: str) -> None:
    first = solve(
        small(problems.chain_sparse, loss), Proximal(), tol=1e-2, max_iter=400
    )
    other = small(problems.chain_sparse, loss, C=3.3)
    anew = solve(other, Proximal(), tol=1e-2, max_iter=400)
    on = solve(other, Proximal(), tol=1e-2, max_iter=400, previous=first.state)
    assert_proved(other, on, 1e-2)
    assert len(on.trace) < len(anew.trace)


@functools.cache
def in_units(loss: str, features: float) -> Solution:
    from scaled import Scaled

    s = Scaled(problems.make_small(problems.chain_sparse), features, 1.0)
    problem = make_problem(s, get_loss(loss), 3.0 / features, l1_ratio=1.0)
    return solve(problem, Proximal(), tol=1e-3, max_iter=400)


@plain_only
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_proximal_steps_have_the_units_of_weights(loss: str, unit: float) -> None:
    """The same problem in other units, up to rounding.

    The law for all solvers asks for the same bits, which a share of the L1 norm,
    rounded beside one, cannot give.
    """
    plain, scaled = in_units(loss, 1.0), in_units(loss, unit)
    assert plain.converged
    assert scaled.converged, scaled.status
    assert scaled.certificate is not None
    assert plain.certificate is not None
    expected = plain.certificate.primal / unit
    assert scaled.certificate.primal == pytest.approx(expected, rel=2e-3)
    np.testing.assert_array_equal(
        np.abs(unit * scaled.w) > 0.05, np.abs(plain.w) > 0.05
    )
