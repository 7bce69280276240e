"""What ``solver="auto"`` means, and why."""

from __future__ import annotations

from typing import NamedTuple

from partwise.solvers.base import Problem, Solver
from partwise.solvers.memory import fits_in_memory, in_words
from partwise.solvers.names import LOSS_NAMES
from partwise.solvers.registry import all_solvers, default_solver, make_solver

# Used instead when the duals of the fastest solver do not fit into memory.
SMALLEST = {"log_loss": "lbfgs", "hinge": "smo"}


class Choice(NamedTuple):
    """A solver, and the reason for it in words."""

    solver: Solver
    reason: str


def choose_solver(problem: Problem) -> Choice:
    """Choose the solver for a problem.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> choice = choose_solver(make_problem(s, get_loss("squared_hinge")))
    >>> name_of(choice.solver), choice.reason
    ('dcd-ssvm', 'the default for the squared hinge')
    """
    loss = problem.loss.name
    solver = default_solver(loss, problem.penalty)
    what = LOSS_NAMES.get(loss, loss)
    if problem.penalty != "l2":
        # Generative models have no setting of this name, so it would explain nothing.
        is_setting = not problem.penalty.endswith("divergence")
        suffix = f" with penalty {problem.penalty!r}" if is_setting else ""
        return Choice(solver, f"the default for {what}{suffix}")
    if not fits_in_memory(problem, solver) and loss in SMALLEST:
        needed = in_words(solver.memory(problem))
        reason = f"{name_of(solver)} would need {needed} of memory, more than is free"
        return Choice(make_solver(SMALLEST[loss]), reason)
    return Choice(solver, f"the default for {what}")


def name_of(solver: Solver) -> str:
    """Return the name of a solver, or that of its class if it has none.

    Examples
    --------
    >>> name_of(make_solver("eg-batch"))
    'eg-batch'
    """
    own = {
        name: settings
        for name, settings in type(solver).names.items()
        if all_solvers().get(name) is type(solver)
        and all(getattr(solver, key) == value for key, value in settings.items())
    }
    # Of several names, the most specific one.
    most = max(own, key=lambda name: (len(own[name]), len(name)), default="")
    return most or type(solver).__name__
