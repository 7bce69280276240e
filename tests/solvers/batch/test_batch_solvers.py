"""L-BFGS and conjugate gradients: gradient, optimum, certificate, threads."""

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import problems
from log_problems import (
    LOG_LOSS,
    WEIGHTS,
    best_log_loss,
    entropies,
    passes,
    small_problem,
    smooth_part,
)
from partwise import _threads
from partwise.errors import PairingError
from partwise.losses import get_loss
from partwise.solvers import (
    LBFGS,
    OWLQN,
    Callback,
    ConjugateGradient,
    DualCoordinateDescent,
    Problem,
    Solver,
    make_problem,
    solve,
)
from partwise.solvers import gradient as module
from partwise.solvers.base import NOT_FINITE, STALLED
from partwise.solvers.gradient import BatchGradient
from partwise.solvers.registry import make_solver
from partwise.structures import make_dense_rows, make_multiclass
from problems import Floats, Maker, plain_only

SOLVERS = [LBFGS(), ConjugateGradient(), OWLQN()]
TINY = 1e-15


@pytest.fixture(params=problems.MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


@pytest.fixture(params=SOLVERS, ids=lambda solver: type(solver).__name__)
def solver(request: pytest.FixtureRequest) -> Solver:
    chosen: Solver = request.param
    return chosen


def visit(problem: Problem, w: Floats, n_jobs: int = 1) -> tuple[float, float, Floats]:
    batch = BatchGradient(replace(problem, n_jobs=n_jobs))
    gradient = np.full(w.size, 7.0)
    fractions = list(batch.visit(w, gradient))
    assert all(0 <= fraction <= 1 for fraction in fractions)
    return batch.loss, batch.entropy, gradient


def some_weights(problem: Problem, scale: float = 1.0) -> Floats:
    return scale * np.random.default_rng(1).normal(size=problem.n_weights)


# --- the gradient ---


def test_batch_gradient_is_what_enumeration_gives(make: Maker) -> None:
    problem = small_problem(make)
    outputs = problems.enumerate_outputs(problem.structure)
    for scale in (0.0, 1.0, 5.0):
        w = some_weights(problem, scale)
        loss, entropy, gradient = visit(problem, w)
        value, expected = smooth_part(outputs, problem.C, w)
        assert loss == pytest.approx(value - 0.5 * w @ w, rel=1e-9)
        assert entropy == pytest.approx(entropies(outputs, problem.C, w), rel=1e-7)
        np.testing.assert_allclose(gradient, expected - w, atol=1e-9)


def test_batch_gradient_is_the_slope_of_the_loss(make: Maker) -> None:
    problem = small_problem(make)
    w, step = some_weights(problem), 1e-5
    _, _, gradient = visit(problem, w)
    for j in range(w.size):
        there, back = w.copy(), w.copy()
        there[j] += step
        back[j] -= step
        change = LOG_LOSS.values(problem.structure, there) - LOG_LOSS.values(
            problem.structure, back
        )
        slope = problem.C @ change / (2 * step)
        assert gradient[j] == pytest.approx(slope, abs=1e-7)


@pytest.mark.parametrize("n_jobs", [2, 3, 50])
@pytest.mark.usefixtures("eager_threads")
def test_batch_gradient_of_threads_is_the_same(n_jobs: int) -> None:
    problem = small_problem()
    w = some_weights(problem)
    one, many, again = (visit(problem, w, n) for n in (1, n_jobs, n_jobs))
    assert many[:2] == pytest.approx(one[:2], rel=1e-12)
    np.testing.assert_allclose(many[2], one[2], atol=1e-12)
    assert many[:2] == again[:2]
    np.testing.assert_array_equal(many[2], again[2])


@pytest.mark.usefixtures("eager_threads")
def test_batch_gradient_does_not_depend_on_the_cuts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """How a visit is cut into calls depends on the clock; the bits must not."""
    problem = small_problem()
    w = some_weights(problem)

    def run(size: int) -> Any:
        def cut(count: int, seconds: float = 0.1) -> Iterator[tuple[int, int]]:
            for start in range(0, count, size):
                yield start, min(start + size, count)

        monkeypatch.setattr(_threads, "chunks", cut)
        return visit(problem, w, 2)

    whole, pieces = run(6), run(1)
    assert whole[:2] == pieces[:2]
    np.testing.assert_array_equal(whole[2], pieces[2])


# --- the optimum ---


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_batch_solvers_reach_the_optimum_of_scipy(
    make: Maker, solver: Solver, C: float
) -> None:
    problem = small_problem(make, C)
    best, best_w = best_log_loss(problem)
    solution = solve(problem, solver, tol=1e-8, max_iter=300)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.exact
    assert solution.certificate.primal == pytest.approx(best, rel=1e-7)
    assert solution.certificate.primal == pytest.approx(problem.primal(solution.w))
    np.testing.assert_allclose(solution.w, best_w, atol=1e-3)


def test_batch_solvers_agree_with_scikit_learn(solver: Solver) -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 5))
    y = np.argmax(x[:, :3] + rng.normal(size=(40, 3)), axis=1).astype(np.int32)
    s = make_multiclass(make_dense_rows(x), y, 3)
    solution = solve(make_problem(s, LOG_LOSS, 0.7), solver, tol=1e-11, max_iter=500)
    peer = LogisticRegression(C=0.7, fit_intercept=False, tol=1e-10, max_iter=10_000)
    np.testing.assert_allclose(
        solution.w.reshape(5, 3), peer.fit(x, y).coef_.T, atol=1e-5
    )


