"""SMO, then exponentiated gradient: the switch, the optimum, going on."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import problems
from partwise import SequenceTagger
from partwise.losses import get_loss
from partwise.solvers import (
    ExponentiatedGradient,
    Problem,
    SequentialMinimalOptimization,
    SMOThenEG,
    make_problem,
    solve,
)
from partwise.solvers.part_duals import smo_then_eg as module
from partwise.solvers.part_duals.smo_then_eg import HybridState
from partwise.solvers.registry import make_solver
from partwise.solvers.working_sets.smo import expected_parts
from partwise.structures import interface as waist
from problems import Maker

HINGE = get_loss("hinge")
WEIGHTS = np.array([0.5, 2.0, 1.0, 0.25, 1.0, 3.0])
MAKERS = (
    problems.REVERSIBLE
    if problems.PLAIN_PYTHON
    else (problems.classes_dense, problems.chain_sparse)
)


@pytest.fixture(params=MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


def small(make: Maker = problems.chain_sparse, C: float = 1.0) -> Problem:
    return make_problem(problems.make_small(make), HINGE, C, WEIGHTS)


def long_chains() -> Problem:
    """Return chains whose shared transitions cannot say what SMO finds."""
    s = problems.chain_sparse(problems.examples(6, (9, 7)))
    return make_problem(s, HINGE)


def run(problem: Problem, solver: Any, count: int) -> tuple[Any, list[float]]:
    """Make passes; return the last state, and the certified dual after each."""
    rng = np.random.default_rng(0)
    state = solver.start(problem, rng, None)
    duals = []
    for _ in range(count):
        for _ in solver.run_pass(problem, state, rng):
            pass
        duals.append(solver.certify(problem, state).dual)
    return state, duals


# --- the optimum ---


@pytest.mark.parametrize("smo_passes", [1, 4])
def test_hybrid_reaches_the_enumerated_optimum(make: Maker, smo_passes: int) -> None:
    problem = small(make)
    outputs = problems.enumerate_outputs(problem.structure)
    best, best_w = problems.best_hinge(outputs, problem.C)
    solver = SMOThenEG(smo_passes=smo_passes)
    solution = solve(problem, solver, tol=1e-3, max_iter=2000)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.dual <= best * (1 + 1e-9)
    assert solution.certificate.primal >= best * (1 - 1e-9)
    assert 0.5 * np.sum((solution.w - best_w) ** 2) <= 1e-3 * best


# --- the switch ---


def test_hybrid_is_smo_first_and_eg_after(make: Maker) -> None:
    problem = small(make)
    state, duals = run(problem, SMOThenEG(smo_passes=2), 5)
    assert state.has_switched
    before, _ = run(problem, SMOThenEG(smo_passes=2), 2)
    assert not before.has_switched
    smo, by_smo = run(problem, SequentialMinimalOptimization(), 2)
    np.testing.assert_array_equal(before.w, smo.w)
    assert duals[:2] == by_smo
    assert duals[2:] != run(problem, SequentialMinimalOptimization(), 5)[1][2:]


def test_hybrid_keeps_the_dual_at_the_switch() -> None:
    problem = long_chains()
    assert waist.n_parts(waist.untied(problem.structure), 0) > waist.n_parts(
        problem.structure, 0
    )
    solver = SMOThenEG(smo_passes=4)
    state, duals = run(problem, solver, 12)
    assert state.has_switched
    assert not state.keeps_smo
    assert min(np.diff(duals)) >= -1e-5 * duals[3]


def test_hybrid_eg_starts_at_the_marginals_of_smo() -> None:
    problem = long_chains()
    smo = solve(problem, SequentialMinimalOptimization(), max_iter=4).state
    own = make_problem(waist.untied(problem.structure), HINGE)
    rng = np.random.default_rng(0)
    eg: Any = ExponentiatedGradient().start(own, rng, smo)
    np.testing.assert_allclose(eg.dual.mu, expected_parts(own, smo)[1], atol=1e-5)
    np.testing.assert_allclose(eg.w, smo.w, atol=1e-4)
    # With shared transitions it is elsewhere, which is why they are not shared.
    shared: Any = ExponentiatedGradient().start(problem, rng, smo)
    assert shared.dual_value < eg.dual_value - 0.01 * abs(eg.dual_value)


def test_hybrid_stays_with_smo_where_the_switch_would_lose_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As for a structure that has no parts enough to offer."""
    monkeypatch.setattr(module, "untied", lambda s: s)
    problem = long_chains()
    state, duals = run(problem, SMOThenEG(smo_passes=3), 8)
    assert state.keeps_smo
    assert not state.has_switched
    assert min(np.diff(duals)) >= 0.0
    # What was computed in vain is counted: a pass, a certificate, and once marginals.
    assert state.oracle_calls == (2 * 8 + 1) * problem.n_examples


