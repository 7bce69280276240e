"""The loop: when it stops, what it says, what it shows, and that it loses nothing."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import problems
from partwise.losses import Certificate, get_loss
from partwise.solvers import (
    Callback,
    DualCoordinateDescent,
    ExponentiatedGradient,
    Problem,
    Solution,
    Solver,
    TraceRow,
    make_problem,
    solve,
)
from partwise.solvers.base import State
from partwise.solvers.trace import COLUMNS
from problems import Floats
from resuming import InterruptAt
from scripted import Scripted, ScriptedState
from scripted_clock import script_clock

LOSS = get_loss("squared_hinge")
# Does not converge to a gap of TINY within the few passes that tests allow it.
TINY = 1e-12
SLOW = DualCoordinateDescent("light")


@pytest.fixture
def problem() -> Problem:
    return make_problem(
        problems.make_small(problems.classes_dense, count=20), LOSS, 1.0
    )


class Recorder(Callback):
    """Writes down what it is told; may raise at some moment of some pass."""

    def __init__(self, stop_at: int = 0, error: type[BaseException] | None = None):
        self.told: list[str] = []
        self.weights: list[Floats] = []
        self.stop_at, self.error = stop_at, error

    def on_start(self, problem: Problem, solver: Solver, max_iter: int) -> None:
        self.told.append(f"start {max_iter}")

    def on_progress(self, iteration: int, fraction: float) -> None:
        assert 0.0 <= fraction <= 1.0
        self.told.append(f"progress {iteration}")
        if self.error is not None and iteration == self.stop_at:
            raise self.error

    def on_pass(self, row: TraceRow, w: Floats) -> None:
        self.told.append(f"pass {row.iteration}")
        self.weights.append(w.copy())

    def on_end(self, solution: Solution) -> None:
        self.told.append(f"end {solution.reason}")


# --- stopping ---


@pytest.mark.parametrize("tol", [0.1, 1e-3, 1e-5])
def test_loop_stops_at_tol_with_a_certificate_that_can_be_confirmed(
    problem: Problem, tol: float
) -> None:
    solution = solve(problem, DualCoordinateDescent(delta=0.0), tol=tol, max_iter=5000)
    certificate = solution.certificate
    assert solution.converged
    assert certificate is not None
    assert certificate.exact
    assert certificate.relative_gap <= tol
    assert certificate.primal == pytest.approx(problem.primal(solution.w), rel=1e-12)
    outputs = problems.enumerate_outputs(problem.structure)
    best, _ = problems.best_squared_hinge(outputs, problem.C)
    assert certificate.dual <= best * (1 + 1e-9)
    assert certificate.primal <= best * (1 + 1.01 * tol) / (1 - tol)
    row = solution.trace[-1]
    assert row.exact
    assert (row.primal, row.dual) == (certificate.primal, certificate.dual)
    assert solution.status == (
        f"converged after {len(solution.trace)} passes: the gap "
        f"{certificate.relative_gap:.2g} is within the tolerance {tol:g}"
    )


def test_loop_stops_at_max_iter_and_says_what_to_do(problem: Problem) -> None:
    solution = solve(problem, SLOW, tol=TINY, max_iter=3)
    assert (solution.reason, len(solution.trace)) == ("max_iter", 3)
    assert not solution.converged
    assert solution.certificate is not None
    assert solution.certificate.exact
    assert solution.certificate.primal == pytest.approx(problem.primal(solution.w))
    assert solution.status.startswith("stopped after 3 passes with a gap of ")
    assert solution.status.endswith("tolerance 1e-12; raise max_iter or tol")


def test_loop_one_pass_is_not_called_passes(problem: Problem) -> None:
    assert "after 1 pass with" in solve(problem, SLOW, tol=TINY, max_iter=1).status


def test_loop_believes_no_estimate_but_looks(problem: Problem) -> None:
    """Only the exact certificate ends training, and it costs as much as a pass.

    So the loop looks when the estimate is good, and again when it is much better.
    """
    solver = Scripted([0.5, 0.005, 0.0045, 0.001], [0.5, 0.2, 0.1, 0.009])
    solution = solve(problem, solver, tol=0.01, max_iter=4)
    assert solution.converged
    assert len(solution.trace) == 4
    assert solver.looks == [2, 4]
    assert solution.trace["exact"].tolist() == [False, True, False, True]
    assert solution.trace["relative_gap"][-1] == pytest.approx(0.009)


def test_loop_does_not_look_while_the_estimate_is_above_tol(problem: Problem) -> None:
    solver = Scripted([0.5, 0.4, 0.3, 0.005], [0.5, 0.4, 0.3, 0.005])
    assert solve(problem, solver, tol=0.01, max_iter=9).converged
    assert solver.looks == [4]


def test_loop_an_estimate_of_zero_by_luck_does_not_end_all_looking(
    problem: Problem,
) -> None:
    solver = Scripted([0.0] + [5e-4] * 8, [0.5] + [5e-4] * 8)
    solution = solve(problem, solver, tol=0.01, max_iter=9)
    assert solution.converged
    assert len(solution.trace) == 2


def test_loop_solver_without_estimates_is_certified_at_the_end(
    problem: Problem,
) -> None:
    solution = solve(problem, Scripted([None] * 3, [0.5, 0.1, 5e-4]), max_iter=3)
    assert solution.converged
    assert np.isnan(solution.trace["primal"][:2]).all()
    assert solution.trace[-1].relative_gap == pytest.approx(5e-4)


def test_loop_says_when_the_weights_overflow(problem: Problem) -> None:
    class Wild(Scripted):
        def run_pass(self, problem: Problem, state: State, rng: Any) -> Iterator[float]:
            yield from super().run_pass(problem, state, rng)
            state.w[0] = math.inf

    solution = solve(problem, Wild([0.5] * 3, [0.5] * 3), max_iter=3)
    assert solution.reason == "not_finite"
    assert len(solution.trace) == 1
    assert "scale the features or lower C" in solution.status


# --- development data ---


def test_loop_patience_returns_the_best_weights(problem: Problem) -> None:
    scores = iter([0.1, 0.7, 0.5, 0.6, 0.7])
    recorder = Recorder()
    solution = solve(
        problem,
        SLOW,
        tol=TINY,
        evaluate=lambda w: next(scores),
        patience=3,
        callbacks=[recorder],
    )
    assert (solution.reason, len(solution.trace)) == ("stopped_early", 5)
    np.testing.assert_array_equal(solution.w, recorder.weights[1])
    assert solution.certificate is not None
    assert solution.certificate.primal == problem.primal(solution.w)
    assert solution.certificate.dual == solution.trace[-1].dual
    assert solution.trace["dev_score"].tolist() == [0.1, 0.7, 0.5, 0.6, 0.7]
    assert solution.status == (
        "stopped after 5 passes: the development score has not improved on 0.7 "
        "for 3 passes"
    )


def test_loop_stopped_early_looks_at_the_last_weights(
    problem: Problem,
) -> None:
    solver = Scripted([0.005, 0.5, 0.5], [0.3, 0.2, 0.1])
    solution = solve(problem, solver, tol=0.01, evaluate=lambda w: -w[0], patience=2)
    assert solution.reason == "stopped_early"
    assert solution.trace[-1].relative_gap == pytest.approx(0.1)
    assert solution.trace[-1].exact


def test_loop_patience_of_one_reads_well(problem: Problem) -> None:
    solution = solve(problem, SLOW, tol=TINY, evaluate=lambda w: 0.0, patience=1)
    assert solution.status.endswith("improved on 0 for 1 pass")


def test_loop_best_weights_are_returned_at_max_iter_too(problem: Problem) -> None:
    scores = iter([0.2, 0.9, 0.3])
    recorder = Recorder()
    solution = solve(
        problem,
        SLOW,
        tol=TINY,
        max_iter=3,
        evaluate=lambda w: next(scores),
        callbacks=[recorder],
    )
    assert solution.reason == "max_iter"
    np.testing.assert_array_equal(solution.w, recorder.weights[1])


# --- interruptions ---


@pytest.mark.parametrize("variant", ["ssvm", "light", "cpd"])
def test_loop_ctrl_c_in_a_pass_keeps_the_weights(
    problem: Problem, variant: str
) -> None:
    recorder = Recorder(stop_at=3, error=KeyboardInterrupt)
    solution = solve(
        problem, DualCoordinateDescent(variant), tol=TINY, callbacks=[recorder]
    )
    assert solution.reason == "interrupted"
    assert len(solution.trace) == 2
    assert recorder.told[-1] == "end interrupted"
    assert solution.status.startswith(
        "interrupted after 2 passes; the weights so far are kept (gap "
    )
    assert solution.w.any()
    assert solution.certificate is not None
    assert solution.certificate.primal == pytest.approx(problem.primal(solution.w))
    outputs = problems.enumerate_outputs(problem.structure)
    best, _ = problems.best_squared_hinge(outputs, problem.C)
    assert solution.certificate.dual <= best <= solution.certificate.primal


def test_loop_second_ctrl_c_gives_up_the_certificate_not_the_weights(
    problem: Problem,
) -> None:
    class Impatient(Scripted):
        def certify(self, problem: Problem, state: State) -> Certificate:
            raise KeyboardInterrupt

    solution = solve(
        problem,
        Impatient([0.5] * 5, [0.5] * 5),
        callbacks=[Recorder(stop_at=3, error=KeyboardInterrupt)],
    )
    assert solution.reason == "interrupted"
    assert solution.w[0] == 2
    assert solution.certificate is not None
    assert not solution.certificate.exact


def test_loop_development_data_chooses_among_all_weights(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In pass n the weights are n, and n + 10 other weights."""
    monkeypatch.setattr(ScriptedState, "choices", lambda self: [self.w, self.w + 10.0])
    solver = Scripted([None] * 3, [0.5] * 3)
    solution = solve(
        problem, solver, max_iter=3, evaluate=lambda w: -abs(float(w[0]) - 12.0)
    )
    np.testing.assert_array_equal(solution.w, 12.0)
    assert solution.trace["dev_score"].tolist() == [-1.0, 0.0, -1.0]
    assert solution.certificate is not None
    assert solution.certificate.primal == problem.primal(solution.w)


