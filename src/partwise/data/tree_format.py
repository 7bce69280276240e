"""The file formats of treebanks: which column holds what, which lines are words.

All separate columns by tabs and sentences by blank lines. CoNLL-U and CoNLL-X
number their words and may hold other lines between them; the third format is
``word <tab> tag <tab> head`` and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

NOT_GIVEN = "_"
BYTE_ORDER_MARK = "\ufeff"

# The cells of some columns, all words of a sentence each.
Cells: TypeAlias = Mapping[int, Sequence[str]]


@dataclass(frozen=True, slots=True)
class TreeFormat:
    r"""One way to lay out a tree in lines.

    Parameters
    ----------
    name : str
        What users call it.
    widths : tuple of int
        How many columns a line may have; the first number is what is written. Where
        words are numbered, further columns are allowed and kept as they are.
    places : dict of str to int
        The column of each field of a sentence that the format has room for.
    numbered : bool
        Whether the first column counts the words, so that lines that are not words can
        be recognised: comments, multiword tokens, empty nodes.

    Examples
    --------
    >>> FORMATS["heads"].word_lines(["Hush\tUH\t0", ""])
    [0]
    """

    name: str
    widths: tuple[int, ...]
    places: Mapping[str, int]
    numbered: bool

    def takes(self, width: int) -> bool:
        """Say whether lines may have this many columns."""
        return width in self.widths or (self.numbered and width > max(self.widths))

    def is_content(self, line: str) -> bool:
        """Say whether a line is neither blank nor a comment."""
        return not is_blank(line) and not (self.numbered and line.startswith("#"))

    def word_lines(self, lines: Sequence[str]) -> list[int]:
        """Return which lines of a well-formed sentence are words."""
        return [
            i
            for i, line in enumerate(lines)
            if self.is_content(line)
            and (not self.numbered or line.partition("\t")[0].isdecimal())
        ]

    def render(self, cells: Cells, n_words: int) -> str:
        """Lay out a sentence that was not read from a file in this format."""
        if not n_words:
            # Blank lines next to each other are one: only a comment can stand for
            # a sentence without words.
            return "#\n\n" if self.name == "conllu" else ""
        width = self.widths[0]
        empty = (NOT_GIVEN,) * n_words
        columns = [cells.get(c, empty) for c in range(width)]
        if self.numbered:
            columns[0] = tuple(map(str, range(1, n_words + 1)))
        lines = map("\t".join, zip(*columns, strict=True))
        return "\n".join(lines) + "\n\n"

    def patch(self, text: str, cells: Cells) -> str:
        """Replace some columns of the words in a text, and nothing else."""
        mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
        lines = text.removeprefix(mark).split("\n")
        for word, i in enumerate(self.word_lines(lines)):
            end = "\r" if lines[i].endswith("\r") else ""
            row = lines[i].removesuffix(end).split("\t")
            for column, new in cells.items():
                row[column] = new[word]
            lines[i] = "\t".join(row) + end
        return mark + "\n".join(lines)


def is_blank(line: str) -> bool:
    r"""Say whether a line separates sentences.

    Examples
    --------
    >>> is_blank(" \r"), is_blank("\u3000")
    (True, False)
    """
    return not line.strip(" \t\r")


_FIELDS = ("forms", "lemmas", "upos", "xpos", "feats", "heads", "labels")
_CONLL = {name: place for place, name in enumerate(_FIELDS, start=1)}
FORMATS = {
    "conllu": TreeFormat("conllu", (10,), _CONLL, True),
    "conllx": TreeFormat("conllx", (10, 8), _CONLL, True),
    "heads": TreeFormat(
        "heads", (3,), {"forms": 0, "upos": 1, "xpos": 1, "heads": 2}, False
    ),
}


def find_format(name: str) -> TreeFormat:
    """Return the format of a name.

    Examples
    --------
    >>> find_format("conllu").widths
    (10,)
    >>> find_format("conll")
    Traceback (most recent call last):
        ...
    ValueError: there is no tree format 'conll' (choose conllu, conllx or heads)
    """
    if name not in FORMATS:
        *others, last = FORMATS
        raise ValueError(
            f"there is no tree format {name!r} (choose {', '.join(others)} or {last})"
        )
    return FORMATS[name]
