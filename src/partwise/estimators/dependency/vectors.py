"""The vectors of the words of sentences: given as matrices, or looked up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from partwise.data.treebank import Sentence
from partwise.estimators.dependency.corpus import named
from partwise.estimators.given_vectors import stack_matrices
from partwise.estimators.vector_columns import VectorColumns
from partwise.features.array_features import Vectors
from partwise.features.word_vectors import WordVectors
from partwise.structures.dependency import VectorArcs, make_vector_arcs
from partwise.structures.rows import VectorRows


def learn_vectors(
    sentences: Sequence[Sentence],
    matrices: list[Any] | None,
    tables: Sequence[WordVectors],
    scaled: bool,
) -> tuple[VectorArcs | None, VectorColumns]:
    """Learn what vectors there are; return those of the words, if there are any."""
    columns = VectorColumns(tables, scaled)
    rows = columns.learn({}, *_given(sentences, matrices, columns))
    return _arcs(rows, sentences), columns


def encode_vectors(
    sentences: Sequence[Sentence], matrices: list[Any] | None, columns: VectorColumns
) -> VectorArcs | None:
    """Return the vectors of words, for a parser that has learnt from some."""
    columns.check_given(matrices is not None, "(sentences, matrices)")
    if not columns.blocks:
        return None
    rows = columns.encode({}, *_given(sentences, matrices, columns))
    return _arcs(rows, sentences)


def _given(
    sentences: Sequence[Sentence], matrices: list[Any] | None, columns: VectorColumns
) -> tuple[Vectors | None, list[list[str]]]:
    forms = [form for sentence in sentences for form in sentence.forms]
    matrix = None
    if matrices is not None:
        lengths = [len(sentence) for sentence in sentences]
        matrix = stack_matrices(
            matrices, lengths, columns.matrix_width, lambda i: named(sentences[i], i)
        )
    return matrix, [forms for _ in columns.tables]


def _arcs(rows: VectorRows | None, sentences: Sequence[Sentence]) -> VectorArcs | None:
    if rows is None:
        return None
    return make_vector_arcs(rows, [len(sentence) for sentence in sentences])
