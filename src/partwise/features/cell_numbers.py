"""Strings to numbers: cells as the rows of codes they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError
from partwise.features.csr import UNKNOWN


class Numbers(dict[str, int]):
    """Numbers of strings; a string that is new gets the next number."""

    def __missing__(self, string: str) -> int:
        """Give a string its number."""
        number = self[string] = len(self)
        return number


def number_cells(
    columns: Mapping[int, Sequence[str]], known: Mapping[str, int], new: Numbers
) -> NDArray[np.int32]:
    """Give cells the number of their string; new strings follow the known."""
    n_tokens = max(map(len, columns.values()), default=0)
    n_known, n_cells = len(known), len(columns) * n_tokens
    cells = chain.from_iterable(columns.values())
    if known:
        found = map(known.get, cells, repeat(UNKNOWN))
    else:
        found = map(new.__getitem__, cells)
    try:
        numbers = np.fromiter(found, np.int32, n_cells).reshape(len(columns), n_tokens)
        for column, row in zip(columns.values(), numbers, strict=True):
            missing = (row < 0).nonzero()[0]
            if missing.size:
                row[missing] = [n_known + new[column[t]] for t in missing.tolist()]
    except TypeError:  # a list, say, cannot be looked up
        refuse_other_than_strings(columns)
        raise
    if not all(isinstance(word, str) for word in new):
        refuse_other_than_strings(columns)
    return numbers


def refuse_other_than_strings(columns: Mapping[int, Sequence[object]]) -> None:
    """Raise `DataError` naming the first cell that is not a string."""
    for number, column in columns.items():
        for token, cell in enumerate(column):
            if not isinstance(cell, str):
                raise DataError(
                    f"column {number}, token {token}: expected a string, found"
                    f" {type(cell).__name__} (convert it with str)"
                )
