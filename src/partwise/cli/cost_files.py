"""What mistakes cost, as the command line is told: by a name or in a file."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from partwise.cli.files import ColumnFiles
from partwise.cli.options import LEARNING
from partwise.errors import DataError

NAMED = ("hamming", "ring")

Costs: TypeAlias = Annotated[
    str,
    typer.Option(
        help="What mistakes cost: hamming (1 each), ring (integers on a ring), or a "
        "file with a right one, a predicted one and a cost on each line; pairs that it "
        "does not name cost 1.",
        rich_help_panel=LEARNING,
    ),
]


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
            f"{path}: has {data.n_columns} columns (expected a right one, a predicted "
            f"one and a cost; or say --costs {' or --costs '.join(NAMED)})"
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
