"""Column (CoNLL) files: one token per line, a blank line after each sentence.

A file becomes one list of strings per column for the whole corpus, plus the
places where sentences begin: the shape that encoders read without copying.
The text is split in bulk; line by line work happens only to explain an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.data import files
from partwise.data.files import BLOCK
from partwise.data.split import ColumnLayout, split_columns
from partwise.errors import DataError


def _cells(token: Any, sentence: int) -> tuple[str, ...]:
    """Return the cells of a token; a dict would only give its keys."""
    if isinstance(token, Mapping):
        raise DataError(
            "a token is a feature dict, but columns need a string or a tuple of "
            "strings for each token (feature dicts need no template)",
            where=f"sentence {sentence}",
            example=sentence,
        )
    return tuple(token)


@dataclass(slots=True, eq=False, repr=False)
class ColumnData:
    """Sentences as columns of strings.

    Parameters
    ----------
    columns : list of list of str
        ``columns[c][t]`` is column ``c`` of token ``t`` of the whole corpus.
    ptr : int64 array of shape (n_sentences + 1,)
        Sentence ``i`` is the tokens ``ptr[i]`` to ``ptr[i + 1] - 1``.
    separator : str, default=" "
        What `write_columns` puts between columns.

    Examples
    --------
    >>> data = ColumnData.from_sentences(
    ...     [[("Paris", "B-LOC"), ("sleeps", "O")], [("Hush", "O")]]
    ... )
    >>> data
    ColumnData(n_sentences=2, n_tokens=3, n_columns=2)
    >>> data.columns[0], data.ptr.tolist()
    (['Paris', 'sleeps', 'Hush'], [0, 2, 3])
    >>> data.sentence(0)
    [('Paris', 'B-LOC'), ('sleeps', 'O')]
    """

    columns: list[list[str]]
    ptr: NDArray[np.int64]
    separator: str = field(default=" ", kw_only=True)

    def __post_init__(self) -> None:
        """Check that columns and boundaries fit."""
        self.ptr = np.ascontiguousarray(self.ptr, dtype=np.int64)
        ptr = self.ptr
        if ptr.ndim != 1 or ptr.size == 0 or ptr[0] != 0 or np.any(ptr[1:] < ptr[:-1]):
            raise ValueError("ptr must start at 0 and never decrease")
        lengths = {len(column) for column in self.columns} or {0}
        if lengths != {int(ptr[-1])}:
            raise ValueError(
                f"columns have {sorted(lengths)} tokens, but ptr ends at {ptr[-1]}"
            )

    @classmethod
    def from_sentences(
        cls, sentences: Iterable[Iterable[str | Sequence[str]]]
    ) -> ColumnData:
        """Make columns from sentences of tokens.

        Parameters
        ----------
        sentences : iterable of sentences
            A sentence is an iterable of tokens, a token a string or a tuple (or
            list) of strings, one for each column.

        Returns
        -------
        ColumnData
            The same tokens.

        Examples
        --------
        >>> ColumnData.from_sentences([["A", "word"], ["Another"]]).columns
        [['A', 'word', 'Another']]
        """
        rows: list[tuple[str, ...]] = []
        ptr = [0]
        for i, sentence in enumerate(sentences):
            if isinstance(sentence, str):
                raise TypeError(
                    f"sentence {i} is a string, not a list of tokens "
                    f"(split it first: {sentence[:40]!r})"
                )
            rows.extend(
                token
                if type(token) is tuple
                else (token,)
                if isinstance(token, str)
                else _cells(token, i)
                for token in sentence
            )
            ptr.append(len(rows))
        width = len(rows[0]) if rows else 0
        if set(map(len, rows)) - {width} or (rows and width == 0):
            bad = next(t for t, row in enumerate(rows) if len(row) != width or not row)
            raise DataError(
                f"expected {max(width, 1)} columns, found {len(rows[bad])} "
                f"({rows[bad]!r})",
                where=_place(ptr, bad),
            )
        columns = [list(column) for column in zip(*rows, strict=True)]
        for column in columns:
            if not all(issubclass(kind, str) for kind in set(map(type, column))):
                bad = next(t for t, s in enumerate(column) if not isinstance(s, str))
                raise TypeError(
                    f"{_place(ptr, bad)}: {column[bad]!r} is not a string "
                    "(convert it with str)"
                )
        return cls(columns, np.array(ptr, dtype=np.int64))

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def n_sentences(self) -> int:
        """Number of sentences."""
        return self.ptr.size - 1

    @property
    def n_tokens(self) -> int:
        """Number of tokens in all sentences together."""
        return int(self.ptr[-1])

    def sentence(self, i: int) -> list[tuple[str, ...]]:
        """Return sentence ``i`` as a list of tokens, each a tuple of its columns."""
        if not -len(self) <= i < len(self):
            raise IndexError(f"sentence {i} of {len(self)}")
        i %= len(self)
        begin, end = int(self.ptr[i]), int(self.ptr[i + 1])
        return list(zip(*(column[begin:end] for column in self.columns), strict=True))

    def column_sequences(self, c: int) -> list[list[str]]:
        """Return column ``c`` sentence by sentence, for example the labels.

        Examples
        --------
        >>> data = ColumnData.from_sentences([[("Paris", "LOC")], [("Hush", "O")]])
        >>> data.column_sequences(-1)
        [['LOC'], ['O']]
        """
        column = self.columns[resolve_column(self, c)]
        bounds: list[int] = self.ptr.tolist()
        return [column[begin:end] for begin, end in pairwise(bounds)]

    def without(self, c: int) -> ColumnData:
        """Return the data without column ``c``; the others are shared, not copied.

        Examples
        --------
        >>> data = ColumnData.from_sentences([[("Paris", "LOC")], [("Hush", "O")]])
        >>> data.without(-1).columns
        [['Paris', 'Hush']]
        """
        c = resolve_column(self, c)
        if self.n_columns == 1:
            raise DataError("the only column cannot be left out")
        kept = self.columns[:c] + self.columns[c + 1 :]
        return ColumnData(kept, self.ptr, separator=self.separator)

    def __len__(self) -> int:
        """Return the number of sentences."""
        return self.n_sentences

    def __iter__(self) -> Iterator[list[tuple[str, ...]]]:
        """Yield the sentences."""
        return map(self.sentence, range(len(self)))

    def __eq__(self, other: object) -> bool:
        """Compare tokens and boundaries; the separator does not count."""
        if not isinstance(other, ColumnData):
            return NotImplemented
        return np.array_equal(self.ptr, other.ptr) and self.columns == other.columns

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Show the sizes."""
        return (
            f"ColumnData(n_sentences={self.n_sentences}, "
            f"n_tokens={self.n_tokens}, n_columns={self.n_columns})"
        )