def test_hybrid_counts_the_inference_of_both() -> None:
    problem = small()
    solution = solve(problem, SMOThenEG(smo_passes=3), tol=1e-12, max_iter=6)
    calls = solution.trace["oracle_calls"]
    assert calls[:3].tolist() == [problem.n_examples * k for k in (1, 2, 3)]
    # The marginals of the start, of the steps, and the certificate.
    assert calls[3] >= 6 * problem.n_examples
    assert (np.diff(calls) > 0).all()


def test_hybrid_does_not_change_the_weights_there_are() -> None:
    """Parts of their own need no weights of their own."""
    problem = long_chains()
    solution = solve(problem, SMOThenEG(smo_passes=2), max_iter=6)
    assert solution.w.shape == (problem.n_weights,)
    assert solution.certificate is not None
    assert problem.primal(solution.w) == pytest.approx(solution.certificate.primal)


# --- going on ---


@pytest.mark.parametrize("broken_at", [2, 5])
def test_hybrid_resumed_run_is_the_unbroken_one(tmp_path: Path, broken_at: int) -> None:
    problem, solver = long_chains(), SMOThenEG(smo_passes=3)
    options: dict[str, Any] = {"tol": 1e-9, "random_state": 3}
    unbroken = solve(problem, solver, max_iter=8, **options)
    options["checkpoint"] = tmp_path / "run"
    solve(problem, solver, max_iter=broken_at, **options)
    resumed = solve(problem, solver, max_iter=8, resume=True, **options)
    np.testing.assert_array_equal(unbroken.w, resumed.w)
    assert unbroken.certificate == resumed.certificate


@pytest.mark.parametrize("first_passes", [2, 6])
def test_hybrid_warm_start_goes_on_where_it_was(first_passes: int) -> None:
    problem, solver = long_chains(), SMOThenEG(smo_passes=4)
    first = solve(problem, solver, tol=1e-9, max_iter=first_passes)
    assert first.certificate is not None
    assert first.state is not None
    reached, kept = first.certificate.dual, first.state.w.copy()
    again = solver.start(problem, np.random.default_rng(0), first.state)
    assert again.has_switched == (first_passes > 4)
    assert solver.certify(problem, again).dual == pytest.approx(reached, rel=1e-9)
    state = first.state
    assert isinstance(state, HybridState)
    np.testing.assert_array_equal(state.w, kept)


def test_hybrid_warm_start_from_smo_is_used() -> None:
    problem = long_chains()
    smo = solve(problem, SequentialMinimalOptimization(), tol=1e-9, max_iter=5)
    state = SMOThenEG().start(problem, np.random.default_rng(0), smo.state)
    np.testing.assert_allclose(state.w, smo.w, atol=1e-12)


# --- as users ask for it ---


def test_hybrid_is_found_by_its_name() -> None:
    assert make_solver("smo-eg") == SMOThenEG()


def test_hybrid_memory_is_that_of_the_parts_it_will_need() -> None:
    problem = long_chains()
    own = make_problem(waist.untied(problem.structure), HINGE)
    expected = ExponentiatedGradient().memory(own)
    assert SMOThenEG().memory(problem) == expected
    assert expected > ExponentiatedGradient().memory(problem)


def test_hybrid_trains_a_tagger() -> None:
    X = [[{"word": word} for word in text.split()] for text in ("a b a", "b b", "a")]
    y = [["A", "B", "A"], ["B", "B"], ["A"]]
    solver = SMOThenEG(smo_passes=2)
    tagger = SequenceTagger(loss="hinge", solver=solver, tol=0.01, max_iter=300)
    assert tagger.fit(X, y).predict(X) == y


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"smo_passes": 0}, "smo_passes must be at least 1"),
        ({"sweeps": -1}, "sweeps must be at least 0, not -1"),
        ({"order": "random"}, "unknown order"),
    ],
)
def test_hybrid_wrong_settings_are_refused(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        SMOThenEG(**settings)


# --- how near the right outputs exponentiated gradient starts ---


@pytest.mark.parametrize("form", ["online", "batch", "primal"])
def test_gold_score_default_never_starts_below_the_right_outputs(form: str) -> None:
    """There the dual is zero; mass left elsewhere costs more the larger C is."""
    problem = small(C=100.0)
    rng = np.random.default_rng(0)
    values = []
    for settings in ({"gold_score": 5.0, "step": 0.1}, {"step": 0.1}, {}):
        state: Any = ExponentiatedGradient(form, **settings).start(problem, rng, None)
        values.append(state.dual_value)
    assert values[0] < 0.0 <= min(values[1:])


def test_gold_score_of_zero_starts_at_all_outputs_alike() -> None:
    problem = small(problems.classes_dense)
    start = ExponentiatedGradient(gold_score=0.0).start
    state: Any = start(problem, np.random.default_rng(0), None)
    np.testing.assert_allclose(state.dual.mu, 1 / problems.N_LABELS)


@pytest.mark.parametrize("score", [-1.0, np.inf, np.nan])
def test_gold_score_out_of_range_is_refused(score: float) -> None:
    with pytest.raises(ValueError, match="gold_score must be finite"):
        ExponentiatedGradient(gold_score=score)
