"""Writing column (CoNLL) files, with predictions as further columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np

from partwise.data.columns import ColumnData
from partwise.data.files import Target, open_output
from partwise.data.split import cells_per_line
from partwise.errors import DataError


def write_columns(
    target: Target,
    data: ColumnData | Iterable[Iterable[str | Sequence[str]]],
    *extra: Sequence[Sequence[Any]],
    separator: str | None = None,
) -> None:
    """Write sentences as a column file, with more columns appended.

    Parameters
    ----------
    target : path, "-" or file object
        Where to write. A path appears complete or not at all, and is packed when
        it ends in ``.gz``; ``"-"`` is standard output.
    data : ColumnData or iterable of sentences
        What to write.
    *extra : sequences of label sequences
        More columns, such as predictions: one sequence a sentence each.
    separator : str, optional
        What to put between columns; by default what the data was read with.

    Raises
    ------
    DataError
        If an extra column does not fit the data, or something could not be read
        back: a sentence without tokens, a value that is empty or holds a blank.

    Examples
    --------
    >>> data = ColumnData.from_sentences([["Paris", "sleeps"], ["Hush"]])
    >>> write_columns("-", data, [["B-LOC", "O"], ["O"]])
    Paris B-LOC
    sleeps O
    <BLANKLINE>
    Hush O
    <BLANKLINE>
    """
    if not isinstance(data, ColumnData):
        data = ColumnData.from_sentences(data)
    joiner = data.separator if separator is None else separator
    columns = [*data.columns, *(_flat(data, sequences) for sequences in extra)]
    lines = list(map(joiner.join, zip(*columns, strict=True)))
    _check_readable(lines, len(columns), joiner)
    _check_sentences(data)
    bounds: list[int] = data.ptr.tolist()
    with open_output(target) as out:
        out.writelines(
            "\n".join([*lines[begin:end], "", ""]) for begin, end in pairwise(bounds)
        )


def _flat(data: ColumnData, sequences: Sequence[Sequence[Any]]) -> list[str]:
    """Make one column of label sequences, which must fit the sentences."""
    lengths = np.array([len(labels) for labels in sequences], dtype=np.int64)
    expected = np.diff(data.ptr)
    if lengths.size != expected.size:
        raise DataError(
            f"an extra column has {lengths.size} sentences, the data has "
            f"{expected.size} (give one sequence of labels for each sentence)"
        )
    unequal = np.flatnonzero(lengths != expected)
    if unequal.size:
        i = unequal[0]
        raise DataError(
            f"sentence {i} has {expected[i]} tokens, but an extra column has "
            f"{lengths[i]} (give one label for each token)"
        )
    return list(map(str, chain.from_iterable(sequences)))


def _check_sentences(data: ColumnData) -> None:
    """Refuse sentences without tokens: blank lines next to each other are one."""
    empty = np.flatnonzero(np.diff(data.ptr) == 0)
    if empty.size:
        raise DataError(
            f"sentence {empty[0]} has no tokens, which a column file cannot express "
            "(leave it out)"
        )


def _check_readable(lines: list[str], n_columns: int, joiner: str) -> None:
    """Refuse lines that would be read back as something else."""
    counts = cells_per_line("\n".join(lines), None if joiner == " " else joiner)
    wrong = np.flatnonzero(counts[: len(lines)] != n_columns)
    if not lines or (len(lines) == counts.size and not wrong.size):
        return
    # A line break inside a value makes more lines than tokens.
    broken = (t for t, line in enumerate(lines) if "\n" in line)
    t = next(broken, int(wrong[0]) if wrong.size else 0)
    raise DataError(
        f"token {t} cannot be written with {joiner!r} between columns: {lines[t]!r} "
        "(a value is empty or holds a blank or line break; choose another separator)"
    )
