"""The elastic net in the dual: weights that follow a vector, for every loss."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import problems
from drivers import PLAIN_CLASSES
from log_problems import WEIGHTS, best_log_loss, passes
from margin_problems import best_margin
from partwise.losses import get_loss
from partwise.solvers import Problem, make_problem, solve
from partwise.solvers.dual_weights import best_multiple, weights_at
from partwise.solvers.names import MINIMISERS
from partwise.solvers.registry import make_solver
from partwise.structures import interface as waist
from problems import ANY, Maker, plain_only

RATIO = 0.4
PAIRS = [
    (loss, name)
    for (loss, penalty), names in MINIMISERS.items()
    if penalty == "elasticnet"
    for name in names
    if name != "owlqn"
]
# Exponentiated gradient comes near the optimum of the hinge, but slowly there.
SLOW = [("hinge", "eg"), ("hinge", "eg-halving"), ("hinge", "smo-eg")]


def small(make: Maker, loss: str, ratio: float = RATIO, C: float = 2.0) -> Problem:
    return make_problem(problems.make_small(make), get_loss(loss), C, WEIGHTS, ratio)


def best(problem: Problem) -> float:
    if problem.loss.name == "log_loss":
        return best_log_loss(problem)[0]
    return best_margin(problem, 2 if problem.loss.name == "squared_hinge" else 1)


# --- the optimum, and its proof ---


@plain_only
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "log_loss"])
def test_dual_elastic_net_solvers_reach_the_optimum_of_scipy(loss: str) -> None:
    problem = small(problems.chain_sparse, loss)
    least = best(problem)
    for other, name in PAIRS:
        if other != loss:
            continue
        tol = 2e-2 if (loss, name) in SLOW else 1e-3
        solution = solve(problem, make_solver(name), tol=tol, max_iter=400)
        assert solution.converged, (name, solution.status)
        primal, dual, exact = solution.certificate or (0, 0, False)
        assert exact
        assert dual <= least * (1 + 1e-6) <= primal * (1 + 2e-6), name
        assert primal == pytest.approx(problem.primal(solution.w), rel=1e-12)
        assert primal <= least * (1 + 1.1 * tol), name


@plain_only
@pytest.mark.parametrize("make", problems.EACH_KIND, ids=lambda make: make.__name__)
@pytest.mark.parametrize(
    ("loss", "name"),
    [("squared_hinge", "dcd"), ("hinge", "frank-wolfe"), ("log_loss", "eg")],
)
def test_dual_elastic_net_has_one_optimum_on_every_structure(
    make: Maker, loss: str, name: str
) -> None:
    """From below by the dual, from above by brute force over all outputs."""
    problem = small(make, loss)
    solution = solve(problem, make_solver(name), tol=1e-2, max_iter=300)
    assert solution.converged, solution.status
    outputs = problems.enumerate_outputs(problem.structure)
    w, r = solution.w, problem.l1_ratio
    value = 0.5 * (1 - r) * w @ w + r * np.abs(w).sum()
    for c, own in zip(problem.C, outputs, strict=True):
        scores = -own.dphi @ w
        if loss == "log_loss":
            value += c * np.logaddexp.reduce(scores)
        else:
            value += c * max(own.cost + scores) ** (2 if loss == "squared_hinge" else 1)
    assert solution.certificate is not None
    assert solution.certificate.primal == pytest.approx(value, rel=1e-9)
    assert (w == 0.0).any() or w.size < 10


def test_dual_elastic_net_proof_holds_where_it_is_compiled() -> None:
    """Of the steps on outputs; those on parts are compiled for the guides."""
    problem = small(ANY, "squared_hinge")
    solution = solve(problem, make_solver("dcd"), tol=1e-4, max_iter=400)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.dual <= best(problem) * (1 + 1e-6)


@plain_only
@pytest.mark.parametrize(("loss", "name"), PAIRS)
def test_dual_elastic_net_dual_is_what_the_steps_add_up_to(
    loss: str, name: str
) -> None:
    """Each step knows how much it raised the dual; certificates compute it afresh."""
    if name.startswith("eg-") or name == "smo-eg":
        pytest.skip("computes it afresh after every pass, or is one of the others")
    problem = small(problems.chain_sparse, loss)
    solver = make_solver(name)
    for state in passes(problem, solver, 4):
        summed = state.dual_value if hasattr(state, "dual_value") else state.dual
        solver.certify(problem, state)
        fresh = state.dual_value if hasattr(state, "dual_value") else state.dual
        assert summed == pytest.approx(fresh, rel=1e-9)


@plain_only
@pytest.mark.parametrize("name", ["eg", "eg-batch", "dcd", "frank-wolfe", "smo"])
def test_dual_elastic_net_resumes_bit_for_bit(name: str, tmp_path: Path) -> None:
    loss = "squared_hinge" if name == "dcd" else "hinge"
    problem, path = small(problems.chain_sparse, loss), tmp_path / "run"
    options: dict[str, Any] = {"tol": 1e-15, "max_iter": 6}
    whole = solve(problem, make_solver(name), **options)
    solve(problem, make_solver(name), tol=1e-15, max_iter=3, checkpoint=path)
    again = solve(problem, make_solver(name), **options, checkpoint=path, resume=True)
    np.testing.assert_array_equal(whole.w, again.w)


@plain_only
@pytest.mark.parametrize("name", ["dcd", "smo", "frank-wolfe", "eg"])
def test_dual_elastic_net_starts_where_another_penalty_ended(name: str) -> None:
    loss = "squared_hinge" if name == "dcd" else "hinge"
    before = solve(small(problems.chain_sparse, loss, 0.0), make_solver(name), tol=1e-2)
    problem = small(problems.chain_sparse, loss)
    solution = solve(problem, make_solver(name), tol=2e-2, previous=before.state)
    assert solution.converged
    assert solution.certificate is not None
    assert solution.certificate.dual <= best(problem) * (1 + 1e-6)


# --- the vector, and what is left of it ---


@plain_only
@pytest.mark.parametrize(
    "make", [*problems.EACH_KIND, problems.chain_pairs], ids=lambda make: make.__name__
)
@pytest.mark.parametrize("own", [True, False], ids=["own", "default"])
def test_shrink_lets_weights_follow_whatever_was_added(make: Maker, own: bool) -> None:
    s = problems.make_small(make)
    if not own:
        s = PLAIN_CLASSES[type(s)](*s)
    rng = np.random.default_rng(0)
    diff, ws = waist.make_diff(s), waist.workspace(s, 1)
    y, y_gold = (np.zeros(waist.largest_sizes(s)[1], np.int32) for _ in range(2))
    theta, scores, expected = (np.zeros(waist.largest_sizes(s)[0]) for _ in range(3))
    v = rng.normal(size=int(waist.n_weights(s)))
    if make is problems.chain_masked:
        v[:] = 0.0  # transitions without a weight have none
    w = weights_at(v, RATIO)
    for i in range(int(waist.n_examples(s))):
        waist.visit(s, i, ws)
        waist.gold(s, i, y_gold)
        theta[:] = rng.normal(size=theta.size)
        waist.argmax(s, i, theta, y, ws)
        before = w @ w
        waist.diff_add(s, i, y, y_gold, 0.7, v, diff, ws)
        change = waist.shrink_diff(s, i, y, y_gold, v, w, RATIO, diff, ws)
        np.testing.assert_allclose(w, weights_at(v, RATIO), atol=1e-15)
        assert change == pytest.approx(w @ w - before)
        before = w @ w
        waist.add_parts(s, i, theta, 0.3, v, ws)
        change = waist.shrink_parts(s, i, v, w, RATIO, diff, ws)
        np.testing.assert_allclose(w, weights_at(v, RATIO), atol=1e-15)
        assert change == pytest.approx(w @ w - before)
        # What reads weights off the vector need not have them up to date elsewhere.
        before = w @ w
        change = waist.add_shrunk(s, i, theta, 0.2, v, w, RATIO, diff, ws)
        waist.shrunk_scores(s, i, v, w, RATIO, scores, ws)
        w[:] = weights_at(v, RATIO)
        assert change == pytest.approx(w @ w - before)
        waist.part_scores(s, i, w, expected, ws)
        count = waist.n_parts(s, i)
        np.testing.assert_allclose(scores[:count], expected[:count], atol=1e-13)


@pytest.mark.parametrize("ratio", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("value", [0.1, 2.0, 50.0])
def test_best_multiple_is_the_best(ratio: float, value: float) -> None:
    v = np.random.default_rng(0).normal(size=20)

    def dual(t: float) -> float:
        w = weights_at(t * v, ratio)
        return t * value - 0.5 * (1 - ratio) * float(w @ w)

    t = best_multiple(value, v, ratio, 3.0)
    assert 0.0 < t <= 3.0
    assert dual(t) >= max(map(dual, np.linspace(0.0, 3.0, 1000))) - 1e-12
