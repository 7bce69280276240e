"""Dual coordinate descent: its optimum, its invariants, its working sets."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from benchmarks import dcd_rates
from test_working_sets import members_of

import problems
from partwise.losses import get_loss
from partwise.solvers import DualCoordinateDescent, make_problem, solve
from partwise.solvers.base import Problem
from partwise.solvers.registry import make_solver
from partwise.solvers.working_sets import visits
from partwise.solvers.working_sets.dual_coordinate import VARIANTS, DualCoordinateState
from partwise.solvers.working_sets.sets import count_members, make_working_sets
from partwise.structures import make_dense_rows, make_multiclass
from partwise.structures.interface import output_size
from problems import ANY, Floats, Maker, Outputs

SQUARED_HINGE = get_loss("squared_hinge")
WEIGHTS = np.array([0.5, 2.0, 1.0, 0.25, 1.0, 3.0])


def precise(variant: str) -> DualCoordinateDescent:
    """Return a solver that stops at nothing, to reach the optimum itself."""
    sweeps = 100 if variant == "cpd" else 5
    return DualCoordinateDescent(variant, sweeps=sweeps, delta=0.0)


def duals_of(problem: Problem, state: DualCoordinateState) -> list[dict[Any, float]]:
    """Return the working sets as dictionaries from output to dual variable."""
    found = []
    for i in range(problem.n_examples):
        size = output_size(problem.structure, i)
        own = {}
        for m in members_of(state.sets, i):
            at = state.sets.code_at[m]
            y = tuple(state.sets.codes[at : at + size].tolist())
            assert y not in own, "an output is in the working set twice"
            own[y] = float(state.sets.alpha[m])
        found.append(own)
    return found


def sum_up(
    problem: Problem, outputs: list[Outputs], duals: list[dict[Any, float]]
) -> tuple[Floats, float]:
    """Return ``w(alpha)`` and the dual value, by enumeration."""
    w = np.zeros(problem.n_weights)
    value = 0.0
    for out, own, C in zip(outputs, duals, problem.C, strict=True):
        for y, alpha in own.items():
            at = int(np.flatnonzero((out.codes == y).all(axis=1))[0])
            w += alpha * out.dphi[at]
            value += alpha * out.cost[at]
        if own:
            value -= sum(own.values()) ** 2 / (4 * C)
    return w, value - 0.5 * float(w @ w)


def passes(
    problem: Problem,
    solver: DualCoordinateDescent,
    count: int,
    state: DualCoordinateState | None = None,
) -> Iterator[DualCoordinateState]:
    """Run some passes and show the state after each."""
    rng = np.random.default_rng(0)
    state = solver.start(problem, rng, None) if state is None else state
    for _ in range(count):
        for _ in solver.run_pass(problem, state, rng):
            pass
        yield state


@pytest.fixture(params=problems.MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


# --- the optimum ---


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("C", [0.1, 3.0])
def test_dual_coordinate_reaches_the_enumerated_optimum(
    make: Maker, variant: str, C: float
) -> None:
    s = problems.make_small(make)
    problem = make_problem(s, SQUARED_HINGE, C, WEIGHTS)
    best, best_w = problems.best_squared_hinge(
        problems.enumerate_outputs(s), C * WEIGHTS
    )
    solution = solve(problem, precise(variant), tol=1e-7, max_iter=3000)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.primal >= best * (1 - 1e-9)
    assert solution.certificate.dual <= best * (1 + 1e-9)
    assert solution.certificate.primal == pytest.approx(best, rel=1e-6)
    # The objective is 1-strongly convex: the gap bounds the distance.
    assert 0.5 * np.sum((solution.w - best_w) ** 2) <= 2e-7 * best


def test_dual_coordinate_agrees_with_liblinear_on_two_classes() -> None:
    """With ``v = w0 - w1`` the norm is half of liblinear's, so its C is twice ours."""
    from sklearn.svm import LinearSVC

    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 4))
    y = (x[:, 0] + rng.normal(size=30) > 0).astype(np.int32)
    s = make_multiclass(make_dense_rows(x), y, 2)
    solution = solve(
        make_problem(s, SQUARED_HINGE, C=0.5), precise("ssvm"), tol=1e-9, max_iter=3000
    )
    peer = LinearSVC(C=1.0, fit_intercept=False, tol=1e-10, max_iter=100_000)
    v = peer.fit(x, y).coef_[0]
    w = solution.w.reshape(4, 2)
    np.testing.assert_allclose(w[:, 1] - w[:, 0], v, atol=1e-4)


