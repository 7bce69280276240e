"""The time left: right within a factor of two, from what the gap did so far."""

import math

import numpy as np
import pytest

import problems
from partwise.losses import get_loss
from partwise.solvers import make_problem, solve
from partwise.solvers.forecast import passes_left
from partwise.solvers.registry import make_solver


@pytest.mark.parametrize("rate", [0.3, 0.7, 0.95])
def test_forecast_of_a_gap_that_shrinks_by_a_factor(rate: float) -> None:
    noise = np.exp(np.random.default_rng(0).normal(0.0, 0.05, 400))
    gaps = rate ** np.arange(400) * noise
    end = int(np.argmax(gaps <= 1e-4)) + 1
    for done in range(max(4, end // 4), end - 1):
        left = passes_left(gaps[:done].tolist(), 1e-4, 10_000)
        assert 0.5 <= (left + 1) / (end - done + 1) <= 2.0


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_forecast_of_a_gap_that_shrinks_as_a_power(power: float) -> None:
    gaps = [k**-power for k in range(1, 2000)]
    end = int(np.argmax(np.array(gaps) <= 1e-3)) + 1
    for done in range(8, end - 1, max(1, end // 20)):
        left = passes_left(gaps[:done], 1e-3, 10_000)
        assert 0.5 <= (left + 1) / (end - done + 1) <= 2.0


@pytest.mark.parametrize("gaps", [[], [0.5], [math.nan] * 5, [0.1, 0.2, 0.3, 0.4]])
def test_forecast_of_the_unknown_is_the_most(gaps: list[float]) -> None:
    assert passes_left(gaps, 1e-3, 77) == 77


def test_forecast_ends_at_the_goal() -> None:
    assert passes_left([0.1, 0.01, 0.001], 0.01, 50) == 0
    assert passes_left([0.1, 0.05], 1e-9, 3) == 3


@problems.plain_only
@pytest.mark.parametrize(
    ("loss", "solver"),
    [("squared_hinge", "dcd-ssvm"), ("hinge", "frank-wolfe"), ("log_loss", "eg")],
)
def test_forecast_is_right_within_a_factor_of_two(loss: str, solver: str) -> None:
    s = problems.make_small(problems.chain_sparse)
    problem = make_problem(s, get_loss(loss), 1.0)
    ratios: list[float] = []
    for seed in range(4):
        solution = solve(
            problem, make_solver(solver), tol=1e-5, max_iter=400, random_state=seed
        )
        gaps = solution.trace["relative_gap"]
        done = range(max(3, len(gaps) // 3), len(gaps))
        ratios += [
            (passes_left(gaps[:k], 1e-5, 1000) + 1) / (len(gaps) - k + 1) for k in done
        ]
    assert 0.5 <= np.median(ratios) <= 2.0
