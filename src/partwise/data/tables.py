"""Tables in files: a line of names, then one row per line; commas or tabs between."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.data.files import Source, Target, open_output, read_lines, source_name
from partwise.errors import DataError

MISSING_CELLS = ("", "?")


@dataclass(frozen=True)
class TextTable:
    r"""Cells of text under names of columns; estimators read it as a data frame.

    Attributes
    ----------
    columns : list of str
        The names.
    cells : list of lists
        A list for every column; None where a cell holds no value.
    lines : list of int
        The line of every row in the file, from 1.
    source : str
        The file.
    separator : str
        What is between cells.

    Examples
    --------
    >>> import io
    >>> table = read_csv(io.StringIO("sky,grass\ngrey,wet\nblue,\n"))
    >>> table["grass"].tolist(), table.lines
    (['wet', None], [2, 3])
    """

    columns: list[str]
    cells: list[list[str | None]]
    lines: list[int]
    source: str
    separator: str

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.lines)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return a column."""
        return np.array(self.cells[self.columns.index(name)], object)

    def take_rows(self, numbers: Sequence[int]) -> TextTable:
        r"""Return some rows, by their numbers from 0.

        Examples
        --------
        >>> import io
        >>> read_csv(io.StringIO("sky\ngrey\nblue\n")).take_rows([1]).cells
        [['blue']]
        """
        cells = [[column[i] for i in numbers] for column in self.cells]
        return replace(self, cells=cells, lines=[self.lines[i] for i in numbers])


def read_csv(
    source: Source,
    *,
    separator: str | None = None,
    missing: Collection[str] = MISSING_CELLS,
    encoding: str = "utf-8",
) -> TextTable:
    r"""Read a table with a line of names, such as CSV or TSV.

    Parameters
    ----------
    source : path, "-" or file object
        Where the text is; gzip is recognised.
    separator : str, optional
        The character between cells; by default a tab if there is one in the first
        line, and a comma otherwise. Cells with commas in them may be in quotes.
    missing : collection of str
        Cells that mean no value.
    encoding : str
        The encoding of the file.

    Examples
    --------
    >>> import io
    >>> read_csv(io.StringIO("a\tb\n1\t?\n")).cells
    [['1'], [None]]
    """
    name = source_name(source)
    lines = _Lines(read_lines(source, encoding=encoding))
    head = lines.peek()
    between = ("\t" if "\t" in head else ",") if separator is None else separator
    if len(between) != 1:
        raise ValueError(f"the separator must be one character, not {separator!r}")
    records = _records(lines, between, name)
    columns = next(records, [])
    if not columns:
        raise DataError("is empty (the first line should name the columns)", path=name)
    for column, times in Counter(columns).items():
        if not column or times > 1:
            raise DataError(
                f"the first line should name the columns, once each; {column!r} does "
                "not",
                path=name,
                line=1,
            )
    none = frozenset(missing)
    cells: list[list[str | None]] = [[] for _ in columns]
    numbers = []
    for row in records:
        if _is_blank(row, between):
            continue
        if len(row) != len(columns):
            raise DataError(
                f"expected {len(columns)} cells, found {len(row)} (line: "
                f"{lines.first[:60]!r})",
                path=name,
                line=lines.number,
            )
        for own, cell in zip(cells, row, strict=True):
            own.append(None if cell in none else cell)
        numbers.append(lines.number)
    return TextTable(columns, cells, numbers, name, between)


class _Lines:
    """The lines of a file, for a reader whose records may take several."""

    def __init__(self, lines: Iterator[tuple[int, str]]):
        self._lines = lines
        self._next = next(lines, None)
        self.number = 0  # of the first line of a record
        self.first = ""
        self.is_new = True

    def peek(self) -> str:
        """Return the next line without taking it."""
        return "" if self._next is None else self._next[1]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the lines."""
        return self

    def __next__(self) -> str:
        """Return a line with its end."""
        if self._next is None:
            raise StopIteration
        number, line = self._next
        if self.is_new:
            self.number, self.first, self.is_new = number, line, False
        self._next = next(self._lines, None)
        return f"{line}\n"


def _records(lines: _Lines, between: str, name: str) -> Iterator[list[str]]:
    """Yield the cells of one record after the other."""
    reader = csv.reader(lines, delimiter=between, strict=True)
    try:
        for record in reader:
            yield record
            lines.is_new = True
    except csv.Error as error:
        raise DataError(
            f"{error} (a quote in a cell is written twice, and the whole cell in "
            f"quotes; line: {lines.first[:60]!r})",
            path=name,
            line=lines.number,
        ) from None


def _is_blank(row: list[str], between: str) -> bool:
    """Say whether a line holds nothing but spaces."""
    return not row or ((len(row) == 1 or between.isspace()) and "".join(row).isspace())


def write_csv(
    target: Target,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    separator: str = ",",
) -> None:
    r"""Write a table with a line of names; None is an empty cell.

    Examples
    --------
    >>> import io
    >>> buffer = io.StringIO()
    >>> write_csv(buffer, ["a", "b"], [["1", None], ["x,y", "2"]])
    >>> buffer.getvalue()
    'a,b\n1,\n"x,y",2\n'
    """
    with open_output(target) as out:
        writer = csv.writer(out, delimiter=separator, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
