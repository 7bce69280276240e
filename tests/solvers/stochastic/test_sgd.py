"""Stochastic gradient descent: its steps, its distance to the optimum, its bound."""

import dataclasses
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import problems
from log_problems import WEIGHTS, best_log_loss, log_sum_and_shares, passes
from partwise.losses import DualPoint, get_loss
from partwise.solvers import Problem, make_problem, solve
from partwise.solvers.base import State
from partwise.solvers.keeping import Tensors
from partwise.solvers.registry import make_solver
from partwise.solvers.stochastic import sgd
from partwise.solvers.stochastic import sgd as module
from partwise.solvers.stochastic.scaled_weights import (
    SCALE,
    end_step,
    make_scaled_weights,
    settle,
    shares_of,
)
from partwise.solvers.stochastic.schedule import Schedule, choose_first_step, step_size
from partwise.solvers.stochastic.sgd import (
    LOOK_EVERY,
    StochasticGradientDescent,
    lower_bound,
)
from partwise.solvers.stochastic.steps import GAIN, ORIGIN
from problems import Floats, Maker, plain_only
from resuming import InterruptAt, assert_same

LOSSES = ("hinge", "squared_hinge", "log_loss")
AVERAGES = ("polynomial", "uniform", "none")
RECENCY = {"polynomial": 3.0, "uniform": 0.0, "none": 0.0}
MAKERS = problems.EACH_KIND if problems.PLAIN_PYTHON else (problems.ANY,)


