"""Tidying sparse rows, in compiled code."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel


@kernel
def drop_unknown(ptr: NDArray[np.int64], idx: NDArray[np.int32]) -> int:
    """Close the gaps that unknown attributes leave; return what remains."""
    n, start = 0, 0
    for row in range(ptr.size - 1):
        stop = ptr[row + 1]
        for at in range(start, stop):
            if idx[at] >= 0:
                idx[n] = idx[at]
                n += 1
        start = stop
        ptr[row + 1] = n
    return n


@kernel
def _row_table_size(ptr: NDArray[np.int64]) -> int:
    """Return a power of two at least twice the length of any row."""
    size = 2
    for row in range(ptr.size - 1):
        while size < 2 * (ptr[row + 1] - ptr[row]):
            size *= 2
    return size


@kernel
def _place(
    row: int, column: int, table_row: NDArray[np.int64], table_column: NDArray[np.int32]
) -> int:
    """Return where a table that is shared by all rows has or takes a column."""
    mask = table_row.size - 1
    at = (int(column) * 0x2545F491 >> 7) & mask
    while table_row[at] == row and table_column[at] != column:
        at = (at + 1) & mask
    return at


@kernel
def repeats(ptr: NDArray[np.int64], idx: NDArray[np.int32]) -> bool:
    """Say whether an attribute occurs twice in a row."""
    size = _row_table_size(ptr)
    table_row = np.full(size, -1, np.int64)
    table_column = np.empty(size, np.int32)
    for row in range(ptr.size - 1):
        for at in range(ptr[row], ptr[row + 1]):
            column = idx[at]
            if column >= 0:
                place = _place(row, column, table_row, table_column)
                if table_row[place] == row:
                    return True
                table_row[place] = row
                table_column[place] = column
    return False


@kernel
def merge(
    ptr: NDArray[np.int64], idx: NDArray[np.int32], val: NDArray[np.float64]
) -> int:
    """Add up repeated attributes and drop unknown ones and zeros, in place."""
    size = _row_table_size(ptr)
    table_row = np.full(size, -1, np.int64)
    table_column = np.empty(size, np.int32)
    table_at = np.empty(size, np.int64)
    n, start = 0, 0
    for row in range(ptr.size - 1):
        stop, first = ptr[row + 1], n
        for at in range(start, stop):
            column = idx[at]
            if column < 0:
                continue
            place = _place(row, column, table_row, table_column)
            if table_row[place] == row:
                # As plain floats, since NumPy's warn where the sum is infinite.
                val[table_at[place]] = float(val[table_at[place]]) + float(val[at])
            else:
                table_row[place] = row
                table_column[place] = column
                table_at[place] = n
                idx[n] = column
                val[n] = val[at]
                n += 1
        last, n = n, first
        for at in range(first, last):
            if val[at] != 0.0:
                idx[n] = idx[at]
                val[n] = val[at]
                n += 1
        start = stop
        ptr[row + 1] = n
    return n
