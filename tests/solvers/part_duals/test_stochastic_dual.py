"""Stochastic dual coordinate ascent: its optimum, its bounds, its settings."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import problems
from dual_mirror import DualMirror
from log_problems import LOG_LOSS, WEIGHTS, best_log_loss, passes
from partwise.errors import PairingError
from partwise.losses import get_loss
from partwise.solvers import (
    Problem,
    StochasticDualCoordinateAscent,
    make_problem,
    solve,
)
from partwise.solvers.registry import make_solver
from partwise.structures.interface import n_parts
from problems import Maker
from resuming import InterruptAt, assert_same

ORDERS = ("gaps", "shuffled", "cyclic")


@pytest.fixture(params=problems.MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


def small(
    C: float = 1.0, make: Maker = problems.chain_sparse, weight: Any = WEIGHTS
) -> Problem:
    return make_problem(problems.make_small(make), LOG_LOSS, C, np.array(weight))


# --- the optimum ---


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("C", [0.1, 3.0])
def test_stochastic_dual_reaches_the_enumerated_optimum(
    make: Maker, order: str, C: float
) -> None:
    problem = small(C, make)
    best, best_w = best_log_loss(problem)
    solver = StochasticDualCoordinateAscent(order)
    solution = solve(problem, solver, tol=1e-7, max_iter=500)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.primal >= best * (1 - 1e-9)
    assert solution.certificate.dual <= best * (1 + 1e-9)
    assert solution.certificate.primal == pytest.approx(best, rel=1e-6)
    # The objective is 1-strongly convex: the gap bounds the distance.
    assert 0.5 * np.sum((solution.w - best_w) ** 2) <= 2e-7 * best


def test_stochastic_dual_bounds_hold_after_every_pass(make: Maker) -> None:
    problem, last = small(3.0, make), 0.0
    best, _ = best_log_loss(problem)
    solver = StochasticDualCoordinateAscent()
    for state in passes(problem, solver, 8):
        assert state.estimate.dual == pytest.approx(state.dual_value)
        assert not state.estimate.exact
        certificate = solver.certify(problem, state)
        assert last <= certificate.dual <= best * (1 + 1e-9)
        assert certificate.primal >= best * (1 - 1e-9)
        assert certificate.primal == pytest.approx(problem.primal(state.w))
        last = certificate.dual


@pytest.mark.parametrize("seed", range(3))
def test_stochastic_dual_first_step_is_the_best_of_its_way(seed: int) -> None:
    """From the right outputs towards ``p(y | x)``: no other share is better."""
    s = problems.make_small(problems.chain_sparse, seed=seed)
    problem = make_problem(s, LOG_LOSS, 5.0)
    solver = StochasticDualCoordinateAscent()
    state = solver.start(problem, np.random.default_rng(0), None)
    mirror = DualMirror(problem)
    mirror.start_at(state.dual)
    for i in range(problem.n_examples):
        before, value, w = mirror.alpha[i], state.dual.value[i], state.w.copy()
        goal = mirror.gibbs_of_weights(i, w)
        entropy = -float(goal @ np.log(goal))
        rise, _ = mirror.follow(state, i, True, 0.0)
        change = (goal - before) @ mirror.outputs[i].dphi * problem.C[i]

        def claimed(share: float) -> float:
            moved = w + share * change  # noqa: B023
            gained = share * problem.C[i] * (entropy - value)  # noqa: B023
            return float(gained - 0.5 * moved @ moved + 0.5 * w @ w)  # noqa: B023

        best = max(map(claimed, np.linspace(0, 1, 201)))
        # A step that is near enough to the best is left alone.
        assert rise >= 0.9 * best


# --- settings and starts ---


def test_stochastic_dual_is_found_by_its_name() -> None:
    assert make_solver("sdca") == StochasticDualCoordinateAscent()


def test_stochastic_dual_unknown_order_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown order 'up'; choose from gaps"):
        StochasticDualCoordinateAscent("up")


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_stochastic_dual_is_for_the_log_loss(loss: str) -> None:
    problem = make_problem(problems.make_small(problems.chain_sparse), get_loss(loss))
    with pytest.raises(PairingError, match=f"cannot minimise '{loss}'"):
        solve(problem, StochasticDualCoordinateAscent())


def test_stochastic_dual_memory_is_that_of_the_marginals() -> None:
    problem = small()
    parts = sum(int(n_parts(problem.structure, i)) for i in range(6))
    solver = StochasticDualCoordinateAscent()
    assert solver.memory(problem) == 8 * parts
    assert solver.start(problem, np.random.default_rng(0), None).dual.theta.size == 0


def test_stochastic_dual_takes_one_computation_of_marginals_a_visit() -> None:
    *_, state = passes(small(), StochasticDualCoordinateAscent("cyclic"), 7)
    assert state.oracle_calls == 7 * 6


def test_stochastic_dual_previous_run_with_another_C() -> None:
    solver = StochasticDualCoordinateAscent()
    first = solve(small(1.0), solver, tol=1e-6, max_iter=300)
    kept = first.state.dual.mu.copy()
    problem = small(1.2)
    best, _ = best_log_loss(problem)
    cold = solve(problem, solver, tol=1e-6, max_iter=300)
    warm = solve(problem, solver, tol=1e-6, max_iter=300, previous=first.state)
    assert warm.converged
    assert warm.trace[0].relative_gap < 0.1 * cold.trace[0].relative_gap
    assert warm.certificate is not None
    assert warm.certificate.primal == pytest.approx(best, rel=1e-6)
    np.testing.assert_array_equal(first.state.dual.mu, kept)
    again = solve(small(1.0), solver, tol=1e-6, previous=first.state)
    assert len(again.trace) == 1


def test_stochastic_dual_previous_gaps_of_dropped_examples_are_forgotten() -> None:
    """They would never be corrected, and the run would never think itself done."""
    solver = StochasticDualCoordinateAscent()
    first = solve(small(), solver, max_iter=1, tol=1e-9)
    problem = small(weight=[1.0, 0.0, 1.0, 0.0, 1.0, 1.0])
    warm = solve(problem, solver, tol=1e-3, max_iter=50, previous=first.state)
    assert warm.converged
    assert len(warm.trace) < 20


def test_stochastic_dual_previous_run_on_another_corpus_is_refused() -> None:
    solver = StochasticDualCoordinateAscent()
    state = solve(small(), solver, max_iter=1).state
    other = problems.make_small(problems.chain_sparse, count=8)
    with pytest.raises(ValueError, match="another structure"):
        solve(make_problem(other, LOG_LOSS), solver, previous=state)
    # As many parts, but of other examples.
    chosen = problems.draw(problems.chain_sparse)
    turned = problems.chain_sparse(chosen[1:] + chosen[:1])
    with pytest.raises(ValueError, match="another structure"):
        solve(make_problem(turned, LOG_LOSS), solver, previous=state)


# --- interruptions and checkpoints ---


@pytest.mark.parametrize("order", ORDERS)
def test_stochastic_dual_resumed_is_unbroken(order: str, tmp_path: Path) -> None:
    solver = StochasticDualCoordinateAscent(order)
    unbroken = solve(small(3.0), solver, tol=1e-12, max_iter=12)
    assert_same(unbroken, solve(small(3.0), solver, tol=1e-12, max_iter=12))
    for after in (1, 5, 11):
        path = tmp_path / f"run{after}"
        solve(small(3.0), solver, tol=1e-12, max_iter=after, checkpoint=path)
        resumed = solve(
            small(3.0), solver, tol=1e-12, max_iter=12, checkpoint=path, resume=True
        )
        assert_same(unbroken, resumed)


def test_stochastic_dual_interrupted_keeps_weights_that_are_certified() -> None:
    problem = small()
    solution = solve(
        problem, StochasticDualCoordinateAscent(), callbacks=[InterruptAt(3)]
    )
    assert solution.reason == "interrupted"
    assert solution.certificate is not None
    assert solution.certificate.primal == pytest.approx(problem.primal(solution.w))
    assert solution.certificate.dual <= solution.certificate.primal
