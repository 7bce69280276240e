"""Exponentiated gradient: its optimum, its certificates, its forms, its settings."""

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import problems
from foreign import answer_like_multiclass
from log_problems import LOG_LOSS, WEIGHTS, best_log_loss, passes
from partwise.errors import PairingError
from partwise.losses import get_loss
from partwise.solvers import (
    ExponentiatedGradient,
    Problem,
    Solver,
    make_problem,
    solve,
)
from partwise.solvers.part_duals import state as module
from partwise.solvers.registry import make_solver
from partwise.structures import interface as waist
from problems import Floats, Maker
from resuming import InterruptAt, assert_same

HINGE = get_loss("hinge")
FORMS = ("online", "batch", "primal")
ORDERS = ("gaps", "shuffled", "cyclic")
SOLVERS: dict[str, Solver] = {
    **{order: ExponentiatedGradient(order=order) for order in ORDERS},
    "gold": ExponentiatedGradient(start_at="gold"),
    "batch": ExponentiatedGradient("batch"),
    "primal": ExponentiatedGradient("primal"),
}


@pytest.fixture(params=problems.MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


def small(
    loss: Any = LOG_LOSS, C: float = 1.0, make: Maker = problems.chain_sparse
) -> Problem:
    return make_problem(problems.make_small(make), loss, C, WEIGHTS)


@functools.cache
def optimum(loss: Any, C: float, make: Maker) -> tuple[float, Floats]:
    """Return the best objective and weights of a small problem, by enumeration."""
    problem = small(loss, C, make)
    if loss is LOG_LOSS:
        return best_log_loss(problem)
    outputs = problems.enumerate_outputs(problem.structure)
    return problems.best_hinge(outputs, problem.C)


# --- the optimum ---


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("C", [0.1, 3.0])
def test_exponentiated_gradient_reaches_the_enumerated_log_loss(
    make: Maker, name: str, C: float
) -> None:
    problem = small(LOG_LOSS, C, make)
    best, best_w = optimum(LOG_LOSS, C, make)
    solution = solve(problem, SOLVERS[name], tol=1e-7, max_iter=500)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.primal >= best * (1 - 1e-9)
    assert solution.certificate.dual <= best * (1 + 1e-9)
    assert solution.certificate.primal == pytest.approx(best, rel=1e-6)
    # The objective is 1-strongly convex: the gap bounds the distance.
    assert 0.5 * np.sum((solution.w - best_w) ** 2) <= 2e-7 * best


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_exponentiated_gradient_comes_close_to_the_enumerated_hinge(
    make: Maker, name: str, C: float
) -> None:
    """A vertex of the dual is never reached, but the bounds close in."""
    problem = small(HINGE, C, make)
    best, best_w = optimum(HINGE, C, make)
    solution = solve(problem, SOLVERS[name], tol=5e-3, max_iter=300)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.primal >= best * (1 - 1e-8)
    assert solution.certificate.dual <= best * (1 + 1e-8)
    assert 0.5 * np.sum((solution.w - best_w) ** 2) <= 5e-3 * best


@pytest.mark.parametrize("name", ["gaps", "cyclic"])
def test_exponentiated_gradient_hinge_gets_as_close_as_one_likes(name: str) -> None:
    solution = solve(small(HINGE, 0.1), SOLVERS[name], tol=1e-5, max_iter=500)
    assert solution.converged, solution.status


@pytest.mark.parametrize("seed", [1, 2])
def test_exponentiated_gradient_any_seed_reaches_the_same_optimum(seed: int) -> None:
    runs = [
        solve(small(), SOLVERS["gaps"], tol=1e-9, max_iter=500, random_state=r)
        for r in (0, seed)
    ]
    assert not np.array_equal(runs[0].w, runs[1].w)
    np.testing.assert_allclose(runs[0].w, runs[1].w, atol=1e-3)


def test_exponentiated_gradient_same_seed_gives_the_same_weights() -> None:
    for loss in (LOG_LOSS, HINGE):
        for solver in SOLVERS.values():
            one, two = (solve(small(loss), solver, max_iter=5) for _ in range(2))
            assert_same(one, two)


# --- certificates ---


@pytest.mark.parametrize("loss", [LOG_LOSS, HINGE], ids=lambda loss: loss.name)
@pytest.mark.parametrize("name", SOLVERS)
def test_exponentiated_gradient_bounds_hold_after_every_pass(
    make: Maker, name: str, loss: Any
) -> None:
    """The dual never falls, and the optimum lies between the bounds all the time."""
    problem = small(loss, 3.0, make)
    best, _ = optimum(loss, 3.0, make)
    solver, last = SOLVERS[name], -np.inf
    for state in passes(problem, solver, 8):
        assert state.estimate is not None
        estimate = state.estimate
        certificate = solver.certify(problem, state)
        assert certificate.exact
        assert certificate.dual == pytest.approx(estimate.dual, rel=1e-9, abs=1e-11)
        assert certificate.primal == pytest.approx(problem.primal(state.w), rel=1e-12)
        assert certificate.dual <= best * (1 + 1e-8)
        assert certificate.primal >= best * (1 - 1e-8)
        assert certificate.dual >= last - 1e-11 * (1 + abs(last))
        last = certificate.dual


def test_exponentiated_gradient_certificate_repairs_rounding() -> None:
    problem, solver = small(), SOLVERS["cyclic"]
    *_, state = passes(problem, solver, 3)
    right = state.w.copy()
    state.w += 1e-6
    certificate = solver.certify(problem, state)
    np.testing.assert_allclose(state.w, right, atol=1e-12)
    assert certificate.primal == pytest.approx(problem.primal(right), rel=1e-12)


def test_exponentiated_gradient_estimate_tells_when_to_look() -> None:
    """Seen at different times, but of the right size: it decides when to certify."""
    problem, solver = small(C=3.0), SOLVERS["gaps"]
    for number, state in enumerate(passes(problem, solver, 25)):
        estimated = state.estimate.relative_gap
        assert not state.estimate.exact
        exact = solver.certify(problem, state).relative_gap
        if number > 3:
            assert 0.02 * exact <= estimated <= 50 * exact + 1e-12


def test_exponentiated_gradient_counts_its_oracle_calls() -> None:
    """Online with a search, hardly more than a computation of marginals a visit."""
    problem = small()
    *_, state = passes(problem, ExponentiatedGradient(order="cyclic"), 20)
    assert 20 * 6 <= state.oracle_calls <= 30 * 6
    *_, state = passes(problem, ExponentiatedGradient(order="cyclic", step=0.1), 20)
    assert state.oracle_calls == 21 * 6
    solver = ExponentiatedGradient("batch", step=0.1)
    *_, state = passes(problem, solver, 20)
    assert state.oracle_calls == (1 + 2 * 20) * 6
    solver.certify(problem, state)
    assert state.oracle_calls == (1 + 2 * 20) * 6, "the last pass knew the answer"


def test_exponentiated_gradient_result_does_not_depend_on_the_cuts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """How a pass is cut into calls depends on the clock; the bits must not."""

    def run(size: int) -> Any:
        def cut(count: int, seconds: float = 0.1) -> Iterator[tuple[int, int]]:
            for start in range(0, count, size):
                yield start, min(start + size, count)

        monkeypatch.setattr(module, "chunks", cut)
        return solve(small(C=3.0), ExponentiatedGradient(), tol=1e-9, max_iter=12)

    assert_same(run(100), run(1))


# --- the two batch forms ---


@pytest.mark.parametrize("step", ["search", "guaranteed", 0.05])
@pytest.mark.parametrize("loss", [LOG_LOSS, HINGE], ids=lambda loss: loss.name)
def test_exponentiated_gradient_primal_form_is_the_batch_form(
    make: Maker, loss: Any, step: Any
) -> None:
    problem = small(loss, 2.0, make)
    w = 0.3 * np.random.default_rng(0).normal(size=problem.n_weights)
    runs = [
        passes(problem, ExponentiatedGradient(form, step=step, start_at=w), 20)
        for form in ("batch", "primal")
    ]
    moved = []
    for batch, primal in zip(*runs, strict=True):
        np.testing.assert_allclose(batch.w, primal.w, rtol=0, atol=1e-9)
        assert batch.dual_value == pytest.approx(primal.dual_value, rel=1e-9)
        moved.append(batch.w.copy())
    assert np.abs(moved[-1] - moved[0]).max() > 1e-3


def test_exponentiated_gradient_forms_of_the_hinge_start_alike() -> None:
    """Both start near the right outputs, at part scores in proportion to costs."""
    problem = small(HINGE)
    ends = []
    for form in ("batch", "primal"):
        *_, state = passes(problem, ExponentiatedGradient(form), 10)
        ends.append(state.w)
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-9)


