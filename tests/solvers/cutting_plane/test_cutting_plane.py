"""Cutting planes: the optimum, the bound, the planes and their programme."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, minimize, nnls

import problems
from hinge_problems import HINGE, WEIGHTS, passes, small
from partwise.losses import get_loss
from partwise.solvers import make_problem, solve
from partwise.solvers.base import Problem
from partwise.solvers.cutting_plane import cutting_plane as module
from partwise.solvers.cutting_plane.cutting_plane import CuttingPlane
from partwise.solvers.cutting_plane.plane_qp import Best, solve_plane_qp
from partwise.solvers.cutting_plane.planes import Planes, _triangular
from partwise.solvers.registry import make_solver
from partwise.solvers.working_sets.smo import SequentialMinimalOptimization
from partwise.structures import make_chain, make_dense_rows, make_multiclass
from problems import ANY, Floats, Maker, Outputs, plain_only

if problems.PLAIN_PYTHON:
    from scaled import Scaled

MAKERS = problems.EACH_KIND if problems.PLAIN_PYTHON else (problems.ANY,)


def vectors_of(
    problem: Problem, planes: Planes, outputs: list[Outputs]
) -> tuple[Floats, Floats]:
    """Return vector and cost of every plane, by enumeration."""
    vectors = np.zeros((len(planes), problem.n_weights))
    costs = np.zeros(len(planes))
    for k, codes in enumerate(planes.codes):
        for i, (out, C) in enumerate(zip(outputs, problem.C, strict=True)):
            own = codes[planes.ptr[i] : planes.ptr[i + 1]]
            at = int(np.flatnonzero((out.codes == own).all(axis=1))[0])
            vectors[k] += C * out.dphi[at]
            costs[k] += C * out.cost[at]
    return vectors, costs


@pytest.fixture(params=MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


# --- the optimum ---


@pytest.mark.parametrize("C", [0.1, 3.0])
def test_cutting_plane_reaches_the_enumerated_optimum(make: Maker, C: float) -> None:
    s = problems.make_small(make)
    problem = make_problem(s, HINGE, C, WEIGHTS)
    best, best_w = problems.best_hinge(problems.enumerate_outputs(s), C * WEIGHTS)
    solution = solve(problem, CuttingPlane(), tol=1e-4, max_iter=1000)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.exact
    assert solution.certificate.primal >= best * (1 - 1e-8)
    assert solution.certificate.dual <= best * (1 + 1e-8)
    assert solution.certificate.primal == pytest.approx(best, rel=1.1e-4)
    # The objective is 1-strongly convex: the gap bounds the distance.
    assert 0.5 * np.sum((solution.w - best_w) ** 2) <= 1.1e-4 * best


@plain_only
@pytest.mark.parametrize(
    "solver", [CuttingPlane(step=1.0), CuttingPlane(step=0.5, drop_after=1)]
)
def test_cutting_plane_agrees_with_smo(solver: CuttingPlane) -> None:
    problem = small(C=2.0, seed=5)
    mine = solve(problem, solver, tol=1e-6, max_iter=1000)
    theirs = solve(
        problem, SequentialMinimalOptimization(delta=0.0), tol=1e-8, max_iter=3000
    )
    assert mine.converged, mine.status
    np.testing.assert_allclose(mine.w, theirs.w, atol=1e-2)


def test_cutting_plane_beyond_rounding_says_so() -> None:
    """The programme has its tolerances: it ends with a sentence, not for ever."""
    solution = solve(small(), CuttingPlane(), tol=1e-15, max_iter=1000)
    assert len(solution.trace) < 1000
    assert solution.reason == "stalled" or solution.converged
    assert solution.certificate is not None
    assert solution.certificate.relative_gap < 1e-6


@plain_only
def test_cutting_plane_sequence_without_positions_costs_nothing() -> None:
    x, y = problems.examples(1, (3,))[0]
    s = make_chain(make_dense_rows(x), [0, 0, 3, 3], y, problems.N_LABELS)
    solution = solve(make_problem(s, HINGE), CuttingPlane(), tol=1e-5, max_iter=1000)
    assert solution.converged, solution.status
    alone = make_chain(make_dense_rows(x), [0, 3], y, problems.N_LABELS)
    same = solve(make_problem(alone, HINGE), CuttingPlane(), tol=1e-5, max_iter=1000)
    np.testing.assert_allclose(solution.w, same.w, atol=1e-2)


def test_cutting_plane_example_of_weight_zero_is_dropped() -> None:
    chosen = problems.draw(ANY)
    weight = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    kept = [x for x, n in zip(chosen, weight, strict=True) if n]
    with_it = solve(
        make_problem(ANY(chosen), HINGE, 1.0, weight),
        CuttingPlane(), tol=1e-5, max_iter=1000,
    )  # fmt: skip
    without = solve(
        make_problem(ANY(kept), HINGE), CuttingPlane(), tol=1e-5, max_iter=1000
    )
    assert with_it.converged, with_it.status
    np.testing.assert_allclose(with_it.w, without.w, atol=2e-2)


# --- the planes ---


def test_cutting_plane_products_are_those_of_the_vectors(make: Maker) -> None:
    s = problems.make_small(make)
    problem = make_problem(s, HINGE, 1.0, WEIGHTS)
    outputs = problems.enumerate_outputs(s)
    *_, state = passes(problem, CuttingPlane(), 6)
    planes = state.planes
    vectors, costs = vectors_of(problem, planes, outputs)
    assert len(planes) == 6
    np.testing.assert_allclose(planes.costs, costs, rtol=1e-12)
    products = planes.factor.T @ planes.factor
    np.testing.assert_allclose(products, vectors @ vectors.T, atol=1e-9)
    weights = np.linspace(-1.0, 1.0, 6)
    np.testing.assert_allclose(
        planes.combine(problem, weights), weights @ vectors, atol=1e-10
    )


def test_cutting_plane_bound_holds_and_never_falls(make: Maker) -> None:
    s = problems.make_small(make)
    problem = make_problem(s, HINGE, 1.0, WEIGHTS)
    outputs = problems.enumerate_outputs(s)
    best, _ = problems.best_hinge(outputs, problem.C)
    last_dual, last_primal = 0.0, np.inf
    for state in passes(problem, CuttingPlane(drop_after=2), 15):
        vectors, costs = vectors_of(problem, state.planes, outputs)
        w = state.alpha @ vectors
        assert state.alpha.min() >= 0.0
        assert state.alpha.sum() <= 1.0 + 1e-15
        assert state.dual == pytest.approx(
            costs @ state.alpha - 0.5 * w @ w, rel=1e-9, abs=1e-12
        )
        assert state.primal == pytest.approx(problem.primal(state.w), rel=1e-12)
        assert last_dual <= state.dual <= best * (1 + 1e-9)
        assert best * (1 - 1e-9) <= state.primal <= last_primal
        last_dual, last_primal = state.dual, state.primal
        assert state.estimate == CuttingPlane().certify(problem, state)
    assert last_dual > 0


def test_cutting_plane_idle_planes_are_dropped() -> None:
    problem = small(C=10.0, count=12)
    counts = {}
    for drop_after in (2, 1000):
        solver = CuttingPlane(drop_after=drop_after)
        for state in passes(problem, solver, 40):
            assert (state.idle <= drop_after).all()
        counts[drop_after] = len(state.planes)
        assert state.planes.factor.shape == (len(state.planes),) * 2
        assert state.alpha.size == state.idle.size == len(state.planes)
    assert counts[1000] == 40
    assert counts[2] < 40


def test_cutting_plane_smaller_steps_save_passes() -> None:
    problem = small(C=10.0, count=24)
    needed = [
        len(solve(problem, solver, tol=1e-2, max_iter=1000).trace)
        for solver in (CuttingPlane(), CuttingPlane(step=1.0))
    ]
    assert needed[0] < needed[1]


@plain_only
@pytest.mark.parametrize("C", [0.1, 3.0, 1e3])
@pytest.mark.parametrize("make", problems.EACH_KIND, ids=lambda make: make.__name__)
def test_cutting_plane_of_squared_losses_reaches_the_optimum(
    make: Maker, C: float
) -> None:
    s = problems.make_small(make)
    problem = make_problem(s, get_loss("squared_hinge"), C, WEIGHTS)
    outputs = problems.enumerate_outputs(s)
    best, _ = problems.best_squared_hinge(outputs, C * WEIGHTS)
    solution = solve(problem, CuttingPlane(), tol=1e-4, max_iter=1000)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.dual <= best * (1 + 1e-8)
    assert solution.certificate.primal >= best * (1 - 1e-8)
    # Another C weighs the same planes again: their tangents are still below.
    other = make_problem(s, problem.loss, 2 * C, WEIGHTS)
    again = solve(other, CuttingPlane(), max_iter=1, previous=solution.state)
    best, _ = problems.best_squared_hinge(outputs, 2 * C * WEIGHTS)
    assert again.certificate is not None
    assert 0.0 < again.certificate.dual <= best * (1 + 1e-8)


@plain_only
@pytest.mark.parametrize("features", [1e4, 1e8])
def test_cutting_plane_huge_features_change_no_loss(features: float) -> None:
    """Weights that cost nothing: what is left is a linear program of the losses."""
    s = problems.make_small(problems.classes_costs)
    outputs = problems.enumerate_outputs(s)
    d, n = outputs[0].dphi.shape[1], len(outputs)
    rows = [
        np.hstack([own.dphi, np.tile(np.eye(n)[i], (len(own.cost), 1))])
        for i, own in enumerate(outputs)
    ]
    peer = linprog(
        np.repeat([0.0, 1.0], [d, n]),
        A_ub=-np.vstack(rows),
        b_ub=-np.concatenate([own.cost for own in outputs]),
        bounds=(None, None),
    )
    problem = make_problem(Scaled(s, features), HINGE)
    solution = solve(problem, CuttingPlane(), tol=1e-6, max_iter=100)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.primal == pytest.approx(peer.fun, rel=1e-6)


@plain_only
@pytest.mark.parametrize("features", [1.0, 1e4, 1e8])
def test_cutting_plane_huge_features_change_no_squared_loss(features: float) -> None:
    """The objective is that of a larger C, whose optimum is enumerated.

    From 1e4 on the weights cost nothing that could be seen.
    """
    s = problems.make_small(problems.classes_costs)
    outputs = problems.enumerate_outputs(s)
    C = np.full(len(outputs), min(features, 1e4) ** 2)
    best = problems.best_squared_hinge(outputs, C)[0] / C[0]
    problem = make_problem(Scaled(s, features), get_loss("squared_hinge"))
    solution = solve(problem, CuttingPlane(), tol=1e-4, max_iter=200)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.primal == pytest.approx(best, rel=1e-4)


@plain_only
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("features", [1e4, 1e8])
def test_cutting_plane_huge_features_separate_what_is_separable(
    features: float, loss: str
) -> None:
    """Weights that cost next to nothing still have to be the smallest ones.

    Those of the widest margin, from quadratic programming over all outputs.
    """
    x = np.array([[2.0, 0.5], [1.5, -0.5], [-1.0, 2.0], [-2.0, 0.3], [-0.3, -1.5]])
    s = make_multiclass(make_dense_rows(x), [0, 0, 1, 1, 2], 3)
    outputs = problems.enumerate_outputs(s)
    dphi = np.vstack([own.dphi for own in outputs])
    cost = np.concatenate([own.cost for own in outputs])
    peer = minimize(
        lambda w: 0.5 * w @ w,
        np.ones(dphi.shape[1]),
        jac=lambda w: w,
        constraints={
            "type": "ineq",
            "fun": lambda w: dphi @ w - cost,
            "jac": lambda w: dphi,
        },
        method="SLSQP",
        options={"ftol": 1e-12},
    )
    assert peer.success
    problem = make_problem(Scaled(s, features), get_loss(loss))
    solution = solve(problem, CuttingPlane(), tol=1e-3, max_iter=400)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    best = peer.fun / features**2
    assert solution.certificate.primal == pytest.approx(best, rel=2e-3)
    assert solution.certificate.dual == pytest.approx(best, rel=2e-3)


BESIDE = {
    "classes": ([-1.9, 1.2, 1.3, -0.1, 1.4, 0.1], [0, 1, 2, 0, 1, 2]),
    "a threshold": ([1.0, 2.0, 3.0, 4.0], [0, 0, 1, 1]),
    "no threshold": ([1.0, 2.0, 3.0], [0, 1, 0]),
}


@plain_only
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("case", BESIDE)
def test_cutting_plane_huge_features_beside_an_intercept(
    case: str, loss: str, C: float
) -> None:
    """Weights of 1e8 features cost nothing, but that of the intercept does.

    Nor do those of 1e4, up to a millionth, where others solve the problem.
    """
    x, y = BESIDE[case]

    def problem(size: float) -> Problem:
        rows = make_dense_rows([[size * value, 1.0] for value in x])
        return make_problem(make_multiclass(rows, y, max(y) + 1), get_loss(loss), C)

    outputs = problems.enumerate_outputs(problem(1e4).structure)
    best_of = problems.best_hinge if loss == "hinge" else problems.best_squared_hinge
    best, _ = best_of(outputs, np.full(len(x), C))
    solution = solve(problem(1e8), CuttingPlane(), tol=1e-4, max_iter=400)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.primal == pytest.approx(best, rel=2e-4)


@plain_only
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("size", [1e4, 1e8])
def test_cutting_plane_huge_features_need_no_intercept(
    size: float, loss: str, C: float
) -> None:
    """The value next to zero, -1, needs weights of half of one over the size."""
    rows = make_dense_rows([[size * value, 1.0] for value in (-3.0, -1.0, 2.0, 5.0)])
    problem = make_problem(make_multiclass(rows, [0, 0, 1, 1], 2), get_loss(loss), C)
    solution = solve(problem, CuttingPlane(), tol=1e-4, max_iter=50)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.primal == pytest.approx(0.25 / size**2, rel=2e-4)


def test_cutting_plane_vectors_keep_what_is_small_beside_the_rest() -> None:
    """Also where planes are dropped, which the others in the basis stood on."""
    rng = np.random.default_rng(0)
    large = rng.normal(size=(3, 14))
    vectors = np.zeros((14, 14))
    vectors[:3], vectors[3:7] = 1e8 * large, rng.normal(size=(4, 14))
    large[:, 5], vectors[:, 5] = large[:, 2], vectors[:, 2]
    blur = 1e-12 * np.sqrt((vectors**2).sum(axis=0))
    order, factor = _triangular(vectors, blur)
    assert np.count_nonzero(factor.diagonal()) == 7
    # What adds up to nothing in the large rows tells the small ones.
    kernel = np.linalg.svd(large)[2][3:].T
    small = vectors[3:7] @ kernel
    seen = factor @ kernel[order]
    np.testing.assert_allclose(seen.T @ seen, small.T @ small, atol=1e-6)


@plain_only
@pytest.mark.parametrize("C", [1e2, 1e4])
@pytest.mark.parametrize(
    ("make", "seed"),
    [(problems.chain_sparse, 2), (problems.chain_dense, 0), (problems.chain_sparse, 7)],
)
def test_cutting_plane_rounding_takes_no_directions(
    make: Maker, seed: int, C: float
) -> None:
    """Planes that others stood on are dropped; their rounding is no direction."""
    weight = 10.0 ** np.random.default_rng(seed).uniform(-2, 2, 6)
    s = problems.make_small(make, 6, seed)
    problem = make_problem(s, get_loss("squared_hinge"), C, weight)
    solution = solve(problem, CuttingPlane(), tol=1e-6, max_iter=400)
    assert solution.converged, solution.status
    assert isinstance(solution.state, module.CuttingPlaneState)
    planes = solution.state.planes
    vectors = np.array([planes.combine(problem, e) for e in np.eye(len(planes))]).T
    sizes = np.sqrt((vectors**2).sum(axis=0))
    off = planes.factor.T @ planes.factor - vectors.T @ vectors
    assert (np.abs(off) <= 1e-6 * np.outer(sizes, sizes)).all()


# --- the programme ---


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("seed", range(4))
def test_plane_qp_is_the_optimum(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(12, 5)) * scale  # dependent on purpose
    gram, costs = x @ x.T, rng.uniform(0, 3, 12) * scale**2 * 10.0 ** (seed - 2)
    alpha, u = solve_plane_qp(x.T, costs)
    assert alpha.min() >= 0.0
    assert alpha.sum() <= 1.0 + 1e-15
    # No direction to a corner of the simplex rises: the gap of Frank and Wolfe.
    slope = costs - gram @ alpha
    value = costs @ alpha - 0.5 * alpha @ gram @ alpha
    assert max(slope.max(), 0.0) - slope @ alpha <= 1e-6 * value
    peer = minimize(
        lambda a: (0.5 * a @ gram @ a - costs @ a) / scale**2,
        np.full(12, 1 / 12),
        jac=lambda a: (gram @ a - costs) / scale**2,
        bounds=[(0, 1)] * 12,
        constraints={"type": "ineq", "fun": lambda a: 1 - a.sum()},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert value / scale**2 == pytest.approx(-peer.fun, rel=1e-6)
    # These are the weights that the multipliers make.
    w = x.T @ alpha
    np.testing.assert_allclose(u, w, rtol=0, atol=1e-6 * np.abs(w).max())


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_plane_qp_of_squared_losses_is_the_optimum(scale: float) -> None:
    """Of the same programme without a limit, as non-negative least squares."""
    rng = np.random.default_rng(0)
    x = np.hstack([rng.normal(size=(12, 5)), np.full((12, 1), np.sqrt(0.5))])
    costs = rng.uniform(0, 3, 12) * scale
    alpha, u = solve_plane_qp(x[:, :5].T, costs, squared=True)
    # The shortest w with x w >= costs, by Lawson and Hanson.
    goal = np.append(np.zeros(6), 1.0)
    z, _ = nnls(np.vstack([x.T, costs / scale]), goal)
    peer = z / (1.0 - costs / scale @ z) * scale
    np.testing.assert_allclose(alpha, peer, atol=1e-9 * peer.max())
    np.testing.assert_allclose(u, x[:, :5].T @ alpha, atol=1e-9 * np.abs(u).max())


def test_plane_qp_without_costs_stays_at_zero() -> None:
    assert solve_plane_qp(np.eye(2), np.zeros(2)).alpha.tolist() == [0.0, 0.0]


def test_plane_qp_flat_planes_take_the_costliest() -> None:
    alpha, u = solve_plane_qp(np.zeros((2, 2)), np.array([1.0, 3.0]))
    assert u.tolist() == [0.0, 0.0]
    np.testing.assert_allclose(alpha, [0.0, 1.0], atol=1e-6)


def test_cutting_plane_poor_multipliers_are_not_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Should the programme fail, the bound stays, and the run ends."""
    problem = small(C=10.0)
    *_, state = passes(problem, CuttingPlane(), 10)
    dual = state.dual
    monkeypatch.setattr(
        module,
        "solve_plane_qp",
        lambda factor, costs, *how: Best(*np.zeros((2, costs.size))),
    )
    rng = np.random.default_rng(0)
    count = 0
    while not state.halted:
        for _ in CuttingPlane().run_pass(problem, state, rng):
            pass
        assert state.dual >= dual
        count += 1
        assert count < 200
    assert state.halted == "stalled"


