"""Sparse rows: what every feature encoder produces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError
from partwise.features.array_features import Vectors

Scalar = TypeVar("Scalar", bound=np.generic)

Key: TypeAlias = tuple[Any, ...]
"""What an attribute is called, the same in all pieces of a corpus."""

KeyCounts: TypeAlias = dict[Key, int]
"""How many rows have each attribute, in the order of ids."""

UNKNOWN = -1  # the id of an attribute that is not in the vocabulary


class AttributeRows(NamedTuple):
    """Attributes of each token, in compressed rows.

    Attributes
    ----------
    ptr : int64 array of n_rows + 1
        Row `r` is ``idx[ptr[r]:ptr[r + 1]]``.
    idx : int32 array
        Attribute ids; within a row each occurs once.
    val : float64 array
        Their values, or an empty array when every value is one.
    n_columns : int
        How many attributes there are.

    Examples
    --------
    >>> import numpy as np
    >>> rows = AttributeRows(np.array([0, 2, 2]), np.array([4, 1]), np.empty(0), 5)
    >>> rows.idx[rows.ptr[0] : rows.ptr[1]]
    array([4, 1])
    """

    ptr: NDArray[np.int64]
    idx: NDArray[np.int32]
    val: NDArray[np.float64]
    n_columns: int


class Encoded(NamedTuple):
    """Sequences of tokens, encoded.

    Attributes
    ----------
    ptr : int64 array of n_sequences + 1
        Sequence `s` is the tokens ``ptr[s]`` to ``ptr[s + 1]``.
    nodes : AttributeRows
        The attributes of each token.
    edges : AttributeRows
        The attributes of the transition into each token; a sequence's first
        token has none. Without any, ``n_columns`` is 0 and ``ptr`` is ``[0]``.
    vectors : dict of str to Vectors
        The features of tokens that are arrays, by name.

    Examples
    --------
    >>> from partwise.features import FeatureDictEncoder
    >>> encoded = FeatureDictEncoder().fit_encode([[{"word": "Paris"}, {}]])
    >>> encoded.ptr, encoded.nodes.ptr, encoded.edges.n_columns
    (array([0, 2]), array([0, 1, 1]), 0)
    """

    ptr: NDArray[np.int64]
    nodes: AttributeRows
    edges: AttributeRows
    vectors: Mapping[str, Vectors] = {}


def no_attributes(n_rows: int = 0) -> AttributeRows:
    """Return rows without any attributes.

    Examples
    --------
    >>> no_attributes().n_columns
    0
    """
    ptr, idx = np.zeros(n_rows + 1, np.int64), np.empty(0, np.int32)
    return AttributeRows(ptr, idx, np.empty(0), 0)


def tidy_rows(
    ptr: NDArray[np.int64],
    idx: NDArray[np.int32],
    val: NDArray[np.float64],
    n_columns: int,
) -> AttributeRows:
    """Drop unknown attributes and zeros, and merge what occurs twice in a row.

    The arrays are overwritten. Order within a row is kept.

    Examples
    --------
    >>> import numpy as np
    >>> ids = np.array([7, -1, 7, 2], np.int32)
    >>> rows = tidy_rows(np.array([0, 3, 4]), ids, np.empty(0), 8)
    >>> rows.idx, rows.val
    (array([7, 2], dtype=int32), array([2., 1.]))
    """
    # Imported late: `_jit` takes much memory, and plain dicts are learnt without it.
    from partwise.features.row_kernels import drop_unknown, merge, repeats

    if val.size == 0 and not repeats(ptr, idx):
        n = drop_unknown(ptr, idx)
        return AttributeRows(ptr, _trim(idx, n), val, n_columns)
    if val.size == 0:
        val = np.ones(idx.size)
    n = merge(ptr, idx, val)
    idx, val = _trim(idx, n), _trim(val, n)
    if not np.isfinite(val).all():
        row = int(np.searchsorted(ptr, np.flatnonzero(~np.isfinite(val))[0], "right"))
        raise DataError(
            "the values of one feature add up to infinity (scale the values down)",
            where=f"token {row - 1} (counted over all sequences)",
            part=row - 1,
        )
    if (val == 1.0).all():
        val = np.empty(0)
    return AttributeRows(ptr, idx, val, n_columns)


def keep_frequent(
    rows: AttributeRows, min_count: int
) -> tuple[AttributeRows, NDArray[np.int32]]:
    """Drop the attributes of fewer than `min_count` rows.

    Returns the rows with the remaining ids closed up, and for each old id its
    new one or ``UNKNOWN``.

    Examples
    --------
    >>> import numpy as np
    >>> ids = np.array([0, 1, 1], np.int32)
    >>> rows = AttributeRows(np.array([0, 2, 3]), ids, np.empty(0), 2)
    >>> rows, new_ids = keep_frequent(rows, 2)
    >>> rows.idx, new_ids
    (array([0, 0], dtype=int32), array([-1,  0], dtype=int32))
    """
    kept = np.bincount(rows.idx, minlength=rows.n_columns) >= min_count
    if kept.all():
        return rows, np.arange(rows.n_columns, dtype=np.int32)
    new_ids = np.where(kept, np.cumsum(kept) - 1, UNKNOWN).astype(np.int32)
    ptr, n_kept = rows.ptr, int(kept.sum())
    return tidy_rows(ptr, new_ids[rows.idx], rows.val, n_kept), new_ids


def _trim(values: NDArray[Scalar], n: int) -> NDArray[Scalar]:
    """Cut an array to its first `n` entries, giving back memory if that is worth it."""
    return values[:n] if 4 * n >= 3 * values.size else values[:n].copy()