def test_batch_solvers_owlqn_without_l1_is_lbfgs() -> None:
    problem = small_problem()
    one, two = (solve(problem, cls(), tol=1e-9) for cls in (LBFGS, OWLQN))
    np.testing.assert_array_equal(one.w, two.w)
    np.testing.assert_array_equal(one.trace["primal"], two.trace["primal"])


def test_batch_solvers_drop_examples_of_weight_zero(solver: Solver) -> None:
    chosen = problems.draw(problems.chain_sparse)
    kept = [0, 2, 3, 5]
    weight = np.zeros(6)
    weight[kept] = 1.0
    some = make_problem(problems.chain_sparse(chosen), LOG_LOSS, 1.0, weight)
    fewer = make_problem(problems.chain_sparse([chosen[i] for i in kept]), LOG_LOSS)
    runs = [solve(problem, solver, tol=1e-9) for problem in (some, fewer)]
    np.testing.assert_allclose(runs[0].w, runs[1].w, atol=1e-12)
    # What costs nothing is not visited, either.
    assert runs[0].state.oracle_calls == runs[1].state.oracle_calls


# --- the certificate ---


def test_batch_solvers_certificate_holds_after_every_pass(
    make: Maker, solver: Solver
) -> None:
    problem = small_problem(make, C=3.0)
    best, _ = best_log_loss(problem)
    last_primal, last_dual = math.inf, -math.inf
    for state in passes(problem, solver, 15):
        certificate = solver.certify(problem, state)
        assert certificate == state.estimate
        assert certificate.exact
        assert certificate.primal == pytest.approx(problem.primal(state.w), rel=1e-12)
        assert certificate.dual <= best * (1 + 1e-8)
        assert certificate.primal >= best * (1 - 1e-8)
        assert certificate.dual >= last_dual
        assert certificate.primal <= last_primal * (1 + 1e-11)
        last_primal, last_dual = certificate.primal, certificate.dual
    assert last_dual > 0


def test_batch_solvers_bound_is_never_below_that_of_the_gradient() -> None:
    """``P - 1/2 |g|^2``, for which strong convexity alone would do."""
    problem = small_problem(C=3.0)
    for state in passes(problem, LBFGS(), 10):
        simple = state.value - 0.5 * float(state.gradient @ state.gradient)
        assert state.dual.bound >= simple - 1e-12 * state.value


def test_batch_solvers_certificate_costs_no_inference(solver: Solver) -> None:
    problem = small_problem()
    *_, state = passes(problem, solver, 3)
    before = state.oracle_calls
    solver.certify(problem, state)
    assert state.oracle_calls == before


