"""SciPy's sparse matrices, checked before SciPy's machine code trusts them."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.errors import DataError

MOST_COLUMNS = 2**31 - 2
"""Columns have 32-bit numbers, and a constant feature may follow the last one."""


def check_sparse(matrix: Any, what: str) -> None:
    """Raise `DataError` for a sparse matrix whose arrays do not fit together.

    Other inputs are left alone. A matrix with pointers or columns that were changed by
    hand would make SciPy read and write wherever they point.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> X = csr_array([[1.0, 0.0], [0.0, 2.0]])
    >>> check_sparse(X, "X")
    >>> X.indices[1] = 7
    >>> check_sparse(X, "X")
    Traceback (most recent call last):
        ...
    partwise.errors.DataError: X: not a valid sparse matrix (...)
    """
    import scipy.sparse

    if not scipy.sparse.issparse(matrix):
        return
    try:
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)
            if (np.diff(matrix.indptr) < 0).any():
                raise ValueError("indptr decreases")
        elif matrix.format == "coo":
            _check_coordinates(matrix)
    except (ValueError, IndexError) as error:
        raise DataError(f"{what}: not a valid sparse matrix ({error})") from None
    if matrix.ndim == 2 and matrix.shape[1] > MOST_COLUMNS:
        raise DataError(
            f"{what}: {matrix.shape[1]} columns are more than the {MOST_COLUMNS} that "
            "can be counted"
        )


def _check_coordinates(matrix: Any) -> None:
    for places, size in zip((matrix.row, matrix.col), matrix.shape, strict=False):
        if places.size != matrix.data.size:
            raise ValueError("coordinates and data differ in length")
        if places.size and not 0 <= places.min() <= places.max() < size:
            raise ValueError("coordinates lie outside of its shape")
