"""Vectors as users give them beside their tokens: a matrix for every sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from partwise.errors import DataError
from partwise.estimators.checks import peek
from partwise.features.array_features import WIDEST, Vectors, float_type
from partwise.structures.rows import LARGEST


class WithVectors(NamedTuple):
    """A sequence, or a sentence, and a matrix with a row for each of its tokens.

    A list of these does what a pair of lists, ``(X, matrices)``, does too, and can be
    split and shuffled, say by scikit-learn's cross-validation.

    Parameters
    ----------
    tokens : sequence
        What would be given without vectors.
    matrix : array of shape (n_tokens, n_columns)
        The vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import SequenceTagger, WithVectors
    >>> vectors = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    >>> x = WithVectors([{"word": "the"}, {"word": "dog"}], vectors)
    >>> tagger = SequenceTagger().fit([x], [["D", "N"]])
    >>> tagger.predict([WithVectors([{"word": "a"}], vectors[:1])])
    [['D']]
    """

    tokens: Any
    matrix: Any


def split_vectors(X: Any) -> tuple[Any, list[Any] | None]:
    """Return what was given without its matrices, and these; None without any.

    A pair ``(X, matrices)`` is told from two sequences by what comes second: a list of
    arrays with two dimensions, which no sequence is.
    """
    if isinstance(X, WithVectors):
        raise DataError("X must be a list; for one sequence write [sequence]")
    if isinstance(X, tuple) and len(X) == 2 and _are_matrices(X[1]):
        return X[0], list(X[1])
    if isinstance(X, np.ndarray | str | bytes) or not isinstance(X, Iterable):
        return X, None
    if hasattr(X, "columns"):
        return X, None
    if not isinstance(X, Sequence):
        first, X = peek(X)
    else:
        first = X[0] if len(X) else None
    if not isinstance(first, WithVectors):
        return X, None
    items = list(X)
    for i, item in enumerate(items):
        if not isinstance(item, WithVectors):
            raise DataError(
                "it has no vectors, but the first one has (give WithVectors for all)",
                where=f"sequence {i}",
                example=i,
            )
    return [item.tokens for item in items], [item.matrix for item in items]


def split_matrix(X: Any) -> tuple[Any, Any]:
    """Return examples and the matrix with a vector for each; None without one."""
    return X if _has_matrix(X) else (X, None)


def split_pair(X: Any) -> tuple[Any, Any]:
    """Return both parts of a pair of examples and vectors; None without vectors."""
    many = isinstance(X, tuple) and len(X) == 2 and _are_matrices(X[1])
    return X if many or _has_matrix(X) else (X, None)


def split_one(x: Any) -> tuple[Any, Any]:
    """Return the tokens and the matrix of one sequence; None without a matrix."""
    if isinstance(x, WithVectors):
        return x.tokens, x.matrix
    if isinstance(x, tuple) and len(x) == 2 and getattr(x[1], "ndim", 0) == 2:
        return x[0], x[1]
    return x, None


def _has_matrix(X: Any) -> bool:
    """Say whether this is a pair of examples and a matrix with a row for each."""
    return (
        isinstance(X, tuple)
        and len(X) == 2
        and getattr(X[1], "ndim", 0) == 2
        and getattr(X[0], "ndim", 0) < 2
    )


def _are_matrices(given: Any) -> bool:
    if isinstance(given, np.ndarray):
        return given.ndim == 3 and given.dtype.kind in "fiub"
    if not isinstance(given, list | tuple) or not given:
        return False
    # An empty matrix may be a list; others say by themselves what they are.
    return all(
        (isinstance(one, np.ndarray) and one.ndim == 2 and one.dtype.kind in "fiub")
        for one in given
        if len(one)
    ) and any(isinstance(one, np.ndarray) for one in given)


def stack_matrices(
    matrices: Sequence[Any],
    lengths: Sequence[int],
    width: int | None,
    where: Callable[[int], str],
) -> Vectors:
    """Check the matrices of all sequences and put them below each other.

    Parameters
    ----------
    matrices : sequence of arrays
        As given.
    lengths : sequence of int
        How many tokens every sequence has.
    width : int or None
        How many columns there must be; by default as many as in the first.
    where : callable
        Says which sequence a number is of.

    Raises
    ------
    DataError
        If there are too few, or one has other rows or columns, or is not finite.
    """
    if len(matrices) != len(lengths):
        raise DataError(
            f"{len(matrices)} matrices of vectors for {len(lengths)} sequences (give "
            "one for every sequence)"
        )
    arrays = []
    for i, (matrix, length) in enumerate(zip(matrices, lengths, strict=True)):

        def error(problem: str, i: int = i, **place: Any) -> DataError:
            return DataError(problem, where=where(i), example=i, **place)

        try:
            array = np.asarray(matrix)
        except ValueError:
            raise error("its vectors differ in length") from None
        if array.size == 0 and length == 0:
            continue
        if array.ndim != 2 or array.dtype.kind not in "fiub" or not array.shape[1]:
            raise error(
                f"its vectors are an array of {array.dtype} of shape {array.shape}; "
                "give a matrix of numbers with a row for every token"
            )
        if len(array) != length:
            raise error(f"{len(array)} vectors for {length} tokens")
        if width is None:
            width = array.shape[1]
        if array.shape[1] != width or width >= WIDEST:
            raise error(f"its vectors have {array.shape[1]} columns, expected {width}")
        arrays.append(array)
    if width is None:
        raise DataError("all sequences are empty: there is nothing to learn from")
    dtype = float_type(*{array.dtype for array in arrays})
    values = np.zeros((sum(lengths), width), dtype)
    if arrays:
        np.concatenate(arrays, out=values, casting="unsafe")
    _check_finite(values, lengths, where)
    return Vectors(values, np.ones(len(values), bool))


def _check_finite(
    values: Any, lengths: Sequence[int], where: Callable[[int], str]
) -> None:
    # Without a copy: there may be gigabytes. NaN fails both.
    if not values.size or (
        float(values.min()) >= -LARGEST and float(values.max()) <= LARGEST
    ):
        return
    ends = np.cumsum(lengths)
    for i, end in enumerate(ends.tolist()):
        own = values[end - lengths[i] : end]
        bad = np.argwhere(~(np.abs(own.astype(np.float64)) <= LARGEST))
        if bad.size:
            t, c = bad[0].tolist()
            raise DataError(
                f"column {c} of its vector is {own[t, c]}; replace NaN and infinity "
                "first, and scale huge values",
                where=f"{where(i)}, token {t}",
                example=i,
                part=t,
                column=c,
            )