def test_batch_solvers_certify_before_the_first_pass(solver: Solver) -> None:
    problem = small_problem()
    state = solver.start(problem, np.random.default_rng(0), None)
    certificate = solver.certify(problem, state)
    assert certificate.primal == pytest.approx(problem.primal(state.w))
    assert 0 < certificate.dual < best_log_loss(problem)[0]


def test_batch_solvers_lbfgs_nearly_always_visits_once() -> None:
    s = problems.make_small(problems.chain_sparse, count=40)
    problem = make_problem(s, LOG_LOSS, 10.0)
    solution = solve(problem, LBFGS(), tol=1e-7, max_iter=200)
    assert solution.converged
    visits = solution.state.oracle_calls / problem.n_examples
    assert visits <= 1.15 * len(solution.trace) + 3


# --- stopping, resuming, starting elsewhere ---


def test_batch_solvers_stall_where_rounding_ends_it(solver: Solver) -> None:
    problem = small_problem()
    solution = solve(problem, solver, tol=1e-300, max_iter=2000)
    assert solution.certificate is not None
    assert solution.certificate.relative_gap < 1e-10
    if solution.certificate.relative_gap > 0:
        assert solution.reason == STALLED
        assert "rounding allows no better weights" in solution.status
    assert len(solution.trace) < 300


def test_batch_solvers_at_the_optimum_already(solver: Solver) -> None:
    """Features of both signs that cancel: zero weights are best."""
    s = make_multiclass(make_dense_rows([[1.0], [1.0]]), [0, 1], 2)
    solution = solve(make_problem(s, LOG_LOSS), solver)
    assert solution.converged
    assert not solution.w.any()


@pytest.mark.parametrize("stop", [1, 4, 9])
def test_batch_solvers_resume_bit_for_bit(
    solver: Solver, stop: int, tmp_path: Path
) -> None:
    problem, path = small_problem(C=10.0), tmp_path / "run"
    whole = solve(problem, solver, tol=TINY, max_iter=14)
    solve(problem, solver, tol=TINY, max_iter=stop, checkpoint=path)
    resumed = solve(
        problem, solver, tol=TINY, max_iter=14, checkpoint=path, resume=True
    )
    np.testing.assert_array_equal(whole.w, resumed.w)
    for column in ("primal", "dual", "oracle_calls"):
        np.testing.assert_array_equal(whole.trace[column], resumed.trace[column])


@pytest.mark.parametrize("first", [*SOLVERS, DualCoordinateDescent()], ids=repr)
def test_batch_solvers_start_from_any_earlier_run(first: Solver) -> None:
    problem = small_problem()
    margin = make_problem(problem.structure, get_loss("squared_hinge"), 1.0, WEIGHTS)
    chosen = margin if isinstance(first, DualCoordinateDescent) else problem
    before = solve(chosen, first, tol=1e-6, max_iter=200)
    kept = before.w.copy()
    again = solve(problem, LBFGS(), tol=1e-6, previous=before.state)
    assert again.converged
    assert len(again.trace) < 12
    np.testing.assert_array_equal(before.state.w, kept)
    best, _ = best_log_loss(problem)
    assert again.trace[-1].primal == pytest.approx(best, rel=1e-5)


@plain_only
def test_batch_solvers_start_from_another_corpus_is_refused() -> None:
    dense = make_problem(problems.make_small(problems.chain_dense), LOG_LOSS)
    state = solve(dense, LBFGS(), max_iter=1).state
    with pytest.raises(ValueError, match="another structure"):
        solve(small_problem(), LBFGS(), previous=state)


