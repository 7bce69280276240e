"""Strings to numbers: cells as the rows of codes they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError
from partwise.features.csr import UNKNOWN

if TYPE_CHECKING:
    from partwise.features.byte_table import ByteTable

FEWEST_CELLS = 1024  # for fewer it is not worth it to line their bytes up
MANY_CELLS = 30_000  # for fewer, all in all, it is not worth it to load what finds them


class Numbers(dict[str, int]):
    """Numbers of strings; a string that is new gets the next number."""

    def __missing__(self, string: str) -> int:
        """Give a string its number."""
        number = self[string] = len(self)
        return number


class KnownStrings(dict[str, int]):
    """Numbers of strings that stay as they are: columns of them are soon found.

    Once many cells were asked for, and as many as there are strings, these are kept as
    bytes, too, among which compiled code finds the cells of a column.

    Examples
    --------
    >>> known = KnownStrings(["New", "York"])
    >>> known, known.find(["York"])  # too few cells
    ({'New': 0, 'York': 1}, None)
    """

    def __init__(self, strings: Iterable[str] = ()) -> None:
        super().__init__((string, number) for number, string in enumerate(strings))
        self._n_asked = 0
        self._table: ByteTable | None = None
        self._is_usable = True

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the bytes out of copies and pickles: they are quickly made again."""
        return KnownStrings, (list(self),)

    def find(self, column: Sequence[str]) -> NDArray[np.int32] | None:
        """Return the number of every cell, or UNKNOWN; None to look in the dict."""
        if not self._is_usable or len(column) < FEWEST_CELLS or not self:
            return None
        from partwise.features.byte_table import IS_USABLE, byte_table, ids_in

        self._n_asked += len(column)
        if self._table is None and self._n_asked >= max(len(self), MANY_CELLS):
            numbers = np.arange(len(self), dtype=np.int32)
            if IS_USABLE:
                self._table = byte_table(self, np.zeros_like(numbers), numbers)
            self._is_usable = self._table is not None
        if self._table is None:
            return None
        return ids_in(self._table, column, np.zeros(len(column), np.int32))


def number_cells(
    columns: Mapping[int, Sequence[str]], known: Mapping[str, int], new: Numbers
) -> NDArray[np.int32]:
    """Give cells the number of their string; new strings follow the known."""
    n_tokens = max(map(len, columns.values()), default=0)
    n_known = len(known)
    numbers = np.empty((len(columns), n_tokens), np.int32)
    try:
        for column, row in zip(columns.values(), numbers, strict=True):
            row[:] = _numbers_of(column, known, new)
            missing = (row < 0).nonzero()[0]
            if missing.size:
                row[missing] = [n_known + new[column[t]] for t in missing.tolist()]
    except TypeError:  # a list, say, cannot be looked up
        refuse_other_than_strings(columns)
        raise
    if not all(isinstance(word, str) for word in new):
        refuse_other_than_strings(columns)
    return numbers


def _numbers_of(
    column: Sequence[str], known: Mapping[str, int], new: Numbers
) -> NDArray[np.int32]:
    """Return the numbers of strings, UNKNOWN for those that are not among the known."""
    found = known.find(column) if isinstance(known, KnownStrings) else None
    if found is not None:
        return found
    if known:
        numbers = map(known.get, column, repeat(UNKNOWN))
    else:
        numbers = map(new.__getitem__, column)
    return np.fromiter(numbers, np.int32, len(column))


def refuse_other_than_strings(columns: Mapping[int, Sequence[object]]) -> None:
    """Raise `DataError` naming the first cell that is not a string."""
    for number, column in columns.items():
        for token, cell in enumerate(column):
            if not isinstance(cell, str):
                raise DataError(
                    f"column {number}, token {token}: expected a string, found"
                    f" {type(cell).__name__} (convert it with str)"
                )
