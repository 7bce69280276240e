"""Sequences of symbols as users write them, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.data.columns import ColumnData, resolve_column
from partwise.errors import DataError
from partwise.estimators.checks import check_listed
from partwise.estimators.labels import sorted_classes
from partwise.structures.interface import IntArray


def symbol_lists(X: Any, column: int = 0) -> tuple[IntArray, list[Any]]:
    """Return where every sequence begins, and all symbols one after the other.

    Parameters
    ----------
    X : iterable of sequences, or ColumnData
        The symbols.
    column : int
        Where `X` has columns, the one with the symbols.

    Examples
    --------
    >>> ptr, flat = symbol_lists([["a", "b"], ["b"]])
    >>> ptr.tolist(), flat
    ([0, 2, 3], ['a', 'b', 'b'])
    """
    check_listed(X, "X must be a list of sequences of symbols")
    if isinstance(X, ColumnData):
        return X.ptr, X.columns[resolve_column(X, column)]
    flat: list[Any] = []
    ptr = [0]
    for i, symbols in enumerate(X):
        check_listed(symbols, f"X, sequence {i}: expected a list of symbols", show=True)
        flat.extend(symbols)
        for t, symbol in enumerate(flat[ptr[-1] :]):
            if isinstance(symbol, bool | np.bool_) or not isinstance(
                symbol, str | int | np.integer
            ):
                raise DataError(
                    f"X, sequence {i}, position {t}: a symbol is a string or an "
                    f"integer, not {symbol!r}"
                )
        ptr.append(len(flat))
    return np.array(ptr, np.int64), flat


def sorted_symbols(flat: list[Any]) -> list[Any]:
    """Return the distinct symbols, sorted; all strings or all integers."""
    if len({isinstance(symbol, str) for symbol in flat}) > 1:
        raise DataError(
            "X: sequences of different alphabets; symbols must be all strings or all "
            "integers, not a mixture"
        )
    return sorted_classes(flat)
