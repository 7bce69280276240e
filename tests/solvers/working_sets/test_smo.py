"""Sequential minimal optimisation: its optimum, its steps, its dual point."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_dual_coordinate import duals_of

import problems
from hinge_problems import HINGE, WEIGHTS, passes, small, sum_up, with_and_without
from partwise.solvers import make_problem, solve
from partwise.solvers.base import Problem
from partwise.solvers.registry import make_solver
from partwise.solvers.working_sets import smo as module
from partwise.solvers.working_sets import visits
from partwise.solvers.working_sets.sets import with_room
from partwise.solvers.working_sets.smo import (
    SequentialMinimalOptimization,
    expected_parts,
)
from partwise.structures import interface as waist
from partwise.structures import make_chain, make_dense_rows, make_multiclass
from problems import ANY, Maker

PRECISE = SequentialMinimalOptimization(delta=0.0)
MAKERS = (
    problems.EACH_KIND
    if problems.PLAIN_PYTHON
    else (problems.classes_dense, problems.chain_sparse)
)


@pytest.fixture(params=MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


# --- the optimum ---


@pytest.mark.parametrize("sweeps", [0, 5])
@pytest.mark.parametrize("C", [0.1, 3.0])
def test_smo_reaches_the_enumerated_optimum(make: Maker, C: float, sweeps: int) -> None:
    s = problems.make_small(make)
    problem = make_problem(s, HINGE, C, WEIGHTS)
    best, best_w = problems.best_hinge(problems.enumerate_outputs(s), C * WEIGHTS)
    solver = SequentialMinimalOptimization(sweeps=sweeps, delta=0.0)
    solution = solve(problem, solver, tol=1e-7, max_iter=3000)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.primal >= best * (1 - 1e-8)
    assert solution.certificate.dual <= best * (1 + 1e-8)
    assert solution.certificate.primal == pytest.approx(best, rel=1e-6)
    # The objective is 1-strongly convex: the gap bounds the distance.
    assert 0.5 * np.sum((solution.w - best_w) ** 2) <= 2e-7 * best


def test_smo_agrees_with_liblinear_on_several_classes() -> None:
    from sklearn.svm import LinearSVC

    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 4))
    y = np.argmax(x[:, :3] + rng.normal(size=(40, 3)), axis=1).astype(np.int32)
    s = make_multiclass(make_dense_rows(x), y, 3)
    solution = solve(make_problem(s, HINGE, C=0.3), PRECISE, tol=1e-8, max_iter=3000)
    peer = LinearSVC(
        C=0.3,
        multi_class="crammer_singer",
        loss="hinge",
        fit_intercept=False,
        tol=1e-10,
        max_iter=100_000,
    )
    theirs = peer.fit(x, y).coef_.T
    np.testing.assert_allclose(solution.w.reshape(4, 3), theirs, atol=1e-4)


def test_smo_example_without_features_puts_its_mass_on_the_costliest_output() -> None:
    """All outputs look alike there: the steps are straight and only end at zero."""
    costs = [[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [1.0, 1.0, 0.0]]
    rows = make_dense_rows([[0.0], [1.0]])
    s = make_multiclass(rows, [0, 1], 3, costs=costs)
    problem = make_problem(s, HINGE)
    solution = solve(problem, PRECISE, tol=1e-9)
    assert solution.converged, solution.status
    assert duals_of(problem, solution.state)[0] == {(2,): 1.0}
    assert solution.certificate is not None
    assert solution.certificate.primal >= 3.0


def test_smo_sequence_without_positions_costs_nothing() -> None:
    x, y = problems.examples(1, (3,))[0]
    s = make_chain(make_dense_rows(x), [0, 0, 3, 3], y, problems.N_LABELS)
    solution = solve(make_problem(s, HINGE), PRECISE, tol=1e-6)
    assert solution.converged, solution.status
    alone = make_chain(make_dense_rows(x), [0, 3], y, problems.N_LABELS)
    same = solve(make_problem(alone, HINGE), PRECISE, tol=1e-6)
    np.testing.assert_allclose(solution.w, same.w, atol=1e-3)


def assert_same_optimum(one: Problem, two: Problem) -> None:
    first, second = (
        solve(problem, PRECISE, tol=1e-8, max_iter=3000) for problem in (one, two)
    )
    assert first.certificate is not None
    assert second.certificate is not None
    assert first.certificate.primal == pytest.approx(
        second.certificate.primal, rel=1e-6
    )
    np.testing.assert_allclose(first.w, second.w, atol=1e-3)


def test_smo_example_of_weight_zero_is_dropped() -> None:
    assert_same_optimum(*with_and_without(ANY))


def test_smo_weight_two_is_the_example_twice() -> None:
    chosen = problems.draw(ANY)
    weight = np.array([2.0, 1.0, 1.0, 2.0, 1.0, 1.0])
    doubled = [x for x, n in zip(chosen, weight, strict=True) for _ in range(int(n))]
    assert_same_optimum(
        make_problem(ANY(chosen), HINGE, 1.0, weight),
        make_problem(ANY(doubled), HINGE),
    )


# --- every step ---


@pytest.mark.parametrize("C", [0.1, 3.0])
def test_smo_every_pair_step_raises_the_dual(make: Maker, C: float) -> None:
    s = problems.make_small(make)
    problem = make_problem(s, HINGE, C, WEIGHTS)
    outputs = problems.enumerate_outputs(s)
    state = PRECISE.start(problem, np.random.default_rng(0), None)
    state.sets = with_room(s, state.sets, 1000, 3000)
    state.fit_scratch()
    order = np.arange(problem.n_examples)
    dual, taken = 0.0, 0
    for _, i in itertools.product(range(25), order):
        before = duals_of(problem, state)
        rule = module.PairRule(state.values, state.slack, 1, 0.0)
        site = state.site(problem)
        reached, state.dual, _ = visits._infer(
            rule, site, visits.NOT_FOUND, order, i, i + 1, state.dual
        )
        assert reached == i + 1
        after = duals_of(problem, state)
        _, risen = sum_up(problem, outputs, after)
        assert risen >= dual - 1e-12 * (1.0 + abs(dual))
        assert state.dual == pytest.approx(risen, rel=1e-9, abs=1e-12)
        assert sum(after[i].values()) == pytest.approx(1.0, rel=1e-13)
        assert min(after[i].values()) > 0.0
        taken += before != after
        dual = risen
    assert taken >= problem.n_examples


@pytest.mark.parametrize(("C", "moved"), [(1.0, 0.5), (0.1, 1.0)])
def test_smo_step_goes_to_the_top_or_until_the_mass_runs_out(
    C: float, moved: float
) -> None:
    """Two classes, ``dPhi = (1, -1)``: the dual ``C (step - C step^2)``."""
    s = make_multiclass(make_dense_rows([[1.0]]), [0], 2)
    problem = make_problem(s, HINGE, C)
    *_, state = passes(problem, SequentialMinimalOptimization(pair_steps=1), 1)
    left = {} if moved == 1.0 else {(0,): 1.0 - moved}
    assert duals_of(problem, state)[0] == left | {(1,): moved}
    assert state.dual == pytest.approx(C * (moved - C * moved**2), rel=1e-15)
    np.testing.assert_allclose(state.w, [C * moved, -C * moved], rtol=1e-15)


# --- momentum ---


@problems.plain_only
@pytest.mark.parametrize("C", [1e4, 1e6])
def test_smo_large_C_is_no_plateau(C: float) -> None:
    """Pairs one after the other would take tens of thousands of passes."""
    problem = small(problems.trees_labelled, C, count=4)
    solution = solve(problem, SequentialMinimalOptimization(), tol=1e-4, max_iter=200)
    assert solution.converged, solution.status


def test_smo_momentum_that_lowers_the_dual_is_undone() -> None:
    problem = small(C=10.0)
    *_, state = passes(problem, PRECISE, 3)
    state.normalise()
    state.refresh(problem, problem.C)
    before, w = duals_of(problem, state), state.w.copy()
    dual, state.momentum = state.dual, 1e6  # far too long
    state.go_on(problem, problem.C)
    assert state.momentum < 1e6
    assert state.dual == dual
    assert duals_of(problem, state) == before
    np.testing.assert_array_equal(state.w, w)


# --- invariants, after every pass ---


@pytest.mark.parametrize("sweeps", [0, 3])
def test_smo_invariants_hold_after_every_pass(make: Maker, sweeps: int) -> None:
    s = problems.make_small(make)
    problem = make_problem(s, HINGE, 1.0, WEIGHTS)
    outputs = problems.enumerate_outputs(s)
    last = 0.0
    for state in passes(problem, SequentialMinimalOptimization(sweeps=sweeps), 8):
        duals = duals_of(problem, state)
        assert all(alpha > 0 for own in duals for alpha in own.values())
        for own in duals:
            assert sum(own.values()) == pytest.approx(1.0, rel=1e-12)
        w, dual = sum_up(problem, outputs, duals)
        np.testing.assert_allclose(state.w, w, atol=1e-10)
        assert state.dual == pytest.approx(dual, rel=1e-9)
        assert dual >= last - 1e-12 * abs(last)
        last = dual
        assert state.estimate is not None
        assert state.estimate.dual == state.dual
        assert not state.estimate.exact
    assert last > 0


def test_smo_certificate_is_what_enumeration_gives(make: Maker) -> None:
    s = problems.make_small(make)
    problem = make_problem(s, HINGE, 1.0, WEIGHTS)
    outputs = problems.enumerate_outputs(s)
    *_, state = passes(problem, PRECISE, 3)
    state.w += 1e-6  # as rounding would; to be repaired
    state.sets.alpha[:] *= 1 + 1e-9
    certificate = PRECISE.certify(problem, state)
    duals = duals_of(problem, state)
    for own in duals:
        assert sum(own.values()) == pytest.approx(1.0, rel=1e-15)
    w, dual = sum_up(problem, outputs, duals)
    slack = [max(out.cost - out.dphi @ w) for out in outputs]
    np.testing.assert_allclose(state.w, w, atol=1e-12)
    assert certificate.exact
    assert certificate.dual == pytest.approx(dual, rel=1e-10)
    assert certificate.primal == pytest.approx(
        0.5 * w @ w + problem.C @ slack, rel=1e-10
    )
    best, _ = problems.best_hinge(outputs, problem.C)
    assert certificate.dual <= best * (1 + 1e-9)
    assert certificate.primal >= best * (1 - 1e-9)


def test_smo_result_does_not_depend_on_the_cuts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """How a pass is cut into calls depends on the clock; the bits must not."""
    problem = small(count=12)

    def run(size: int) -> Any:
        def cut(count: int, seconds: float = 0.1) -> Iterator[tuple[int, int]]:
            for start in range(0, count, size):
                yield start, min(start + size, count)

        monkeypatch.setattr(visits, "chunks", cut)
        return solve(problem, PRECISE, tol=1e-9, max_iter=12)

    whole, pieces = run(12), run(1)
    np.testing.assert_array_equal(whole.w, pieces.w)
    np.testing.assert_array_equal(whole.trace["dual"], pieces.trace["dual"])
    np.testing.assert_array_equal(whole.trace["primal"], pieces.trace["primal"])


def test_smo_storage_grows_without_changing_the_result() -> None:
    problem = small(C=10.0, count=12)
    *_, roomy = passes(problem, PRECISE, 20)
    rng = np.random.default_rng(0)
    tight = PRECISE.start(problem, rng, None)
    tight.sets = with_room(problem.structure, tight.sets, 0, 0)
    tight.sets = tight.sets._replace(
        alpha=tight.sets.alpha[: problem.n_examples].copy()
    )
    tight.fit_scratch()
    for _ in range(20):
        for _ in PRECISE.run_pass(problem, tight, rng):
            pass
    np.testing.assert_array_equal(tight.w, roomy.w)
    assert duals_of(problem, tight) == duals_of(problem, roomy)
    assert tight.sets.alpha.size > problem.n_examples


# --- the dual point by parts ---


def test_smo_expected_parts_are_the_expected_counts(make: Maker) -> None:
    s = problems.make_small(make)
    problem = make_problem(s, HINGE, 1.0, WEIGHTS)
    *_, state = passes(problem, PRECISE, 4)
    ptr, mu = expected_parts(problem, state)
    diff = waist.make_diff(s)
    for i, own in enumerate(duals_of(problem, state)):
        expected = np.zeros(waist.n_parts(s, i))
        for y, alpha in own.items():
            code = np.array(y, np.int32)
            found = waist.parts_of(s, i, code, diff.ids, diff.counts)
            np.add.at(expected, diff.ids[:found], alpha * diff.counts[:found])
        np.testing.assert_allclose(mu[ptr[i] : ptr[i + 1]], expected, atol=1e-14)
    assert ptr[-1] == mu.size


def test_smo_part_marginals_give_the_weights(make: Maker) -> None:
    """``w = sum_i C_i (Phi(gold) - sum_r mu_r phi_r)``, through the waist alone."""
    s = problems.make_small(make)
    problem = make_problem(s, HINGE, 1.0, WEIGHTS)
    first = PRECISE.start(problem, np.random.default_rng(0), None)
    ptr, right = expected_parts(problem, first)
    *_, state = passes(problem, PRECISE, 4)
    _, mu = expected_parts(problem, state)
    w, ws = np.zeros(problem.n_weights), waist.workspace(s, 1)
    for i in range(problem.n_examples):
        own = slice(ptr[i], ptr[i + 1])
        waist.visit(s, i, ws)
        waist.add_parts(s, i, right[own] - mu[own], problem.C[i], w, ws)
    np.testing.assert_allclose(w, state.w, atol=1e-12)


# --- going on ---


def test_smo_resumed_run_is_the_unbroken_one(tmp_path: Path) -> None:
    problem = small(C=10.0, count=12)
    options: dict[str, Any] = {"tol": 1e-9, "random_state": 3}
    unbroken = solve(problem, PRECISE, max_iter=9, **options)
    options["checkpoint"] = tmp_path / "run"
    solve(problem, PRECISE, max_iter=4, **options)
    resumed = solve(problem, PRECISE, max_iter=9, resume=True, **options)
    np.testing.assert_array_equal(unbroken.w, resumed.w)
    assert unbroken.certificate == resumed.certificate
    assert duals_of(problem, unbroken.state) == duals_of(problem, resumed.state)


def test_smo_warm_start_goes_on_from_the_earlier_duals() -> None:
    problem = small()
    first = solve(problem, PRECISE, tol=1e-6, max_iter=500)
    kept = first.w.copy()
    again = solve(problem, PRECISE, tol=1e-6, previous=first.state)
    assert len(again.trace) == 1
    assert again.converged
    # The earlier state is left as it was.
    np.testing.assert_array_equal(first.state.w, kept)


def test_smo_warm_start_with_other_weights_is_still_certified() -> None:
    s = problems.make_small(problems.ANY)
    first = solve(make_problem(s, HINGE), PRECISE, max_iter=500)
    weight = np.array([0.0, 5.0, 0.0, 1.0, 1.0, 1.0])
    problem = make_problem(s, HINGE, 2.0, weight)
    best, _ = problems.best_hinge(problems.enumerate_outputs(s), 2.0 * weight)
    short = solve(problem, PRECISE, max_iter=1, previous=first.state)
    assert short.certificate is not None
    assert short.certificate.dual <= best * (1 + 1e-9)
    assert best <= short.certificate.primal * (1 + 1e-9)
    full = solve(problem, PRECISE, tol=1e-7, max_iter=3000, previous=first.state)
    assert full.certificate is not None
    assert full.certificate.primal == pytest.approx(best, rel=1e-6)


def test_smo_warm_start_from_another_corpus_is_refused() -> None:
    state = solve(small(), PRECISE, max_iter=1).state
    with pytest.raises(ValueError, match="another structure"):
        solve(small(count=8), PRECISE, previous=state)


# --- settings ---


def test_smo_is_found_by_its_name() -> None:
    assert make_solver("smo") == SequentialMinimalOptimization()


def test_smo_sweeps_cost_no_inference() -> None:
    problem = small()
    *_, state = passes(problem, SequentialMinimalOptimization(sweeps=7), 5)
    assert state.oracle_calls == 5 * problem.n_examples


@pytest.mark.parametrize("more", [{"sweeps": 5}, {"pair_steps": 20}])
def test_smo_more_steps_raise_the_dual_further_with_the_same_inference(
    more: dict[str, int],
) -> None:
    """The dual, not the gap: on the way, the primal of a better dual may be worse."""
    problem = small(C=10.0, count=12)
    duals = []
    few = {"sweeps": 0, "pair_steps": 1}
    for settings in (few, few | more):
        solver = SequentialMinimalOptimization(**settings)
        *_, state = passes(problem, solver, 10)
        duals.append(solver.certify(problem, state).dual)
    assert duals[1] > duals[0]


def test_smo_delta_holds_slight_violations_back() -> None:
    """Those that explain no more than this share of the gap."""
    problem = small()
    solver = SequentialMinimalOptimization(delta=1e9, momentum=False)
    weights = [state.w.copy() for state in passes(problem, solver, 3)]
    assert weights[0].any()
    np.testing.assert_array_equal(weights[0], weights[-1])
    for delta in (0.0, 0.5):
        solver = SequentialMinimalOptimization(delta=delta)
        assert solve(problem, solver, tol=1e-6, max_iter=500).converged


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pair_steps": 0}, "at least 1"),
        ({"sweeps": -1}, "sweeps must be at least 0, not -1"),
        ({"delta": -0.1}, "delta must be at least 0, not -0.1"),
    ],
)
def test_smo_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SequentialMinimalOptimization(**settings)
