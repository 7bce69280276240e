"""Block-coordinate Frank-Wolfe: its optimum, its steps, its certificate."""

import functools
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
from partwise.solvers.dual_weights import PlainWeights
from partwise.solvers.registry import make_solver
from partwise.solvers.working_sets import mass_steps, visits
from partwise.solvers.working_sets.extrapolation import extrapolate
from partwise.solvers.working_sets.frank_wolfe import FrankWolfe
from partwise.solvers.working_sets.sets import with_room
from partwise.solvers.working_sets.smo import SequentialMinimalOptimization
from partwise.structures import make_chain, make_dense_rows, make_multiclass
from problems import ANY, Floats, Maker, Outputs, plain_only

PUBLISHED = FrankWolfe("towards", sweeps=0, momentum=False)
VARIANTS = {
    "default": FrankWolfe(),
    "no sweeps": FrankWolfe(sweeps=0),
    "no momentum": FrankWolfe(momentum=False),
    "gaps": FrankWolfe(order="gaps"),
    "averaged": FrankWolfe(averaging="weighted"),
    "towards": FrankWolfe("towards"),
    "published": PUBLISHED,
}
MAKERS = problems.EACH_KIND if problems.PLAIN_PYTHON else (problems.ANY,)


@functools.cache
def enumerated(make: Maker) -> list[Outputs]:
    """List the outputs of a small corpus, once for all tests."""
    return problems.enumerate_outputs(problems.make_small(make))


@functools.cache
def best_of(make: Maker, C: float) -> tuple[float, Floats]:
    """Return the optimum of a small corpus with the weights `WEIGHTS`."""
    return problems.best_hinge(enumerated(make), C * WEIGHTS)


