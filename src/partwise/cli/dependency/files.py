"""Reading treebanks for commands."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from partwise.cli.options import FORMAT, Encoding
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise.data import Sentence


LABELLED = range(2, 8)
"""How many cells a line of labelled columns has; a word of a treebank has more."""


class TreeFormat(StrEnum):
    """How a treebank is laid out."""

    conllu = "conllu"
    conllx = "conllx"
    heads = "heads"


def recognises(file: str, encoding: str) -> bool:
    """Take any file for a treebank, but columns that end in a label."""
    from partwise.data.files import read_lines

    if not os.path.isfile(file):  # whoever reads it says what is wrong
        return True
    for _, line in read_lines(file, encoding=encoding):
        cells = line.split()
        if cells and not line.startswith("#"):
            return len(cells) not in LABELLED or cells[-1].lstrip("-").isdigit()
    return True


@dataclass(frozen=True)
class TreebankFiles:
    """How treebanks are read; by default the format is detected from the file."""

    format: Annotated[TreeFormat | None, FORMAT] = None
    encoding: Encoding = "utf-8"

    def read(self, path: str, partial: bool = False) -> list[Sentence]:
        """Read a whole treebank, which must have words; trees perhaps in part."""
        from partwise.data import read_trees

        sentences = read_trees(
            path, self.format, encoding=self.encoding, partial=partial
        )
        if not any(map(len, sentences)):
            raise DataError(f"{path}: holds no words (expected a treebank)")
        return sentences

    def stream(self, path: str) -> Iterator[list[Sentence]]:
        """Read a treebank batch by batch, as it comes in."""
        from partwise.data.tree_files import iter_batches

        return iter_batches(path, self.format, encoding=self.encoding)