@pytest.fixture(params=MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


@pytest.fixture(params=LOSSES)
def loss(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


def small(
    loss: str = "hinge",
    C: float = 0.1,
    make: Maker = problems.ANY,
    weight: Any = WEIGHTS,
) -> Problem:
    s = problems.make_small(make)
    return make_problem(s, get_loss(loss), C, np.array(weight))


@functools.cache
def best_small(loss: str, C: float, make: Maker) -> tuple[float, Floats]:
    """Return what `best_of` does for a small problem, computed once."""
    return best_of(small(loss, C, make))


def best_of(problem: Problem) -> tuple[float, Floats]:
    """Return the least objective and its weights, by enumeration."""
    if problem.loss.name == "log_loss":
        return best_log_loss(problem)
    outputs = problems.enumerate_outputs(problem.structure)
    if problem.loss.name == "hinge":
        return problems.best_hinge(outputs, problem.C)
    return problems.best_squared_hinge(outputs, problem.C)


class Mirror:
    """The same steps as they are written down: every weight, every time."""

    def __init__(self, problem: Problem, w: Floats, solver: StochasticGradientDescent):
        self.problem, self.solver = problem, solver
        self.outputs = problems.enumerate_outputs(problem.structure)
        self.w, self.average = w.copy(), w.copy()
        self.account = np.zeros(problem.n_examples + 2)
        self.account[ORIGIN] = 1.0
        self.account_average = self.account.copy()
        self.steps = 0

    def _step(self, i: int, size: float) -> None:
        """Add the step of this size down the loss of example `i`."""
        out, loss = self.outputs[i], self.problem.loss.name
        if loss == "log_loss":
            scores = -out.dphi @ self.w
            log_sum, chosen = log_sum_and_shares(scores)
            gain = log_sum - chosen @ scores
        else:
            slacks = out.cost - out.dphi @ self.w
            best = int(np.argmax(slacks))
            chosen = np.arange(slacks.size) == best
            if loss == "squared_hinge":
                # No further than where the slack is gone.
                sqnorm = max(np.sum(out.dphi[best] ** 2), 1e-300)
                size = slacks[best] * min(2 * size, 1 / sqnorm)
            else:
                size *= slacks[best] > 0
            gain = out.cost[best]
        self.w = self.w + size * (chosen @ out.dphi)
        self.account[i] += size
        self.account[GAIN] += size * gain

    def run_pass(self) -> None:
        C, eta_0 = self.problem.C, self.solver.eta_0
        assert eta_0 is not None
        n, decay = np.count_nonzero(C), 1 / C.sum()
        recency = RECENCY[self.solver.averaging]
        for i in np.flatnonzero(C).tolist():
            eta = eta_0 / (1 + eta_0 * decay * self.steps) ** self.solver.power
            self._step(i, eta * n * C[i] / C.sum())
            self.w /= 1 + eta * decay
            self.account /= 1 + eta * decay
            self.steps += 1
            share = (recency + 1) / (self.steps + recency + 1)
            self.average += share * (self.w - self.average)
            self.account_average += share * (self.account - self.account_average)


# --- the steps ---


# With the smallest C, weights shrink a hundredfold a step: the scale is renewed.
@pytest.mark.parametrize("C", [1.0, 1e-3])
@pytest.mark.parametrize("averaging", AVERAGES)
def test_sgd_lazy_steps_are_the_dense_ones(
    make: Maker, loss: str, averaging: str, C: float
) -> None:
    problem = small(loss, C, make, [0.5, 2.0, 0.0, 0.25, 1.0, 3.0])
    solver = StochasticGradientDescent(0.1, averaging, shuffle=False)
    rng = np.random.default_rng(0)
    state = solver.start(problem, rng, None)
    # Random weights, as at zero many outputs are violated alike.
    state.origin = rng.normal(size=state.w.size)
    state.weights.v[:] = state.w[:] = state.origin
    mirror = Mirror(problem, state.origin, solver)
    for _ in range(4):
        for _ in solver.run_pass(problem, state, rng):
            pass
        mirror.run_pass()
        np.testing.assert_allclose(state.weights.v, mirror.w, rtol=0, atol=1e-10)
        averaged = averaging != "none"
        goal = mirror.average if averaged else mirror.w
        np.testing.assert_allclose(state.w, goal, rtol=0, atol=1e-10)
        account = state.weights.u_account if averaged else state.weights.v_account
        goal = mirror.account_average if averaged else mirror.account
        np.testing.assert_allclose(account, goal, rtol=0, atol=1e-10)


def test_sgd_scaled_weights_are_renewed_before_they_vanish() -> None:
    """Random sparse changes, against weights and average kept as they are."""
    rng = np.random.default_rng(0)
    w = rng.normal(size=5)
    weights = make_scaled_weights(w, np.zeros(0), averaged=True)
    average, smallest = w.copy(), 1.0
    for _ in range(500):
        at, size = int(rng.integers(5)), float(rng.normal())
        for_v, for_u = shares_of(weights, size)
        weights.v[at] += for_v
        weights.u[at] += for_u
        end_step(weights, 0.9, 0.05)
        smallest = min(smallest, float(weights.factors[SCALE]))
        w[at] += size
        w *= 0.9
        average += 0.05 * (w - average)
    assert smallest < 1e-3, "nothing to renew"
    assert smallest >= 1e-4, "renewed too late"
    settle(weights)
    np.testing.assert_allclose(weights.v, w, rtol=1e-10)
    np.testing.assert_allclose(weights.u, average, rtol=1e-10)
    settled = weights.u.copy()
    settle(weights)
    np.testing.assert_array_equal(weights.u, settled)


def test_sgd_result_does_not_depend_on_the_cuts(
    loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How a pass is cut into calls depends on the clock; the bits must not."""

    def run(size: int) -> Any:
        def cut(count: int, seconds: float = 0.1) -> Iterator[tuple[int, int]]:
            for start in range(0, count, size):
                yield start, min(start + size, count)

        monkeypatch.setattr(sgd, "chunks", cut)
        return solve(small(loss), StochasticGradientDescent(), tol=1e-9, max_iter=4)

    assert_same(run(200), run(1))


def test_sgd_example_of_weight_zero_is_never_visited(loss: str) -> None:
    chosen = problems.draw(problems.ANY)
    weight = np.array([1.0, 0.0, 2.0, 1.0, 0.0, 0.5])
    kept = [x for x, n in zip(chosen, weight, strict=True) if n]
    solver = StochasticGradientDescent(0.1, shuffle=False)
    found = [
        list(passes(make_problem(s, get_loss(loss), 1.0, own), solver, 5))[-1]
        for s, own in (
            (problems.ANY(chosen), weight),
            (problems.ANY(kept), weight[weight > 0]),
        )
    ]
    np.testing.assert_array_equal(found[0].w, found[1].w)
    assert found[0].bound == pytest.approx(found[1].bound)
    assert [state.oracle_calls for state in found] == [20, 20]


def test_sgd_without_any_weight_stays_at_zero(loss: str) -> None:
    problem = small(loss, weight=np.zeros(6))
    solution = solve(problem, StochasticGradientDescent(), max_iter=3)
    assert not solution.w.any()
    assert solution.certificate is not None
    assert solution.certificate.primal == 0.0


# --- the optimum, and the bound ---

# Above the optimum after 60 passes over six examples, as a share of it.
DISTANCE = {"hinge": 0.04, "squared_hinge": 0.02, "log_loss": 1e-3}


@pytest.mark.parametrize("averaging", ["polynomial", "none"])
def test_sgd_comes_near_the_enumerated_optimum(
    make: Maker, loss: str, averaging: str
) -> None:
    problem = small(loss, 0.1, make)
    best, best_w = best_small(loss, 0.1, make)
    solver = StochasticGradientDescent(averaging=averaging)
    solution = solve(problem, solver, tol=1e-9, max_iter=60)
    assert solution.certificate is not None
    primal, dual, exact = solution.certificate
    # The last weights of the hinge hop about; the average does not.
    within = DISTANCE[loss] * (1 if averaging == "polynomial" else 3)
    assert exact
    assert primal == pytest.approx(problem.primal(solution.w))
    assert best * (1 - 1e-9) <= primal <= best * (1 + within)
    assert best * (1 - 0.015) <= dual <= best * (1 + 1e-9)
    # The objective is 1-strongly convex: its distance bounds that of the weights.
    assert 0.5 * np.sum((solution.w - best_w) ** 2) <= primal - best + 1e-6 * best


@pytest.mark.parametrize("averaging", ["polynomial", "none"])
@pytest.mark.parametrize("C", [0.1, 3.0])
def test_sgd_bound_holds_after_every_pass(
    make: Maker, loss: str, averaging: str, C: float
) -> None:
    problem = small(loss, C, make)
    best, _ = best_small(loss, C, make)
    solver = StochasticGradientDescent(0.05, averaging)
    last = 0.0
    for state in passes(problem, solver, 8):
        assert not state.estimate.exact
        assert last <= state.estimate.dual == state.bound <= best * (1 + 1e-9)
        last = state.bound
    assert last > 0.0
    certificate = solver.certify(problem, state)
    assert certificate.primal == pytest.approx(problem.primal(state.w))
    assert last <= certificate.dual <= best <= certificate.primal


def test_sgd_bound_is_that_of_the_best_multiple(loss: str) -> None:
    """Against the dual value of the loss, for every multiple that is feasible."""
    problem = small(loss, 1.0)
    *_, state = passes(problem, StochasticGradientDescent(0.05, "none"), 6)
    account = state.weights.v_account
    mass, C = account[:GAIN], problem.C
    limit = 50.0 if loss == "squared_hinge" else np.min(C[mass > 0] / mass[mass > 0])
    values = []
    for t in np.linspace(0, limit, 20001):
        gain = np.zeros(6)
        # Where duals are shares of C, so is what they gain.
        gain[0] = t * account[GAIN] / (1.0 if loss == "squared_hinge" else C[0])
        point = DualPoint(t * mass, gain, gain, gain)
        values.append(problem.loss.dual(t * state.w, C, point))
    bound = lower_bound(problem, state.w, account)
    assert bound == pytest.approx(max(values), rel=1e-4)
    assert bound >= max(values) - 1e-12


def test_sgd_looks_every_tenth_pass_and_ends_within_the_tolerance() -> None:
    problem = small("log_loss")
    solution = solve(problem, StochasticGradientDescent(), tol=1e-3, max_iter=200)
    assert solution.converged, solution.status
    assert len(solution.trace) % LOOK_EVERY == 0
    exact = np.flatnonzero(solution.trace["exact"]) + 1
    assert exact.tolist() == list(range(LOOK_EVERY, len(solution.trace) + 1, 10))
    best, _ = best_of(problem)
    assert problem.primal(solution.w) <= best * (1 + 1e-3)


@plain_only
@pytest.mark.parametrize("averaging", AVERAGES)
def test_sgd_weights_that_overflow_end_with_a_clear_status(averaging: str) -> None:
    chosen = [(x * 1e99, y) for x, y in problems.draw(problems.classes_dense)]
    problem = make_problem(problems.classes_dense(chosen), get_loss("hinge"), 1e200)
    solver = StochasticGradientDescent(1e300, averaging)
    solution = solve(problem, solver, tol=1e-9, max_iter=1000)
    assert solution.reason == "not_finite"
    assert "the weights overflowed" in solution.status
    # Also where it is the last pass, after which there is a look in any case.
    last = len(solution.trace)
    solution = solve(problem, solver, tol=1e-9, max_iter=last)
    assert solution.reason == "not_finite"


@pytest.mark.parametrize("eta_0", [10.0, 1e300])
def test_sgd_no_step_is_too_long(loss: str, eta_0: float) -> None:
    """A step that long forgets everything but its example, and is finite."""
    solution = solve(small(loss, 3.0), StochasticGradientDescent(eta_0), max_iter=20)
    assert np.isfinite(solution.w).all()
    assert solution.reason == "max_iter"


# --- the first step ---


def test_sgd_schedule_is_that_of_the_paper() -> None:
    """Here ``decay`` is ``1 / (C n)``."""
    schedule = Schedule(0.5, 1 / (0.1 * 1000), 0.75, 3.0)
    for t in (0, 1, 1000, 25_000):
        assert step_size(schedule, t) == pytest.approx(
            0.5 / (1 + 0.5 * t / (0.1 * 1000)) ** 0.75
        )


def chosen_from(reach: Any) -> tuple[float, list[float]]:
    """Return the first step chosen, and those tried."""
    tried = []

    def trial(eta_0: float) -> Any:
        tried.append(eta_0)
        yield 1.0
        return reach(eta_0)

    search = choose_first_step(trial)
    while True:
        try:
            next(search)
        except StopIteration as end:
            return end.value, tried


@pytest.mark.parametrize(
    ("best", "least", "most"), [(-3, -5, -1), (-5, -6, -1), (-9, -10, -1), (2, -5, 3)]
)
def test_sgd_first_step_is_looked_for_beyond_the_papers(
    best: int, least: int, most: int
) -> None:
    found, tried = chosen_from(lambda eta: abs(np.log2(eta) - best))
    assert found == 2.0**best
    assert sorted(tried) == [2.0**e for e in range(least, most + 1)]


@pytest.mark.parametrize("overflow", [np.inf, np.nan])
def test_sgd_first_step_avoids_what_overflows(overflow: float) -> None:
    found, _ = chosen_from(lambda eta: overflow if eta > 2**-12 else 1 / eta)
    assert found == 2**-12


def test_sgd_first_step_is_the_longest_of_those_as_good() -> None:
    """At a start that no trial improves on, shorter steps are better for ever."""
    found, tried = chosen_from(lambda eta: 30 + 20 * eta)
    assert found == 2**-6
    assert min(tried) == 2**-7


def test_sgd_first_step_search_ends_where_every_step_overflows() -> None:
    found, tried = chosen_from(lambda eta: np.inf)
    assert found == min(tried) == 2**-40


def test_sgd_first_step_is_chosen_once_counted_and_the_same_by_chance(
    loss: str,
) -> None:
    problem, solver = small(loss), StochasticGradientDescent()
    states = [list(passes(problem, solver, 2))[-1] for _ in range(2)]
    assert states[0].eta_0 == states[1].eta_0 > 0
    trial = module.TRIAL_STEPS + problem.n_examples
    n_trials, beside = divmod(states[0].oracle_calls - 2 * problem.n_examples, trial)
    # All but those that overflow before their end.
    assert n_trials >= 5
    assert beside == 0 or loss == "squared_hinge"


def test_sgd_first_step_that_is_given_is_taken() -> None:
    *_, state = passes(small(), StochasticGradientDescent(0.3), 1)
    assert state.eta_0 == 0.3
    assert state.oracle_calls == 6


# --- seeds, checkpoints, interruptions ---


def test_sgd_same_seed_gives_the_same_weights(loss: str) -> None:
    solver = StochasticGradientDescent()
    runs = [
        solve(small(loss), solver, tol=1e-9, max_iter=5, random_state=seed)
        for seed in (0, 0, 1)
    ]
    assert_same(runs[0], runs[1])
    assert not np.array_equal(runs[0].w, runs[2].w)


@pytest.mark.parametrize("averaging", AVERAGES)
def test_sgd_resumed_is_unbroken(averaging: str, loss: str, tmp_path: Path) -> None:
    solver = StochasticGradientDescent(averaging=averaging)
    problem = small(loss, 1.0)
    unbroken = solve(problem, solver, tol=1e-12, max_iter=12)
    for after in (1, 10, 11):
        path = tmp_path / f"run{after}"
        solve(problem, solver, tol=1e-12, max_iter=after, checkpoint=path)
        resumed = solve(
            problem, solver, tol=1e-12, max_iter=12, checkpoint=path, resume=True
        )
        assert_same(unbroken, resumed)


@pytest.mark.parametrize("averaging", AVERAGES)
@pytest.mark.parametrize("stop", [1, 3])
def test_sgd_interrupted_keeps_weights_that_are_certified(
    averaging: str, stop: int, loss: str
) -> None:
    problem = small(loss)
    best, _ = best_small(loss, 0.1, problems.ANY)
    solver = StochasticGradientDescent(averaging=averaging)
    solution = solve(problem, solver, callbacks=[InterruptAt(stop)])
    assert solution.reason == "interrupted"
    assert solution.certificate is not None
    assert solution.certificate.primal == pytest.approx(problem.primal(solution.w))
    assert solution.certificate.dual <= best


# --- starts ---


@pytest.mark.parametrize("averaging", AVERAGES)
def test_sgd_after_an_earlier_run_goes_on_as_if_it_had_not_ended(
    averaging: str, loss: str
) -> None:
    problem = small(loss)
    solver = StochasticGradientDescent(0.1, averaging, shuffle=False)
    whole = solve(problem, solver, tol=1e-9, max_iter=8)
    half = solve(problem, solver, tol=1e-9, max_iter=4)
    kept = half.w.copy()
    rest = solve(problem, solver, tol=1e-9, max_iter=4, previous=half.state)
    np.testing.assert_array_equal(whole.w, rest.w)
    assert rest.certificate == whole.certificate
    np.testing.assert_array_equal(half.w, kept)


class Elsewhere(State):
    """Where another solver ended."""

    def __init__(self, w: Floats):
        self.w = w

    def tensors(self) -> dict[str, Any]:
        raise AssertionError("of no use to other solvers")

    def restore(self, tensors: Tensors) -> None:
        raise AssertionError("of no use to other solvers")


def test_sgd_starts_at_the_weights_of_another_solver(loss: str) -> None:
    problem = small(loss)
    best, best_w = best_small(loss, 0.1, problems.ANY)
    before = Elsewhere(best_w)
    short = solve(problem, StochasticGradientDescent(1e-6), max_iter=1, previous=before)
    np.testing.assert_allclose(short.w, best_w, atol=1e-4)
    longer = solve(
        problem, StochasticGradientDescent(0.05), max_iter=30, previous=before
    )
    for solution in (short, longer):
        assert solution.certificate is not None
        assert solution.certificate.dual <= best * (1 + 1e-6)
    # What the steps have learnt is told from what was known before them.
    assert longer.certificate is not None
    assert longer.certificate.dual >= 0.9 * best


@pytest.mark.parametrize(
    "weight", [[1.0, 0.0, 1.0, 0.0, 1.0, 1.0], [0.1, 2.0, 0.1, 1.0, 4.0, 0.3]]
)
def test_sgd_bound_holds_after_a_run_with_other_weights(weight: Any, loss: str) -> None:
    solver = StochasticGradientDescent()
    first = solve(small(loss, 1.0), solver, tol=1e-9, max_iter=5)
    problem = small(loss, 0.1, weight=weight)
    best, _ = best_of(problem)
    for count in (1, 40):
        warm = solve(problem, solver, tol=1e-9, max_iter=count, previous=first.state)
        assert warm.certificate is not None
        assert warm.certificate.dual <= best <= warm.certificate.primal
    assert warm.certificate is not None
    assert warm.certificate.dual >= 0.5 * best


@plain_only
def test_sgd_previous_run_on_another_structure_is_refused() -> None:
    state = solve(small(), StochasticGradientDescent(), max_iter=1).state
    other = problems.make_small(problems.classes_dense)
    with pytest.raises(ValueError, match="another structure"):
        solve(
            make_problem(other, get_loss("hinge")),
            StochasticGradientDescent(),
            previous=state,
        )


# --- settings ---


def test_sgd_is_found_by_its_name() -> None:
    assert make_solver("sgd") == StochasticGradientDescent()


def test_sgd_settings_cannot_change_behind_a_run() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        StochasticGradientDescent().power = 1.0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"eta_0": 0.0}, "eta_0 must be positive and finite, or None"),
        ({"eta_0": np.inf}, "eta_0 must be positive and finite"),
        ({"eta_0": np.nan}, "eta_0 must be positive and finite"),
        ({"averaging": "mean"}, "unknown averaging 'mean'; choose from none, uniform"),
        ({"power": 0.4}, r"power must lie in 0.5..1, not 0.4"),
        ({"power": np.nan}, "power must lie in"),
    ],
)
def test_sgd_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StochasticGradientDescent(**settings)


@pytest.mark.parametrize("averaging", AVERAGES)
def test_sgd_memory_is_what_it_keeps_beside_the_weights(averaging: str) -> None:
    problem = small()
    solver = StochasticGradientDescent(averaging=averaging)
    state = solver.start(problem, np.random.default_rng(0), None)
    kept = sum(x.nbytes for x in state.weights) - state.w.nbytes
    assert solver.memory(problem) == pytest.approx(kept, abs=100)
