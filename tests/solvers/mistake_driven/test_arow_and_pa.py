"""AROW and the passive-aggressive rules: their steps, beside dense mirrors of both."""

from typing import Any

import numpy as np
import pytest

import mistake_mirror
import problems
from partwise.losses import get_loss
from partwise.solvers import make_problem, solve
from partwise.solvers.mistake_driven.arow import AROW
from partwise.solvers.mistake_driven.base import MistakeDriven
from partwise.solvers.mistake_driven.passive_aggressive import PassiveAggressive
from partwise.solvers.registry import make_solver
from partwise.structures import make_dense_rows, make_multiclass
from problems import Floats, Maker, Outputs

HINGE = get_loss("hinge")
WEIGHTS = np.array([0.5, 2.0, 0.0, 0.25, 1.0, 3.0])


@pytest.fixture(params=mistake_mirror.MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


def rival(out: Outputs, w: Floats) -> int:
    """Return the best output by score alone, the right one where it wins."""
    return int(mistake_mirror.best_first(out, w, cost_augmented=False)[0])


@pytest.mark.parametrize("slack", ["none", "linear", "squared"])
@pytest.mark.parametrize("by_cost", [True, False])
def test_pa_is_the_naive_one(make: Maker, slack: str, by_cost: bool) -> None:
    problem = make_problem(problems.make_small(make), HINGE, 0.3, WEIGHTS)
    start = mistake_mirror.random_start(problem)

    def rule(out: Outputs, C: float, w: Floats) -> Floats:
        y = rival(out, w)
        dphi = out.dphi[y]
        sqnorm = dphi @ dphi
        if not out.cost[y] > 0 or sqnorm == 0.0:
            return np.zeros_like(w)
        loss = (np.sqrt(out.cost[y]) if by_cost else 1.0) - dphi @ w
        steps = {
            "none": loss / sqnorm,
            "linear": min(C, loss / sqnorm),
            "squared": loss / (sqnorm + 0.5 / C),
        }
        return steps[slack] * dphi

    seen = mistake_mirror.weights_after_visits(problem, rule, start.w, passes=3)
    assert not np.allclose(seen[0], seen[-1]), "nothing was learnt"
    solver = PassiveAggressive(order="cyclic", slack=slack, by_cost=by_cost)
    state = mistake_mirror.run_cyclic(problem, solver, start, 3)
    np.testing.assert_allclose(state.average.now, seen[-1], atol=1e-10)
    np.testing.assert_allclose(state.w, np.mean(seen, axis=0), atol=1e-10)


@pytest.mark.parametrize("gamma", [0.1, 3.0])
def test_arow_is_the_naive_one(make: Maker, gamma: float) -> None:
    problem = make_problem(problems.make_small(make), HINGE, 0.3, WEIGHTS)
    start = mistake_mirror.random_start(problem)
    variance = np.full(problem.n_weights, 2.0)

    def rule(out: Outputs, C: float, w: Floats) -> Floats:
        y = rival(out, w)
        if not out.cost[y] > 0:
            return np.zeros_like(w)
        dphi = out.dphi[y] * C / problem.C.max()
        loss = out.cost[y] - out.dphi[y] @ w
        step = loss / (dphi**2 @ variance + gamma) * variance * dphi
        variance[:] = 1 / (1 / variance + dphi**2 / gamma)
        return step

    seen = mistake_mirror.weights_after_visits(problem, rule, start.w, passes=3)
    assert not np.allclose(seen[0], seen[-1]), "nothing was learnt"
    solver = AROW(order="cyclic", averaging=True, variance=2.0, gamma=gamma)
    state = mistake_mirror.run_cyclic(problem, solver, start, 3)
    np.testing.assert_allclose(state.average.now, seen[-1], atol=1e-10)
    np.testing.assert_allclose(state.variance, variance, atol=1e-12)
    np.testing.assert_allclose(state.w, np.mean(seen, axis=0), atol=1e-10)


def test_arow_trusts_frequent_features_more() -> None:
    """The second of two equal mistakes moves a weight less than the first."""
    s = make_multiclass(make_dense_rows([[1.0, 0.0], [1.0, 1.0]]), [1, 1], 2)
    state = mistake_mirror.run_cyclic(
        make_problem(s, HINGE), AROW(order="cyclic"), None, 1
    )
    assert state.variance[0] < 1.0
    untouched = make_multiclass(make_dense_rows([[1.0, 0.0]]), [1], 2)
    alone = mistake_mirror.run_cyclic(make_problem(untouched, HINGE), AROW(), None, 1)
    np.testing.assert_array_equal(alone.variance[2:], 1.0)


def test_arow_and_pa_are_found_by_their_names() -> None:
    assert make_solver("arow") == AROW()
    assert make_solver("pa") == PassiveAggressive()


@pytest.mark.parametrize(
    ("make_it", "message"),
    [
        (lambda: AROW(gamma=0.0), "gamma must be positive and finite, not 0.0"),
        (
            lambda: AROW(variance=np.inf),
            "variance must be positive and finite, not inf",
        ),
        (lambda: PassiveAggressive(slack="some"), "unknown slack 'some'; choose from"),
    ],
)
def test_arow_and_pa_wrong_settings_are_refused(make_it: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_it()


@pytest.mark.parametrize("solver", [AROW(), PassiveAggressive()])
def test_arow_and_pa_account_for_what_was_wrong(solver: MistakeDriven) -> None:
    """At zero weights the first example costs its whole margin."""
    s = make_multiclass(make_dense_rows([[2.0]]), [1], 3)
    assert solve(make_problem(s, HINGE), solver, max_iter=1).state.loss[0] == 1.0
