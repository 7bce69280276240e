"""Steps on duals kept part by part: every single one, against enumeration."""

from typing import Any

import numpy as np
import pytest

import problems
from dual_mirror import DualMirror
from log_problems import WEIGHTS
from partwise.losses import get_loss
from partwise.solvers import ExponentiatedGradient, Problem, make_problem
from partwise.solvers.part_duals.exponentiated_gradient import OnlineState
from partwise.solvers.part_duals.guaranteed_steps import guaranteed_steps
from problems import Maker

# How the steps of a run are made: the loss, the solver's settings, and for how many
# passes it mixes before it multiplies.
RUNS: dict[str, tuple[str, dict[str, Any], int]] = {
    "mixing": ("log_loss", {}, 6),
    "mixing, then multiplying": ("log_loss", {}, 3),
    "multiplying": ("log_loss", {"start_at": "gold"}, 0),
    "guaranteed": ("log_loss", {"step": "guaranteed"}, 0),
    "multiplying, hinge": ("hinge", {}, 0),
    "guaranteed, hinge": ("hinge", {"step": "guaranteed"}, 0),
}


@pytest.fixture(params=problems.MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


def small(make: Maker, loss: str, C: float, seed: int = 0) -> Problem:
    return make_problem(
        problems.make_small(make, seed=seed), get_loss(loss), C, WEIGHTS
    )


def start(problem: Problem, **settings: Any) -> tuple[OnlineState, DualMirror]:
    solver = ExponentiatedGradient(**settings)
    state = solver.start(problem, np.random.default_rng(0), None)
    assert isinstance(state, OnlineState)
    mirror = DualMirror(problem)
    mirror.start_at(state.dual)
    return state, mirror


def rounding(problem: Problem, state: OnlineState) -> float:
    """Return what rounding may do to the dual value: scores cancel in entropies."""
    scores = 1.0 + np.abs(state.dual.theta).max() + np.abs(state.w).max()
    return 1e-13 * float(problem.C.sum() * scores + state.w @ state.w)


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("C", [0.1, 30.0])
def test_dual_parts_no_step_lowers_the_dual(make: Maker, run: str, C: float) -> None:
    """Nor claims more than there is; weights and marginals are those of the steps."""
    loss, settings, mixing = RUNS[run]
    problem = small(make, loss, C)
    state, mirror = start(problem, **settings)
    fixed = np.zeros(problem.n_examples)
    if settings.get("step") == "guaranteed":
        fixed = guaranteed_steps(problem, together=False)
    first = last = mirror.dual(state.dual.value)
    for number in range(6):
        for i in range(problem.n_examples):
            rise, calls = mirror.follow(state, i, number < mixing, fixed[i])
            slack = rounding(problem, state)
            reached = mirror.dual(state.dual.value)
            assert reached >= last - slack
            assert rise == pytest.approx(reached - last, abs=slack)
            assert calls >= 1
            last = reached
            np.testing.assert_allclose(state.dual.mu, mirror.mu, atol=1e-11)
            np.testing.assert_allclose(state.w, mirror.w, atol=1e-11 * (1 + C))
            if loss == "hinge":
                np.testing.assert_allclose(state.dual.value, mirror.values, atol=1e-11)
            else:
                assert (state.dual.value <= mirror.values + 1e-11).all()
    if not (make in problems.TREES and C == 30.0 and fixed.any()):
        assert last > first  # there, guaranteed steps are too small to see a rise
    certificate = state.certify(problem)
    assert certificate.dual == pytest.approx(last, abs=rounding(problem, state))
    assert certificate.primal == pytest.approx(mirror.primal(), rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("mix", [True, False])
def test_dual_parts_any_memory_of_steps_is_safe(seed: int, mix: bool) -> None:
    """What was remembered of an example may be far off; the dual rises all the same."""
    problem = small(problems.chain_sparse, "log_loss", 10.0, seed)
    state, mirror = start(problem, start_at="mixture" if mix else "gold")
    rng = np.random.default_rng(seed)
    last = mirror.dual(state.dual.value)
    for _ in range(60):
        i = int(rng.integers(problem.n_examples))
        state.dual.bend[i] = 10.0 ** rng.uniform(-6, 8)
        state.dual.step[i] = rng.uniform(0.02, 1.0)
        mirror.follow(state, i, mix, 0.0)
        reached = mirror.dual(state.dual.value)
        assert reached >= last - rounding(problem, state)
        last = reached


def test_dual_parts_tiny_changes_leave_no_false_curvature() -> None:
    """An example that hardly moves says nothing of how it bends when it does."""
    problem = small(problems.chain_sparse, "log_loss", 1.0)
    state, mirror = start(problem)
    for _ in range(300):
        for i in range(problem.n_examples):
            mirror.follow(state, i, True, 0.0)
    # |delta|^2 <= C^2 |change of mu|^2 times the squared norms of all the parts.
    most = max(np.square(out.dphi).sum() for out in mirror.outputs)
    assert (state.dual.bend > 0).all()
    assert (state.dual.bend <= most).all()


def test_dual_parts_gaps_are_what_the_steps_saw() -> None:
    """While mixing, the gap of an example is ``C KL(alpha || p)`` when visited."""
    problem = small(problems.chain_sparse, "log_loss", 1.0)
    state, mirror = start(problem)
    for _ in range(3):
        for i in range(problem.n_examples):
            w, value = state.w.copy(), float(state.dual.value[i])
            alpha = mirror.alpha[i]
            scores = -mirror.outputs[i].dphi @ w
            kl = np.logaddexp.reduce(scores) - alpha @ scores - value
            mirror.follow(state, i, True, 0.0)
            assert state.dual.gap[i] == pytest.approx(problem.C[i] * kl, abs=1e-10)
