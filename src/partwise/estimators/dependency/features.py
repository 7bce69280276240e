"""Features of arcs that the user gives: a sparse matrix for every sentence, checked.

Row ``h * (n + 1) + m`` of the matrix for a sentence of `n` words holds the features of
the arc from head `h`, 0 being the root, to word `m`. Rows that are not arcs (to the
root, or from a word to itself) are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy

from partwise.data.treebank import Sentence
from partwise.errors import DataError
from partwise.estimators.dependency.corpus import named
from partwise.estimators.sparse_input import check_sparse
from partwise.structures.dependency import ListedArcs, make_listed_arcs
from partwise.structures.rows import make_sparse_rows
from partwise.structures.rows.interface import LARGEST

MOST_FEATURES = 2**31 - 1  # whose numbers fit into 32 bits


def as_matrices(
    arc_features: Any,
    sentences: Sequence[Sentence],
    n_features: int | None = None,
    what: str = "arc_features",
) -> list[Any]:
    """Return a CSR matrix for every sentence; raise `DataError` if one is invalid.

    Parameters
    ----------
    arc_features : iterable of sparse matrices
        As the user gives them.
    sentences : sequence of Sentence
        What they are for.
    n_features : int, optional
        How many columns they must have; by default as many as the first.
    what : str
        The name of the argument, for messages.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> hush = Sentence.from_columns(forms=["Hush"])
    >>> [matrix] = as_matrices([csr_array((4, 7))], [hush])
    >>> as_matrices([csr_array((3, 7))], [hush])
    Traceback (most recent call last):
        ...
    partwise.errors.DataError: arc_features of sentence 0: the shape is (3, 7), expected
    (4, 7): (n + 1)^2 rows, head by head, for its 1 words
    """
    if scipy.sparse.issparse(arc_features) or not isinstance(arc_features, Iterable):
        raise DataError(
            f"{what} must be a list of sparse matrices, one for every sentence, not "
            f"{type(arc_features).__name__}"
        )
    given = list(arc_features)
    if len(given) != len(sentences):
        raise DataError(
            f"{what}: {len(given)} matrices for {len(sentences)} sentences (every "
            "sentence needs one)"
        )
    result = []
    for i, (matrix, sentence) in enumerate(zip(given, sentences, strict=True)):
        place = f"{what} of {named(sentence, i)}"
        if not scipy.sparse.issparse(matrix) or matrix.ndim != 2:
            raise DataError(
                f"{place}: {type(matrix).__name__} is not a sparse matrix of two "
                "dimensions (scipy.sparse.csr_array makes one)"
            )
        if n_features is None:
            n_features = matrix.shape[1]
        _check(matrix, len(sentence), n_features, place)
        check_sparse(matrix, place)
        result.append(scipy.sparse.csr_array(matrix, dtype=np.float64))
        if not (np.abs(result[-1].data) <= LARGEST).all():
            raise DataError(
                f"{place}: values must be finite numbers, none above {LARGEST:g}"
            )
    return result


def _check(matrix: Any, n_words: int, n_features: int, place: str) -> None:
    expected = ((n_words + 1) ** 2, n_features)
    if matrix.shape[0] != expected[0]:
        raise DataError(
            f"{place}: the shape is {matrix.shape}, expected {expected}: (n + 1)^2 "
            f"rows, head by head, for its {n_words} words"
        )
    if matrix.shape[1] != n_features:
        raise DataError(
            f"{place}: there are {matrix.shape[1]} columns, but {n_features} features "
            "(all matrices, also those to predict with, must have the same columns)"
        )
    if not 1 <= n_features <= MOST_FEATURES:
        raise DataError(
            f"{place}: there must be between 1 and 2^31 - 1 columns, not {n_features}"
        )
    if matrix.dtype.kind not in "biuf":
        raise DataError(f"{place}: values of type {matrix.dtype} are not real numbers")


def list_arcs(
    matrices: Sequence[Any], sentences: Sequence[Sentence], n_features: int
) -> ListedArcs:
    """Put the matrices of all sentences one below the other."""
    none = scipy.sparse.csr_array((0, n_features))
    whole = scipy.sparse.vstack([none, *matrices], format="csr", dtype=np.float64)
    values = None if (whole.data == 1.0).all() else whole.data
    rows = make_sparse_rows(whole.indptr, whole.indices, values, n_features)
    return make_listed_arcs(rows, [len(sentence) for sentence in sentences])


def most_listed(listed: ListedArcs | None) -> int:
    """Return the largest number of features that an arc has."""
    return 0 if listed is None else int(np.diff(listed.rows.ptr).max(initial=0))


def arcs_as_trained(
    arc_features: Any,
    sentences: Sequence[Sentence],
    n_features: int,
    what: str = "arc_features",
) -> ListedArcs | None:
    """Return the features for a parser that learnt from `n_features`, or from none."""
    if arc_features is None and n_features:
        raise DataError(
            f"the parser was trained with arc_features, {n_features} columns of them: "
            f"give {what} for these sentences as well"
        )
    if arc_features is None:
        return None
    if not n_features:
        raise DataError(
            f"the parser was trained without arc_features: leave {what} out, or give "
            "fit some as well"
        )
    matrices = as_matrices(arc_features, sentences, n_features, what)
    return list_arcs(matrices, sentences, n_features)