def test_loop_ctrl_c_returns_the_best_weights_on_development_data(
    problem: Problem,
) -> None:
    scores = iter([0.9, 0.1, 0.1])
    recorder = Recorder(stop_at=3, error=KeyboardInterrupt)
    solution = solve(
        problem,
        SLOW,
        tol=TINY,
        evaluate=lambda w: next(scores),
        callbacks=[recorder],
    )
    np.testing.assert_array_equal(solution.w, recorder.weights[0])


def test_loop_time_limit_ends_training_in_the_middle_of_a_pass(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        script_clock(patch, tick=0.01)
        solution = solve(problem, SLOW, tol=TINY, time_limit=0.07)
    assert (solution.reason, len(solution.trace)) == ("time_limit", 0)
    assert solution.status.startswith("out of time after 0 passes; the weights so far")
    assert solution.w.any()
    assert solution.certificate is not None
    assert solution.certificate.primal == pytest.approx(problem.primal(solution.w))


def test_loop_time_limit_that_is_not_reached_changes_nothing(problem: Problem) -> None:
    free = solve(problem, SLOW, tol=TINY, max_iter=5)
    limited = solve(problem, SLOW, tol=TINY, max_iter=5, time_limit=1e6)
    assert limited.reason == "max_iter"
    np.testing.assert_array_equal(free.w, limited.w)


def test_loop_errors_of_a_callback_are_not_swallowed(problem: Problem) -> None:
    with pytest.raises(ZeroDivisionError):
        solve(problem, SLOW, callbacks=[Recorder(stop_at=2, error=ZeroDivisionError)])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tol": 0.0}, "tol must be positive, not 0.0"),
        ({"tol": math.nan}, "tol must be positive, not nan"),
        ({"max_iter": 0}, "max_iter must be at least 1, not 0"),
        ({"patience": 0}, "patience must be at least 1, not 0"),
    ],
)
def test_loop_wrong_arguments_are_refused(
    problem: Problem, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        solve(problem, SLOW, **options)


# --- seeds ---


@pytest.mark.parametrize("variant", ["ssvm", "light", "cpd"])
def test_loop_same_seed_gives_the_same_bits(problem: Problem, variant: str) -> None:
    solver = DualCoordinateDescent(variant)
    runs = [
        solve(problem, solver, tol=TINY, max_iter=8, random_state=seed)
        for seed in (5, 5, 6)
    ]
    np.testing.assert_array_equal(runs[0].w, runs[1].w)
    for name in set(COLUMNS) - {"seconds"}:
        np.testing.assert_array_equal(runs[0].trace[name], runs[1].trace[name])
    assert not np.array_equal(runs[0].w, runs[2].w)


# --- callbacks ---


def test_loop_callbacks_come_in_order(problem: Problem) -> None:
    first, second = Recorder(), Recorder()
    solve(problem, SLOW, tol=TINY, max_iter=2, callbacks=[first, second])
    without_repeats = list(dict.fromkeys(first.told))
    assert without_repeats == [
        "start 2",
        "progress 1",
        "pass 1",
        "progress 2",
        "pass 2",
        "end max_iter",
    ]
    assert first.told == second.told


def test_loop_base_callback_does_nothing(problem: Problem) -> None:
    plain = solve(problem, SLOW, tol=TINY, max_iter=2)
    watched = solve(problem, SLOW, tol=TINY, max_iter=2, callbacks=[Callback()])
    np.testing.assert_array_equal(plain.w, watched.w)


# --- what is said of gaps, and of runs that get nowhere ---


def test_loop_shows_no_gap_above_all_there_is(problem: Problem) -> None:
    """A lower bound below zero says nothing: no objective is negative."""
    solver = Scripted([4.0, None, 2.0], [4.0, 3.0, 2.0])
    solution = solve(problem, solver, tol=TINY, max_iter=3)
    assert solution.certificate is not None
    assert (solution.certificate.dual, solution.certificate.relative_gap) == (0.0, 1.0)
    gaps = np.array(solution.trace["relative_gap"])
    assert (gaps[np.isfinite(gaps)] <= 1.0).all()
    assert "with a gap of 1, above" in solution.status


def test_loop_interrupted_shows_no_gap_above_all_there_is(problem: Problem) -> None:
    solver = Scripted([4.0] * 3, [4.0] * 3)
    solution = solve(problem, solver, tol=TINY, callbacks=[InterruptAt(2)])
    assert solution.reason == "interrupted"
    assert solution.status.endswith("(gap 1)")


def test_loop_asks_for_no_more_passes_of_a_run_that_is_stuck(problem: Problem) -> None:
    stuck, slow = [0.3] * 60, list(np.linspace(0.9, 0.3, 60))
    crawling = list(np.linspace(0.3, 0.29, 60))
    *statuses, last = [
        solve(problem, Scripted(gaps, gaps), tol=TINY, max_iter=60).status
        for gaps in (stuck, crawling, slow)
    ]
    for status in statuses:
        assert status.endswith(
            "has hardly brought it down: use another solver, or raise tol"
        )
        assert "max_iter" not in status
    assert last.endswith("raise max_iter or tol")


class Halting(Scripted):
    """One that finds no way on after its second pass."""

    def run_pass(self, problem: Problem, state: Any, rng: Any) -> Any:
        yield from super().run_pass(problem, state, rng)
        state.halted = "stalled" if state.passes == 2 else ""


@pytest.mark.parametrize(
    ("gap", "expected"),
    [(1e-9, "rounding allows no better weights"), (0.2, "the solver finds no way on")],
)
def test_loop_blames_rounding_only_for_gaps_it_can_explain(
    problem: Problem, gap: float, expected: str
) -> None:
    solution = solve(problem, Halting([gap] * 2, [gap] * 2), tol=TINY)
    assert solution.reason == "stalled"
    assert expected in solution.status
    assert "max_iter" not in solution.status


def _batch_run(**options: Any) -> tuple[Problem, Solution]:
    """Run a solver whose bound rises while its weights come and go."""
    corpus = problems.make_small(problems.classes_dense)
    problem = make_problem(corpus, get_loss("hinge"), 100.0)
    solver = ExponentiatedGradient(form="batch")
    return problem, solve(problem, solver, tol=TINY, **options)


def test_loop_keeps_weights_of_an_earlier_pass_that_are_better() -> None:
    seen = Recorder()
    problem, solution = _batch_run(max_iter=30, callbacks=[seen])
    objectives = [problem.primal(w) for w in seen.weights]
    assert min(objectives) < 0.8 * objectives[-1]
    np.testing.assert_array_equal(solution.w, seen.weights[np.argmin(objectives)])
    assert solution.certificate is not None
    assert solution.certificate.exact
    assert solution.certificate.primal == problem.primal(solution.w)
    assert solution.certificate.dual == solution.trace["dual"].max()
    assert solution.trace[-1].relative_gap == solution.certificate.relative_gap
    best = 1 + int(np.argmin(objectives))
    assert f"the weights of pass {best}, with a lower objective" in solution.status


def test_loop_resumed_knows_the_better_weights_of_earlier_passes(
    tmp_path: Path,
) -> None:
    _, unbroken = _batch_run(max_iter=30)
    for last in (22, 28):  # the best pass, and later ones
        path = tmp_path / f"run{last}"
        _batch_run(max_iter=last, checkpoint=path)
        _, resumed = _batch_run(max_iter=30, checkpoint=path, resume=True)
        assert resumed.w.tobytes() == unbroken.w.tobytes()
        assert resumed.status == unbroken.status


def test_loop_development_data_decides_whatever_the_objective() -> None:
    problem, solution = _batch_run(max_iter=30, patience=30, evaluate=lambda w: w @ w)
    assert solution.certificate is not None
    assert solution.certificate.primal == problem.primal(solution.w)
    assert "lower objective" not in solution.status
