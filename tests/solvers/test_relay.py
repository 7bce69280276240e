"""One solver takes over from another: when, with what, and again after a checkpoint."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import problems
from partwise import MulticlassClassifier
from partwise.losses import get_loss
from partwise.solvers import (
    DualCoordinateDescent,
    Problem,
    Relay,
    automatic,
    make_problem,
    solve,
)
from partwise.solvers.automatic import BATCH, WORTH_A_LOOK, choose_solver, name_of
from partwise.solvers.registry import make_solver
from partwise.solvers.relay import WINDOW, RelayState
from partwise.structures import make_chain, make_dense_rows, make_multiclass
from resuming import TINY, InterruptAt, assert_same, make
from scripted import Scripted

LOSSES = ["log_loss", "hinge", "squared_hinge"]


def hopeless(passes: int = 100) -> Relay:
    """Let a solver begin that proves nothing, ever."""
    return Relay(Scripted([1.0] * passes, [1.0] * passes), DualCoordinateDescent())


def stubborn(loss: str, C: float = 1e4) -> Problem:
    """Return noisy data of few dimensions, where single examples do nothing."""
    rng = np.random.default_rng(0)
    s = make_multiclass(
        make_dense_rows(rng.normal(size=(60, 3))), rng.integers(4, size=60), 4
    )
    return make_problem(s, get_loss(loss), C)


def test_relay_changes_when_the_gap_does_not_fall() -> None:
    solution = solve(make(), hopeless(), tol=1e-3, max_iter=1000)
    assert solution.converged
    assert isinstance(solution.state, RelayState)
    assert solution.state.changed_after == WINDOW + 1
    assert solution.status.endswith(
        "; dcd-ssvm took over from Scripted after pass 11, as the gap had fallen by "
        "less than 10% in 10 passes"
    )


@pytest.mark.parametrize("gaps", [[0.9**k for k in range(40)], [0.09] * 40])
def test_relay_leaves_alone_who_gets_on_or_is_near(gaps: list[float]) -> None:
    relay = Relay(Scripted(gaps, gaps), DualCoordinateDescent())
    solution = solve(make(), relay, tol=TINY, max_iter=40)
    assert isinstance(solution.state, RelayState)
    assert not solution.state.has_changed
    assert "took over" not in solution.status


def test_relay_keeps_the_bound_that_was_proved_before() -> None:
    first = Scripted([0.999] * 100, [0.999] * 100)
    problem = make()
    solution = solve(problem, Relay(first, DualCoordinateDescent()), max_iter=12)
    assert isinstance(solution.state, RelayState)
    assert solution.state.proved == pytest.approx(0.001)
    solution.state.proved = 0.5 * solution.state.active.w @ solution.state.active.w
    estimate = solution.state.estimate
    assert estimate is not None
    assert estimate.dual >= solution.state.proved


@pytest.mark.parametrize("after", [1, 10, 11, 12, 15])
def test_relay_resumed_is_unbroken_across_the_change(
    tmp_path: Path, after: int
) -> None:
    unbroken = solve(make(), hopeless(), tol=TINY, max_iter=20)
    path = tmp_path / "run"
    solve(make(), hopeless(), tol=TINY, max_iter=after, checkpoint=path)
    resumed = solve(
        make(), hopeless(), tol=TINY, max_iter=20, checkpoint=path, resume=True
    )
    assert_same(unbroken, resumed)
    assert unbroken.status == resumed.status


@problems.plain_only
@pytest.mark.parametrize("loss", LOSSES)
def test_auto_resumed_is_unbroken_across_the_change(tmp_path: Path, loss: str) -> None:
    def run(**options: Any) -> Any:
        problem = stubborn(loss)
        solver = choose_solver(problem).solver
        return solve(problem, solver, tol=0.05, max_iter=100, **options)

    unbroken = run()
    assert unbroken.converged
    assert "took over" in unbroken.status
    path = tmp_path / "run"
    for stop in range(2, len(unbroken.trace), 5):
        broken = run(checkpoint=path, resume=True, callbacks=[InterruptAt(stop)])
        assert broken.reason == "interrupted"
    assert_same(unbroken, run(checkpoint=path, resume=True))


@problems.plain_only
@pytest.mark.parametrize("loss", LOSSES)
def test_auto_is_never_far_behind_a_solver_that_gets_there(loss: str) -> None:
    """The defaults get nowhere; who takes over needs little more than alone."""
    problem = stubborn(loss)
    names = [choose_solver(problem).solver.at_work(None), BATCH[loss].solver]
    alone, other = (
        solve(problem, make_solver(name), tol=0.01, max_iter=60) for name in names
    )
    auto = solve(problem, choose_solver(problem).solver, tol=0.01, max_iter=60)
    assert not alone.converged
    assert auto.converged
    assert len(auto.trace) <= len(other.trace) + 3 * WINDOW


def chains(count: int, length: int, n_columns: int = 3) -> Any:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(count * length, n_columns))
    ptr = np.arange(0, x.shape[0] + 1, length)
    y = rng.integers(3, size=x.shape[0]).astype(np.int32)
    return make_chain(make_dense_rows(x), ptr, y, 3)


@pytest.mark.parametrize("loss", LOSSES)
def test_auto_starts_with_batches_where_examples_are_few_and_long(loss: str) -> None:
    solver = BATCH[loss].solver
    few = choose_solver(make_problem(chains(1, 1000), get_loss(loss)))
    first = few.solver.at_work(None)
    assert name_of(first) == (BATCH[loss].before or solver)
    if BATCH[loss].before:
        assert isinstance(few.solver, Relay)
        assert name_of(few.solver.second) == solver
    assert few.reason.endswith("with few examples for their size and C")
    many = choose_solver(make_problem(chains(500, 2), get_loss(loss)))
    assert name_of(many.solver) != solver
    assert isinstance(many.solver, Relay)
    assert name_of(many.solver.second) == solver
    # Weights that outnumber the data cost a batch solver more than they help.
    wide = choose_solver(make_problem(chains(1, 1000, 20_000), get_loss(loss)))
    assert name_of(wide.solver) != solver
    tiny = chains(1, WORTH_A_LOOK // 9)
    assert name_of(choose_solver(make_problem(tiny, get_loss(loss))).solver) != solver


def test_auto_starts_with_batches_where_weights_are_few() -> None:
    def pick(count: int, loss: str, l1_ratio: float = 0.0) -> str:
        s = chains(count, 2, n_columns=1)
        problem = make_problem(s, get_loss(loss), 0.01, l1_ratio=l1_ratio)
        return name_of(choose_solver(problem).solver.at_work(None))

    few = make_problem(chains(1, 1, n_columns=1), get_loss("log_loss")).n_weights * 100
    assert pick(few, "log_loss") == "lbfgs"
    assert pick(few, "log_loss", 0.5) == "owlqn"
    assert pick(few - 1, "log_loss") == "eg"
    assert pick(few, "squared_hinge") == "dcd"


@problems.plain_only
def test_auto_learns_one_long_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where labels follow from words, cutting planes alone prove nothing for long."""
    monkeypatch.setattr(automatic, "WORTH_A_LOOK", 500)
    words = np.random.default_rng(0).integers(20, size=200)
    y = (words % 3).astype(np.int32)
    s = make_chain(make_dense_rows(np.eye(20)[words]), [0, y.size], y, 3)
    problem = make_problem(s, get_loss("squared_hinge"), 100.0)
    solution = solve(problem, choose_solver(problem).solver, tol=0.01, max_iter=60)
    assert solution.converged, solution.status


def test_auto_with_a_larger_C_starts_with_batches() -> None:
    s = chains(100, 10)
    picks = [
        name_of(choose_solver(make_problem(s, get_loss("log_loss"), C)).solver)
        for C in (0.01, 1e4)
    ]
    assert picks == ["eg", "lbfgs"]


@problems.plain_only
def test_auto_says_in_the_status_who_took_over() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(4, size=60)
    model = MulticlassClassifier("log_loss", C=1e4, tol=0.01).fit(X, y)
    assert "; lbfgs took over from eg after pass " in model.status_
    assert model.status_.endswith(
        "(solver lbfgs: after eg, the default for the log loss)"
    )
    assert name_of(model.solver_) == "lbfgs"