def _place(ptr: Sequence[int], token: int) -> str:
    """Say where a token of the whole corpus is."""
    i = int(np.searchsorted(ptr, token, side="right")) - 1
    return f"sentence {i}, token {token - ptr[i]}"


def resolve_column(data: ColumnData, index: int) -> int:
    """Return a column index counted from 0; negative ones count from the end.

    Parameters
    ----------
    data : ColumnData
        The data whose column is meant.
    index : int
        The column, from ``-n_columns`` to ``n_columns - 1``.

    Returns
    -------
    int
        The same column, from ``0`` to ``n_columns - 1``.

    Examples
    --------
    >>> data = ColumnData.from_sentences([[("Paris", "NNP", "B-LOC")]])
    >>> resolve_column(data, -1)
    2
    >>> resolve_column(data, 3)
    Traceback (most recent call last):
        ...
    partwise.errors.DataError: there is no column 3 (the 3 columns of the first \
token are 0: "Paris", 1: "NNP", 2: "B-LOC"; negative numbers count from the end)
    """
    n = data.n_columns
    if -n <= index < n:
        return index % n
    if not data.n_tokens:
        raise DataError(f"there is no column {index} (the data holds no tokens)")
    shown = ", ".join(f'{c}: "{column[0]}"' for c, column in enumerate(data.columns))
    noun = "column" if n == 1 else "columns"
    verb = "is" if n == 1 else "are"
    raise DataError(
        f"there is no column {index} (the {n} {noun} of the first token {verb} "
        f"{shown}; negative numbers count from the end)"
    )