def test_exponentiated_gradient_primal_memory_does_not_grow_with_the_data() -> None:
    def memory(form: str, count: int) -> int:
        s = problems.make_small(problems.chain_sparse, count)
        return ExponentiatedGradient(form).memory(make_problem(s, LOG_LOSS))

    assert memory("primal", 6) == memory("primal", 60)
    for form in ("online", "batch"):
        assert memory(form, 60) == 10 * memory(form, 6)
    # Part scores and marginals, 8 bytes each: 12 + 2 * 9 numbers for six tokens.
    s = problems.make_small(problems.chain_sparse, 3)
    parts = sum(int(waist.n_parts(s, i)) for i in range(3))
    assert memory("online", 3) == 2 * 8 * parts


# --- interruptions and checkpoints ---


@pytest.mark.parametrize("loss", [LOG_LOSS, HINGE], ids=lambda loss: loss.name)
@pytest.mark.parametrize("name", SOLVERS)
def test_exponentiated_gradient_interrupted_keeps_weights_that_are_certified(
    name: str, loss: Any
) -> None:
    """The certificate is of the weights that are kept, not of an earlier pass."""
    problem = small(loss)
    for pass_number in (1, 4):
        stop = InterruptAt(pass_number)
        solution = solve(problem, SOLVERS[name], tol=1e-12, callbacks=[stop])
        assert solution.reason == "interrupted"
        assert np.isfinite(solution.w).all()
        assert solution.certificate is not None
        assert solution.certificate.primal == pytest.approx(problem.primal(solution.w))
        assert solution.certificate.dual <= solution.certificate.primal
        again = solve(problem, SOLVERS[name], max_iter=3, previous=solution.state)
        assert again.certificate is not None
        slack = 1e-9 * abs(solution.certificate.dual)
        assert again.certificate.dual >= solution.certificate.dual - slack


