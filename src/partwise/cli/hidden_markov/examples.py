"""Labelled symbols as models take them, for reports."""

from __future__ import annotations

from typing import Any

from partwise.cli.options import LABEL_COLUMN, LabelColumn
from partwise.cli.sequence.files import ColumnsOnly


def labelled(
    model: Any,
    file: str,
    *,
    label_column: LabelColumn = LABEL_COLUMN,
    files: ColumnsOnly,
) -> tuple[Any, Any]:
    """Read sequences and their labels."""
    columns, labels = files.labelled(file, label_column)
    return columns.column_sequences(int(model.column)), labels