# --- going on ---


def test_cutting_plane_resumed_run_is_the_unbroken_one(tmp_path: Path) -> None:
    problem, solver = small(C=10.0, count=12), CuttingPlane(drop_after=2)
    options: dict[str, Any] = {"tol": 1e-9, "random_state": 3}
    unbroken = solve(problem, solver, max_iter=9, **options)
    options["checkpoint"] = tmp_path / "run"
    solve(problem, solver, max_iter=4, **options)
    resumed = solve(problem, solver, max_iter=9, resume=True, **options)
    np.testing.assert_array_equal(unbroken.w, resumed.w)
    assert unbroken.certificate == resumed.certificate


def test_cutting_plane_nothing_is_random() -> None:
    one, other = (
        solve(small(), CuttingPlane(), tol=1e-9, max_iter=5, random_state=seed)
        for seed in (1, 2)
    )
    np.testing.assert_array_equal(one.w, other.w)


def test_cutting_plane_warm_start_keeps_the_planes() -> None:
    problem = small()
    first = solve(problem, CuttingPlane(), tol=1e-4, max_iter=500)
    again = solve(problem, CuttingPlane(), tol=1.1e-4, previous=first.state)
    assert len(again.trace) == 1
    assert again.converged


def test_cutting_plane_warm_start_with_other_weights_is_still_certified() -> None:
    s = problems.make_small(problems.ANY)
    first = solve(make_problem(s, HINGE), CuttingPlane(), tol=1e-3, max_iter=500)
    weight = np.array([0.0, 5.0, 0.0, 1.0, 1.0, 1.0])
    problem = make_problem(s, HINGE, 2.0, weight)
    outputs = problems.enumerate_outputs(s)
    best, _ = problems.best_hinge(outputs, problem.C)
    short = solve(problem, CuttingPlane(), max_iter=1, previous=first.state)
    planes = short.state.planes
    vectors, costs = vectors_of(problem, planes, outputs)
    np.testing.assert_allclose(planes.costs, costs, rtol=1e-12)
    products = planes.factor.T @ planes.factor
    np.testing.assert_allclose(products, vectors @ vectors.T, atol=1e-9)
    assert short.certificate is not None
    assert 0 < short.certificate.dual <= best * (1 + 1e-9)
    assert best <= short.certificate.primal * (1 + 1e-9)