class Impatient(Callback):
    """Presses Ctrl-C in the middle of a pass."""

    def __init__(self, iteration: int):
        self.iteration = iteration

    def on_progress(self, iteration: int, fraction: float) -> None:
        if iteration == self.iteration:
            raise KeyboardInterrupt


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.usefixtures("eager_threads")
def test_batch_solvers_interrupted_keep_the_last_step(
    n_jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = module._add_examples

    def slow(*args: Any) -> None:
        time.sleep(0.01)
        plain(*args)

    monkeypatch.setattr(module, "_add_examples", slow)
    monkeypatch.setattr(_threads, "LOOK_AFTER", 0.001)
    problem = replace(small_problem(), n_jobs=n_jobs)
    solver = LBFGS()
    three = solve(problem, solver, tol=TINY, max_iter=3)
    stopped = solve(problem, solver, tol=TINY, max_iter=9, callbacks=[Impatient(4)])
    assert stopped.reason == "interrupted"
    np.testing.assert_array_equal(stopped.w, three.w)
    assert stopped.certificate == three.certificate


@pytest.mark.usefixtures("eager_threads")
def test_batch_solvers_threads_are_reproducible() -> None:
    problem = small_problem(C=5.0)
    one, two, again = (
        solve(replace(problem, n_jobs=n), LBFGS(), tol=1e-8, max_iter=100)
        for n in (1, 2, 2)
    )
    np.testing.assert_array_equal(two.w, again.w)
    np.testing.assert_allclose(one.w, two.w, atol=1e-3)


# --- bad input ---


@pytest.mark.parametrize(
    ("make_it", "message"),
    [
        (lambda: LBFGS(history=0), "history must be at least 1"),
        (lambda: OWLQN(history=-2), "history must be at least 1"),
    ],
)
def test_batch_solvers_wrong_settings_are_refused(make_it: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_it()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_batch_solvers_do_the_log_loss_only(solver: Solver, loss: str) -> None:
    problem = make_problem(problems.make_small(problems.chain_sparse), get_loss(loss))
    with pytest.raises(PairingError, match=f"cannot minimise '{loss}'"):
        solve(problem, solver)


def test_batch_solvers_objective_that_is_not_finite_ends_it(solver: Solver) -> None:
    s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    problem = make_problem(s, LOG_LOSS, C=1.7e308)
    solution = solve(problem, solver)
    assert solution.reason == NOT_FINITE
    assert "not a finite number" in solution.status
    assert "scale the features or lower C" in solution.status
    assert not solution.w.any()
    assert solution.certificate is None


@pytest.mark.parametrize("scale", [1e-100, 1e5, 1e40, 1e99])
def test_batch_solvers_features_of_any_size_leave_finite_weights(
    solver: Solver, scale: float
) -> None:
    rng = np.random.default_rng(0)
    x = scale * rng.normal(size=(8, 3))
    s = make_multiclass(make_dense_rows(x), rng.integers(0, 2, 8), 2)
    problem = make_problem(s, LOG_LOSS)
    solution = solve(problem, solver, max_iter=30)
    assert np.isfinite(solution.w).all()
    assert solution.certificate is not None
    assert solution.certificate.primal <= problem.primal(0 * solution.w)
    assert solution.certificate.primal == pytest.approx(problem.primal(solution.w))


def test_batch_solvers_trial_that_is_not_finite_is_never_taken(
    solver: Solver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every long step has no objective; short ones still lead to the optimum."""
    problem = small_problem()
    plain = BatchGradient.visit

    def fragile(self: Any, w: Floats, gradient: Floats) -> Iterator[float]:
        yield from plain(self, w, gradient)
        if np.abs(w).max() > 2.0:
            self.loss = math.nan
            gradient[:] = math.nan

    monkeypatch.setattr(BatchGradient, "visit", fragile)
    best, best_w = best_log_loss(problem)
    assert np.abs(best_w).max() < 2.0
    for state in passes(problem, solver, 60):
        assert np.isfinite(state.w).all()
        assert np.isfinite(state.gradient).all()
    assert state.value == pytest.approx(best, rel=1e-6)


def test_batch_solvers_say_how_much_memory_they_need() -> None:
    problem = small_problem()
    vector = 8 * problem.n_weights
    assert ConjugateGradient().memory(problem) == 5 * vector
    assert LBFGS(history=4).memory(problem) == (5 + 8) * vector
    three = replace(problem, n_jobs=3)
    assert LBFGS(history=4).memory(three) == (5 + 8 + 2) * vector


@pytest.mark.parametrize(
    ("name", "cls"), [("lbfgs", LBFGS), ("cg", ConjugateGradient), ("owlqn", OWLQN)]
)
def test_batch_solvers_are_found_by_their_names(name: str, cls: type) -> None:
    assert type(make_solver(name)) is cls
