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
    """Let errors about rows name lines of the file.

    An estimator says "X, column 'a', row 3: ..."; here that becomes "file:5: column
    'a': ...".
    """
    try:
        yield
    except DataError as error:
        raise DataError(in_file(str(error), table, called)) from None


def in_file(message: str, table: TextTable, called: str = "X") -> str:
    """Return a message about a table with the file and the line.

    Examples
    --------
    >>> from partwise.data import TextTable
    >>> table = TextTable(["a"], [["1", None]], [2, 3], "t.csv", ",")
    >>> in_file("X, column 'a', row 1: the value is missing", table)
    "t.csv:3: column 'a': the value is missing"
    >>> in_file("X has no rows", table)
    't.csv: has no rows'
    """
    if message.startswith(f"{called}, column "):
        place, _, rest = message.partition(": ")
        column, _, row = place.removeprefix(f"{called}, ").partition(", row ")
        if row.isdigit():
            return f"{table.source}:{table.lines[int(row)]}: {column}: {rest}"
        return f"{table.source}: {column}: {rest}"
    for prefix in (f"{called} ", f"{called}: "):
        if message.startswith(prefix):
            return f"{table.source}: {message.removeprefix(prefix)}"
    return message
