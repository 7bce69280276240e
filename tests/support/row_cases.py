"""Random feature rows of every kind, each with its meaning as dense vectors."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from drivers import IS_COMPILED
from partwise.structures import (
    make_dense_rows,
    make_mixed_rows,
    make_pair_rows,
    make_pairs,
    make_sparse_rows,
    make_vector_rows,
)

KINDS = (
    *("ones", "values", "pairs", "pairs with values", "dense"),
    *("vectors", "mixed ones", "mixed pairs"),
)

# Rows of every kind are compiled by themselves, whole structures for one class of
# rows; the rest of the matrix runs as plain Python, where it costs no compilation.
KINDS_IN_STRUCTURES = ("ones", "values") if IS_COMPILED else KINDS


class RowCase(NamedTuple):
    """Rows and what they stand for.

    `matrix` has the summed value of every attribute at every position; `kept` the
    flat (attribute, label) pairs that have a weight, in the order of the weights.
    """

    rows: Any
    matrix: NDArray[np.float64]
    kept: NDArray[np.int64]
    n_labels: int

    def features(self, t: int, label: int) -> NDArray[np.float64]:
        """Return the whole feature vector of a position with a label."""
        return np.outer(self.matrix[t], np.eye(self.n_labels)[label]).ravel()[self.kept]


def make_row_case(
    kind: str, n_rows: int, n_labels: int, random: np.random.Generator
) -> RowCase:
    """Draw rows; some are empty, some name an attribute twice."""
    if kind.startswith("mixed "):
        words = make_row_case(kind.removeprefix("mixed "), n_rows, n_labels, random)
        vectors = make_row_case("vectors", n_rows, n_labels, random)
        return RowCase(
            make_mixed_rows(words.rows, vectors.rows),
            np.hstack([words.matrix, vectors.matrix]),
            np.concatenate(
                [words.kept, words.matrix.shape[1] * n_labels + vectors.kept]
            ),
            n_labels,
        )
    n_columns = int(random.integers(1, 5))
    if kind == "vectors":
        values = random.normal(size=(n_rows, n_columns)).astype(np.float32)
        by_label = np.arange(n_columns * n_labels).reshape(n_columns, n_labels).T
        matrix = values.astype(np.float64)
        return RowCase(make_vector_rows(values), matrix, by_label.ravel(), n_labels)
    kept = np.arange(n_columns * n_labels)
    if kind == "dense":
        matrix = random.normal(size=(n_rows, n_columns)).round(2)
        matrix[random.random(matrix.shape) < 0.3] = 0.0
        return RowCase(make_dense_rows(matrix), matrix, kept, n_labels)
    sizes = random.integers(0, 4, n_rows)
    idx = random.integers(0, n_columns, sizes.sum())
    val = random.normal(size=idx.size).round(2) if "values" in kind else None
    matrix = np.zeros((n_rows, n_columns))
    owner = np.repeat(np.arange(n_rows), sizes)
    np.add.at(matrix, (owner, idx), 1.0 if val is None else val)
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    rows = make_sparse_rows(ptr, idx, val, n_columns)
    if "pairs" in kind:
        has_weight = random.random((n_columns, n_labels)) < 0.6
        kept = np.flatnonzero(has_weight)
        pair_ptr = np.concatenate([[0], np.cumsum(has_weight.sum(1))])
        pairs = make_pairs(pair_ptr, kept % n_labels, n_labels)
        rows = make_pair_rows(rows, pairs)
    return RowCase(rows, matrix, kept, n_labels)
