"""What solvers keep is measured before they start, and refused if it is too much."""

import numpy as np
import pytest

import problems
from partwise import LBFGS, OutOfMemoryError, SequenceTagger, solve
from partwise.losses import get_loss
from partwise.solvers import ExponentiatedGradient, make_problem, memory, progress
from partwise.solvers.base import Problem
from partwise.solvers.registry import make_solver
from partwise.structures.gibbs import part_pointers

X = [[{"w": "a"}, {"w": "b"}], [{"w": "b"}]]
Y = [["P", "Q"], ["Q"]]


@pytest.fixture
def problem() -> Problem:
    s = problems.make_small(problems.chain_sparse)
    return make_problem(s, get_loss("log_loss"))


def test_free_memory_is_known_here() -> None:
    free = memory.available_memory()
    assert free is not None
    assert free > 2**20


def test_memory_of_the_duals_is_a_number_per_part(problem: Problem) -> None:
    n_parts = int(part_pointers(problem.structure)[-1])
    assert make_solver("sdca").memory(problem) == 8 * n_parts
    assert make_solver("eg").memory(problem) == 16 * n_parts
    assert make_solver("eg-batch").memory(problem) == 32 * n_parts


def test_memory_of_the_primal_form_does_not_grow_with_the_data() -> None:
    sizes = {
        make_solver("eg-primal").memory(
            make_problem(
                problems.make_small(problems.chain_sparse, count), get_loss("log_loss")
            )
        )
        for count in (3, 30)
    }
    assert len(sizes) == 1


def test_duals_that_do_not_fit_are_refused_with_alternatives(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 100)
    with pytest.raises(OutOfMemoryError, match=r"may need less: lbfgs, eg-primal"):
        solve(problem, ExponentiatedGradient())


def test_auto_takes_a_smaller_solver_when_the_duals_do_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = ExponentiatedGradient.memory
    monkeypatch.setattr(
        ExponentiatedGradient, "memory", lambda *args: 2**60 + real(*args)
    )
    tagger = SequenceTagger("log_loss").fit(X, Y)
    assert isinstance(tagger.solver_, LBFGS)
    with pytest.raises(OutOfMemoryError):
        SequenceTagger("log_loss", solver="eg").fit(X, Y)


def test_progress_reports_a_large_state_before_training(
    problem: Problem,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(progress, "WORTH_TELLING", 1)
    solve(problem, ExponentiatedGradient(), callbacks=[progress.ProgressBar(1e-3)])
    first = capsys.readouterr().err.splitlines()[0]
    assert first == "eg keeps 1 MiB besides the weights"


def test_state_is_as_large_as_was_said(problem: Problem) -> None:
    solver = ExponentiatedGradient()
    state = solver.start(problem, np.random.default_rng(0), None)
    tensors = state.tensors()
    kept = tensors["dual.theta"].nbytes + tensors["dual.mu"].nbytes
    assert kept == solver.memory(problem)
