"""Splitting the text of a column file, in bulk.

The text is looked at twice. As bytes, in NumPy, it shows how many columns each
line has, and so where sentences begin and whether a line is ragged. As text, it
is split at once into all its cells, of which column ``c`` is a slice. A blank
is one byte in UTF-8 and part of no other character, so the two views agree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError

DOCSTART = "-DOCSTART-"

# str.split also splits at these, which belong to the token here.
_OTHER_BLANKS = re.compile(
    "[\r\x0b\x0c\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
)
_CELL = re.compile("[^ \t\n]+")
_SPACE, _TAB, _NEWLINE = b" \t\n"


@dataclass(slots=True)
class ColumnLayout:
    """How the columns of one file are laid out.

    ``n_columns`` and ``joiner`` are learnt from the first token when they were
    not given; ``first_line`` moves on when the file is read piece by piece.
    """

    name: str
    separator: str | None = None
    n_columns: int | None = None
    comments: str | None = None
    skip_docstart: bool = False
    first_line: int = 1
    joiner: str = field(default="", init=False)

    def __post_init__(self) -> None:
        """Check what the user chose."""
        separator = self.separator
        if separator is not None:
            if len(separator) != 1 or not separator.isascii() or separator in "\r\n":
                raise ValueError(
                    "separator must be one ASCII character such as '\\t', or None "
                    f"for any run of spaces and tabs, not {separator!r}"
                )
            self.joiner = separator
        if self.n_columns is not None and self.n_columns < 1:
            raise ValueError(f"n_columns must be at least 1, not {self.n_columns}")
        if self.comments == "":
            raise ValueError("comments must be None or the beginning of a comment")


def split_columns(
    text: str, layout: ColumnLayout
) -> tuple[list[list[str]], NDArray[np.int64]]:
    r"""Split a text into columns and sentence boundaries.

    Parameters
    ----------
    text : str
        Lines that end in ``\n``.
    layout : ColumnLayout
        How to split; learns ``n_columns`` and ``joiner`` from the first token.

    Returns
    -------
    columns : list of list of str
        Empty if the text holds no tokens.
    ptr : int64 array
        Sentence boundaries, in tokens.

    Examples
    --------
    >>> split_columns("a X\nb Y\n\nc Z\n", ColumnLayout("example"))
    ([['a', 'b', 'c'], ['X', 'Y', 'Z']], array([0, 2, 3]))
    """
    text, invisible = _leave_out(text, layout)
    counts = cells_per_line(text, layout.separator)
    token_lines = np.flatnonzero(counts)
    if not token_lines.size:
        return [], np.zeros(1, dtype=np.int64)
    if layout.n_columns is None:
        layout.n_columns = int(counts[token_lines[0]])
    k = layout.n_columns
    ragged = token_lines[counts[token_lines] != k]
    if ragged.size:
        raise _ragged(text, layout, int(ragged[0]), int(counts[ragged[0]]))
    if not layout.joiner:
        first = text.split("\n", int(token_lines[0]) + 1)[token_lines[0]]
        layout.joiner = "\t" if "\t" in first.strip(" \t") else " "
    cells = _cells(text, layout.separator, counts)
    columns = [cells[c::k] for c in range(k)]
    if invisible is not None:  # a comment inside a sentence does not end it
        token_lines = token_lines - np.cumsum(invisible)[token_lines]
    begins = np.flatnonzero(np.diff(token_lines) > 1) + 1
    ptr = np.concatenate(([0], begins, [token_lines.size])).astype(np.int64)
    return columns, ptr


def _leave_out(text: str, layout: ColumnLayout) -> tuple[str, NDArray[np.bool_] | None]:
    """Empty the lines that are not tokens; say which of them are comments."""
    if layout.comments is None and not layout.skip_docstart:
        return text, None
    lines = text.split("\n")
    comments = np.zeros(len(lines), dtype=np.bool_)
    for i, line in enumerate(lines):
        if layout.comments is not None and line.startswith(layout.comments):
            comments[i] = True
            lines[i] = ""
        elif layout.skip_docstart and line.startswith(DOCSTART):
            lines[i] = ""
    return "\n".join(lines), comments


def cells_per_line(text: str, separator: str | None) -> NDArray[np.int64]:
    r"""Count the columns of every line; a blank line has none.

    Examples
    --------
    >>> cells_per_line("Paris NNP B-LOC\n\nHush", None)
    array([3, 0, 1])
    """
    data = bytes_of(text)
    blank = is_blank(data)
    cell_starts = np.flatnonzero(blank[:-1] & ~blank[1:])
    line_starts = np.flatnonzero(data == _NEWLINE)
    counts = _count_between(cell_starts, line_starts)
    if separator is not None:
        marks = _count_between(np.flatnonzero(data == ord(separator)), line_starts)
        counts = np.where(counts > 0, marks + 1, 0)
    return counts


def bytes_of(text: str) -> NDArray[np.uint8]:
    """Return the bytes of a text, with a newline in front.

    It gives every line, and the first cell, a byte before it.
    """
    return np.frombuffer(b"\n" + text.encode(errors="surrogatepass"), dtype=np.uint8)


def is_blank(data: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Say which bytes are a space, a tab or a newline."""
    blank: NDArray[np.bool_] = (data == _SPACE) | (data == _TAB) | (data == _NEWLINE)
    return blank


def _count_between(
    positions: NDArray[np.int64], starts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Count the sorted positions from each start up to the next."""
    begins = np.searchsorted(positions, starts)
    return np.diff(begins, append=positions.size)


def _cells(text: str, separator: str | None, counts: NDArray[np.int64]) -> list[str]:
    """Split a text into the cells of all its lines, in order."""
    if separator is not None:
        return separator.join(compress(text.split("\n"), counts)).split(separator)
    return _CELL.findall(text) if _OTHER_BLANKS.search(text) else text.split()


def _ragged(text: str, layout: ColumnLayout, index: int, found: int) -> DataError:
    line = text.split("\n", index + 1)[index]
    shown = line if len(line) <= 80 else line[:77] + "..."
    return DataError(
        f'expected {layout.n_columns} columns, found {found} (line: "{shown}")',
        path=layout.name,
        line=layout.first_line + index,
    )
