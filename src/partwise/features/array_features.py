"""Features of tokens that are arrays, collected without copying them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

WIDEST = 2**20
"""No vector has as many columns."""


class Vectors(NamedTuple):
    """A vector for every row, zeros where a row has none.

    Attributes
    ----------
    values : float32 or float64 matrix
        The vectors.
    known : bool array
        Which rows have one.
    """

    values: NDArray[Any]
    known: NDArray[np.bool_]


class BadArray(ValueError):
    """An array that cannot be a feature."""


def float_type(*dtypes: Any) -> Any:
    """Return float32 if no precision is lost, else float64."""
    small = all(d.kind == "f" and d.itemsize <= 4 for d in dtypes)
    return np.float32 if small else np.float64


class ArrayFeatures:
    """The arrays of rows under construction, by name.

    Parameters
    ----------
    widths : dict of str to int, optional
        The names that are known, and the lengths of their arrays; None to learn them.
    """

    def __init__(self, widths: Mapping[str, int] | None = None) -> None:
        self.widths = {} if widths is None else dict(widths)
        self._is_learning = widths is None
        self._rows: dict[str, list[int]] = {name: [] for name in self.widths}
        self._arrays: dict[str, list[Any]] = {name: [] for name in self.widths}

    def add(self, name: str, row: int, array: NDArray[Any]) -> None:
        """Note the array that a row has under a name."""
        if (
            array.ndim != 1
            or not 0 < array.size < WIDEST
            or array.dtype.kind not in "fiub"
        ):
            raise BadArray(
                f"is an array of {array.dtype} of shape {array.shape} (a vector is an "
                "array of numbers with one dimension)"
            )
        if name not in self.widths:
            if not self._is_learning:
                raise BadArray(
                    "is an array, but in the training data it was not (leave it out, "
                    "or train with it)"
                )
            self.widths[name] = array.size
            self._rows[name], self._arrays[name] = [], []
        if array.size != self.widths[name]:
            raise BadArray(
                f"is a vector of length {array.size}, expected {self.widths[name]}, "
                "as in the others"
            )
        if not np.isfinite(array).all():
            raise BadArray(
                f"is a vector with {array[~np.isfinite(array)][0]} in it (replace NaN "
                "and infinity first, or give None where there is no vector)"
            )
        rows = self._rows[name]
        if rows and rows[-1] == row:
            raise BadArray("is given twice")
        rows.append(row)
        self._arrays[name].append(array)

    def finish(self, n_rows: int) -> dict[str, Vectors]:
        """Return the vectors of all rows, by name."""
        return {name: self._stack(name, n_rows) for name in self.widths}

    def _stack(self, name: str, n_rows: int) -> Vectors:
        arrays, rows = self._arrays[name], self._rows[name]
        known = np.zeros(n_rows, bool)
        known[rows] = True
        dtype = float_type(*{array.dtype for array in arrays})
        values = np.zeros((n_rows, self.widths[name]), dtype)
        for row, array in zip(rows, arrays, strict=True):
            values[row] = array
        return Vectors(values, known)
