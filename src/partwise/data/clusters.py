r"""Cluster files: the cluster of each word.

One word per line, either ``word cluster`` or, as Brown clustering writes it, ``bits
word count``, where the bits are the path to the word in a binary tree. Fields are
separated by tabs or blanks. Every line counts: ``#`` is a word like any other.
"""

from __future__ import annotations

import re

from partwise.data.files import Source, read_lines, source_name
from partwise.errors import DataError

_BLANKS = re.compile(r"[ \t]+")
_BITS = re.compile(r"[01]+")
_COUNT = re.compile(r"[0-9]+", re.ASCII)


def read_clusters(source: Source, *, ignore_case: bool = False) -> dict[str, str]:
    r"""Read which cluster each word is in.

    Parameters
    ----------
    source : path, "-" or file object
        The file in UTF-8, plain or gzip; ``"-"`` is standard input.
    ignore_case : bool, default=False
        Put words into lower case.

    Returns
    -------
    dict of str to str
        The cluster of each word.

    Raises
    ------
    DataError
        If there is no such file, it has no words, a line differs from the first, or
        two lines put a word into different clusters; the message names the lines.

    Examples
    --------
    >>> import io
    >>> read_clusters(io.StringIO("0110 bank 17\n0111 river 3\n"))
    {'bank': '0110', 'river': '0111'}
    >>> read_clusters(io.StringIO("dog animals\nriver places\n"))
    {'dog': 'animals', 'river': 'places'}
    """
    name = source_name(source)
    cluster_of: dict[str, str] = {}
    line_of: dict[str, int] = {}
    is_brown: bool | None = None
    for number, line in read_lines(source):
        fields = _BLANKS.split(line.strip(" \t"))
        if fields == [""]:
            continue
        if is_brown is None:
            is_brown = len(fields) == 3
        if len(fields) != 2 + is_brown or (is_brown and not _is_brown(fields)):
            expected = "bits, a word and its count" if is_brown else "a word, a cluster"
            raise DataError(
                f"expected {expected}, found {len(fields)} fields (line: {line!r})",
                path=name,
                line=number,
            )
        word, cluster = (fields[1], fields[0]) if is_brown else (fields[0], fields[1])
        if ignore_case:
            word = word.lower()
        if cluster_of.setdefault(word, cluster) != cluster:
            raise DataError(
                f"{word!r} is in cluster {cluster}, but in line {line_of[word]} it is "
                f"in cluster {cluster_of[word]} (keep one of the two lines)",
                path=name,
                line=number,
            )
        line_of.setdefault(word, number)
    if not cluster_of:
        raise DataError("holds no words (write 'word cluster' lines)", path=name)
    return cluster_of


def _is_brown(fields: list[str]) -> bool:
    return bool(_BITS.fullmatch(fields[0]) and _COUNT.fullmatch(fields[2]))
