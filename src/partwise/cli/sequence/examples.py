"""Labelled sequences as models take them, for reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partwise.cli.examples import pairs_of
from partwise.cli.options import LABEL_COLUMN, LabelColumn, PartialData
from partwise.cli.sequence.files import ColumnsOnly, SequenceFiles
from partwise.cli.sequence.predict import check_format, columns_read
from partwise.cli.sequence.tagging import check_columns
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise.pages import View


def labelled(
    model: Any,
    file: str,
    *,
    label_column: LabelColumn = LABEL_COLUMN,
    partial: PartialData = False,
    files: SequenceFiles,
) -> tuple[Any, Any]:
    """Read sequences and their labels."""
    from partwise.estimators.partial_labels import read_labels

    check_format(model, files.format)
    X, y = files.labelled(file, label_column)
    if partial:
        y = read_labels(y)
    if files.reads_columns:
        check_columns(columns_read(model), X, file)
    return X, y


def contrast(
    gold: str,
    predicted: str,
    *,
    label_column: LabelColumn = LABEL_COLUMN,
    files: ColumnsOnly,
) -> list[View]:
    """Put right and predicted labels side by side: the last columns of two files."""
    from partwise.pages import spell_chunks, view_tags

    X, right = files.labelled(gold, label_column)
    found = files.labelled(predicted, label_column)[1]
    words = X.column_sequences(0)
    views = []
    chunks = spell_chunks([*right, *found])
    for number, (one, labels) in enumerate(pairs_of(right, found, gold, predicted), 1):
        if len(one) != len(labels):
            raise DataError(
                f"sentence {number} has {len(one)} tokens in {gold}, but {len(labels)} "
                f"in {predicted}; give two files with the same sentences"
            )
        views.append(view_tags(words[number - 1], labels, one, chunks=chunks))
    return views