@pytest.mark.parametrize("seed", [1, 2])
def test_dual_coordinate_any_seed_reaches_the_same_optimum(seed: int) -> None:
    s = problems.make_small(problems.chain_sparse)
    problem = make_problem(s, SQUARED_HINGE)
    runs = [
        solve(problem, precise("ssvm"), tol=1e-8, max_iter=3000, random_state=r)
        for r in (0, seed)
    ]
    assert not np.array_equal(runs[0].w, runs[1].w)
    np.testing.assert_allclose(runs[0].w, runs[1].w, atol=1e-3)


def assert_same_optimum(one: Problem, two: Problem) -> None:
    solutions = [
        solve(problem, precise("ssvm"), tol=1e-8, max_iter=3000)
        for problem in (one, two)
    ]
    first, second = (solution.certificate for solution in solutions)
    assert first is not None
    assert second is not None
    assert first.primal == pytest.approx(second.primal, rel=1e-6)
    np.testing.assert_allclose(solutions[0].w, solutions[1].w, atol=1e-3)


def test_dual_coordinate_example_of_weight_zero_is_dropped() -> None:
    chosen = problems.draw(ANY)
    weight = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    kept = [x for x, n in zip(chosen, weight, strict=True) if n]
    assert_same_optimum(
        make_problem(ANY(chosen), SQUARED_HINGE, 1.0, weight),
        make_problem(ANY(kept), SQUARED_HINGE),
    )


def test_dual_coordinate_weight_two_is_the_example_twice() -> None:
    chosen = problems.draw(ANY)
    weight = np.array([2.0, 1.0, 1.0, 2.0, 1.0, 1.0])
    doubled = [x for x, n in zip(chosen, weight, strict=True) for _ in range(int(n))]
    assert_same_optimum(
        make_problem(ANY(chosen), SQUARED_HINGE, 1.0, weight),
        make_problem(ANY(doubled), SQUARED_HINGE),
    )


# --- invariants, after every pass ---


@pytest.mark.parametrize("variant", VARIANTS)
def test_dual_coordinate_invariants_hold_after_every_pass(
    make: Maker, variant: str
) -> None:
    s = problems.make_small(make)
    problem = make_problem(s, SQUARED_HINGE, 1.0, WEIGHTS)
    outputs = problems.enumerate_outputs(s)
    solver = DualCoordinateDescent(variant)
    last = 0.0
    for state in passes(problem, solver, 8):
        duals = duals_of(problem, state)
        assert all(alpha > 0 for own in duals for alpha in own.values())
        w, dual = sum_up(problem, outputs, duals)
        np.testing.assert_allclose(state.w, w, atol=1e-10)
        np.testing.assert_allclose(
            state.sets.mass, [sum(own.values()) for own in duals], atol=1e-10
        )
        assert state.dual == pytest.approx(dual, rel=1e-9)
        assert dual >= last - 1e-12 * abs(last)
        last = dual
        assert state.estimate is not None
        assert state.estimate.dual == state.dual
        assert not state.estimate.exact
    assert last > 0


@pytest.mark.parametrize("variant", VARIANTS)
def test_dual_coordinate_certificate_is_what_enumeration_gives(
    make: Maker, variant: str
) -> None:
    s = problems.make_small(make)
    problem = make_problem(s, SQUARED_HINGE, 1.0, WEIGHTS)
    outputs = problems.enumerate_outputs(s)
    solver = DualCoordinateDescent(variant)
    *_, state = passes(problem, solver, 3)
    state.w += 1e-6  # as rounding would; to be repaired
    certificate = solver.certify(problem, state)
    w, dual = sum_up(problem, outputs, duals_of(problem, state))
    slack = [max(out.cost - out.dphi @ w) for out in outputs]
    np.testing.assert_allclose(state.w, w, atol=1e-12)
    assert certificate.exact
    assert certificate.dual == pytest.approx(dual, rel=1e-10)
    primal = 0.5 * w @ w + problem.C @ np.square(slack)
    assert certificate.primal == pytest.approx(primal, rel=1e-10)