def read_columns(
    source: files.Source,
    *,
    separator: str | None = None,
    n_columns: int | None = None,
    comments: str | None = None,
    skip_docstart: bool = False,
    encoding: str = "utf-8",
) -> ColumnData:
    r"""Read a column (CoNLL) file: one token per line, blank lines between sentences.

    Parameters
    ----------
    source : path, "-" or file object
        The file, plain or gzip; ``"-"`` is standard input.
    separator : str, optional
        The one character between columns, such as ``"\t"``. By default any run
        of spaces and tabs; other kinds of blanks belong to the token.
    n_columns : int, optional
        How many columns every line must have; by default as many as the first.
    comments : str, optional
        Leave out lines that begin with this. Off by default: ``#`` is a token.
    skip_docstart : bool, default=False
        Leave out lines that begin with ``-DOCSTART-``; they end a sentence.
    encoding : str, default="utf-8"
        The encoding of the file.

    Returns
    -------
    ColumnData
        The whole file.

    Raises
    ------
    DataError
        If there is no such file, it holds no tokens, a line has a different
        number of columns or cannot be decoded; the message names the line.

    Examples
    --------
    >>> import io
    >>> data = read_columns(io.StringIO("Paris B-LOC\nsleeps O\n\nHush O\n"))
    >>> data.column_sequences(-1)
    [['B-LOC', 'O'], ['O']]
    """
    layout = ColumnLayout(
        files.source_name(source), separator, n_columns, comments, skip_docstart
    )
    text = "".join(files.read_blocks(source, encoding=encoding))
    columns, ptr = split_columns(text, layout)
    if not columns:
        raise DataError(
            "holds no tokens (expected one token per line and a blank line between "
            "sentences)",
            path=layout.name,
        )
    return ColumnData(columns, ptr, separator=layout.joiner)


def iter_columns(
    source: files.Source,
    *,
    separator: str | None = None,
    n_columns: int | None = None,
    comments: str | None = None,
    skip_docstart: bool = False,
    encoding: str = "utf-8",
    chunk: int = BLOCK,
) -> Iterator[ColumnData]:
    r"""Read a column file piece by piece, whole sentences at a time.

    A piece is passed on as soon as its last sentence is complete: a pipe is answered
    while it is still open, and a large file is never in memory as a whole. A source
    without tokens yields nothing.

    Parameters
    ----------
    source, separator, n_columns, comments, skip_docstart, encoding
        As in `read_columns`.
    chunk : int, default=1048576
        About how many bytes a piece has.

    Yields
    ------
    ColumnData
        The next sentences, all with the same number of columns.

    Examples
    --------
    >>> import io
    >>> text = "Paris B-LOC\nsleeps O\n\nHush O\n"
    >>> [piece.n_tokens for piece in iter_columns(io.StringIO(text), chunk=24)]
    [2, 1]
    """
    if chunk < 1:
        raise ValueError(f"chunk must be at least 1, not {chunk}")
    layout = ColumnLayout(
        files.source_name(source), separator, n_columns, comments, skip_docstart
    )
    blocks = files.read_blocks(source, encoding=encoding, size=chunk)
    for text in files.whole_sentences(blocks, lambda line: not line.strip(" \t")):
        columns, ptr = split_columns(text, layout)
        layout.first_line += text.count("\n")
        if columns:
            yield ColumnData(columns, ptr, separator=layout.joiner)
