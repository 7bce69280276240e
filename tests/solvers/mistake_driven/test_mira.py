"""MIRA: its step, its margin, and the quadratic program of the k-best form."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

import mistake_mirror
import problems
from partwise.losses import get_loss
from partwise.solvers import make_problem, solve
from partwise.solvers.mistake_driven.kbest_mira import KBestMIRA, share_mass
from partwise.solvers.mistake_driven.mira import MIRA
from partwise.solvers.registry import make_solver
from partwise.structures import make_dense_rows, make_multiclass
from problems import Floats, Maker, Outputs

HINGE = get_loss("hinge")
WEIGHTS = np.array([0.5, 2.0, 0.0, 0.25, 1.0, 3.0])


@pytest.fixture(params=mistake_mirror.MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


def one_example(costs: Any = None, C: float = 1.0) -> Any:
    s = make_multiclass(make_dense_rows([[2.0]]), [1], 3, costs=costs)
    return make_problem(s, HINGE, C)


# --- one output ---


def test_mira_update_is_that_by_hand() -> None:
    """The violation is 1 and the squared difference 2 * 2^2: a step of 1/8."""
    solver = MIRA(averaging=False, order="cyclic")
    solution = solve(one_example(), solver, max_iter=1)
    assert solution.w.tolist() == [-0.25, 0.25, 0.0]


def test_mira_C_bounds_the_step() -> None:
    solver = MIRA(averaging=False, order="cyclic")
    solution = solve(one_example(C=0.0625), solver, max_iter=1)
    assert solution.w.tolist() == [-0.125, 0.125, 0.0]


def test_mira_looks_for_the_dearest_output_unless_told_otherwise() -> None:
    costs = [[0.0, 1.0, 1.0], [1.0, 0.0, 4.0], [1.0, 1.0, 0.0]]
    solver = MIRA(averaging=False)
    dear = solve(one_example(costs), solver, max_iter=1)
    assert dear.w.tolist() == [0.0, 1.0, -1.0]
    plain = MIRA(averaging=False, cost_augmented=False)
    first = solve(one_example(costs), plain, max_iter=1)
    assert first.w.tolist() == [-0.25, 0.25, 0.0]


def test_mira_delta_is_the_violation_that_is_let_pass() -> None:
    assert not solve(one_example(), MIRA(delta=1.0)).w.any()
    assert solve(one_example(), MIRA(delta=0.999), max_iter=1).w.any()


def test_mira_that_can_change_nothing_says_nothing_of_separation() -> None:
    """Without features the weights stay, and the mistakes do too."""
    s = make_multiclass(make_dense_rows([[0.0]]), [1], 2)
    solution = solve(make_problem(s, HINGE), MIRA(), max_iter=3)
    assert solution.reason == "max_iter"
    assert not solution.w.any()


def mira_rule(k: int, delta: float = 1e-4) -> Any:
    """Return the update by a program over all that SciPy knows, for `k` outputs."""

    def rule(out: Outputs, C: float, w: Floats) -> Floats:
        best = mistake_mirror.best_first(out, w, cost_augmented=True)[:k]
        values = out.cost[best] - out.dphi[best] @ w
        if values.max() <= delta:
            return np.zeros_like(w)
        return best_mixture(values, out.dphi[best], C) @ out.dphi[best]

    return rule


def best_mixture(values: Floats, dphi: Floats, C: float) -> Floats:
    """Maximise ``a.values - 1/2 |a.dphi|^2`` over ``a >= 0`` with ``sum a <= C``."""
    gram = dphi @ dphi.T
    found = minimize(
        lambda a: 0.5 * a @ gram @ a - values @ a,
        np.full(values.size, C / (values.size + 1)),
        jac=lambda a: gram @ a - values,
        bounds=[(0.0, C)] * values.size,
        constraints={
            "type": "ineq",
            "fun": lambda a: C - a.sum(),
            "jac": lambda a: -np.ones(a.size),
        },
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    result: Floats = found.x
    return result


@pytest.mark.parametrize("C", [0.05, 10.0])
def test_mira_is_the_naive_one(make: Maker, C: float) -> None:
    problem = make_problem(problems.make_small(make), HINGE, C, WEIGHTS)
    start = mistake_mirror.random_start(problem)

    def rule(out: Outputs, C: float, w: Floats) -> Floats:
        y = mistake_mirror.best_first(out, w, cost_augmented=True)[0]
        violation = out.cost[y] - out.dphi[y] @ w
        if violation <= 1e-4:
            return np.zeros_like(w)
        sqnorm = out.dphi[y] @ out.dphi[y]
        return min(C, violation / sqnorm if sqnorm else np.inf) * out.dphi[y]

    seen = mistake_mirror.weights_after_visits(problem, rule, start.w, passes=3)
    assert not np.allclose(seen[0], seen[-1]), "nothing was learnt"
    state = mistake_mirror.run_cyclic(problem, MIRA(order="cyclic"), start, 3)
    np.testing.assert_allclose(state.average.now, seen[-1], atol=1e-10)
    np.testing.assert_allclose(state.w, np.mean(seen, axis=0), atol=1e-10)


def test_mira_step_gives_exactly_the_margin_that_is_asked_for(make: Maker) -> None:
    """Unless C holds it back: then the margin is smaller, and the step is C."""
    drawn = problems.draw(make)
    tried = {True: 0, False: 0}
    for j, C in [(j, C) for j in range(len(drawn)) for C in (0.05, 1e6)]:
        problem = make_problem(make([drawn[j]]), HINGE, C)
        start = mistake_mirror.random_start(problem, seed=j)
        (out,) = problems.enumerate_outputs(problem.structure)
        y = mistake_mirror.best_first(out, start.w, cost_augmented=True)[0]
        state = mistake_mirror.run_cyclic(problem, MIRA(averaging=False), start, 1)
        before, after = (out.cost[y] - out.dphi[y] @ w for w in (start.w, state.w))
        sqnorm = out.dphi[y] @ out.dphi[y]
        if before <= 1e-4 or sqnorm == 0.0:
            continue
        clipped = bool(C * sqnorm < before)
        tried[clipped] += 1
        expected = before - C * sqnorm if clipped else 0.0
        assert after == pytest.approx(expected, abs=1e-10)
    assert min(tried.values()) > 0, "only one of the two cases was met"


# --- several outputs ---


def test_mira_kbest_update_is_that_by_hand() -> None:
    """Both wrong classes get their margin at once: 2 (w_1 - w_j) = 1."""
    solver = KBestMIRA(averaging=False, k=3)
    solution = solve(one_example(), solver, max_iter=1)
    np.testing.assert_allclose(solution.w, [-1 / 6, 1 / 3, -1 / 6], atol=1e-9)


@pytest.mark.parametrize("C", [0.05, 10.0])
@pytest.mark.parametrize("k", [2, 4])
def test_mira_kbest_is_the_naive_one(make: Maker, k: int, C: float) -> None:
    problem = make_problem(problems.make_small(make), HINGE, C, WEIGHTS)
    start = mistake_mirror.random_start(problem)
    seen = mistake_mirror.weights_after_visits(problem, mira_rule(k), start.w, passes=2)
    assert not np.allclose(seen[0], seen[-1]), "nothing was learnt"
    state = mistake_mirror.run_cyclic(problem, KBestMIRA(order="cyclic", k=k), start, 2)
    np.testing.assert_allclose(state.average.now, seen[-1], atol=1e-5)
    np.testing.assert_allclose(state.w, np.mean(seen, axis=0), atol=1e-5)


def test_mira_kbest_of_one_is_mira() -> None:
    problem = make_problem(problems.make_small(problems.ANY, 20), HINGE, 0.1)
    one = solve(problem, MIRA(), max_iter=4)
    two = solve(problem, KBestMIRA(k=1), max_iter=4)
    np.testing.assert_array_equal(one.w, two.w)


def test_mira_kbest_of_more_than_there_are_takes_all() -> None:
    few, many = (
        solve(one_example(), KBestMIRA(averaging=False, k=k), max_iter=1).w
        for k in (3, 50)
    )
    np.testing.assert_array_equal(few, many)


@pytest.mark.parametrize("C", [0.01, 0.3, 100.0])
@pytest.mark.parametrize("seed", range(8))
def test_mira_share_of_mass_is_the_best(seed: int, C: float) -> None:
    """Against SciPy; more outputs than dimensions, so that many shares are best."""
    rng = np.random.default_rng(seed)
    dphi = rng.normal(size=(7, 4))
    values = rng.normal(size=7) + 0.5
    points = np.vstack([np.zeros(4), dphi])
    distances = np.sum((points[:, None] - points[None]) ** 2, axis=2)
    mass = np.zeros(8)
    mass[0] = C
    share_mass(np.concatenate([[0.0], values]), distances, mass, 8)
    assert (mass >= 0.0).all()
    assert mass.sum() == pytest.approx(C)

    def gain(a: Floats) -> float:
        return float(a @ values - 0.5 * np.sum((a @ dphi) ** 2))

    peer = best_mixture(values, dphi, C)
    assert gain(mass[1:]) >= gain(peer) - 1e-9
    np.testing.assert_allclose(mass[1:] @ dphi, peer @ dphi, atol=1e-4)


def test_mira_share_of_mass_without_a_bound_meets_every_margin() -> None:
    """With C out of the way it is least distance programming, by NNLS."""
    rng = np.random.default_rng(1)
    dphi, values = rng.normal(size=(4, 6)), rng.random(4) + 0.1
    goal = np.zeros(7)
    goal[-1] = 1.0
    z, _ = nnls(np.hstack([dphi, values[:, None]]).T, goal)
    residual = np.hstack([dphi, values[:, None]]).T @ z - goal
    shortest = -residual[:-1] / residual[-1]
    points = np.vstack([np.zeros(6), dphi])
    distances = np.sum((points[:, None] - points[None]) ** 2, axis=2)
    mass = np.array([1e3, 0.0, 0.0, 0.0, 0.0])
    share_mass(np.concatenate([[0.0], values]), distances, mass, 5)
    np.testing.assert_allclose(mass[1:] @ dphi, shortest, atol=1e-7)
    assert (dphi @ shortest >= values - 1e-9).all()


# --- settings ---


def test_mira_is_found_by_its_names() -> None:
    assert make_solver("mira") == MIRA()
    assert make_solver("mira-kbest") == KBestMIRA(k=5)


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (MIRA, {"delta": -1.0}, "delta must be at least 0, not -1.0"),
        (MIRA, {"delta": float("nan")}, "delta must be at least 0, not nan"),
        (KBestMIRA, {"k": 0}, "k must be at least 1, not 0"),
    ],
)
def test_mira_wrong_settings_are_refused(
    kind: type[MIRA], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        kind(**settings)
