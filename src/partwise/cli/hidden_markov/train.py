"""``partwise train hmm``: from labelled symbols to a hidden Markov model."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from partwise.cli.cost_files import Costs, costs_file, read_costs
from partwise.cli.files import ColumnFiles
from partwise.cli.learning import Learning, Reference, Smoothing, takes_learning
from partwise.cli.options import (
    FILES,
    LABEL_COLUMN,
    LEARNING,
    Dev,
    LabelColumn,
    ModelPath,
    Train,
)
from partwise.cli.training_run import TrainingRun


class Objective(StrEnum):
    """How probabilities are found."""

    auto = "auto"
    margin = "margin"
    likelihood = "likelihood"


@takes_learning("one that suits the data; auto tries several", generative=True)
def hmm(
    train: Train,
    model: ModelPath,
    dev: Dev = None,
    symbol_column: Annotated[
        int,
        typer.Option(
            help="The column of the symbols, from 0; negative ones count from the end.",
            rich_help_panel=FILES,
        ),
    ] = 0,
    label_column: LabelColumn = LABEL_COLUMN,
    objective: Annotated[
        Objective,
        typer.Option(
            help="How probabilities are found: by counting (likelihood), so that "
            "predictions are right (margin), or whichever is better on --dev, or on "
            "sequences held out (auto).",
            rich_help_panel=LEARNING,
        ),
    ] = Objective.auto,
    reference: Annotated[
        Reference | None,
        typer.Option(
            help="What the probabilities of a margin model stay near to (default: "
            "likelihood; auto tries both).",
            rich_help_panel=LEARNING,
            show_default=False,
        ),
    ] = None,
    smoothing: Smoothing = 1.0,
    costs: Costs = "hamming",
    cv: Annotated[
        int,
        typer.Option(
            min=2,
            help="Into how many parts auto divides the data where there is no --dev.",
            rich_help_panel=LEARNING,
        ),
    ] = 5,
    *,
    files: ColumnFiles,
    learning: Learning,
) -> None:
    """Train a hidden Markov model: a state for every symbol of a sequence.

    TRAIN holds a symbol and its state on each line, and a blank line after each
    sequence. Ctrl-C ends training early: the model so far is saved, and the exit code
    is 130. While auto still chooses, there is none.
    """
    from partwise import HiddenMarkovModel
    from partwise.data import resolve_column

    sources = {"TRAIN": train, "--dev": dev, "--costs": costs_file(costs)}
    run = TrainingRun(model, sources, learning)
    if learning.C_path is not None and objective is not Objective.margin:
        raise ValueError("--C-path needs --objective margin; auto chooses a C itself")
    fitted = run.make(
        HiddenMarkovModel,
        objective=objective.value,
        reference=None if reference is None else reference.value,
        costs=read_costs(costs, files),
        smoothing=smoothing,
        cv=cv,
    )
    X, y = files.labelled(train, label_column)
    held_out = None if dev is None else files.labelled(dev, label_column)
    column = resolve_column(X, symbol_column)
    if column == resolve_column(X, label_column):
        raise ValueError(
            f"column {column} cannot hold both symbols and states (choose another "
            "--symbol-column or --label-column)"
        )
    fitted.set_params(column=column)
    sizes = {"sentences": len(y), "tokens": sum(map(len, y))}
    run.fit_and_save(fitted, X, y, held_out, sizes, tell=_tell)


def _tell(model: Any) -> dict[str, Any]:
    return {
        "symbols": len(model.symbols_),
        "trained_for": model.objective_,
        "reference": model.reference_,
        **(
            {"candidates": [one._asdict() for one in model.candidates_]}
            if model.candidates_
            else {}
        ),
    }
