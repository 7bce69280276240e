"""Writing column (CoNLL) files, with predictions as further columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from partwise.data.columns import ColumnData
from partwise.data.files import Target, open_output
from partwise.data.split import bytes_of, cells_per_line, is_blank
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
        More columns, such as predictions: each with one sequence per sentence.
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
    text = _text(data, columns, joiner)
    if not _is_plain(text, data, len(columns), joiner):
        lines = list(map(joiner.join, zip(*columns, strict=True)))
        _check_readable(lines, len(columns), joiner)
    _check_sentences(data)
    with open_output(target) as out:
        out.write(text)


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
    labels = list(chain.from_iterable(sequences))
    return labels if set(map(type, labels)) <= {str} else list(map(str, labels))


def _text(data: ColumnData, columns: list[list[str]], joiner: str) -> str:
    """Join all cells in one go: each is followed by a joiner or by line breaks."""
    n, width = data.n_tokens, 2 * len(columns)
    if n == 0:
        return ""
    breaks = ["\n"] * n
    for end in data.ptr[1:].tolist():
        breaks[end - 1] = "\n\n"
    pieces = [joiner] * (n * width)
    for c, column in enumerate(columns):
        pieces[2 * c :: width] = column
    pieces[width - 1 :: width] = breaks
    return "".join(pieces)


def _is_plain(text: str, data: ColumnData, n_columns: int, joiner: str) -> bool:
    """Say whether no cell is empty or holds a blank, so that all can be read."""
    if joiner not in (" ", "\t") or not np.diff(data.ptr).all():
        return False
    blank = is_blank(bytes_of(text))
    n_blanks = data.n_tokens * n_columns + data.n_sentences
    if np.count_nonzero(blank[1:]) != n_blanks:
        return False
    # Without blanks in cells, two in a row end a sentence or enclose nothing.
    return int(np.count_nonzero(blank[1:] & blank[:-1])) == data.n_sentences


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
        f"token {t} cannot be written with {joiner!r} between columns: {lines[t]!r} (a "
        "value is empty or holds a blank or line break; choose another separator)"
    )
