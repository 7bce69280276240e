"""The table of names says what the solvers say, and costs nothing to import."""

import subprocess
import sys

import pytest

from partwise.solvers.names import (
    MINIMISERS,
    MISTAKE_DRIVEN,
    list_solvers,
    solver_names,
)
from partwise.solvers.registry import (
    DEFAULTS,
    all_solvers,
    default_solver,
    make_solver,
)


def test_names_are_those_of_the_solvers() -> None:
    found: dict[tuple[str, str], set[str]] = {}
    for name, cls in all_solvers().items():
        if cls.minimises:
            for loss in cls.losses:
                for penalty in cls.penalties:
                    found.setdefault((loss, penalty), set()).add(name)
    assert {pair: set(names) for pair, names in MINIMISERS.items()} == found
    assert all(len(set(names)) == len(names) for names in MINIMISERS.values())
    others = {name for name, cls in all_solvers().items() if not cls.minimises}
    assert set(MISTAKE_DRIVEN) == others
    for name in others:
        assert all_solvers()[name].penalties == ("l2",)


def test_names_put_the_default_first() -> None:
    chosen = {
        ("squared_hinge", "l2"): "dcd",
        ("hinge", "l2"): "frank-wolfe",
        ("log_loss", "l2"): "eg",
        ("log_loss", "elasticnet"): "eg",
        ("log_loss", "l1"): "proximal",
        ("squared_hinge", "l1"): "proximal",
        ("hinge", "positive l1"): "column-generation",
        ("squared_hinge", "divergence"): "simplicial",
    }
    assert chosen.items() <= DEFAULTS.items()
    for (loss, penalty), name in DEFAULTS.items():
        assert solver_names(loss, penalty)[0] == name
        assert repr(default_solver(loss, penalty)) == repr(make_solver(name))


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "log_loss"])
def test_names_of_a_loss_make_solvers_for_it(loss: str) -> None:
    for name in solver_names(loss):
        assert loss in make_solver(name).losses
    assert solver_names(loss, "no such penalty") == ()


def test_names_in_words_leave_none_out() -> None:
    losses = ("squared_hinge", "hinge", "log_loss", "set_hinge")
    penalties = ("l2", "l1", "elasticnet", "positive l1", "divergence")
    text = list_solvers(losses, penalties)
    words = set(text.replace(",", " ").replace(";", " ").split())
    assert set(all_solvers()) <= words
    assert list_solvers(["squared_hinge"]) == (
        "auto; dcd, dcd-ssvm, dcd-light, cpd, cutting-plane, simplicial, "
        "simplicial-coordinate, simplicial-online or sgd for squared_hinge; "
        "perceptron, mira, mira-kbest, pa or arow with any loss, minimising none"
    )


def test_names_are_imported_without_numpy_or_numba() -> None:
    heavy = "{'numpy', 'numba'} & {*sys.modules}"
    code = f"import sys, partwise.solvers.names; print({heavy})"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert ended.stdout == "set()\n"


def test_names_of_all_solver_classes_are_public() -> None:
    import partwise
    from partwise import solvers

    for name in {cls.__name__ for cls in all_solvers().values()}:
        assert name in partwise.__all__
        assert name in solvers.__all__
        assert getattr(partwise, name) is getattr(solvers, name)