@pytest.mark.parametrize("variant", VARIANTS)
def test_dual_coordinate_result_does_not_depend_on_the_cuts(
    variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How a pass is cut into calls depends on the clock; the bits must not."""
    s = problems.make_small(problems.chain_sparse, count=12)
    problem = make_problem(s, SQUARED_HINGE)

    def run(size: int) -> Any:
        def cut(count: int, seconds: float = 0.1) -> Iterator[tuple[int, int]]:
            for start in range(0, count, size):
                yield start, min(start + size, count)

        monkeypatch.setattr(visits, "chunks", cut)
        return solve(problem, DualCoordinateDescent(variant), tol=1e-9, max_iter=12)

    whole, pieces = run(12), run(1)
    np.testing.assert_array_equal(whole.w, pieces.w)
    np.testing.assert_array_equal(whole.trace["dual"], pieces.trace["dual"])
    np.testing.assert_array_equal(whole.trace["primal"], pieces.trace["primal"])


# --- what is not in the paper ---

FASTER: dict[str, Any] = {"looks": 3, "momentum": True}


@problems.plain_only
@pytest.mark.parametrize("settings", [FASTER, {"averaging": "weighted"}], ids=str)
def test_dual_coordinate_additions_lead_to_the_enumerated_optimum(
    make: Maker, settings: dict[str, Any]
) -> None:
    s = problems.make_small(make)
    problem = make_problem(s, SQUARED_HINGE, 3.0, WEIGHTS)
    best, _ = problems.best_squared_hinge(problems.enumerate_outputs(s), 3.0 * WEIGHTS)
    solver = DualCoordinateDescent(delta=0.0, **settings)
    # A mean forgets its first weights slowly.
    tol = 1e-2 if "averaging" in settings else 1e-7
    solution = solve(problem, solver, tol=tol, max_iter=3000)
    assert solution.converged, solution.status
    certificate = solution.certificate
    assert certificate is not None
    assert certificate.dual <= best * (1 + 1e-9)
    assert best * (1 - 1e-9) <= certificate.primal <= best / (1 - tol)
    assert certificate.primal == pytest.approx(problem.primal(solution.w), rel=1e-12)


@pytest.mark.skipif(problems.PLAIN_PYTHON, reason="too much for plain Python")
def test_dual_coordinate_additions_save_passes() -> None:
    s = problems.make_small(problems.ANY, count=12)
    problem = make_problem(s, SQUARED_HINGE, 30.0)
    needed = [
        len(solve(problem, DualCoordinateDescent(**one), tol=1e-4, max_iter=999).trace)
        for one in ({}, {"momentum": True}, FASTER)
    ]
    assert needed[0] > needed[1]
    assert needed[0] > needed[2]


def test_dual_coordinate_looks_again_where_much_is_violated() -> None:
    problem = make_problem(problems.make_small(problems.ANY), SQUARED_HINGE, 3.0)
    n, calls = problem.n_examples, {}
    for looks in (1, 3):
        *_, state = passes(problem, DualCoordinateDescent(looks=looks), 2)
        calls[looks] = state.oracle_calls
    assert calls[1] == 2 * n
    # In the second pass only those that are violated by more than the average.
    assert 3 * n < calls[3] < 6 * n


def test_dual_coordinate_going_on_never_lowers_the_dual() -> None:
    problem = make_problem(problems.make_small(problems.ANY), SQUARED_HINGE, 3.0)
    solver = DualCoordinateDescent(**FASTER)
    duals = [state.dual for state in passes(problem, solver, 15)]
    assert (np.diff(duals) >= -1e-14 * duals[-1]).all()


def test_dual_coordinate_mean_counts_later_passes_more() -> None:
    problem = make_problem(problems.make_small(problems.ANY), SQUARED_HINGE)
    seen = [state.w.copy() for state in passes(problem, DualCoordinateDescent(), 3)]
    *_, state = passes(problem, DualCoordinateDescent(averaging="weighted"), 3)
    mean = (seen[0] + 2 * seen[1] + 3 * seen[2]) / 6
    np.testing.assert_allclose(state.w, mean, rtol=1e-12, atol=1e-14)


# --- settings ---


def test_dual_coordinate_delta_keeps_slight_violations_out() -> None:
    """Those that explain no more than this share of the gap, so none is kept out."""
    problem = make_problem(problems.make_small(problems.chain_sparse), SQUARED_HINGE)
    counts = []
    for delta in (0.0, 0.5):
        solver = DualCoordinateDescent(delta=delta)
        *_, state = passes(problem, solver, 3)
        counts.append(count_members(problem.structure, state.sets))
        assert solve(problem, solver, tol=1e-8, max_iter=500).converged
    assert counts[0] > counts[1]


def test_dual_coordinate_delta_far_above_the_gap_ends_learning() -> None:
    """Only the first pass, which knows of no gap, lets outputs in."""
    problem = make_problem(problems.make_small(problems.chain_sparse), SQUARED_HINGE)
    solver = DualCoordinateDescent("light", delta=1e9)
    sets = [
        count_members(problem.structure, state.sets)
        for state in passes(problem, solver, 5)
    ]
    assert sets[0] > 0
    assert max(sets[1:]) <= sets[0]


def test_dual_coordinate_without_sweeps_is_light() -> None:
    problem = make_problem(problems.make_small(problems.chain_sparse), SQUARED_HINGE)
    *_, ssvm = passes(problem, DualCoordinateDescent("ssvm", sweeps=0), 5)
    *_, light = passes(problem, DualCoordinateDescent("light"), 5)
    np.testing.assert_array_equal(ssvm.w, light.w)


@pytest.mark.parametrize("variant", VARIANTS)
def test_dual_coordinate_sweeps_cost_no_inference(variant: str) -> None:
    problem = make_problem(problems.make_small(problems.chain_sparse), SQUARED_HINGE)
    *_, state = passes(problem, DualCoordinateDescent(variant, sweeps=7), 5)
    assert state.oracle_calls == 5 * problem.n_examples


def test_dual_coordinate_sweeps_get_further_with_the_same_inference() -> None:
    problem = make_problem(
        problems.make_small(problems.chain_sparse, count=12), SQUARED_HINGE, C=10.0
    )
    gaps = []
    for sweeps in (0, 5):
        solver = DualCoordinateDescent("ssvm", sweeps=sweeps)
        *_, state = passes(problem, solver, 10)
        gaps.append(solver.certify(problem, state).relative_gap)
    assert gaps[1] < gaps[0]


def test_dual_coordinate_cpd_stops_sweeping_when_it_no_longer_pays() -> None:
    problem = make_problem(problems.make_small(problems.chain_sparse), SQUARED_HINGE)
    counts = []
    for shrink_below in (1.0, 1e-6):
        solver = DualCoordinateDescent("cpd", sweeps=50, shrink_below=shrink_below)
        rng = np.random.default_rng(0)
        state = solver.start(problem, rng, None)
        counts.append(len(list(solver.run_pass(problem, state, rng))))
    assert counts[0] < counts[1] <= 51


@problems.plain_only
@pytest.mark.parametrize("C", [0.1, 3.0])
def test_dual_coordinate_gap_falls_linearly_on_fixed_sets(C: float) -> None:
    """Theorem 2 of the paper; the sets hold what some passes have found."""
    s = problems.make_small(problems.chain_costs)
    problem = make_problem(s, SQUARED_HINGE, C)
    found = dcd_rates.fixed_sets(problem, passes=2, most=300)
    assert found.n_outputs > problem.n_examples
    assert (np.diff(found.duals) >= -1e-14 * found.duals[-1]).all()
    assert 0.0 <= found.gap <= dcd_rates.LEAST_GAP
    rate = dcd_rates.fit_rate(found.distances)
    assert 0.0 < rate.factor < 0.97
    assert rate.straightness > 0.9
    # At the solution the sets hold all that matters: both bounds are those of all.
    *_, state = passes(problem, DualCoordinateDescent(delta=0.0, drop=False), 40)
    exact = DualCoordinateDescent().certify(problem, state)
    bounds = dcd_rates.bounds_in_sets(problem, state)
    assert bounds == pytest.approx((exact.primal, exact.dual), rel=1e-6)


@problems.plain_only
def test_dual_coordinate_drops_outputs_only_if_told_to() -> None:
    problem = make_problem(problems.make_small(problems.chain_sparse), SQUARED_HINGE)
    counts = {}
    for drop in (False, True):
        *_, state = passes(problem, DualCoordinateDescent(drop=drop), 10)
        counts[drop] = count_members(problem.structure, state.sets)
        least = min(min(own.values()) for own in duals_of(problem, state) if own)
        assert (least > 0.0) == drop
    assert counts[True] < counts[False]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"variant": "heavy"}, "unknown variant 'heavy'; choose from ssvm, light, cpd"),
        ({"sweeps": -1}, "sweeps must be at least 0, not -1"),
        ({"delta": -0.1}, "delta must be at least 0, not -0.1"),
        ({"variant": "cpd", "sweeps": 0}, "at least one"),
        ({"variant": "cpd", "looks": 2}, "cpd looks once"),
        ({"looks": 9}, "looks must be at most 8"),
    ],
)
def test_dual_coordinate_wrong_settings_are_refused(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        DualCoordinateDescent(**settings)


@pytest.mark.parametrize(
    ("name", "variant"),
    [("dcd", "ssvm"), ("dcd-ssvm", "ssvm"), ("dcd-light", "light"), ("cpd", "cpd")],
)
def test_dual_coordinate_is_found_by_its_names(name: str, variant: str) -> None:
    solver = make_solver(name)
    assert isinstance(solver, DualCoordinateDescent)
    assert solver.variant == variant


# --- working sets ---


def test_dual_coordinate_storage_grows_without_changing_the_result() -> None:
    problem = make_problem(
        problems.make_small(problems.chain_sparse, count=12), SQUARED_HINGE, C=10.0
    )
    solver = precise("ssvm")
    *_, roomy = passes(problem, solver, 30)
    rng = np.random.default_rng(0)
    tight = solver.start(problem, rng, None)
    tight.sets = make_working_sets(problem.n_examples, 1, 3)
    tight.members = np.zeros(1, np.int64)
    for _ in range(30):
        for _ in solver.run_pass(problem, tight, rng):
            pass
    np.testing.assert_array_equal(tight.w, roomy.w)
    assert duals_of(problem, tight) == duals_of(problem, roomy)
    assert tight.sets.alpha.size > 1


def test_dual_coordinate_storage_stays_small_over_many_passes() -> None:
    """Outputs come and go; room is won back, so that memory does not creep up."""
    problem = make_problem(
        problems.make_small(problems.chain_sparse, count=12), SQUARED_HINGE, C=10.0
    )
    added, most, largest = 0, 0, 0
    for state in passes(problem, precise("light"), 400):
        most = max(most, count_members(problem.structure, state.sets))
        largest = max(largest, state.sets.alpha.size)
        added = max(added, int(state.sets.used[0]))
    room = problem.n_examples + 16
    assert largest <= 2 * (most + problem.n_examples) + room
    assert added > count_members(problem.structure, state.sets), "nothing ever left"


# --- starting from an earlier run ---


def test_dual_coordinate_warm_start_goes_on_from_the_earlier_duals() -> None:
    s = problems.make_small(problems.chain_sparse)
    problem = make_problem(s, SQUARED_HINGE)
    first = solve(problem, precise("ssvm"), tol=1e-6, max_iter=500)
    again = solve(problem, precise("ssvm"), tol=1e-6, previous=first.state)
    assert len(again.trace) == 1
    assert again.converged
    # The earlier state is left as it was.
    np.testing.assert_array_equal(first.state.w, first.w)


def test_dual_coordinate_warm_start_with_other_weights_is_still_certified() -> None:
    s = problems.make_small(problems.chain_sparse)
    outputs = problems.enumerate_outputs(s)
    first = solve(make_problem(s, SQUARED_HINGE), precise("ssvm"), max_iter=500)
    weight = np.array([0.0, 5.0, 0.0, 1.0, 1.0, 1.0])
    problem = make_problem(s, SQUARED_HINGE, 1.0, weight)
    best, _ = problems.best_squared_hinge(outputs, weight)
    short = solve(problem, precise("ssvm"), max_iter=1, previous=first.state)
    assert short.certificate is not None
    assert short.certificate.dual <= best <= short.certificate.primal
    full = solve(
        problem, precise("ssvm"), tol=1e-7, max_iter=3000, previous=first.state
    )
    assert full.certificate is not None
    assert full.certificate.primal == pytest.approx(best, rel=1e-6)


def test_dual_coordinate_warm_start_from_another_corpus_is_refused() -> None:
    small = make_problem(problems.make_small(problems.chain_sparse), SQUARED_HINGE)
    large = make_problem(
        problems.make_small(problems.chain_sparse, count=8), SQUARED_HINGE
    )
    state = solve(small, DualCoordinateDescent(), max_iter=1).state
    with pytest.raises(ValueError, match="another structure"):
        solve(large, DualCoordinateDescent(), previous=state)


def test_dual_coordinate_settings_cannot_change_behind_a_run() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        DualCoordinateDescent().sweeps = 3  # type: ignore[misc]
