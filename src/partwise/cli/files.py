"""Reading data files for commands, whatever their format."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partwise.cli.options import LABEL_COLUMN, Format
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise.data import ColumnData
    from partwise.features import Template, TokenFeatures


@dataclass(frozen=True)
class Layout:
    """How to read data files."""

    format: Format = Format.columns
    separator: str | None = None
    comments: str | None = None
    skip_docstart: bool = False
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        """Check the options before any file is touched."""
        check_encoding(self.encoding)

    @property
    def _column_options(self) -> dict[str, Any]:
        # A shell passes on a backslash and a t where a tab was meant.
        separator = "\t" if self.separator == "\\t" else self.separator
        return {
            "separator": separator,
            "comments": self.comments,
            "skip_docstart": self.skip_docstart,
            "encoding": self.encoding,
        }

    def columns(self, path: str) -> ColumnData:
        """Read a whole column file."""
        from partwise.data import read_columns

        return read_columns(path, **self._column_options)

    def stream(self, path: str) -> Iterator[ColumnData]:
        """Read a column file piece by piece."""
        from partwise.data import iter_columns

        return iter_columns(path, **self._column_options)

    def labelled(
        self, path: str, label_column: int = LABEL_COLUMN
    ) -> tuple[Any, list[list[str]]]:
        """Read inputs and labels; columns keep the label, which no template reads."""
        if self.format is Format.columns:
            data = self.columns(path)
            if data.n_columns < 2:
                raise DataError(
                    f"{path}: has one column only (expected a word and its label)"
                )
            try:
                return data, data.column_sequences(label_column)
            except DataError as error:
                raise DataError(f"{path}: {error}") from None
        from partwise.data import read_crfsuite, read_svmhmm

        if self.format is Format.crfsuite:
            return read_crfsuite(path)
        return read_svmhmm(path)

    def unlabelled(self, path: str, has_labels: bool) -> Any:
        """Read inputs of the formats that are not columns; labels are ignored."""
        from partwise.data import read_crfsuite, read_svmhmm

        if self.format is Format.svmhmm:
            return read_svmhmm(path)[0]
        if has_labels:
            return read_crfsuite(path)[0]
        return read_crfsuite(path, labelled=False)[0]


def check_encoding(name: str) -> None:
    """Raise `ValueError` if there is no such encoding."""
    try:
        codecs.lookup(name)
    except LookupError:
        raise ValueError(f"unknown encoding {name!r} (try utf-8 or latin-1)") from None


def read_features(
    blocks: str | None,
    gazetteers: Sequence[str],
    clusters: str | None,
    ignore_case: bool,
) -> TokenFeatures:
    """Return the features that options choose, with the files they name read."""
    from partwise.features import Clusters, Gazetteer, TokenFeatures

    if ignore_case and not gazetteers and clusters is None:
        raise ValueError("--ignore-case is for --gazetteer and --clusters; give one")
    return TokenFeatures(
        blocks or "default",
        [Gazetteer.read(path, ignore_case=ignore_case) for path in gazetteers],
        None if clusters is None else Clusters.read(clusters, ignore_case=ignore_case),
    )


def make_template(
    path: str | None,
    features: TokenFeatures,
    data: ColumnData,
    label_column: int,
    columns: str | None,
) -> Template:
    """Return the template that reads the columns of a file, but not its labels.

    Parameters
    ----------
    path : str, optional
        A template file. Its columns are those of the data file, as in CRF++.
    features : TokenFeatures
        Gazetteers and clusters, and what to see of tokens if there is no `path`.
    data : ColumnData
        The training data, with its labels.
    label_column : int
        Where the labels are.
    columns : str, optional
        The columns that the features read, such as ``"0,1"``; the first is the word.
        All but the labels by default.
    """
    from partwise.data import resolve_column
    from partwise.features import Template

    forbidden = resolve_column(data, label_column)
    if path is None:
        wanted = _chosen_columns(columns, data)
        if wanted is None:
            wanted = [c for c in range(data.n_columns) if c != forbidden]
        template = features.template(wanted)
    else:
        template = Template.read(Path(path)).with_resources(features.resources)
    for line in template.node_lines + template.edge_lines:
        for macro in line.macros:
            if macro.column == forbidden:
                raise DataError(
                    f"{template.source}:{line.number}: '{macro}' reads column "
                    f"{forbidden}, which holds the labels (columns count from 0; "
                    "change the template, or --label-column)"
                )
    return template


def _chosen_columns(columns: str | None, data: ColumnData) -> Sequence[int] | None:
    from partwise.data import resolve_column

    if columns is None:
        return None
    try:
        numbers = [int(part) for part in columns.split(",")]
    except ValueError:
        raise ValueError(
            f"--columns must be numbers with commas between them, such as 0,1, not "
            f"{columns!r}"
        ) from None
    chosen = [resolve_column(data, number) for number in numbers]
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"--columns names a column twice: {columns!r}")
    return chosen


def columns_read(model: Any) -> list[int]:
    """Return the columns that a tagger reads, the one with the words first."""
    from partwise import HiddenMarkovModel

    if isinstance(model, HiddenMarkovModel):
        return [int(model.column)]
    template = model._input.encoder.template
    lines = template.node_lines + template.edge_lines
    return [macro.column for line in lines for macro in line.macros] or [0]


def check_columns(model: Any, data: ColumnData, path: str) -> None:
    """Raise `DataError` if a file lacks a column that the model reads.

    Columns beyond those are not looked at: a file may hold the labels or not.
    """
    last = max(columns_read(model))
    if data.n_columns <= last:
        raise DataError(
            f"{path}: has {data.n_columns} column{'s' * (data.n_columns > 1)}, but "
            f"the model reads column {last}, counted from 0 (give the columns it was "
            "trained on, in the same order)"
        )
