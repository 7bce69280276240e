"""What mistakes cost, on the command line: a name or a file."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from partwise.cli.files import ColumnFiles
from partwise.cli.learning import SettingOption
from partwise.cli.options import LEARNING, in_panel
from partwise.errors import DataError

NAMED = ("hamming", "ring")

Costs: TypeAlias = Annotated[
    str,
    in_panel(
        LEARNING,
        "What mistakes cost: hamming (1 each), ring (the distance of integers on a "
        "ring), or a file with the right value, the predicted one and a cost on each "
        "line; pairs that are not listed cost 1.",
    ),
]

CLASS_WEIGHT = SettingOption(
    "class_weight",
    help="What a wrong label costs: 'balanced' (rare labels more), or factors by "
    "label such as NOUN=2,O=0.5.",
)


def costs_file(costs: str) -> str | None:
    """Return the file that `costs` names, if it does."""
    return None if costs in NAMED else costs


def read_costs(costs: str, files: ColumnFiles) -> str | dict[tuple[str, str], float]:
    """Return the name of the costs, or what their file says."""
    path = costs_file(costs)
    if path is None:
        return costs
    data = files.columns(path)
    if data.n_columns != 3:
        raise DataError(
            f"{path}: has {data.n_columns} columns (expected the right value, the "
            f"predicted one and a cost; or say --costs {' or --costs '.join(NAMED)})"
        )
    found: dict[tuple[str, str], float] = {}
    for right, predicted, cost in zip(*data.columns, strict=True):
        try:
            found[right, predicted] = float(cost)
        except ValueError:
            raise DataError(
                f"{path}: the cost of {predicted} for {right} is {cost!r}, not a number"
            ) from None
    return found


def chosen_costs(costs: str, files: ColumnFiles) -> Any:
    """Return the same for a setting that is None where all mistakes cost 1."""
    return None if costs == "hamming" else read_costs(costs, files)


def read_class_weight(text: str | None) -> Any:
    """Read ``balanced`` or ``B-PER=2,O=0.5``; a label may hold commas and equals."""
    if text is None or text == "balanced":
        return text
    weights: dict[str, float] = {}
    for part in text.split(","):
        label, found, weight = part.rpartition("=")
        try:
            weights[label] = float(weight)
        except ValueError:
            found = ""
        if not found:
            raise ValueError(
                "--class-weight must be 'balanced' or factors such as B-PER=2,O=0.5, "
                f"not {text!r}"
            )
    return weights
