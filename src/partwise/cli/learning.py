"""How to learn: the options that all training commands have, in one place."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Annotated, Any, get_type_hints

import typer

from partwise.cli.declared import Declared, as_command, with_values
from partwise.cli.options import LEARNING, RUN, AsJson

Loss = Annotated[
    str,
    typer.Option(
        help="What is minimised: squared_hinge, hinge or log_loss (a CRF).",
        rich_help_panel=LEARNING,
    ),
]
MarginLoss = Annotated[
    str,
    typer.Option(
        help="What is minimised: hinge or squared_hinge.",
        rich_help_panel=LEARNING,
    ),
]
Penalty = Annotated[
    str,
    typer.Option(
        help="What keeps weights small: l2; with log_loss or hinge also l1, which "
        "leaves many of them zero; with log_loss also elasticnet.",
        rich_help_panel=LEARNING,
    ),
]
L1Ratio = Annotated[
    float,
    typer.Option(
        help="The share of the L1 norm in elasticnet, 0 to 1.",
        rich_help_panel=LEARNING,
    ),
]
Margin = Annotated[
    str,
    typer.Option(
        help="By how much the right output must beat a wrong one: cost, or, for the "
        "hinge with penalty l1, unit.",
        rich_help_panel=LEARNING,
    ),
]
Positive = Annotated[
    bool,
    typer.Option(
        "--positive",
        help="No weight may be negative, for the hinge with penalty l1.",
        rich_help_panel=LEARNING,
    ),
]
SolverName = Annotated[
    str,
    typer.Option(
        help="How: auto; dcd-ssvm, dcd-light or cpd for squared_hinge; eg, sdca, "
        "lbfgs, cg or owlqn for log_loss; smo, frank-wolfe, cutting-plane or eg "
        "for hinge; sgd for any; perceptron, mira or mira-kbest, without a proof.",
        rich_help_panel=LEARNING,
    ),
]
SimplicialName = Annotated[
    str,
    typer.Option(
        help="How: auto or simplicial; simplicial-coordinate, one part of the data "
        "after the other; simplicial-online, for a stream of parts.",
        rich_help_panel=LEARNING,
    ),
]
Tolerance = Annotated[
    float,
    typer.Option(
        help="Stop when proved to be within this fraction of the best.",
        rich_help_panel=LEARNING,
    ),
]
MaxIter = Annotated[
    int,
    typer.Option(help="The most passes over the data.", rich_help_panel=LEARNING),
]
Patience = Annotated[
    int,
    typer.Option(
        help="With --dev: stop after this many passes without a new best.",
        rich_help_panel=LEARNING,
    ),
]
Seed = Annotated[
    int,
    typer.Option(min=0, help="Seed of everything random.", rich_help_panel=LEARNING),
]
CPath = Annotated[
    str | None,
    typer.Option(
        "--C-path",
        help="Train with each of these, such as 0.01,0.1,1, one after the other, "
        "and keep the model that is best on --dev.",
        rich_help_panel=LEARNING,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        help="Threads; -1 for one per core.",
        rich_help_panel=RUN,
        show_default=False,
    ),
]
Checkpoint = Annotated[
    str | None,
    typer.Option(
        help="Save the state of training there after every pass.",
        rich_help_panel=RUN,
    ),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Go on from --checkpoint if it exists.",
        rich_help_panel=RUN,
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(min=0, help="Stop after this many seconds.", rich_help_panel=RUN),
]
Float32 = Annotated[
    bool,
    typer.Option(
        "--float32", help="Save weights in half the space.", rich_help_panel=RUN
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose/--quiet",
        "-v/-q",
        help="Show progress and results, or only errors.",
        rich_help_panel=RUN,
    ),
]


class Reference(StrEnum):
    """What probabilities stay near to."""

    likelihood = "likelihood"
    uniform = "uniform"


Smoothing = Annotated[
    float, typer.Option(help="Added to every count.", rich_help_panel=LEARNING)
]

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
        declared = Declared.by(one for one in own if one.name != "learning")

        def run(**given: Any) -> None:
            chosen = {one.name: given.pop(one.name, one.default) for one in options}
            learning = Learning(**chosen, generative=generative)
            command(**declared.grouped(given), learning=learning)

        return as_command(
            run, command, map(with_values, [*declared.parameters, *options])
        )

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
