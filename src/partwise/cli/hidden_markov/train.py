"""``partwise train hmm``: from labelled symbols to a hidden Markov model."""

from __future__ import annotations

from typing import Annotated, Any

from partwise.cli.cost_files import Costs, costs_file, read_costs
from partwise.cli.files import ColumnFiles
from partwise.cli.learning import (
    REFERENCE,
    Learning,
    SettingOption,
    options_in,
    takes_learning,
)
from partwise.cli.options import (
    FILES,
    LABEL_COLUMN,
    LEARNING,
    Dev,
    LabelColumn,
    ModelPath,
    Train,
    in_panel,
)
from partwise.cli.training_run import TrainingRun
from partwise.errors import DataError
from partwise.estimators.hidden_markov.settings import HiddenMarkovSettings

CALLED = {
    "sentences": "sequences",
    "tokens": "symbols",
    "labels": "states",
    "symbols": "different symbols",
}
"""What people call the sizes."""


@takes_learning(
    HiddenMarkovSettings,
    SettingOption(
        "objective",
        help="How probabilities are found: by counting (likelihood), so that "
        "predictions are right (margin), or whichever is better on --dev, or on "
        "held-out sequences (auto).",
        default="auto",
    ),
    SettingOption(
        "reference", help=f"{REFERENCE} (default: likelihood; auto tries both)."
    ),
    *options_in(LEARNING, "divergence", "smoothing", "cv"),
)
def hmm(
    train: Train,
    model: ModelPath,
    dev: Dev = None,
    symbol_column: Annotated[
        int,
        in_panel(
            FILES,
            "The column with the symbols, counted from 0; negative numbers count from "
            "the end.",
        ),
    ] = 0,
    label_column: LabelColumn = LABEL_COLUMN,
    hidden_column: Annotated[
        int | None,
        in_panel(
            FILES,
            "The column that says which states to predict in training: 1, or 0 for "
            "those that are given. All are predicted by default.",
        ),
    ] = None,
    costs: Costs = "hamming",
    *,
    files: ColumnFiles,
    learning: Learning,
) -> None:
    """Train a hidden Markov model: a state for every symbol of a sequence.

    TRAIN holds a symbol and its state on each line, and a blank line after each
    sequence. Ctrl-C ends training early: the model so far is saved, and the exit code
    is 130. While --objective auto still compares models, there is none to save.
    """
    from partwise import HiddenMarkovModel
    from partwise.data import resolve_column

    sources = {"TRAIN": train, "--dev": dev, "--costs": costs_file(costs)}
    run = TrainingRun(model, sources, learning)
    if learning.C_path is not None and learning.settings["objective"] != "margin":
        raise ValueError("--C-path needs --objective margin; auto chooses a C itself")
    fitted = run.make(HiddenMarkovModel, costs=read_costs(costs, files))
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
    hidden = None if hidden_column is None else _read_hidden(X, hidden_column, train)
    run.fit_and_save(
        fitted, X, y, held_out, sizes, tell=_tell, called=CALLED, hidden=hidden
    )


def _read_hidden(data: Any, column: int, path: str) -> list[list[bool]]:
    """Return which states are to be predicted, as a column of zeros and ones tells."""
    rows = data.column_sequences(column)
    for value in {value for row in rows for value in row} - {"0", "1"}:
        raise DataError(
            f"{path}: column {column} has {value!r} where 1 (predict) or 0 (given) is "
            "needed; choose another --hidden-column"
        )
    return [[value == "1" for value in row] for row in rows]


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
