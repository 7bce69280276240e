"""Whether a solver, a loss, a penalty and a structure go together."""

from __future__ import annotations

from partwise.errors import PairingError
from partwise.solvers.base import Problem, Solver
from partwise.solvers.names import either
from partwise.solvers.registry import make_solver, name_of, solvers_for
from partwise.structures.interface import REQUIRED, innermost

LOSSES_TO_SET = ("log_loss", "squared_hinge", "hinge")
"""What the setting `loss` may be."""


def check_objective(solver: Solver, loss: str, penalty: str = "l2") -> None:
    """Raise `PairingError` unless the solver minimises the loss with the penalty."""
    if loss in solver.losses and penalty in solver.penalties:
        return
    wanted = "'hinge' with margin='unit'" if loss == "set_hinge" else repr(loss)
    if penalty.endswith("divergence"):  # not a setting of theirs
        wanted += " of generative models"
    elif penalty != "l2":
        wanted += f" {'with' if loss != 'set_hinge' else 'and'} penalty={penalty!r}"
    able = solvers_for(loss, penalty=penalty)
    if able:
        advice = f"use {either(able)}, or solver='auto'"
    elif solvers_for(loss):
        advice = "no solver does; use penalty='l2', or loss='log_loss'"
    else:
        advice = f"no solver minimises it yet; use loss={solver.losses[0]!r}"
    # Who names a solver means its loss more often than the default one.
    other = next((own for own in solver.losses if own in LOSSES_TO_SET), None)
    if penalty == "l2" and loss in LOSSES_TO_SET and other and other != loss:
        advice = f"set loss={other!r}, or {advice}"
    raise PairingError(f"{name_of(solver)} cannot minimise {wanted}: {advice}")


def check_pairing(problem: Problem, solver: Solver) -> None:
    """Raise `PairingError` unless solver, loss and structure go together.

    Checked before anything compiles, so that the message can say what to do.
    """
    check_objective(solver, problem.loss.name, problem.penalty)
    if problem.is_elsewhere and not solver.only_passes:
        able = [
            name
            for name in solvers_for(problem.loss.name, penalty=problem.penalty)
            if make_solver(name).only_passes
        ]
        raise PairingError(
            f"{name_of(solver)} changes the weights after every example, and examples "
            "of a corpus in shards are only visited all at once: "
            + (f"use {either(able)}, or solver='auto'" if able else "use penalty='l2'")
        )
    if problem.pull is not None and not solver.follows_pull:
        able = [
            name
            for name in solvers_for(problem.loss.name, penalty=problem.penalty)
            if make_solver(name).follows_pull
        ]
        raise PairingError(
            f"{name_of(solver)} cannot learn on from weights alone: "
            + (f"use {either(able)}, or solver='auto'" if able else "use penalty='l2'")
        )
    # A structure that wraps another one may have to ask it for the answer.
    cls = type(innermost(problem.structure))
    of_loss = problem.loss.needs if solver.minimises else ()
    for question in (*REQUIRED, *of_loss, *solver.needs):
        if not question.provided_by(cls):
            loss, penalty = problem.loss.name, problem.penalty
            able = solvers_for(loss, cls, penalty)
            wanted, owner = question.__name__, cls.__name__
            advice = f"write it and register it with @{wanted}.implement({owner})"
            if able:
                advice = f"use {either(able)}"
            elif penalty != "l2" and solvers_for(loss, cls):
                advice = f"use penalty='l2', or {advice}"
            raise PairingError(
                f"{name_of(solver)} needs {wanted!r}, which {owner} does not provide: "
                f"{advice}"
            )
