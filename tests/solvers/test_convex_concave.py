"""The convex-concave procedure: descent, certificates of steps, checkpoints."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

import problems
from partial_problems import completions, hide
from partwise.errors import PairingError
from partwise.losses import LocalCertificate, get_loss
from partwise.solvers import make_problem, solve
from partwise.solvers.convex_concave import (
    ConvexConcave,
    ConvexConcaveState,
    PartialProblem,
    as_partial_problem,
)
from partwise.solvers.registry import make_solver
from partwise.structures import interface as waist
from partwise.structures.partial import make_partial
from problems import Floats, Maker
from resuming import assert_same

PAIRS = [("log_loss", "eg"), ("squared_hinge", "dcd-ssvm"), ("hinge", "eg")]
OTHERS = [("log_loss", "lbfgs"), ("hinge", "smo"), ("squared_hinge", "cutting-plane")]
CASES: list[tuple[Maker, str, str]] = [
    (problems.classes_costs, *pair) for pair in PAIRS
]
if problems.PLAIN_PYTHON:
    CASES += [(problems.chain_masked, *pair) for pair in PAIRS]
    CASES += [(problems.classes_costs, *pair) for pair in OTHERS]


def problem_of(make: Maker, loss: str, share: float = 0.5) -> PartialProblem:
    s = hide(problems.make_small(make), share)
    return as_partial_problem(make_problem(s, get_loss(loss)))


def brute_objective(problem: PartialProblem, make: Maker, w: Floats) -> float:
    """Compute the objective from all outputs and all completions."""
    s, total = problem.structure, 0.5 * w @ w
    for i, outputs in enumerate(problems.enumerate_outputs(s.corpus)):
        free, _ = completions(s, i, outputs)
        scores = -(outputs.dphi @ w)
        if problem.loss.name == "log_loss":
            total += logsumexp(scores) - logsumexp(scores[free])
            continue
        costs = np.array([waist.cost(s, i, y) for y in outputs.codes])
        slack = (costs + scores).max() - scores[free].max()
        total += slack if problem.loss.name == "hinge" else slack**2
    return float(total)


@pytest.mark.parametrize(
    ("make", "loss", "solver"), CASES, ids=lambda part: getattr(part, "__name__", part)
)
def test_convex_concave_ends_where_no_step_leads_on(
    make: Maker, loss: str, solver: str
) -> None:
    problem = problem_of(make, loss)
    found = solve(problem, ConvexConcave(make_solver(solver)), tol=1e-3, max_iter=500)
    assert found.converged
    assert isinstance(found.certificate, LocalCertificate)
    objective = brute_objective(problem, make, found.w)
    assert problem.primal(found.w) == pytest.approx(objective, rel=1e-6)
    assert objective <= found.certificate.primal * (1 + 1e-9)
    # The step at these weights, solved by another way, lowers it by no more than said.
    step = problem.step_at(found.w)
    assert step.problem.primal(found.w) - step.offset == pytest.approx(objective)
    other = "lbfgs" if loss == "log_loss" else "cutting-plane"
    best = solve(step.problem, make_solver(other), tol=1e-5, max_iter=2000)
    assert best.certificate is not None
    assert objective - (best.certificate.primal - step.offset) <= 3e-3 * objective
    # Objectives at the anchors never rise.
    primal = found.trace["primal"]
    assert (np.diff(primal[~np.isnan(primal)]) <= 1e-12).all()
    assert "labels are known in part" in found.status


def test_convex_concave_complete_labels_are_an_ordinary_problem() -> None:
    make = problems.ANY
    corpus = problems.make_small(make)
    s = hide(corpus, 1.0)  # only the right outputs are left
    problem = as_partial_problem(make_problem(s, get_loss("log_loss")))
    w = np.random.default_rng(0).normal(size=problem.n_weights)
    plain = make_problem(corpus, get_loss("log_loss"))
    assert problem.primal(w) == pytest.approx(plain.primal(w))


def test_convex_concave_noise_breaks_ties() -> None:
    s = problems.make_small(problems.ANY)
    n = int(waist.n_examples(s))
    problem = as_partial_problem(
        make_problem(make_partial(s, np.zeros(n + 1), []), get_loss("log_loss"))
    )
    rng = np.random.Generator(np.random.PCG64(0))
    assert not problem.first_anchor(0.0, rng).any()
    assert problem.first_anchor(0.1, rng).all()


@pytest.mark.parametrize("after", [1, 3, 6])
def test_convex_concave_resumed_is_unbroken(tmp_path: Path, after: int) -> None:
    def run(max_iter: int, **options: Any) -> Any:
        problem = problem_of(problems.classes_costs, "log_loss")
        solver = ConvexConcave(make_solver("eg"))
        return solve(problem, solver, tol=1e-9, max_iter=max_iter, **options)

    unbroken, path = run(12), tmp_path / "run"
    run(after, checkpoint=path)
    resumed = run(12, checkpoint=path, resume=True)
    assert_same(unbroken, resumed)
    assert isinstance(unbroken.state, ConvexConcaveState)
    assert unbroken.state.n_steps == resumed.state.n_steps > 1


ALL_AT_ONCE = [
    ("log_loss", "lbfgs"), ("log_loss", "eg-batch"), ("log_loss", "eg-primal"),
    ("hinge", "simplicial"), ("squared_hinge", "simplicial"),
]  # fmt: skip


@problems.plain_only
@pytest.mark.parametrize(("loss", "solver"), ALL_AT_ONCE)
def test_convex_concave_resumed_works_on_the_step_it_left(
    loss: str, solver: str, tmp_path: Path
) -> None:
    """These solvers keep the problem of their step, which is not the first one."""

    def run(max_iter: int, **options: Any) -> Any:
        problem = problem_of(problems.chain_edges, loss)
        way = ConvexConcave(make_solver(solver), noise=0.5)
        return solve(problem, way, tol=1e-12, max_iter=max_iter, **options)

    unbroken, path = run(8), tmp_path / "run"
    left = run(5, checkpoint=path).state
    assert solver == "lbfgs" or left.n_steps > 1  # it needs no steps
    assert_same(unbroken, run(8, checkpoint=path, resume=True))


def test_convex_concave_solver_must_fit_the_loss() -> None:
    problem = problem_of(problems.classes_costs, "log_loss")
    with pytest.raises(PairingError, match="cannot minimise 'log_loss'"):
        solve(problem, ConvexConcave(make_solver("smo")))
