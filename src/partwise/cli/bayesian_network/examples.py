"""Tables as networks take them, for reports."""

from __future__ import annotations

from typing import Any

from partwise.cli.bayesian_network.files import TableFiles
from partwise.errors import DataError


def labelled(model: Any, file: str, *, files: TableFiles) -> tuple[Any, None]:
    """Read a table, which holds the targets."""
    table = files.read(file)
    if not len(table):
        raise DataError(f"{file}: has no rows to compare")
    return table, None