@pytest.mark.parametrize("loss", [LOG_LOSS, HINGE], ids=lambda loss: loss.name)
@pytest.mark.parametrize("name", SOLVERS)
def test_exponentiated_gradient_resumed_is_unbroken(
    name: str, loss: Any, tmp_path: Path
) -> None:
    problem, solver = small(loss, 3.0), SOLVERS[name]
    unbroken = solve(problem, solver, tol=1e-12, max_iter=12)
    for after in (1, 5, 11):
        path = tmp_path / f"run{after}"
        solve(problem, solver, tol=1e-12, max_iter=after, checkpoint=path)
        resumed = solve(
            problem, solver, tol=1e-12, max_iter=12, checkpoint=path, resume=True
        )
        assert_same(unbroken, resumed)


def test_exponentiated_gradient_resumed_until_converged_is_unbroken(
    tmp_path: Path,
) -> None:
    """The end of mixing and the looks that failed are part of what is repeated."""
    path = tmp_path / "run"
    options: dict[str, Any] = {"tol": 1e-6, "max_iter": 200}
    unbroken = solve(small(C=3.0), SOLVERS["gaps"], **options)
    assert unbroken.converged
    for stop in range(2, len(unbroken.trace) + 1, 4):
        broken = solve(
            small(C=3.0), SOLVERS["gaps"], **options, checkpoint=path, resume=True,
            callbacks=[InterruptAt(stop)],
        )  # fmt: skip
        assert broken.reason == "interrupted"
    resumed = solve(
        small(C=3.0), SOLVERS["gaps"], **options, checkpoint=path, resume=True
    )
    assert_same(unbroken, resumed)


