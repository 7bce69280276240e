"""Restricted simplicial decomposition: optima, bounds, derivatives, variants."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import wrightomega

import problems
from generative_problems import (
    COSTS,
    best_generative,
    generative,
    random_reference,
    small_model,
)
from hinge_problems import HINGE, WEIGHTS, passes, small
from partwise.errors import PairingError
from partwise.losses import get_loss
from partwise.solvers import RestrictedSimplicialDecomposition, make_problem, solve
from partwise.solvers.divergences import (
    ForwardDivergence,
    projected_bound,
    scaled_bound,
)
from partwise.solvers.log_distributions import (
    check_reference,
    make_log_distributions,
    uniform_reference,
)
from partwise.solvers.registry import default_solver, make_solver
from partwise.solvers.simplicial.master import HullProblem
from partwise.solvers.simplicial.points import DensePoints, SparsePoints
from partwise.solvers.simplicial.proximal_dual import (
    Minimum,
    ProximalDual,
    wright_omega,
)
from partwise.solvers.simplicial.reverse_dual import ReverseProximalDual
from partwise.structures import make_hidden_markov
from problems import Floats, Maker, plain_only

MAKERS = problems.EACH_KIND if problems.PLAIN_PYTHON else (problems.ANY,)

VARIANTS = {
    "joint": RestrictedSimplicialDecomposition(),
    "directions": RestrictedSimplicialDecomposition(directions=3),
    "every example": RestrictedSimplicialDecomposition(directions=99),
    "sets": RestrictedSimplicialDecomposition(working_sets=3),
    "coordinate": RestrictedSimplicialDecomposition(
        working_sets=2, variant="coordinate"
    ),
    "online": RestrictedSimplicialDecomposition(working_sets=2, variant="online"),
}
each_variant = pytest.mark.parametrize("solver", VARIANTS.values(), ids=VARIANTS)
# So few points that some with weight have to be dropped.
FEW = RestrictedSimplicialDecomposition(points=5)


# --- the convex programme of paper 003 ---


@plain_only
@each_variant
def test_simplicial_reaches_the_optimum_of_scipy(
    solver: RestrictedSimplicialDecomposition,
) -> None:
    problem = generative(small_model(costs=COSTS), C=0.5)
    best, _ = best_generative(problem)
    solution = solve(problem, solver, tol=1e-7, max_iter=3000)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.primal == pytest.approx(best, rel=1e-6)
    assert solution.certificate.dual <= best * (1 + 1e-9)
    assert problem.primal(solution.w) == pytest.approx(
        solution.certificate.primal, rel=1e-9
    )


BLOCKS = {
    "one by one": {"variant": "coordinate", "together": 1},
    "two at a time": {"variant": "coordinate", "together": 2},
    "all": {"variant": "joint"},
    "overlapping": {"variant": "online", "working_sets": [[0, 1, 3], [3, 4], [1, 2]]},
    "overlapping pairs": {
        "variant": "online",
        "working_sets": [[0, 1, 3], [3, 4], [1, 2]],
        "together": 2,
    },
}


@plain_only
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_simplicial_sets_one_by_one_are_not_in_each_others_way(loss: str) -> None:
    """With a large C, all but what two sets do together is undone by the next one."""
    corpus = problems.make_small(problems.chain_dense)
    problem = make_problem(corpus, get_loss(loss), 1e4)
    solver = make_solver("simplicial-coordinate")
    solution = solve(problem, solver, tol=1e-4, max_iter=30)
    assert solution.converged, solution.status


@plain_only
@pytest.mark.parametrize("how", BLOCKS.values(), ids=BLOCKS)
def test_simplicial_reaches_it_over_any_sets_of_examples(how: dict[str, Any]) -> None:
    problem = generative(small_model(costs=COSTS), C=0.5)
    best, _ = best_generative(problem)
    solver = RestrictedSimplicialDecomposition(
        **{"working_sets": [[3, 0], [1], [4, 2]]} | how
    )
    solution = solve(problem, solver, tol=1e-4, max_iter=3000)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.primal == pytest.approx(best, rel=2e-4)
    assert solution.certificate.dual <= best * (1 + 1e-9)


@plain_only
def test_simplicial_moves_the_chosen_sets_and_no_others() -> None:
    problem = generative(small_model(costs=COSTS), C=0.5)
    blocks = [np.array([3, 0]), np.array([1]), np.array([4, 2])]
    solver = RestrictedSimplicialDecomposition(
        working_sets=blocks, variant="coordinate", together=2, rounds=1
    )
    assert solver.working_sets == ((3, 0), (1,), (4, 2))
    state = solver.start(problem, np.random.default_rng(0), None)
    before, calls = state.dual_function.best(*state.points.total()).value, 0
    for chosen in ([0, 2], [1, 2], [0, 1]):
        others = ~np.isin(state.points.owner, chosen)
        kept = state.points.alpha[others].copy()
        solver._work_on(state, [blocks[j] for j in chosen], np.array(chosen))
        now = ~np.isin(state.points.owner, chosen)
        np.testing.assert_array_equal(state.points.alpha[now], kept)
        assert state.oracle_calls - calls == sum(blocks[j].size for j in chosen)
        calls = state.oracle_calls
        value = state.dual_function.best(*state.points.total()).value
        assert value > before
        before = value


@pytest.mark.parametrize(
    ("how", "match"),
    [
        ({"working_sets": [[0, 1], []]}, "at least one example"),
        ({"working_sets": [[0, -1]]}, "no example -1"),
        ({"working_sets": [[0, 1, 2, 3]]}, "example 4 is in none"),
        ({"working_sets": [[0, 1, 2, 3, 4, 5]]}, "example 5, but there are 5"),
        ({"working_sets": [[0, 1, 2], [2, 3, 4]]}, "example 2 is in several"),
        ({"together": 0}, "together must be an integer"),
    ],
)
def test_simplicial_sets_that_do_not_fit_are_refused(how: Any, match: str) -> None:
    def start() -> None:
        solver = RestrictedSimplicialDecomposition(variant="coordinate", **how)
        solver.start(generative(), np.random.default_rng(0), None)

    with pytest.raises(ValueError, match=match):
        start()


@plain_only
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(("C", "seed"), [(0.01, 0), (0.3, 1), (5.0, 2)])
def test_simplicial_reaches_it_with_any_reference(
    loss: str, C: float, seed: int
) -> None:
    s = small_model(seed)
    problem = generative(s, C, loss, reference=random_reference(s, seed))
    best, best_w = best_generative(problem)
    solution = solve(
        problem, RestrictedSimplicialDecomposition(), tol=1e-7, max_iter=3000
    )
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.primal == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(np.exp(solution.w), np.exp(best_w), atol=1e-2)


@plain_only
@pytest.mark.parametrize(
    ("loss", "C", "seed"),
    [("hinge", 0.01, 0), ("squared_hinge", 0.3, 1), ("hinge", 5.0, 2)],
)
def test_simplicial_reaches_it_with_the_reverse_divergence(
    loss: str, C: float, seed: int
) -> None:
    s = small_model(seed)
    c = random_reference(s, seed)
    problem = generative(s, C, loss, reference=c, divergence="reverse")
    best, best_w = best_generative(problem)
    solution = solve(
        problem, RestrictedSimplicialDecomposition(), tol=1e-4, max_iter=3000
    )
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.primal == pytest.approx(best, rel=2e-4)
    assert solution.certificate.dual <= best * (1 + 1e-9)
    assert problem.primal(solution.w) == pytest.approx(solution.certificate.primal)
    np.testing.assert_allclose(np.exp(solution.w), np.exp(best_w), atol=2e-2)
    other = generative(s, C, loss, reference=c)
    assert other.fingerprint() != problem.fingerprint()


def test_simplicial_compiled_reaches_it() -> None:
    problem = generative(C=0.3)
    best, _ = best_generative(problem)
    solution = solve(
        problem, RestrictedSimplicialDecomposition(), tol=1e-7, max_iter=3000
    )
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.primal == pytest.approx(best, rel=1e-6)


@plain_only
@pytest.mark.parametrize("kind", ["generative", "hinge"])
def test_simplicial_few_points_are_enough(kind: str) -> None:
    problem = generative() if kind == "generative" else small()
    many = solve(problem, make_solver("simplicial"), tol=1e-6, max_iter=1000)
    few = solve(problem, FEW, tol=2e-3, max_iter=1000)
    assert few.converged, few.status
    assert few.certificate is not None
    assert many.certificate is not None
    assert few.certificate.dual <= many.certificate.primal
    assert few.certificate.primal >= many.certificate.dual


@plain_only
@pytest.mark.parametrize("solver", [*VARIANTS.values(), FEW], ids=[*VARIANTS, "few"])
def test_simplicial_iterates_are_distributions_and_bounds_hold(
    solver: RestrictedSimplicialDecomposition,
) -> None:
    problem = generative(C=1.0)
    groups, best = problem.distributions(), best_generative(problem)[0]
    before: Any = None
    n_compared = 0
    for state in passes(problem, solver, 30):
        assert groups.sums(np.exp(state.iterate)).max() <= 1.0 + 1e-12
        assert groups.sums(np.exp(state.w)).max() <= 1.0 + 1e-12
        assert state.dual <= best * (1 + 1e-9) <= state.primal * (1 + 2e-9)
        assert state.primal == pytest.approx(problem.primal(state.w), rel=1e-10)
        assert state.points.alpha.min() >= 0.0
        np.testing.assert_allclose(
            np.bincount(state.points.owner, state.points.alpha), 1.0, atol=1e-12
        )
        assert np.bincount(state.points.owner).max() <= solver.points
        # Around one centre the dual value only rises, whatever points are dropped.
        if before is not None and before[0] == state.n_changes:
            assert state.proximal_value >= before[1] - 1e-9 * abs(before[1])
            n_compared += 1
        before = state.n_changes, state.proximal_value
    assert n_compared > 3
    assert state.n_changes > 2


@plain_only
def test_simplicial_several_directions_rise_further() -> None:
    """In the first pass, when every output found is a way up."""
    problem, dual = small(), {}
    for directions in (1, 3, 99):
        solver = RestrictedSimplicialDecomposition(directions=directions)
        (state,) = passes(problem, solver, 1)
        dual[directions] = state.dual
    assert dual[1] < dual[3] < dual[99]


@plain_only
def test_simplicial_centre_changes_by_the_second_rule_too() -> None:
    """Where no improvement is enough, a nearly optimal dual point is."""
    problem = generative(C=1.0)
    first = RestrictedSimplicialDecomposition(improvement=0.999, accuracy=1e-300)
    second = RestrictedSimplicialDecomposition(improvement=0.999, accuracy=0.1)
    *_, alone = passes(problem, first, 15)
    *_, both = passes(problem, second, 15)
    assert both.n_changes > alone.n_changes


@plain_only
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("size", [1e2, 1e5])
def test_simplicial_goes_far_in_few_passes(loss: str, size: float) -> None:
    """Large costs ask for probabilities as small as ``exp(-size)``."""
    costs = size * (1.0 - np.eye(2))
    s = make_hidden_markov([0, 1, 1], [0, 2, 3], [0, 1, 1], 2, 2, costs=costs)
    solution = solve(generative(s, 1.0, loss), make_solver("simplicial"), max_iter=100)
    assert solution.converged, solution.status
    assert solution.w.min() < -0.3 * size


@plain_only
def test_simplicial_missing_mass_is_where_scipy_leaves_it() -> None:
    """A distribution may add up to less than one: that is no failure of the solver."""
    problem = generative(small_model(count=8, costs=COSTS), C=2.0)
    groups = problem.distributions()
    solution = solve(problem, make_solver("simplicial"), tol=1e-8, max_iter=3000)
    _, best_w = best_generative(problem)
    ours, theirs = (groups.sums(np.exp(w)) for w in (solution.w, best_w))
    assert theirs.min() < 0.999
    np.testing.assert_allclose(ours, theirs, atol=1e-2)


# --- the L2 penalty ---


@pytest.mark.parametrize("C", [0.1, 3.0])
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_simplicial_reaches_the_optimum_of_the_hinge(make: Maker, C: float) -> None:
    s = problems.make_small(make)
    problem = make_problem(s, HINGE, C, WEIGHTS)
    best, best_w = problems.best_hinge(problems.enumerate_outputs(s), C * WEIGHTS)
    solution = solve(problem, make_solver("simplicial"), tol=1e-6, max_iter=1000)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.primal >= best * (1 - 1e-8)
    assert solution.certificate.dual <= best * (1 + 1e-8)
    # The objective is 1-strongly convex: the gap bounds the distance.
    assert 0.5 * np.sum((solution.w - best_w) ** 2) <= 2e-6 * best


@plain_only
@each_variant
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_simplicial_variants_reach_the_optimum_of_both_hinges(
    loss: str, solver: RestrictedSimplicialDecomposition
) -> None:
    s = problems.make_small(problems.chain_costs)
    problem = make_problem(s, get_loss(loss), 1.0, WEIGHTS)
    reach = problems.best_hinge if loss == "hinge" else problems.best_squared_hinge
    best, _ = reach(problems.enumerate_outputs(s), WEIGHTS)
    solution = solve(problem, solver, tol=1e-5, max_iter=3000)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.primal == pytest.approx(best, rel=1.1e-5)
    assert solution.certificate.dual <= best * (1 + 1e-9)


# --- the dual function ---


@pytest.mark.parametrize("z", [-1e300, -800.0, -30.0, -2.0, 0.0, 1.0, 2.0, 50.0, 1e12])
def test_wright_omega_is_that_of_scipy(z: float) -> None:
    assert wright_omega(z) == pytest.approx(float(wrightomega(z)), rel=1e-14, abs=0.0)


def dual_function(
    seed: int = 0, gamma: float = 0.3, kind: type[ProximalDual] = ProximalDual
) -> tuple[ProximalDual, Floats]:
    rng = np.random.default_rng(seed)
    groups = make_log_distributions(np.array([0, 1, 0, 1, 1, 0, 2]))
    c = uniform_reference(groups)
    centre = np.log(c) + rng.normal(size=c.size)
    return kind(c, centre, np.full(c.size, gamma), groups), rng.normal(size=7)


both_duals = pytest.mark.parametrize(
    "kind", [ProximalDual, pytest.param(ReverseProximalDual, marks=plain_only)]
)


@both_duals
@pytest.mark.parametrize("seed", range(3))
def test_proximal_dual_derivatives_are_those_of_finite_differences(
    seed: int, kind: type[ProximalDual]
) -> None:
    dual, v = dual_function(seed, kind=kind)
    lam = np.array([0.5, 2.0, 0.1])
    here, h = dual.at(v, 0.0, lam), 1e-6

    def shifted(at: int, by: float) -> Minimum:
        moved_v, moved_lam = v.copy(), lam.copy()
        if at < v.size:
            moved_v[at] += by
        else:
            moved_lam[at - v.size] += by
        return dual.at(moved_v, 0.0, moved_lam)

    def gradient(at: Minimum) -> Floats:
        return np.concatenate([-at.x, -at.missing])

    assert dual.groups is not None
    hessian = np.zeros((10, 10))
    hessian[range(7), range(7)] = -here.curvature
    hessian[range(7, 10), range(7, 10)] = -here.bend
    hessian[range(7), 7 + dual.groups.of] = here.tilt
    hessian[7 + dual.groups.of, range(7)] = here.tilt
    for at in range(10):
        up, down = shifted(at, h), shifted(at, -h)
        slope = (up.value - down.value) / (2 * h)
        assert gradient(here)[at] == pytest.approx(slope, abs=1e-7)
        numeric = (gradient(up) - gradient(down)) / (2 * h)
        np.testing.assert_allclose(hessian[at], numeric, atol=1e-6)


@both_duals
@pytest.mark.parametrize("seed", range(3))
def test_proximal_dual_best_multipliers_are_best(
    seed: int, kind: type[ProximalDual]
) -> None:
    dual, v = dual_function(seed, kind=kind)
    best = dual.best(v, 1.0)
    assert (best.lam >= 0.0).all()
    assert (best.missing >= -1e-12).all()
    np.testing.assert_allclose(best.lam * best.missing, 0.0, atol=1e-10)
    for scale in (0.5, 0.99, 1.01, 2.0):
        assert dual.at(v, 1.0, scale * best.lam + 1e-3).value < best.value


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e4, 1e10])
@pytest.mark.parametrize("gamma", [1e-6, 1.0, 1e6])
def test_proximal_dual_survives_any_values(size: float, gamma: float) -> None:
    dual, v = dual_function(1, gamma)
    best = dual.best(size * v, 0.0)
    assert np.isfinite(best.value)
    assert np.isfinite(best.x).all()
    assert best.missing.min() >= -1e-9
    # The equation of the minimiser (20), relative to its largest term.
    assert dual.groups is not None
    terms = np.stack(
        [
            best.lam[dual.groups.of] * np.exp(best.x),
            gamma * (best.x - dual.centre),
            -(dual.reference + size * v),
        ]
    )
    np.testing.assert_allclose(terms.sum(axis=0) / np.abs(terms).max(), 0.0, atol=1e-9)


@plain_only
@pytest.mark.parametrize("size", [1e-8, 1.0, 1e4, 1e10])
@pytest.mark.parametrize("gamma", [1e-6, 1.0, 1e6])
def test_reverse_dual_survives_any_values(size: float, gamma: float) -> None:
    dual, v = dual_function(1, gamma, ReverseProximalDual)
    best = dual.best(size * v, 0.0)
    assert np.isfinite(best.value)
    assert best.missing.min() >= -1e-9
    assert dual.groups is not None
    above = np.maximum(best.x - np.log(dual.reference), -1.0)
    terms = np.stack(
        [
            dual.reference * above * np.exp(above),
            best.lam[dual.groups.of] * np.exp(best.x),
            gamma * (best.x - dual.centre),
            -size * v,
        ]
    )
    np.testing.assert_allclose(terms.sum(axis=0) / np.abs(terms).max(), 0.0, atol=1e-9)


@pytest.mark.parametrize("kind", [DensePoints, SparsePoints])
def test_points_curvature_is_that_of_finite_differences(kind: Any) -> None:
    rng = np.random.default_rng(0)
    groups = make_log_distributions(np.array([0, 1, 0, 1, 1, 0, 2]))
    c, one = uniform_reference(groups), np.ones(7)
    grouped = kind is DensePoints
    dual = (
        ProximalDual(c, np.log(c), 0.3 * one, groups)
        if grouped
        else ProximalDual(0 * c, 0 * c, one, None)
    )
    points = kind(1, 7)
    points.groups = dual.groups
    points.add(rng.normal(size=(3, 7)), rng.normal(size=3), np.zeros(3, np.int64))
    alpha = np.array([0.4, 0.3, 0.2, 0.1])
    free, base = np.array([1, 2, 3]), np.zeros(3, np.int64)

    def gain(change: Floats) -> Floats:
        moved = alpha + np.concatenate([[-change.sum()], change])
        at = dual.best(points.combine(moved), float(moved @ points.offset))
        slope = points.offset - points.products(at.x)
        return np.asarray(slope[free] - slope[base])

    here = dual.best(points.combine(alpha), float(alpha @ points.offset))
    hessian = points.curvature(free, base, here)
    for j in range(3):
        h = 1e-6 * np.eye(3)[j]
        np.testing.assert_allclose(-hessian[j], (gain(h) - gain(-h)) / 2e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_master_finds_the_best_point_of_the_hull(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dual, _ = dual_function(seed)
    points = DensePoints(2, 7)
    points.add(rng.normal(size=(12, 7)), rng.normal(size=12), np.arange(12) % 2)
    first = dual.best(*points.total()).value
    best = HullProblem(points, dual).maximise(1e-12)
    assert best.value > first
    np.testing.assert_allclose(np.bincount(points.owner, points.alpha), 1.0)
    slope = points.offset - points.products(best.x)
    assert HullProblem(points, dual).gap(slope) <= 1e-9
    # The dual point survives when there is room for three points a set only.
    points.limit(3, np.arange(2))
    assert np.bincount(points.owner).max() <= 3
    assert dual.best(*points.total()).value == pytest.approx(best.value, abs=1e-12)


# --- the penalty and its bounds ---


@pytest.mark.parametrize(
    "which", ["forward", pytest.param("reverse", marks=plain_only)]
)
def test_divergence_bounds_lie_below_the_minimum(which: str) -> None:
    problem = generative(C=1.0, divergence=which)
    groups, c = problem.distributions(), problem.reference
    assert c is not None
    best, penalty = best_generative(problem)[0], problem.make_divergence()
    for state in passes(problem, make_solver("simplicial"), 20):
        vector, offset = state.points.total()
        assert scaled_bound(vector, offset, penalty) <= best * (1 + 1e-9)
    # With nothing to project, the two are the same.
    estimate, outside = projected_bound(0 * c, 0.0, penalty)
    assert outside == 0
    assert estimate == pytest.approx(scaled_bound(0 * c, 0.0, penalty), abs=1e-12)
    assert projected_bound(-2 * c, 1.0, penalty)[1] == len(groups)


def test_divergence_is_infinite_where_probabilities_are_none() -> None:
    groups = make_log_distributions(np.array([0, 0]))
    c = np.array([0.5, 0.5])
    penalty = ForwardDivergence(c, groups)
    assert penalty.value(np.log(c)) == pytest.approx(np.log(2))
    assert penalty.value(np.log(1.1 * c)) == np.inf


def test_normalise_shortens_what_is_too_much_only() -> None:
    groups = make_log_distributions(np.array([0, 0, 1, 1]))
    w = np.log([2.0, 2.0, 0.25, 0.5])
    got = np.exp(groups.normalise(w))
    np.testing.assert_allclose(got, [0.5, 0.5, 0.25, 0.5])


@pytest.mark.parametrize(
    ("c", "match"),
    [
        ([0.5, 0.4], "adds up to 0.9"),
        ([1.0, 0.0], "positive"),
        ([1.5, -0.5], "positive"),
        ([np.nan, 1.0], "positive"),
        ([1.0], "1 reference probabilities for 2"),
    ],
)
def test_reference_that_is_no_distribution_is_refused(c: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        check_reference(np.array(c), make_log_distributions(np.array([0, 0])))


def test_reference_needs_a_structure_with_log_probabilities() -> None:
    s = problems.make_small(problems.classes_dense)
    with pytest.raises(PairingError, match="not log-probabilities"):
        make_problem(s, HINGE, reference=np.ones(3))


def test_reference_is_refused_by_other_solvers() -> None:
    with pytest.raises(PairingError, match="use simplicial"):
        solve(generative(), make_solver("frank-wolfe"))


# --- settings, checkpoints, warm starts ---


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"gamma": 0.0}, "gamma must be positive"),
        ({"gamma": -1.0}, "gamma must be positive"),
        ({"gamma": np.nan}, "gamma must be positive"),
        ({"gamma": "small"}, "gamma must be positive"),
        ({"points": 2}, "points must be an integer of at least 3"),
        ({"points": 9.5}, "points must be an integer of at least 3"),
        ({"variant": "parallel"}, "unknown variant 'parallel'; choose from joint"),
        ({"directions": 0}, "directions must be an integer of at least 1"),
        ({"working_sets": 0}, "working_sets must be an integer of at least 1"),
        ({"rounds": 0}, "rounds must be an integer of at least 1"),
        ({"improvement": 1.0}, "improvement must lie"),
        ({"accuracy": 0.0}, "accuracy must be positive"),
    ],
)
def test_simplicial_bad_settings_are_refused(settings: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        RestrictedSimplicialDecomposition(**settings)


def test_simplicial_is_found_by_its_names() -> None:
    assert make_solver("simplicial") == RestrictedSimplicialDecomposition()
    online = make_solver("simplicial-online")
    assert online == RestrictedSimplicialDecomposition(
        variant="online", working_sets=10
    )
    assert default_solver("hinge", "divergence") == make_solver("simplicial")


@plain_only
@each_variant
@pytest.mark.parametrize("kind", ["generative", "hinge"])
def test_simplicial_resumed_run_is_the_unbroken_one(
    kind: str, solver: RestrictedSimplicialDecomposition, tmp_path: Path
) -> None:
    problem = generative() if kind == "generative" else small()
    options: dict[str, Any] = {"tol": 1e-12, "random_state": 3}
    unbroken = solve(problem, solver, max_iter=9, **options)
    options["checkpoint"] = tmp_path / "run"
    solve(problem, solver, max_iter=4, **options)
    resumed = solve(problem, solver, max_iter=9, resume=True, **options)
    np.testing.assert_array_equal(unbroken.w, resumed.w)
    assert unbroken.certificate == resumed.certificate


@plain_only
def test_simplicial_warm_start_saves_passes() -> None:
    problem = generative(C=1.0)
    first = solve(problem, make_solver("simplicial"), tol=1e-4, max_iter=500)
    other = generative(C=1.05)
    cold = solve(other, make_solver("simplicial"), tol=1e-3, max_iter=500)
    warm = solve(
        other, make_solver("simplicial"), tol=1e-3, max_iter=500, previous=first.state
    )
    assert warm.converged
    assert len(warm.trace) < len(cold.trace)


def test_simplicial_warm_start_from_another_corpus_is_refused() -> None:
    state = solve(small(), make_solver("simplicial"), max_iter=1).state
    with pytest.raises(ValueError, match="another structure"):
        solve(generative(), make_solver("simplicial"), previous=state)


def test_simplicial_interrupted_at_once_has_a_certificate() -> None:
    problem, solver = small(), make_solver("simplicial")
    state = solver.start(problem, np.random.default_rng(0), None)
    certificate = solver.certify(problem, state)
    assert certificate.primal == problem.primal(np.zeros(problem.n_weights))
    assert certificate.dual == 0.0


def test_simplicial_beyond_rounding_says_so() -> None:
    solution = solve(small(), make_solver("simplicial"), tol=1e-16, max_iter=2000)
    assert len(solution.trace) < 2000
    assert solution.certificate is not None
    assert solution.certificate.relative_gap < 1e-8


@plain_only
def test_simplicial_example_of_weight_zero_is_dropped() -> None:
    s = small_model(count=4)
    weight = np.array([1.0, 0.0, 2.0, 1.0])
    problem = generative(s)
    weighted = make_problem(
        s, HINGE, 1.0, weight, reference=np.asarray(problem.reference)
    )
    solution = solve(weighted, make_solver("simplicial"), tol=1e-6, max_iter=2000)
    assert solution.certificate is not None
    assert solution.certificate.primal == pytest.approx(
        best_generative(weighted)[0], rel=1e-5
    )
