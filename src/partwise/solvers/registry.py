"""Finding solvers by name, in every file of this folder and its rooms."""

from __future__ import annotations

import difflib
import functools
import importlib
import pkgutil
from pathlib import Path

from partwise.errors import PairingError
from partwise.losses import get_loss
from partwise.solvers.base import Solver
from partwise.solvers.names import MINIMISERS
from partwise.structures.interface import REQUIRED


@functools.cache
def all_solvers() -> dict[str, type[Solver]]:
    """Return every solver class by each of its names.

    Examples
    --------
    >>> "dcd-ssvm" in all_solvers()
    True
    """
    here = [str(Path(__file__).parent)]
    for module in pkgutil.walk_packages(here, f"{__package__}."):
        importlib.import_module(module.name)
    found: dict[str, type[Solver]] = {}
    waiting = list(Solver.__subclasses__())
    while waiting:
        cls = waiting.pop()
        waiting.extend(cls.__subclasses__())
        if cls.__module__.startswith(f"{__package__}."):
            found.update(dict.fromkeys(cls.names, cls))
    return found


def make_solver(name: str | Solver) -> Solver:
    """Return the solver called `name`, or the solver itself if it is one already.

    Examples
    --------
    >>> make_solver("dcd-light").variant
    'light'
    """
    if isinstance(name, Solver):
        return name
    known = all_solvers()
    if name not in known:
        close = difflib.get_close_matches(str(name), known, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise ValueError(
            f"unknown solver {name!r}; {hint}choose from {', '.join(sorted(known))}"
        )
    cls = known[name]
    return cls(**cls.names[name])


def solvers_for(
    loss: str, structure: type | None = None, penalty: str = "l2"
) -> list[str]:
    """List the names of the solvers that minimise `loss`, on `structure` if given.

    Those that minimise no objective, such as the perceptron, are left out.

    Examples
    --------
    >>> solvers_for("log_loss", penalty="l1")
    ['owlqn', 'proximal']
    """
    able = []
    for name, cls in all_solvers().items():
        questions = (*REQUIRED, *get_loss(loss).needs, *cls.needs)
        if (
            cls.minimises
            and loss in cls.losses
            and penalty in cls.penalties
            and (structure is None or all(q.provided_by(structure) for q in questions))
        ):
            able.append(name)
    return sorted(able)


DEFAULTS = {pair: names[0] for pair, names in MINIMISERS.items()}
"""What ``solver="auto"`` means."""


def default_solver(loss: str, penalty: str = "l2") -> Solver:
    """Return the solver that ``solver="auto"`` means.

    Examples
    --------
    >>> default_solver("log_loss", "l1")
    Proximal(solver=None)
    """
    if (loss, penalty) in DEFAULTS:
        return make_solver(DEFAULTS[loss, penalty])
    if solvers_for(loss):
        raise PairingError(
            f"no solver minimises {loss!r} with penalty={penalty!r}; use "
            "penalty='l2', or loss='log_loss'"
        )
    raise PairingError(f"no solver minimises {loss!r} yet; use loss='squared_hinge'")


def name_of(solver: Solver) -> str:
    """Return the name of a solver, or that of its class if it has none.

    Examples
    --------
    >>> name_of(make_solver("eg-batch"))
    'eg-batch'
    """
    solver = solver.at_work(None)
    own = {
        name: settings
        for name, settings in type(solver).names.items()
        if all_solvers().get(name) is type(solver)
        and all(getattr(solver, key) == value for key, value in settings.items())
    }
    # Of several names, the most specific one.
    most = max(own, key=lambda name: (len(own[name]), len(name)), default="")
    return most or type(solver).__name__
