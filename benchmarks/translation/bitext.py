"""Reading two files of sentences that translate each other."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import NamedTuple

from partwise import DataError

Sentence = list[str]


class Bitext(NamedTuple):
    """Sentences and their translations; `n_left_out` pairs had an empty side."""

    source: list[Sentence]
    target: list[Sentence]
    n_left_out: int = 0

    def first(self, n: int | None) -> Bitext:
        """Return the first `n` pairs."""
        return Bitext(self.source[:n], self.target[:n], self.n_left_out)


def read_lines(path: Path) -> list[Sentence]:
    """Return the words of every line; the file may be compressed by gzip."""
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            return [line.split() for line in file]
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 ({error.reason}); convert it") from None


def read_bitext(source: Path, target: Path, *, keep_empty: bool = False) -> Bitext:
    """Return the pairs of lines of two files, words separated by white space.

    Parameters
    ----------
    keep_empty : bool
        Whether pairs with an empty side stay. They teach nothing, but what is to be
        translated must keep its line.
    """
    one, other = read_lines(source), read_lines(target)
    if len(one) != len(other):
        raise DataError(
            f"{source} has {len(one)} lines and {target} has {len(other)}: they must "
            "translate each other line by line"
        )
    pairs = [(f, e) for f, e in zip(one, other, strict=True) if keep_empty or (f and e)]
    if not pairs:
        raise DataError(f"{source} and {target} have no pair of sentences")
    return Bitext([f for f, _ in pairs], [e for _, e in pairs], len(one) - len(pairs))
