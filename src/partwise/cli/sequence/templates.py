"""The template of a tagger, as options and files describe it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise.data import ColumnData
    from partwise.features import Template, TokenFeatures


def read_features(
    blocks: str | None,
    gazetteers: Sequence[str],
    clusters: str | None,
    ignore_case: bool,
) -> TokenFeatures:
    """Return the features that options choose, with their files read."""
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
            f"--columns must be numbers separated by commas, such as 0,1, not "
            f"{columns!r}"
        ) from None
    chosen = [resolve_column(data, number) for number in numbers]
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"--columns names a column twice: {columns!r}")
    return chosen
