"""Labelled sequences as models take them, for reports."""

from __future__ import annotations

from typing import Any

from partwise.cli.options import LABEL_COLUMN, LabelColumn
from partwise.cli.sequence.files import SequenceFiles
from partwise.cli.sequence.predict import check_columns, check_format, columns_read


def labelled(
    model: Any,
    file: str,
    *,
    label_column: LabelColumn = LABEL_COLUMN,
    files: SequenceFiles,
) -> tuple[Any, Any]:
    """Read sequences and their labels."""
    check_format(model, files.format)
    X, y = files.labelled(file, label_column)
    if files.reads_columns:
        check_columns(columns_read(model), X, file)
    return X, y
