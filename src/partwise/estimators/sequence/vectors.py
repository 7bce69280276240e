"""Vectors of tokens: from dicts, from matrices, and from tables of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from partwise.errors import DataError
from partwise.estimators.given_vectors import stack_matrices
from partwise.estimators.sequence.inputs import TemplateInput, Tokens, as_columns
from partwise.estimators.vector_columns import VectorColumns
from partwise.features.array_features import Vectors
from partwise.features.word_vectors import WordVectors


def rereadable(X: Any, tables: Sequence[WordVectors], kind: str) -> Any:
    """Return sequences that can be read twice, where words are looked up."""
    if not tables:
        return X
    if kind == TemplateInput.kind:
        return as_columns(X)
    return [x if isinstance(x, list | tuple) else list(x) for x in X]


def learn_vectors(
    tokens: Tokens,
    X: Any,
    matrices: list[Any] | None,
    tables: Sequence[WordVectors],
    scaled: bool,
) -> tuple[Tokens, VectorColumns]:
    """Learn what vectors there are; return the tokens with theirs."""
    columns = VectorColumns(tables, scaled)
    matrix = None if matrices is None else _stack(matrices, tokens, None)
    words = [_column(X, table) for table in tables]
    rows = columns.learn(tokens.arrays, matrix, words)
    return tokens._replace(vectors=rows), columns


def add_vectors(
    tokens: Tokens, X: Any, matrices: list[Any] | None, columns: VectorColumns
) -> Tokens:
    """Return tokens with their vectors, if the model has any."""
    columns.check_given(matrices is not None)
    if not columns.blocks:
        return tokens
    width = columns.matrix_width
    matrix = None if matrices is None else _stack(matrices, tokens, width)
    words = [_column(X, table) for table in columns.tables]
    return tokens._replace(vectors=columns.encode(tokens.arrays, matrix, words))


def _stack(matrices: list[Any], tokens: Tokens, width: int | None) -> Vectors:
    lengths = np.diff(tokens.ptr).tolist()
    return stack_matrices(matrices, lengths, width, lambda i: f"sequence {i}")


def _column(X: Any, table: WordVectors) -> list[str | None]:
    if hasattr(X, "columns"):
        if table.column >= len(X.columns):
            raise DataError(
                f"vectors {table.name!r} are looked up by column {table.column}, "
                f"counted from 0, but there are {len(X.columns)}"
            )
        return list(X.columns[table.column])
    return table.words_of(token for sequence in X for token in sequence)
