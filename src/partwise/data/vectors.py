r"""Files of word vectors: word2vec, GloVe and fastText text files, and NumPy's.

A text file has one word per line with the numbers of its vector, separated by blanks.
word2vec and fastText begin with a line ``words columns``, GloVe does not. A word may
hold blanks itself, as some of GloVe's do: the numbers are the last fields of a line.
A ``.npy`` file holds a matrix; a list of words, one per line, lies beside it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.data.files import Source, read_lines, source_name
from partwise.errors import DataError

WORD_LIST_ENDINGS = (".words", ".words.txt", ".txt", ".vocab")
_BLANKS = re.compile(r"[ \t]+")
_COUNTS = re.compile(r"([0-9]{1,12}) ([0-9]{1,6})", re.ASCII)
_TO_WORDS = "give the list of its words as words=..., one per line"


def read_vectors(
    source: Source, *, words: Source | None = None, limit: int | None = None
) -> tuple[list[str], NDArray[np.float32]]:
    r"""Read words and their vectors.

    Parameters
    ----------
    source : path, "-" or file object
        A text file in UTF-8, plain or gzip, or the path of a ``.npy`` file.
    words : path or file object, optional
        Of a ``.npy`` file, the list of words; by default the file of the same name that
        ends in ``.words``, ``.words.txt``, ``.txt`` or ``.vocab``.
    limit : int, optional
        Read no more words than this; files usually begin with the frequent ones.

    Returns
    -------
    list of str, float32 matrix
        The words, none of them twice (the first counts), and a row for each.

    Raises
    ------
    DataError
        If a line has too few numbers, or something that is not a finite number; the
        message names file and line.

    Examples
    --------
    >>> import io
    >>> words, matrix = read_vectors(io.StringIO("2 3\nthe 0 1 0.5\nof 1 0 2\n"))
    >>> words, matrix.shape
    (['the', 'of'], (2, 3))
    >>> read_vectors(io.StringIO("the 0 1 0.5\nof 1 0\n"))
    Traceback (most recent call last):
        ...
    partwise.errors.DataError: <input>:2: 2 numbers after the word, expected 3, as in
    line 1 (line: 'of 1 0')
    """
    if limit is not None and limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    if isinstance(source, str | Path) and str(source).endswith(".npy"):
        return _read_matrix(Path(source), words, limit)
    if words is not None:
        raise ValueError("words=... is for .npy files; text files name their words")
    return _read_text(source, limit)


def _read_text(
    source: Source, limit: int | None
) -> tuple[list[str], NDArray[np.float32]]:
    name = source_name(source)
    index: dict[str, int] = {}
    rows: list[NDArray[np.float32]] = []
    width = first = announced = n_lines = 0
    for number, line in read_lines(source):
        line = _BLANKS.sub(" ", line.rstrip(" \t"))
        if not line:
            continue
        if not first and (counts := _COUNTS.fullmatch(line)):
            announced, width, first = int(counts[1]), int(counts[2]), number
            continue
        if not width:
            width, first = line.count(" "), number
        if limit is not None and len(index) == limit:
            break
        word, row = _parse(line, width, first, name, number)
        n_lines += 1
        if word not in index:
            index[word] = len(rows)
            rows.append(row)
    if not rows:
        raise DataError("holds no vectors (write 'word number number ...')", path=name)
    if announced > n_lines and limit is None:
        raise DataError(
            f"the first line announces {announced:,} words, but there are {n_lines:,}: "
            "the file seems to be cut off (get it again, or correct that line)",
            path=name,
        )
    return list(index), np.stack(rows)


def _parse(
    line: str, width: int, first: int, name: str, number: int
) -> tuple[str, NDArray[np.float32]]:
    """Split a line into a word and its vector."""

    def error(problem: str) -> DataError:
        shown = line if len(line) <= 60 else f"{line[:60]}..."
        return DataError(f"{problem} (line: {shown!r})", path=name, line=number)

    if width < 1:
        raise error("a word without a vector")
    fields = line.rsplit(" ", width)
    if len(fields) <= width:
        raise error(
            f"{len(fields) - 1} numbers after the word, expected {width}, as in line "
            f"{first}"
        )
    word, *numbers = fields
    try:
        with np.errstate(over="ignore"):  # what is too large is not finite then
            row = np.array(numbers, np.float32)
    except ValueError:
        raise error(
            f"not all of the last {width} fields are numbers, as many as in line "
            f"{first}"
        ) from None
    if not np.isfinite(row).all():
        raise error("a number of the vector is not finite (replace NaN and infinity)")
    return word, row


def _read_matrix(
    path: Path, words: Source | None, limit: int | None
) -> tuple[list[str], NDArray[np.float32]]:
    name = str(path)
    try:
        # Not np.load, which would also open archives; mapped, as no room is made then
        # for numbers that the header promises and the file does not have.
        matrix: NDArray[Any] = np.lib.format.open_memmap(path, mode="r")
    except FileNotFoundError:
        raise DataError("there is no such file", path=name) from None
    except Exception as error:  # damaged headers raise whatever a parser may
        raise DataError(f"is not a NumPy file: {error}", path=name) from None
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise DataError("must hold a matrix, one row per word", path=name)
    if matrix.dtype.kind not in "fiu":
        raise DataError(f"holds {matrix.dtype}, not numbers", path=name)
    found = _words_beside(path) if words is None else words
    listed = [line for _, line in read_lines(found)]
    if len(listed) != len(matrix):
        raise DataError(
            f"has {len(matrix):,} rows, but {source_name(found)} lists "
            f"{len(listed):,} words ({_TO_WORDS})",
            path=name,
        )
    with np.errstate(over="ignore"):  # what is too large is not finite then
        matrix = np.array(matrix[:limit], np.float32, order="C")
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if bad.size:
        raise DataError(
            f"row {bad[0]}, of {listed[bad[0]]!r}, has numbers that are not finite "
            "(replace NaN and infinity)",
            path=name,
        )
    index: dict[str, int] = {}
    for row, word in enumerate(listed[:limit]):
        index.setdefault(word, row)
    if not index:
        raise DataError("holds no vectors", path=name)
    if len(index) < len(matrix):
        matrix = matrix[list(index.values())]
    return list(index), matrix


def _words_beside(path: Path) -> Path:
    for ending in WORD_LIST_ENDINGS:
        beside = path.with_name(path.stem + ending)
        if beside.is_file():
            return beside
    raise DataError(
        f"has no list of words beside it, such as {path.stem}.words ({_TO_WORDS})",
        path=str(path),
    )
