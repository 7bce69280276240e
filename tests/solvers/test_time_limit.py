"""Time limits and Ctrl-C act within a second or two, whoever is at work then."""

import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import problems
from generative_problems import generative, small_model
from hinge_problems import HINGE
from partwise import MulticlassClassifier
from partwise._deadline import OutOfTime, seconds_left
from partwise.losses import get_loss
from partwise.solvers import make_problem, solve
from partwise.solvers.base import Problem
from partwise.solvers.cutting_plane.plane_qp import solve_plane_qp
from partwise.solvers.linear_program.column_generation import (
    ColumnGeneration,
    ColumnGenerationState,
)
from partwise.solvers.linear_program.extragradient import STEPS
from partwise.solvers.linear_program.highs_master import HighsMaster
from partwise.solvers.linear_program.master import Task
from partwise.solvers.loop import GRACE, Solution
from partwise.solvers.names import MINIMISERS, MISTAKE_DRIVEN
from partwise.solvers.registry import make_solver
from partwise.structures import interface as waist
from partwise.structures.chain import Chain
from partwise.synthetic import make_classes
from problems import plain_only
from scripted_clock import ScriptedClock, script_clock

ORACLE = 0.1
"""Seconds that one inference takes, by the scripted clock."""

MOMENT = 0.5
"""Seconds that it may take until somebody looks at the clock."""

PAIRS = [
    (loss, penalty, solver)
    for (loss, penalty), names in MINIMISERS.items()
    for solver in names
] + [("hinge", "l2", solver) for solver in MISTAKE_DRIVEN]


class SlowChain(Chain):
    """A chain whose inference takes long, and may be interrupted."""

    clock = ScriptedClock()
    interrupt_at = np.inf


def _slowly(question: Any) -> None:
    body = question.body_for(Chain)

    @question.implement(SlowChain)
    def _(*args: Any) -> Any:
        clock = SlowChain.clock
        clock.now += ORACLE
        if clock.now >= SlowChain.interrupt_at:
            SlowChain.interrupt_at = np.inf
            raise KeyboardInterrupt
        return body(*args)


def slow_problem(monkeypatch: pytest.MonkeyPatch, loss: str, penalty: str) -> Problem:
    """Return a problem of which a pass takes six seconds."""
    for question in (waist.argmax, waist.marginals, waist.kbest, waist.log_partition):
        _slowly(question)
    monkeypatch.setattr(SlowChain, "clock", script_clock(monkeypatch, 1e-4))
    if penalty.endswith("divergence"):
        model = SlowChain(*small_model(count=60))
        how = "reverse" if penalty.startswith("reverse") else "forward"
        return generative(model, loss=loss, divergence=how)
    chain = SlowChain(*problems.chain_sparse(problems.examples(60, [2, 3])))
    ratio = {"l2": 0.0, "elasticnet": 0.5}.get(penalty, 1.0)
    return make_problem(
        chain, get_loss(loss), 1.0, l1_ratio=ratio, positive="positive" in penalty
    )


