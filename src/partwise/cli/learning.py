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
    MarginLoss,
    MaxIter,
    Patience,
    Penalty,
    Positive,
    Resume,
    Seed,
    SimplicialName,
    SolverName,
    TimeLimit,
    Tolerance,
    Verbose,
)

GENERATIVE: dict[str, Any] = {"loss": MarginLoss, "solver": SimplicialName}
"""Options that say something else where probabilities are trained."""
GENERATIVE_DEFAULTS: dict[str, Any] = {
    "loss": "hinge", "tol": 1e-3, "max_iter": 2000, "patience": 100,
}  # fmt: skip
PENALTIES = ("penalty", "l1_ratio", "margin", "positive")
"""Options that there are not where probabilities are trained."""


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
    generative: bool = False  # no option: which command it is

    def settings(self) -> dict[str, Any]:
        """Return what estimators are told, by the names that they have for it."""
        penalties = {} if self.generative else {p: getattr(self, p) for p in PENALTIES}
        return {
            **penalties,
            "loss": self.loss,
            "C": self.C,
            "solver": self.solver,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "n_jobs": self.jobs,
            "random_state": self.seed,
            "patience": self.patience,
            "checkpoint": self.checkpoint,
            "resume": self.resume,
            "time_limit": self.time_limit,
            "verbose": int(self.verbose),
        }


def takes_learning(
    default_C: str, *, generative: bool = False, **defaults: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of `Learning`, in place of a parameter ``learning``.

    Parameters
    ----------
    default_C : str
        What ``--C`` is by default, in words.
    generative : bool
        Whether probabilities are trained, for which there are fewer losses and solvers,
        and no penalties.
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
    defaults = (GENERATIVE_DEFAULTS if generative else {}) | defaults
    left_out = ("generative", *(PENALTIES if generative else ()))
    options = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=defaults.get(field.name, field.default),
            annotation=_annotation(field.name, default_C, generative),
        )
        for field in fields(Learning)
        if field.name not in left_out
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
            command(**given, learning=Learning(**chosen, generative=generative))

        # What the program reads off a command to make its options.
        signature = inspect.Signature([*kept, *options])
        run.__signature__ = signature  # type: ignore[attr-defined]
        run.__annotations__ = {
            one.name: one.annotation for one in signature.parameters.values()
        }
        return run

    return decorate


def _annotation(name: str, default_C: str, generative: bool) -> Any:
    if generative and name in GENERATIVE:
        return GENERATIVE[name]
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
