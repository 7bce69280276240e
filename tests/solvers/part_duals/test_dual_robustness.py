"""Data that is hard on exponentials: never anything but numbers, and valid bounds."""

from typing import Any

import numpy as np
import pytest

import problems
from log_problems import LOG_LOSS, best_log_loss
from partwise.losses import get_loss
from partwise.solvers import (
    ExponentiatedGradient,
    Problem,
    Solution,
    Solver,
    StochasticDualCoordinateAscent,
    make_problem,
    solve,
)
from partwise.structures import (
    make_chain,
    make_dense_rows,
    make_multiclass,
    make_sparse_rows,
)

HINGE = get_loss("hinge")
SOLVERS: dict[str, tuple[Any, Solver]] = {
    f"{name}, {loss.name}": (loss, solver)
    for loss in (LOG_LOSS, HINGE)
    for name, solver in {
        "online": ExponentiatedGradient(),
        "gold": ExponentiatedGradient(start_at="gold"),
        "guaranteed": ExponentiatedGradient(step="guaranteed"),
        "batch": ExponentiatedGradient("batch"),
        "primal": ExponentiatedGradient("primal"),
    }.items()
} | {"sdca, log_loss": (LOG_LOSS, StochasticDualCoordinateAscent())}
compiled_only = pytest.mark.skipif(
    problems.PLAIN_PYTHON, reason="too much for plain Python"
)


@pytest.fixture(params=SOLVERS)
def case(request: pytest.FixtureRequest) -> tuple[Any, Solver]:
    return SOLVERS[request.param]


def check_run(problem: Problem, solver: Solver, **options: Any) -> Solution:
    """Train, and check all that must hold whatever the data."""
    settings: dict[str, Any] = {"tol": 1e-6, "max_iter": 15}
    solution = solve(problem, solver, **settings | options)
    assert np.isfinite(solution.w).all()
    for name in ("primal", "dual", "relative_gap"):
        assert np.isfinite(solution.trace[name]).all(), name
    assert solution.certificate is not None
    primal = problem.primal(solution.w)
    assert solution.certificate.primal == pytest.approx(primal, rel=1e-9)
    rounding = 1e-9 * abs(primal) + 1e-12 * float(problem.C.sum())
    assert solution.certificate.dual <= primal + rounding
    dual = np.array(solution.trace["dual"])
    assert (np.diff(dual) >= -1e-9 * (1 + np.abs(dual[1:]) + np.abs(primal))).all()
    return solution


def chain(scale: float = 1.0, **options: Any) -> Any:
    chosen = problems.draw(problems.chain_sparse)
    return problems.chain_sparse([(scale * x, y) for x, y in chosen], **options)


@pytest.mark.parametrize("C", [1e-6, 1e3, 1e6])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_dual_robustness_any_C_and_any_size_of_features(
    case: tuple[Any, Solver], C: float, scale: float
) -> None:
    loss, solver = case
    problem = make_problem(chain(scale), loss, C)
    solution = check_run(problem, solver)
    if C * max(scale, 1.0) ** 2 < 1e-3:
        # Hardly anything can be learnt, and that is soon known.
        assert solution.certificate is not None
        assert solution.certificate.relative_gap < 0.02


@pytest.mark.parametrize("C", [1e3, 1e6])
def test_dual_robustness_lower_bounds_of_huge_weights_are_true(
    case: tuple[Any, Solver], C: float
) -> None:
    """What a long run with large weights claims, against an independent optimum."""
    loss, solver = case
    problem = make_problem(problems.make_small(problems.classes_dense), loss, C)
    solution = check_run(problem, solver, max_iter=300)
    assert solution.certificate is not None
    if loss is HINGE:
        outputs = problems.enumerate_outputs(problem.structure)
        best, _ = problems.best_hinge(outputs, problem.C)
    else:
        best, _ = best_log_loss(problem)
    assert solution.certificate.dual <= best * (1 + 1e-6)


def test_dual_robustness_features_of_one_example_overwhelm(
    case: tuple[Any, Solver],
) -> None:
    loss, solver = case
    chosen = problems.draw(problems.classes_dense)
    chosen[0] = (1e6 * chosen[0][0], chosen[0][1])
    check_run(make_problem(problems.classes_dense(chosen), loss), solver)


@compiled_only
def test_dual_robustness_a_chain_of_ten_thousand_tokens(
    case: tuple[Any, Solver],
) -> None:
    loss, solver = case
    chosen = problems.examples(2, (10_000, 1))
    problem = make_problem(problems.chain_sparse(chosen), loss)
    check_run(problem, solver, max_iter=6)


def test_dual_robustness_a_thousand_labels(case: tuple[Any, Solver]) -> None:
    loss, solver = case
    rng = np.random.default_rng(0)
    rows = make_dense_rows(rng.normal(size=(5, 3)))
    s = make_multiclass(rows, rng.integers(1200, size=5), 1200)
    check_run(make_problem(s, loss), solver, max_iter=4)


@compiled_only
def test_dual_robustness_a_chain_with_three_hundred_labels(
    case: tuple[Any, Solver],
) -> None:
    loss, solver = case
    rng = np.random.default_rng(0)
    rows = make_sparse_rows(np.arange(9), rng.integers(5, size=8), n_columns=5)
    s = make_chain(rows, [0, 3, 4, 8], rng.integers(300, size=8), 300)
    check_run(make_problem(s, loss), solver, max_iter=4)


