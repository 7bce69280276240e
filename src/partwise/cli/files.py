"""Reading files for commands: models, and columns."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from partwise.cli.options import Comments, Encoding, Separator, SkipDocstart
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise.data import ColumnData


def is_model_file(path: str) -> bool:
    """Say whether a file looks like a model, of ours or of another program.

    Ours begin with eight bytes of size and a JSON object.
    """
    from partwise.foreign.recognise import recognise

    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        start = file.read(9)
    return start[6:] == b"\0\0{" or recognise(path)


@dataclass(frozen=True)
class ColumnFiles:
    """How column files are read: one token per line, a blank line after a sequence."""

    separator: Separator = None
    comments: Comments = None
    skip_docstart: SkipDocstart = False
    encoding: Encoding = "utf-8"

    @property
    def _options(self) -> dict[str, Any]:
        # A shell passes on a backslash and a t where a tab was meant.
        separator = "\t" if self.separator == "\\t" else self.separator
        return {
            "separator": separator,
            "comments": self.comments,
            "skip_docstart": self.skip_docstart,
            "encoding": self.encoding,
        }

    def columns(self, path: str) -> ColumnData:
        """Read a whole file."""
        from partwise.data import read_columns

        return read_columns(path, **self._options)

    def stream(self, path: str) -> Iterator[ColumnData]:
        """Read a file piece by piece."""
        from partwise.data import iter_columns

        return iter_columns(path, **self._options)

    def labelled(self, path: str, label_column: int) -> tuple[Any, list[list[str]]]:
        """Read inputs and labels; the inputs keep the labels, which no model reads."""
        return _with_labels(path, self.columns(path), label_column)

    def labelled_pieces(
        self, path: str, label_column: int
    ) -> Iterator[tuple[Any, list[list[str]]]]:
        """Do the same piece by piece."""
        for data in self.stream(path):
            yield _with_labels(path, data, label_column)


def _with_labels(
    path: str, data: ColumnData, label_column: int
) -> tuple[ColumnData, list[list[str]]]:
    if data.n_columns < 2:
        raise DataError(f"{path}: has only one column (expected a word and its label)")
    try:
        return data, data.column_sequences(label_column)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
