"""Solver, loss and structure that do not go together are refused with advice."""

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

import problems
from foreign import answer_like_multiclass
from partwise.errors import PairingError
from partwise.losses import Certificate, get_loss
from partwise.solvers import (
    DualCoordinateDescent,
    Problem,
    Solver,
    check_pairing,
    make_problem,
    solve,
)
from partwise.solvers.base import State
from partwise.solvers.registry import all_solvers, make_solver, solvers_for
from partwise.structures import interface as waist


class Blind(NamedTuple):
    """A structure with no inference at all."""

    labels: Any


class Nothing(NamedTuple):
    """A structure that answers nothing but how many examples it has."""

    labels: Any


LABELS = np.zeros(2, np.int32)
answer_like_multiclass(Blind, *waist.REQUIRED)
answer_like_multiclass(Nothing, waist.n_examples)


class Untouchable(Solver):
    """A solver that fails when it is asked to do anything."""

    names: ClassVar[dict[str, dict[str, Any]]] = {}
    losses: ClassVar[tuple[str, ...]] = ("squared_hinge", "log_loss")
    needs: ClassVar[tuple[Any, ...]] = (waist.kbest,)

    def start(self, problem: Problem, rng: Any, previous: State | None) -> State:
        raise AssertionError("work started before the pairing was checked")

    def run_pass(self, problem: Problem, state: State, rng: Any) -> Iterator[float]:
        raise AssertionError("not reached")

    def certify(self, problem: Problem, state: State) -> Certificate:
        raise AssertionError("not reached")


def blind(loss: str = "squared_hinge") -> Problem:
    return make_problem(Blind(LABELS), get_loss(loss))


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_pairing_solver_that_cannot_do_the_loss_is_refused(loss: str) -> None:
    problem = make_problem(problems.make_small(problems.classes_dense), get_loss(loss))
    with pytest.raises(PairingError) as caught:
        solve(problem, DualCoordinateDescent())
    able = solvers_for(loss)
    advice = f"dcd-ssvm cannot minimise {loss!r}: set loss='squared_hinge', or use "
    assert str(caught.value).startswith(advice)
    assert f"{', '.join(able[:-1])} or {able[-1]}, " in str(caught.value)


def test_pairing_structure_without_argmax_is_refused() -> None:
    with pytest.raises(PairingError) as caught:
        solve(blind(), DualCoordinateDescent())
    assert str(caught.value) == (
        "dcd-ssvm needs 'argmax', which Blind does not provide: "
        "write it and register it with @argmax.implement(Blind)"
    )


def test_pairing_structure_without_the_required_answers_is_refused() -> None:
    problem = make_problem(Nothing(LABELS), get_loss("squared_hinge"))
    with pytest.raises(PairingError, match="needs 'n_weights', which Nothing does not"):
        solve(problem, DualCoordinateDescent())


def test_pairing_advises_a_solver_that_can() -> None:
    s = problems.make_small(problems.classes_dense)

    class NoKbest(NamedTuple):
        labels: Any

    answer_like_multiclass(
        NoKbest, *waist.REQUIRED, waist.argmax, waist.add_costs, waist.cost
    )
    problem = make_problem(NoKbest(LABELS), get_loss("squared_hinge"))
    with pytest.raises(
        PairingError, match=r"kbest.*NoKbest.*use cpd, cutting-plane, dcd,"
    ):
        solve(problem, Untouchable())
    # The same solver goes with a structure that has k-best outputs.
    check_pairing(make_problem(s, get_loss("squared_hinge")), Untouchable())


def test_pairing_is_checked_before_any_work() -> None:
    with pytest.raises(PairingError):
        solve(blind(), Untouchable())
    with pytest.raises(PairingError, match="marginals"):
        solve(blind("log_loss"), Untouchable())


def test_pairing_error_is_a_value_error() -> None:
    """So that code that knows nothing of Partwise can catch it."""
    with pytest.raises(ValueError, match="argmax"):
        solve(blind(), DualCoordinateDescent())


@pytest.mark.parametrize("make", problems.MAKERS, ids=lambda make: make.__name__)
def test_pairing_accepts_what_goes_together(make: problems.Maker) -> None:
    s = problems.make_small(make)
    check_pairing(make_problem(s, get_loss("squared_hinge")), DualCoordinateDescent())
    assert "dcd-ssvm" in solvers_for("squared_hinge", type(s))
    assert "dcd-ssvm" not in solvers_for("squared_hinge", Blind)


def test_pairing_unknown_solver_gets_a_suggestion() -> None:
    with pytest.raises(ValueError, match=r"unknown solver 'dcd-smv'; did you mean "):
        make_solver("dcd-smv")
    with pytest.raises(ValueError, match="did you mean 'dcd-light'") as caught:
        make_solver("dcd-ligth")
    for name in all_solvers():
        assert name in str(caught.value)


def test_pairing_unknown_solver_like_no_other_gets_the_list() -> None:
    with pytest.raises(ValueError, match="unknown solver 'xyzzy'; choose from ") as e:
        make_solver("xyzzy")
    assert "did you mean" not in str(e.value)


def test_pairing_every_name_makes_its_solver() -> None:
    for name, cls in all_solvers().items():
        assert type(make_solver(name)) is cls
    own = Untouchable()
    assert make_solver(own) is own


@pytest.mark.parametrize("C", [0.0, -1.0, np.nan, np.inf])
def test_pairing_problem_refuses_a_wrong_C(C: float) -> None:
    with pytest.raises(ValueError, match="C must be positive and finite"):
        make_problem(Blind(LABELS), get_loss("hinge"), C)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0], "1 sample weights for 2 examples"),
        ([1.0, -1.0], "not negative"),
        ([1.0, np.nan], "finite"),
    ],
)
def test_pairing_problem_refuses_wrong_weights(
    weight: list[float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make_problem(Blind(LABELS), get_loss("hinge"), 1.0, np.array(weight))
