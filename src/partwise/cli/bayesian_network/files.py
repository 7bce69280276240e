"""Tables on the command line: how they are read, and what goes wrong in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from partwise.cli.options import FILES, Encoding, Separator
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise.data import TextTable

MissingCells = Annotated[
    str,
    typer.Option(
        "--missing",
        help="Cells that hold no value, beside empty ones.",
        metavar="TEXT",
        rich_help_panel=FILES,
    ),
]


@dataclass(frozen=True)
class TableFiles:
    """How tables are read: a line of names, then a row a line."""

    separator: Separator = None
    missing: MissingCells = "?"
    encoding: Encoding = "utf-8"

    def read(self, path: str) -> TextTable:
        """Read a table."""
        from partwise.data import read_csv

        separator = self.separator
        if separator is not None:
            separator = separator.replace("\\t", "\t")
        return read_csv(
            path,
            separator=separator,
            missing=("", self.missing),
            encoding=self.encoding,
        )


@contextmanager
def naming_lines(table: TextTable, called: str = "X") -> Iterator[None]:
    """Let errors about a table, `called` so by the estimator, name lines of its file.

    Examples
    --------
    >>> from partwise.data import TextTable
    >>> table = TextTable(["a"], [["1", None]], [2, 3], "t.csv", ",")
    >>> with naming_lines(table):
    ...     raise DataError("it is missing", argument="X", column="a", example=1)
    Traceback (most recent call last):
        ...
    partwise.errors.DataError: t.csv:3: column 'a': it is missing
    """
    try:
        yield
    except DataError as error:
        if error.argument != called:
            raise
        where = table.source
        if error.example is not None:
            where += f":{table.lines[error.example]}"
        if error.column is not None:
            where += f": column {error.column!r}"
        raise error.located(where) from None