@pytest.fixture(params=MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


@pytest.fixture(params=VARIANTS)
def solver(request: pytest.FixtureRequest) -> FrankWolfe:
    return VARIANTS[request.param]


# --- the optimum ---


@pytest.mark.parametrize(
    ("name", "C"),
    [("default", 0.1), ("default", 3.0), ("no sweeps", 0.1), ("no momentum", 0.1),
     ("gaps", 3.0)],
)  # fmt: skip
def test_frank_wolfe_reaches_the_enumerated_optimum(
    make: Maker, name: str, C: float
) -> None:
    s = problems.make_small(make)
    problem = make_problem(s, HINGE, C, WEIGHTS)
    best, best_w = best_of(make, C)
    solution = solve(problem, VARIANTS[name], tol=1e-7, max_iter=3000)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.primal >= best * (1 - 1e-8)
    assert solution.certificate.dual <= best * (1 + 1e-8)
    assert solution.certificate.primal == pytest.approx(best, rel=1e-6)
    # The objective is 1-strongly convex: the gap bounds the distance.
    assert 0.5 * np.sum((solution.w - best_w) ** 2) <= 2e-7 * best


@pytest.mark.parametrize(
    ("solver", "tol"),
    [
        (FrankWolfe("towards"), 3e-2),
        (PUBLISHED, 3e-2),
        (FrankWolfe("towards", 0, momentum=False, line_search=False), 1e-1),
        (FrankWolfe("towards", 0, momentum=False, averaging="weighted"), 3e-2),
        (FrankWolfe(averaging="weighted"), 1e-2),
    ],
)
def test_frank_wolfe_slower_variants_come_near(solver: FrankWolfe, tol: float) -> None:
    """They converge only like 1/k, so to a looser tolerance."""
    s = problems.make_small(ANY)
    problem = make_problem(s, HINGE, 1.0, WEIGHTS)
    best, _ = best_of(ANY, 1.0)
    solution = solve(problem, solver, tol=tol, max_iter=300)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert best * (1 - 1e-8) <= solution.certificate.primal <= best * (1 + 1.1 * tol)


@plain_only
def test_frank_wolfe_agrees_with_smo(make: Maker) -> None:
    problem = make_problem(problems.make_small(make, seed=5), HINGE, 2.0)
    mine = solve(problem, FrankWolfe(), tol=1e-8, max_iter=3000)
    theirs = solve(
        problem, SequentialMinimalOptimization(delta=0.0), tol=1e-8, max_iter=3000
    )
    assert mine.converged
    np.testing.assert_allclose(mine.w, theirs.w, atol=1e-3)


@plain_only
def test_frank_wolfe_example_without_features_takes_the_costliest_output() -> None:
    """All outputs look alike there: the steps are straight and only end at zero."""
    costs = [[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [1.0, 1.0, 0.0]]
    rows = make_dense_rows([[0.0], [1.0]])
    problem = make_problem(make_multiclass(rows, [0, 1], 3, costs=costs), HINGE)
    solution = solve(problem, FrankWolfe(), tol=1e-9)
    assert solution.converged, solution.status
    assert duals_of(problem, solution.state)[0] == {(2,): 1.0}


@plain_only
def test_frank_wolfe_sequence_without_positions_costs_nothing() -> None:
    x, y = problems.examples(1, (3,))[0]
    s = make_chain(make_dense_rows(x), [0, 0, 3, 3], y, problems.N_LABELS)
    solution = solve(make_problem(s, HINGE), FrankWolfe(), tol=1e-6)
    assert solution.converged, solution.status
    alone = make_chain(make_dense_rows(x), [0, 3], y, problems.N_LABELS)
    same = solve(make_problem(alone, HINGE), FrankWolfe(), tol=1e-6)
    np.testing.assert_allclose(solution.w, same.w, atol=1e-3)


# --- weights of the examples ---


def assert_same_optimum(one: Problem, two: Problem) -> None:
    first, second = (
        solve(problem, FrankWolfe(), tol=1e-8, max_iter=3000) for problem in (one, two)
    )
    assert first.converged
    np.testing.assert_allclose(first.w, second.w, atol=1e-3)


def test_frank_wolfe_example_of_weight_zero_is_dropped() -> None:
    assert_same_optimum(*with_and_without(ANY))


def test_frank_wolfe_weight_two_is_the_example_twice() -> None:
    chosen = problems.draw(ANY)
    weight = np.array([2.0, 1.0, 1.0, 2.0, 1.0, 1.0])
    doubled = [x for x, n in zip(chosen, weight, strict=True) for _ in range(int(n))]
    assert_same_optimum(
        make_problem(ANY(chosen), HINGE, 1.0, weight),
        make_problem(ANY(doubled), HINGE),
    )


# --- every step ---


@pytest.mark.parametrize("pairwise", [True, False])
def test_frank_wolfe_every_step_goes_to_the_top(make: Maker, pairwise: bool) -> None:
    """No other length of the same step would have raised the dual as far."""
    s = problems.make_small(make)
    problem = make_problem(s, HINGE, 3.0, WEIGHTS)
    outputs = enumerated(make)
    state = PUBLISHED.start(problem, np.random.default_rng(0), None)
    state.sets = with_room(s, state.sets, 1000, 3000)
    state.fit_scratch()
    own = state.visits, state.board, state.gap
    rule = mass_steps.StepRule(pairwise, True, *own)
    site = state.site(problem)
    order = np.arange(problem.n_examples)
    dual, taken = 0.0, 0
    for _, i in itertools.product(range(15), order):
        before = duals_of(problem, state)
        reached, state.dual, _ = visits._infer(
            rule, site, visits.NOT_FOUND, order, i, i + 1, state.dual
        )
        assert reached == i + 1
        after = duals_of(problem, state)
        w, risen = sum_up(problem, outputs, after)
        np.testing.assert_allclose(state.iterate, w, atol=1e-10)
        assert state.dual == pytest.approx(risen, rel=1e-9, abs=1e-12)
        assert risen >= dual - 1e-12 * (1.0 + abs(dual))
        assert sum(after[i].values()) == pytest.approx(1.0, rel=1e-12)
        if before != after:
            taken += 1
            for share in (0.9, 1.1):
                moved = {
                    y: (1 - share) * before[i].get(y, 0.0)
                    + share * after[i].get(y, 0.0)
                    for y in before[i].keys() | after[i].keys()
                }
                if min(moved.values()) >= 0.0:
                    other = [moved if j == i else own for j, own in enumerate(after)]
                    assert sum_up(problem, outputs, other)[1] <= risen + 1e-9
        dual = risen
    assert taken >= problem.n_examples
    # The vector in which directions are added up is empty again.
    assert np.abs(state.board.direction).max() < 1e-12


def test_frank_wolfe_gaps_add_up_to_the_gap() -> None:
    """At fixed weights the examples' shares make up primal minus dual."""
    problem = small(C=2.0)
    *_, state = passes(problem, PUBLISHED, 3)
    order = np.arange(problem.n_examples)
    state.sets = with_room(problem.structure, state.sets, 100, 300)
    state.fit_scratch()
    gap = np.zeros(problem.n_examples)
    for i in order:  # each from the same point
        alpha, iterate = state.sets.alpha.copy(), state.iterate.copy()
        older, newest = state.sets.older.copy(), state.sets.newest.copy()
        rule = mass_steps.StepRule(True, True, state.visits, state.board, gap)
        site = state.site(problem)._replace(weights=PlainWeights(iterate))
        visits._infer(rule, site, visits.NOT_FOUND, order, i, i + 1, 0.0)
        state.sets.alpha[:] = alpha
        state.sets.older[:] = older
        state.sets.newest[:] = newest
    certificate = PUBLISHED.certify(problem, state)
    assert certificate.gap > 0
    assert gap.sum() == pytest.approx(certificate.gap, rel=1e-9)


# --- invariants, after every pass ---


def test_frank_wolfe_invariants_hold_after_every_pass(
    make: Maker, solver: FrankWolfe
) -> None:
    s = problems.make_small(make)
    problem = make_problem(s, HINGE, 1.0, WEIGHTS)
    outputs = enumerated(make)
    last = 0.0
    for state in passes(problem, solver, 8):
        duals = duals_of(problem, state)
        assert all(alpha >= 0 for own in duals for alpha in own.values())
        for own in duals:
            assert sum(own.values()) == pytest.approx(1.0, rel=1e-12)
        w, dual = sum_up(problem, outputs, duals)
        np.testing.assert_allclose(state.iterate, w, atol=1e-10)
        assert state.dual == pytest.approx(dual, rel=1e-9)
        assert dual >= last - 1e-12 * abs(last)
        last = dual
        assert state.estimate is not None
        assert state.estimate.dual == state.dual
        assert not state.estimate.exact
    assert last > 0


def test_frank_wolfe_certificate_is_what_enumeration_gives(
    make: Maker, solver: FrankWolfe
) -> None:
    s = problems.make_small(make)
    problem = make_problem(s, HINGE, 1.0, WEIGHTS)
    outputs = enumerated(make)
    *_, state = passes(problem, solver, 3)
    shown = state.w.copy()
    state.iterate = state.iterate + 1e-6  # as rounding would; to be repaired
    state.sets.alpha[:] *= 1 + 1e-9
    certificate = solver.certify(problem, state)
    w, dual = sum_up(problem, outputs, duals_of(problem, state))
    slack = [max(out.cost - out.dphi @ shown) for out in outputs]
    np.testing.assert_allclose(state.iterate, w, atol=1e-12)
    np.testing.assert_array_equal(state.w, shown)
    assert certificate.exact
    assert certificate.dual == pytest.approx(dual, rel=1e-10)
    assert certificate.primal == pytest.approx(
        0.5 * shown @ shown + problem.C @ slack, rel=1e-10
    )
    best, _ = best_of(make, 1.0)
    assert certificate.dual <= best * (1 + 1e-9)
    assert certificate.primal >= best * (1 - 1e-9)


def test_frank_wolfe_result_does_not_depend_on_the_cuts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """How a pass is cut into calls depends on the clock; the bits must not."""
    problem = small(count=12)

    def run(size: int) -> Any:
        def cut(count: int, seconds: float = 0.1) -> Iterator[tuple[int, int]]:
            for start in range(0, count, size):
                yield start, min(start + size, count)

        monkeypatch.setattr(visits, "chunks", cut)
        return solve(problem, FrankWolfe(), tol=1e-9, max_iter=12)

    whole, pieces = run(12), run(1)
    np.testing.assert_array_equal(whole.w, pieces.w)
    np.testing.assert_array_equal(whole.trace["dual"], pieces.trace["dual"])


def test_frank_wolfe_storage_grows_without_changing_the_result() -> None:
    problem = small(C=10.0, count=12)
    results = []
    for room in (0, 5000):
        rng = np.random.default_rng(0)
        state = FrankWolfe().start(problem, rng, None)
        state.sets = with_room(problem.structure, state.sets, room, 3 * room)
        if room == 0:
            state.sets = state.sets._replace(
                alpha=state.sets.alpha[: problem.n_examples].copy()
            )
        state.fit_scratch()
        state.before = state.sets.alpha.copy()
        first_size = state.sets.alpha.size
        for _ in range(20):
            for _ in FrankWolfe().run_pass(problem, state, rng):
                pass
        assert (state.sets.alpha.size > first_size) == (room == 0)
        results.append((state.w, duals_of(problem, state)))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    assert results[0][1] == results[1][1]


# --- momentum ---


def test_frank_wolfe_extrapolated_duals_are_distributions() -> None:
    problem = small(C=10.0)
    *_, state = passes(problem, FrankWolfe(momentum=False), 3)
    before = state.before
    gone = state.sets.alpha.copy()
    extrapolate(state.sets, before, 50.0)
    state.normalise()
    for own in duals_of(problem, state):
        assert sum(own.values()) == pytest.approx(1.0, rel=1e-14)
        assert min(own.values()) >= 0.0
    assert np.abs(state.sets.alpha - gone).max() > 1e-3


@plain_only
def test_frank_wolfe_momentum_that_lowers_the_dual_is_undone() -> None:
    problem, solver = small(C=10.0), FrankWolfe()
    *_, state = passes(problem, solver, 5)
    *_, plain = passes(problem, solver, 5)
    state.momentum = plain.momentum = 1e6  # far too long
    alpha, dual = state.sets.alpha.copy(), state.dual
    state.before = np.zeros_like(alpha)
    state.before[:] = alpha[::-1]
    state.go_on(problem, problem.C)
    np.testing.assert_array_equal(state.sets.alpha, alpha)
    assert state.dual == dual
    np.testing.assert_array_equal(state.iterate, plain.iterate)
    assert state.momentum < 1e6


def test_frank_wolfe_momentum_saves_passes() -> None:
    problem = small(C=30.0, count=12)
    needed = [
        len(solve(problem, solver, tol=1e-2, max_iter=2000).trace)
        for solver in (FrankWolfe(), FrankWolfe(momentum=False))
    ]
    assert needed[0] < needed[1]


# --- going on ---


@pytest.mark.parametrize("name", ["default", "gaps", "averaged", "published"])
def test_frank_wolfe_resumed_run_is_the_unbroken_one(tmp_path: Path, name: str) -> None:
    problem, solver = small(C=10.0, count=12), VARIANTS[name]
    options: dict[str, Any] = {"tol": 1e-9, "random_state": 3}
    unbroken = solve(problem, solver, max_iter=9, **options)
    options["checkpoint"] = tmp_path / "run"
    solve(problem, solver, max_iter=4, **options)
    resumed = solve(problem, solver, max_iter=9, resume=True, **options)
    np.testing.assert_array_equal(unbroken.w, resumed.w)
    assert unbroken.certificate == resumed.certificate
    assert duals_of(problem, unbroken.state) == duals_of(problem, resumed.state)


def test_frank_wolfe_same_seed_gives_the_same_weights() -> None:
    problem = small(C=10.0, count=12)
    one, same, other = (
        solve(problem, FrankWolfe(), tol=1e-9, max_iter=4, random_state=seed).w
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    "first", [FrankWolfe(), SequentialMinimalOptimization()], ids=["itself", "smo"]
)
def test_frank_wolfe_warm_start_goes_on_from_the_earlier_duals(first: Any) -> None:
    problem = small()
    earlier = solve(problem, first, tol=1e-6, max_iter=500)
    kept = earlier.w.copy()
    again = solve(problem, FrankWolfe(), tol=1e-5, previous=earlier.state)
    assert len(again.trace) == 1
    assert again.converged
    # The earlier state is left as it was.
    np.testing.assert_array_equal(earlier.state.w, kept)


def test_frank_wolfe_warm_start_with_other_weights_is_still_certified() -> None:
    s = problems.make_small(problems.ANY)
    first = solve(make_problem(s, HINGE), FrankWolfe(), max_iter=500)
    weight = np.array([0.0, 5.0, 0.0, 1.0, 1.0, 1.0])
    problem = make_problem(s, HINGE, 2.0, weight)
    best, _ = problems.best_hinge(problems.enumerate_outputs(s), 2.0 * weight)
    short = solve(problem, FrankWolfe(), max_iter=1, previous=first.state)
    assert short.certificate is not None
    assert short.certificate.dual <= best * (1 + 1e-9)
    assert best <= short.certificate.primal * (1 + 1e-9)
    full = solve(problem, FrankWolfe(), tol=1e-7, max_iter=3000, previous=first.state)
    assert full.certificate is not None
    assert full.certificate.primal == pytest.approx(best, rel=1e-6)


def test_frank_wolfe_warm_start_from_another_corpus_is_refused() -> None:
    state = solve(small(), FrankWolfe(), max_iter=1).state
    with pytest.raises(ValueError, match="another structure"):
        solve(small(count=8), FrankWolfe(), previous=state)


# --- settings ---


def test_frank_wolfe_is_found_by_its_name() -> None:
    assert make_solver("frank-wolfe") == FrankWolfe()


def test_frank_wolfe_sweeps_cost_no_inference() -> None:
    problem = small()
    *_, state = passes(problem, FrankWolfe(sweeps=7), 5)
    assert state.oracle_calls == 5 * problem.n_examples


@plain_only
def test_frank_wolfe_published_steps_shrink_without_line_search() -> None:
    """One example: all the mass moves to class 1, then two thirds of it back."""
    s = make_multiclass(make_dense_rows([[1.0]]), [0], 2)
    problem = make_problem(s, HINGE, C=1.0)
    solver = FrankWolfe("towards", 0, momentum=False, line_search=False)
    shares = [duals_of(problem, state)[0] for state in passes(problem, solver, 2)]
    assert shares[0] == {(1,): 1.0}
    assert shares[1] == pytest.approx({(0,): 2 / 3, (1,): 1 / 3})


def test_frank_wolfe_average_weighs_later_passes_more() -> None:
    problem = small(C=10.0)
    solver = FrankWolfe("towards", 0, momentum=False, averaging="weighted")
    iterates = []
    for state in passes(problem, solver, 4):
        iterates.append(state.iterate.copy())
    expected = np.average(iterates, axis=0, weights=[1, 2, 3, 4])
    np.testing.assert_allclose(state.w, expected, rtol=1e-12, atol=1e-14)


def test_frank_wolfe_memory_holds_no_vector_per_example() -> None:
    few, many = (small(count=count) for count in (6, 60))
    solver = FrankWolfe()
    per_example = (solver.memory(many) - solver.memory(few)) / 54
    *_, state = passes(many, solver, 10)
    kept = sum(array.nbytes for array in state.sets) / many.n_examples
    assert kept <= per_example
    # One weight more costs the same, however many examples there are.
    assert per_example * 6 + 8 * 2 * few.n_weights == pytest.approx(solver.memory(few))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": "away"}, "unknown steps 'away'"),
        ({"sweeps": -1}, "sweeps must be at least 0, not -1"),
        ({"order": "random"}, "unknown order 'random'"),
        ({"averaging": "uniform"}, "unknown averaging 'uniform'"),
        ({"line_search": False}, "needs steps='towards'"),
    ],
)
def test_frank_wolfe_wrong_settings_are_refused(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        FrankWolfe(**settings)