def test_dual_robustness_forbidden_parts(case: tuple[Any, Solver]) -> None:
    loss, solver = case
    s = problems.make_small(problems.chain_masked)
    check_run(make_problem(s, loss, 100.0), solver, max_iter=40)


def only_gold(chosen: list[problems.Example], which: list[int]) -> Any:
    """Forbid everything but the right output of some examples."""
    labels = np.concatenate([y for _, y in chosen])
    forbidden = np.zeros((labels.size, problems.N_LABELS), bool)
    at = 0
    for i, (_, y) in enumerate(chosen):
        if i in which:
            forbidden[at : at + y.size] = ~np.eye(problems.N_LABELS, dtype=bool)[y]
        at += y.size
    return problems.chain_sparse(chosen, forbidden_labels=forbidden)


def test_dual_robustness_a_single_legal_output(case: tuple[Any, Solver]) -> None:
    loss, solver = case
    chosen = problems.draw(problems.chain_sparse)
    check_run(make_problem(only_gold(chosen, [0, 3]), loss, 10.0), solver, max_iter=30)
    # Nothing at all is left to learn: no weights are the best ones.
    nothing = check_run(make_problem(only_gold(chosen, list(range(6))), loss), solver)
    assert nothing.converged
    assert not nothing.w.any()


def test_dual_robustness_empty_sequences(case: tuple[Any, Solver]) -> None:
    loss, solver = case
    chosen = problems.draw(problems.chain_sparse)
    empty = (np.zeros((0, problems.N_COLUMNS)), np.zeros(0, np.int32))
    with_empty = make_problem(problems.chain_sparse([empty, *chosen, empty]), loss, 0.1)
    without = make_problem(problems.chain_sparse(chosen), loss, 0.1)
    one, two = (check_run(p, solver, max_iter=100) for p in (with_empty, without))
    assert one.certificate is not None
    assert two.certificate is not None
    assert one.certificate.dual <= two.certificate.primal * (1 + 1e-9)
    assert two.certificate.dual <= one.certificate.primal * (1 + 1e-9)


def test_dual_robustness_examples_of_weight_zero_do_not_count(
    case: tuple[Any, Solver],
) -> None:
    """Not even if their features are huge."""
    loss, solver = case
    chosen = problems.draw(problems.chain_sparse)
    chosen[1] = (1e4 * chosen[1][0], chosen[1][1])
    weight = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    kept = [x for x, n in zip(chosen, weight, strict=True) if n]
    one = check_run(
        make_problem(problems.chain_sparse(chosen), loss, 0.1, weight), solver
    )
    two = check_run(make_problem(problems.chain_sparse(kept), loss, 0.1), solver)
    assert one.certificate is not None
    assert two.certificate is not None
    assert one.certificate.dual <= two.certificate.primal * (1 + 1e-9)
    assert two.certificate.dual <= one.certificate.primal * (1 + 1e-9)


def test_dual_robustness_nothing_has_any_weight(case: tuple[Any, Solver]) -> None:
    loss, solver = case
    solution = check_run(make_problem(chain(), loss, 1.0, np.zeros(6)), solver)
    assert solution.converged
    assert not solution.w.any()


def test_dual_robustness_one_example(case: tuple[Any, Solver]) -> None:
    loss, solver = case
    s = problems.make_small(problems.chain_sparse, count=1)
    check_run(make_problem(s, loss), solver, max_iter=40)


def test_dual_robustness_examples_without_features(case: tuple[Any, Solver]) -> None:
    loss, solver = case
    s = make_multiclass(make_dense_rows(np.zeros((3, 2))), [0, 1, 2], 3)
    solution = check_run(make_problem(s, loss), solver, tol=1e-4, max_iter=60)
    assert solution.converged, solution.status
    assert not solution.w.any()


@pytest.mark.parametrize("form", ["online", "batch", "primal"])
def test_dual_robustness_steps_too_large_are_still_certified(form: str) -> None:
    """A step of one's own may lower the dual, but the bounds stay true."""
    for loss, step in ((LOG_LOSS, 1.0), (HINGE, 1e3), (HINGE, 1e6)):
        problem = make_problem(chain(), loss, 100.0)
        solver = ExponentiatedGradient(form, step=step)
        solution = solve(problem, solver, max_iter=20)
        assert np.isfinite(solution.w).all()
        assert solution.certificate is not None
        primal = problem.primal(solution.w)
        assert solution.certificate.primal == pytest.approx(primal)
        assert solution.certificate.dual <= primal


@pytest.mark.parametrize("form", ["batch", "primal"])
def test_dual_robustness_no_search_without_end(form: str) -> None:
    """At the optimum, up to rounding, a pass does not halve its step for ever."""
    problem = make_problem(problems.make_small(problems.classes_dense), LOG_LOSS, 0.1)
    solver = ExponentiatedGradient(form)
    solution = solve(problem, solver, tol=1e-16, max_iter=60)
    assert solution.state.oracle_calls <= 60 * 5 * problem.n_examples
