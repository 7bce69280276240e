"""How to learn: the options that all training commands have, in one place."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any, get_type_hints

import typer

from partwise.cli.options import (
    LEARNING,
    AsJson,
    Checkpoint,
    CPath,
    Float32,
    Jobs,
    L1Ratio,
    Loss,
    Margin,
    MaxIter,
    Patience,
    Penalty,
    Positive,
    Resume,
    Seed,
    SolverName,
    TimeLimit,
    Tolerance,
    Verbose,
)


@dataclass(frozen=True)
class Learning:
    """What is minimised and how, and what becomes of the run; see `partwise train`."""

    loss: Loss = "squared_hinge"
    penalty: Penalty = "l2"
    l1_ratio: L1Ratio = 0.5
    margin: Margin = "cost"
    positive: Positive = False
    solver: SolverName = "auto"
    C: float | None = None
    C_path: CPath = None
    tol: Tolerance = 1e-2
    max_iter: MaxIter = 100
    patience: Patience = 5
    seed: Seed = 0
    jobs: Jobs = None
    checkpoint: Checkpoint = None
    resume: Resume = False
    time_limit: TimeLimit = None
    float32: Float32 = False
    verbose: Verbose = True
    json: AsJson = False

    def settings(self) -> dict[str, Any]:
        """Return what estimators are told, by the names that they have for it."""
        return {
            "loss": self.loss,
            "C": self.C,
            "solver": self.solver,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "penalty": self.penalty,
            "l1_ratio": self.l1_ratio,
            "margin": self.margin,
            "positive": self.positive,
            "n_jobs": self.jobs,
            "random_state": self.seed,
            "patience": self.patience,
            "checkpoint": self.checkpoint,
            "resume": self.resume,
            "time_limit": self.time_limit,
            "verbose": int(self.verbose),
        }


def takes_learning(
    default_C: str, *, without: tuple[str, ...] = (), **defaults: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of `Learning`, in place of a parameter ``learning``.

    Parameters
    ----------
    default_C : str
        What ``--C`` is by default, in words.
    without : tuple of str
        Options that the command does not have.
    **defaults
        What other options are by default, where that is not as in `Learning`.

    Examples
    --------
    >>> @takes_learning("1", tol=0.5)
    ... def learn(train: str, learning: Learning) -> None:
    ...     print(train, learning.tol, learning.loss)
    >>> learn(train="data.txt")
    data.txt 0.5 squared_hinge
    >>> list(inspect.signature(learn).parameters)[:3]
    ['train', 'loss', 'penalty']
    """
    options = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=defaults.get(field.name, field.default),
            annotation=_annotation(field.name, default_C),
        )
        for field in fields(Learning)
        if field.name not in without
    ]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters.values()
        kept = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in own
            if parameter.name != "learning"
        ]

        @functools.wraps(command)
        def run(**given: Any) -> None:
            chosen = {one.name: given.pop(one.name, one.default) for one in options}
            command(**given, learning=Learning(**chosen))

        # What the program reads off a command to make its options.
        signature = inspect.Signature([*kept, *options])
        run.__signature__ = signature  # type: ignore[attr-defined]
        run.__annotations__ = {
            one.name: one.annotation for one in signature.parameters.values()
        }
        return run

    return decorate


def _annotation(name: str, default_C: str) -> Any:
    if name != "C":
        return get_type_hints(Learning, include_extras=True)[name]
    return Annotated[
        float | None,
        typer.Option(
            "--C",
            "-C",
            help="Weight of the losses; larger fits the data closer (default: "
            f"{default_C}).",
            rich_help_panel=LEARNING,
            show_default=False,
        ),
    ]