# --- settings ---


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"form": "offline"}, "unknown form 'offline'; choose from online, batch"),
        ({"order": "random"}, "unknown order 'random'; choose from gaps, shuffled"),
        ({"step": "find"}, "'search', 'halving', 'guaranteed' or a number, not 'find'"),
        ({"step": 0.0}, "must be positive and at most 1e\\+06, not 0.0"),
        ({"step": -1.0}, "must be positive"),
        ({"step": np.nan}, "must be positive"),
        ({"step": np.inf}, "must be positive and at most"),
        ({"step": 1e7}, "must be positive and at most"),
        ({"start_at": "zero"}, "'mixture' or 'gold' or an array of weights"),
        ({"start_at": [0.0, np.nan]}, "finite weights"),
        ({"gold_score": -1.0}, "gold_score must be finite and not negative"),
        ({"gold_score": np.inf}, "gold_score must be finite and not negative"),
    ],
    ids=str,
)
def test_exponentiated_gradient_wrong_settings_are_refused(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ExponentiatedGradient(**settings)


@pytest.mark.parametrize("form", FORMS)
def test_exponentiated_gradient_step_beyond_one_is_for_the_hinge(form: str) -> None:
    solver = ExponentiatedGradient(form, step=1.5)
    with pytest.raises(ValueError, match=r"at most 1 for the log loss, not 1\.5"):
        solve(small(), solver)
    assert len(solve(small(HINGE, 0.01), solver, max_iter=1).trace) == 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(3,), (1, 21), (0,)])
def test_exponentiated_gradient_other_number_of_weights_is_refused(
    form: str, shape: tuple[int, ...]
) -> None:
    solver = ExponentiatedGradient(form, start_at=np.zeros(shape))
    with pytest.raises(ValueError, match="the problem has 21"):
        solve(small(), solver)


class NoMarginals(NamedTuple):
    """A structure that can decode, but not sum."""

    labels: Any


class NoArgmax(NamedTuple):
    """A structure that can sum, but not decode."""

    rows: Any
    labels: Any
    n_classes: int
    costs: Any


BASE = (*waist.REQUIRED, waist.add_costs, waist.cost)
answer_like_multiclass(NoMarginals, *BASE, waist.argmax)
answer_like_multiclass(NoArgmax, *BASE, waist.marginals, waist.log_partition)
LABELS = np.zeros(2, np.int32)


@pytest.mark.parametrize("form", FORMS)
def test_exponentiated_gradient_needs_marginals(form: str) -> None:
    problem = make_problem(NoMarginals(LABELS), HINGE)
    with pytest.raises(PairingError, match="needs 'marginals', which NoMarginals"):
        solve(problem, ExponentiatedGradient(form))


@pytest.mark.parametrize("form", FORMS)
def test_exponentiated_gradient_guarantee_needs_argmax(form: str) -> None:
    s = problems.make_small(problems.classes_dense)
    problem = make_problem(NoArgmax(*s), LOG_LOSS)
    with pytest.raises(PairingError, match="needs 'argmax', which NoArgmax") as caught:
        solve(problem, ExponentiatedGradient(form, step="guaranteed"))
    assert "use 'search'" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "form"), [("eg", "online"), ("eg-batch", "batch"), ("eg-primal", "primal")]
)
def test_exponentiated_gradient_is_found_by_its_names(name: str, form: str) -> None:
    solver = make_solver(name)
    assert isinstance(solver, ExponentiatedGradient)
    assert solver.form == form


def test_exponentiated_gradient_cannot_do_the_squared_hinge() -> None:
    problem = small(get_loss("squared_hinge"))
    with pytest.raises(PairingError, match="cannot minimise 'squared_hinge'"):
        solve(problem, ExponentiatedGradient())


# --- scores that are not those of the dual point ---


def test_exponentiated_gradient_does_not_trust_scores_that_mixing_has_left() -> None:
    """They say that there is no gap, where the next look must show all of it."""
    s = problems.chain_sparse(problems.examples(1, (30,)))
    problem = make_problem(s, LOG_LOSS, 1.0)
    solver = ExponentiatedGradient(order="cyclic")
    gap = 0.0
    for number, state in enumerate(passes(problem, solver, 3), start=1):
        if number == 1:
            state.mixing = False
            state.dual.theta[:] = 0.0
            state.dual.step[:] = 0.02
        elif number == 2:
            gap = solver.certify(problem, state).gap
    assert gap > 20.0
    assert state.dual.gap.sum() == pytest.approx(gap, rel=1e-9)
