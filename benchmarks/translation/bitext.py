"""Reading two files of sentences that translate each other."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from partwise import DataError
from partwise.data import read_lines

Sentence = list[str]


class Bitext(NamedTuple):
    """Sentences and their translations; `n_left_out` pairs had an empty side."""

    source: list[Sentence]
    target: list[Sentence]
    n_left_out: int = 0

    def first(self, n: int | None) -> Bitext:
        """Return the first `n` pairs."""
        return Bitext(self.source[:n], self.target[:n], self.n_left_out)


def read_bitext(
    source: str | Path, target: str | Path, *, keep_empty: bool = False
) -> Bitext:
    """Return the pairs of lines of two files, words separated by white space.

    Parameters
    ----------
    source, target : path
        The files in UTF-8, plain or gzip.
    keep_empty : bool
        Whether pairs with an empty side stay. They teach nothing, but what is to be
        translated must keep its line.
    """
    one, other = (
        [line.split() for _, line in read_lines(path)] for path in (source, target)
    )
    if len(one) != len(other):
        raise DataError(
            f"{source} has {len(one)} lines and {target} has {len(other)}: they must "
            "translate each other line by line"
        )
    pairs = [(f, e) for f, e in zip(one, other, strict=True) if keep_empty or (f and e)]
    if not pairs:
        raise DataError(f"{source} and {target} have no pair of sentences")
    return Bitext([f for f, _ in pairs], [e for _, e in pairs], len(one) - len(pairs))
