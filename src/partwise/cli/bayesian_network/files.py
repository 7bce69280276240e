"""Tables on the command line: how they are read, and where errors are in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from partwise.cli.options import FILES, Encoding, Separator, in_panel
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise.data import TextTable

MissingCells = Annotated[
    str,
    in_panel(
        FILES,
        "The text of cells without a value, in addition to empty ones.",
        "--missing",
        metavar="TEXT",
    ),
]


@dataclass(frozen=True)
class TableFiles:
    """How tables are read: a line of names, then one row per line."""

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
    """Let errors about the argument `called` name lines of the file of a table.

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