@plain_only
@pytest.mark.parametrize("limit", [0.55, 10.0])
@pytest.mark.parametrize(("loss", "penalty", "solver"), PAIRS)
def test_time_limit_is_kept_by_every_solver(
    loss: str, penalty: str, solver: str, limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = slow_problem(monkeypatch, loss, penalty)
    begin = SlowChain.clock.now
    solution = solve(
        problem, make_solver(solver), tol=1e-9, max_iter=1000, time_limit=limit
    )
    if solution.reason not in ("stalled", "separated"):
        assert solution.reason == "time_limit"
        assert solution.status.startswith("out of time")
    assert SlowChain.clock.now - begin <= limit + GRACE + 2 * MOMENT
    assert np.isfinite(solution.w).all()


@plain_only
@pytest.mark.parametrize("after", [8.0])
@pytest.mark.parametrize(("loss", "penalty", "solver"), PAIRS)
def test_ctrl_c_ends_every_solver(
    loss: str, penalty: str, solver: str, after: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = slow_problem(monkeypatch, loss, penalty)
    begin = SlowChain.clock.now
    monkeypatch.setattr(SlowChain, "interrupt_at", begin + after)
    try:
        solution = solve(problem, make_solver(solver), tol=1e-9, max_iter=1000)
    except KeyboardInterrupt:  # before the first pass there are no weights to keep
        solution = None
    assert SlowChain.clock.now - begin <= after + GRACE + MOMENT
    if solution is not None and solution.reason not in ("stalled", "separated"):
        assert solution.reason == "interrupted"
        _check_bounds(problem, solution)


def _check_bounds(problem: Problem, solution: Solution) -> None:
    """What is not proved is called an estimate."""
    if solution.certificate is not None and solution.certificate.exact:
        primal = problem.primal(solution.w)
        assert solution.certificate.primal == pytest.approx(primal)
    elif solution.certificate is not None:
        assert "not proved" in solution.status


# --- inner solvers ---


def _task(master: str, **settings: Any) -> tuple[Any, Task]:
    """Return a master, and a problem for it that has some rows."""
    s = problems.make_small(problems.ANY)
    problem = make_problem(s, HINGE, 1.0, l1_ratio=1.0)
    solver = ColumnGeneration(master, tighten=False, **settings)
    state = solve(problem, solver, max_iter=2).state
    assert isinstance(state, ColumnGenerationState)
    rows = state.row_set
    w = np.zeros(rows.weight_of.size)
    return solver._make_master(problem), Task(
        rows, problem.C, w, np.zeros(len(rows)), 0.0, 64
    )


OURS: list[tuple[str, dict[str, Any]]] = [
    ("proximal", {}),
    ("chambolle-pock", {}),
    *(("extragradient", {"step": step}) for step in STEPS),
]


@pytest.mark.parametrize(("master", "settings"), OURS)
def test_master_problem_looks_at_the_clock(
    master: str, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    solver, task = _task(master, **settings)
    script_clock(monkeypatch, tick=1.0)
    with seconds_left(2.5), pytest.raises(OutOfTime):
        solver.solve(task, np.random.default_rng(0))


def test_plane_qp_looks_at_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).normal(size=(30, 20))
    script_clock(monkeypatch, tick=1.0)
    with seconds_left(2.5), pytest.raises(OutOfTime):
        solve_plane_qp(x @ x.T, np.ones(30))


ENDLESS = 60  # seconds


class Endless:
    """A model in HiGHS that is solved only when it is told to stop."""

    def __init__(self) -> None:
        self.stopped = threading.Event()

    def setOptionValue(self, name: str, value: Any) -> None:
        self.option = (name, value)

    def run(self) -> None:
        self.stopped.wait(ENDLESS)

    def cancelSolve(self) -> None:
        self.stopped.set()


@pytest.fixture
def endless() -> Iterator[HighsMaster]:
    master = HighsMaster(positive=False, method="highs")
    master.model = Endless()
    yield master
    master.model.stopped.set()


def test_highs_is_stopped_when_time_is_over(endless: HighsMaster) -> None:
    begin = time.perf_counter()
    with seconds_left(0.2), pytest.raises(OutOfTime):
        endless._run()
    assert time.perf_counter() - begin < ENDLESS
    assert endless.model.stopped.is_set()
    assert endless.model.option[0] == "time_limit"
    assert 0.0 < endless.model.option[1] <= 0.2


def test_highs_is_stopped_by_ctrl_c(endless: HighsMaster) -> None:
    main = threading.main_thread().ident
    assert main is not None
    threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT)).start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        endless._run()
    assert time.perf_counter() - begin < ENDLESS
    assert endless.model.stopped.is_set()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_cutting_plane_of_huge_features_ends_in_time() -> None:
    X, y = make_classes(60, n_classes=3, n_features=4)
    model = MulticlassClassifier(
        "hinge", C=0.1, solver="cutting-plane", time_limit=0.5, max_iter=10_000
    )
    begin = time.process_time()
    model.fit(1e8 * X, y)
    assert time.process_time() - begin < 10.0  # compiling included
    assert model.trace_["seconds"][-1] < 2.0