def test_cutting_plane_warm_start_from_another_corpus_is_refused() -> None:
    state = solve(small(), CuttingPlane(), max_iter=1).state
    with pytest.raises(ValueError, match="another structure"):
        solve(small(count=8), CuttingPlane(), previous=state)


@pytest.mark.usefixtures("eager_threads")
def test_cutting_plane_threads_meet_the_same_certificate() -> None:
    s = problems.make_small(problems.ANY, count=12)
    results = []
    for n_jobs in (1, 2, 2):
        problem = Problem(s, HINGE, np.full(12, 3.0), n_jobs=n_jobs)
        solution = solve(problem, CuttingPlane(), tol=1e-3, max_iter=500)
        assert solution.converged, solution.status
        results.append(solution.w)
    np.testing.assert_array_equal(results[1], results[2])
    np.testing.assert_allclose(results[0], results[1], atol=0.1)


# --- settings ---


def test_cutting_plane_is_found_by_its_name() -> None:
    assert make_solver("cutting-plane") == CuttingPlane()


def test_cutting_plane_interrupted_at_once_has_a_certificate() -> None:
    problem, solver = small(), CuttingPlane()
    state = solver.start(problem, np.random.default_rng(0), None)
    certificate = solver.certify(problem, state)
    assert certificate.primal == problem.primal(np.zeros(problem.n_weights))
    assert certificate.dual == 0.0


@plain_only
def test_cutting_plane_memory_holds_outputs_not_vectors() -> None:
    problem, solver = small(count=60), CuttingPlane()
    n_codes = int(np.diff(problem.structure.ptr).sum())
    *_, state = passes(problem, solver, 10)
    assert state.planes.codes.nbytes == 4 * n_codes * len(state.planes)
    assert solver.memory(problem) >= state.planes.codes.nbytes


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"step": 0.0}, "step must lie"),
        ({"step": 1.5}, "step must lie"),
        ({"drop_after": 0}, "at least 1"),
    ],
)
def test_cutting_plane_wrong_settings_are_refused(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        CuttingPlane(**settings)
