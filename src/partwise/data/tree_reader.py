"""From the text of a treebank to sentences, with the line of every mistake."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from sys import intern

from partwise.data import tree_format
from partwise.data.tree_format import BYTE_ORDER_MARK, FORMATS, NOT_GIVEN
from partwise.data.treebank import Column, Sentence, Verbatim, with_gaps
from partwise.errors import DataError
from partwise.trees import find_wrong_head

# Looking a number up is faster than int(), and refuses what int() lets pass.
_NUMBERS = {str(number): number for number in range(1000)}
_IDS = tuple(_NUMBERS)[1:]
_NUMBER = re.compile("[0-9]{1,9}")
_NO_WORD = re.compile(r"[0-9]+-[0-9]+|[0-9]+\.[0-9]+")
_LONGEST_SHOWN = 80


class TreeReader:
    r"""Turns text into sentences, and knows the number of every line.

    Parameters
    ----------
    file : str
        The name that messages and sentences give as their source.
    format : {"conllu", "conllx", "heads"}, optional
        By default it is recognised by the name or the first word.
    partial : bool
        Whether some words of a sentence may lack a head, written ``_``.

    Examples
    --------
    >>> reader = TreeReader("dogs.txt", "heads")
    >>> text = "Dogs\tNNS\t2\nbark\tVBP\t0\n\nHush\tUH\t0\n"
    >>> [sentence.place for sentence in reader.sentences(text)]
    ['dogs.txt:1', 'dogs.txt:4']
    """

    def __init__(
        self, file: str, format: str | None = None, partial: bool = False
    ) -> None:
        self.file, self.partial = file, partial
        self.format: tree_format.TreeFormat | None = None
        if format is not None:
            self.format = tree_format.find_format(format)
        else:
            suffix = PurePath(file.removesuffix(".gz")).suffix[1:]
            self.format = FORMATS[suffix] if suffix in ("conllu", "conllx") else None
        # How many columns all lines have, learnt from the first, and where that is.
        self.width = 0
        self.width_line = 0
        self.next_line = 1

    def sentences(self, text: str) -> Iterator[Sentence]:
        """Yield the sentences of a text, which go on until after blank lines.

        Parameters
        ----------
        text : str
            The next lines of the file, with their ends; whole sentences.

        Yields
        ------
        Sentence
            Together they hold every character of the text.
        """
        lines = text.split("\n")
        begin = 0
        has_content = ended = False
        for i, line in enumerate(lines):
            if not line or tree_format.is_blank(line):
                ended = has_content
            elif ended:
                yield self._sentence([*lines[begin:i], ""])
                begin, ended = i, False
            else:
                has_content = True
        if lines[begin:] != [""]:
            yield self._sentence(lines[begin:])

    def _sentence(self, lines: list[str]) -> Sentence:
        """Read the lines of one sentence; an empty last one ends the line before."""
        text = "\n".join(lines)
        first = self.next_line
        self.next_line += len(lines) - 1
        if first == 1:
            lines[0] = lines[0].removeprefix(BYTE_ORDER_MARK)
        if "\r" in text:
            lines = [line.removesuffix("\r") for line in lines]
        if self.format is None:
            self.format = self._guess(lines, first)
        format = self.format or FORMATS["conllu"]
        rows, places = [], []
        for number, line in enumerate(lines, first):
            if line and format.is_content(line):
                rows.append(line.split("\t"))
                places.append(number)
        if rows:
            self._check_widths(format, rows, places)
        if format.numbered and tuple(row[0] for row in rows) != _IDS[: len(rows)]:
            rows, places = self._words(rows, places)
        # Comments alone have columns too, and a tree that is known: empty ones.
        table = list(zip(*rows, strict=True)) or [()] * max(format.widths)
        forms, lemmas, upos, xpos, feats, labels = (
            _column(format, name, table)
            for name in ("forms", "lemmas", "upos", "xpos", "feats", "labels")
        )
        if "" in forms:
            raise DataError(
                "the word is empty (write _ for a word that is not known)",
                path=self.file,
                line=places[forms.index("")],
            )
        cells = table[format.places["heads"]]
        unknown: tuple[int, ...] = ()
        if self.partial and NOT_GIVEN in cells:
            unknown = tuple(w for w, cell in enumerate(cells, 1) if cell == NOT_GIVEN)
            cells = tuple("0" if cell == NOT_GIVEN else cell for cell in cells)
        heads = self._heads(cells, places)
        given = None if set(labels) == {NOT_GIVEN} else labels
        columns = (forms, lemmas, upos, xpos, feats, heads, given)
        begin = places[0] if places else first
        written = with_gaps(columns, unknown) if unknown else columns
        verbatim = Verbatim(text, format.name, written, self.file, begin)
        return Sentence(*columns, verbatim=verbatim, unknown=unknown)

    def _guess(self, lines: list[str], first: int) -> tree_format.TreeFormat | None:
        """Recognise the format by the first line that is a word; None without one."""
        for number, line in enumerate(lines, first):
            cells = line.split("\t")
            if tree_format.is_blank(line):
                continue
            # "#" is a word, too; a comment rarely looks like word, tag and number.
            if len(cells) == 3 and (line[0] != "#" or cells[2] in _NUMBERS):
                return FORMATS["heads"]
            if line[0] == "#":
                continue
            if FORMATS["conllu"].takes(len(cells)):
                return FORMATS["conllu"]
            if FORMATS["conllx"].takes(len(cells)):
                return FORMATS["conllx"]
            raise DataError(
                "expected 10 columns (CoNLL-U), 8 (CoNLL-X) or 3 (word, tag, head) "
                f"with tabs between them, found {len(cells)} ({_shown(line)})",
                path=self.file,
                line=number,
            )
        return None

    def _check_widths(
        self, format: tree_format.TreeFormat, rows: list[list[str]], places: list[int]
    ) -> None:
        """Check that all lines have as many columns as the first of the file."""
        if not self.width and format.takes(len(rows[0])):
            self.width = len(rows[0])
            self.width_line = places[0]
        if set(map(len, rows)) == {self.width}:
            return
        bad = next(i for i, row in enumerate(rows) if len(row) != self.width)
        if self.width:
            expected = f"{self.width} columns as in line {self.width_line}"
        else:
            expected = " or ".join(map(str, sorted(format.widths))) + " columns"
        raise DataError(
            f"expected {expected}, found {len(rows[bad])} (columns have one tab "
            f"between them; {_shown(chr(9).join(rows[bad]))})",
            path=self.file,
            line=places[bad],
        )

    def _words(
        self, rows: list[list[str]], places: list[int]
    ) -> tuple[list[list[str]], list[int]]:
        """Leave out multiword tokens and empty nodes; check that words count up."""
        kept = [i for i, row in enumerate(rows) if not _NO_WORD.fullmatch(row[0])]
        for number, i in enumerate(kept, 1):
            if rows[i][0] != str(number):
                raise DataError(
                    f'expected word {number}, found "'
                    f'{rows[i][0]}" (words count from 1 in each sentence, which a '
                    "blank line ends)",
                    path=self.file,
                    line=places[i],
                )
        if len(kept) < len(rows):
            self._check_others([row[0] for row in rows], places)
        return [rows[i] for i in kept], [places[i] for i in kept]

    def _check_others(self, numbers: list[str], places: list[int]) -> None:
        """Check that multiword tokens and empty nodes stand where their words are."""
        n_words = sum(number.isdecimal() for number in numbers)
        before = covered = 0
        for number, place in zip(numbers, places, strict=True):
            if "-" in number:
                first, last = map(int, number.split("-"))
                problem = ""
                if first <= covered:
                    problem = "overlaps the one before"
                elif first != before + 1:
                    problem = f"belongs before word {first}"
                elif not first <= last <= n_words:
                    problem = f"ends at no word (the sentence has {n_words})"
                covered = last
                what = f'the multiword token "{number}"'
            elif "." in number:
                problem = ""
                if int(number.partition(".")[0]) != before:
                    problem = f"comes after word {before}; it should be {before}.1"
                what = f'the empty node "{number}"'
            else:
                before += 1
                continue
            if problem:
                raise DataError(f"{what} {problem}", path=self.file, line=place)

    def _heads(self, cells: Column, places: list[int]) -> tuple[int, ...] | None:
        """Read the heads, which all words have or none."""
        try:
            heads = tuple(map(_NUMBERS.__getitem__, cells))
        except KeyError:
            if set(cells) == {NOT_GIVEN}:
                return None
            heads = tuple(map(self._head, cells, places))
        wrong = find_wrong_head(heads)
        if wrong is not None:
            word, problem = wrong
            raise DataError(problem, path=self.file, line=places[word - 1])
        return heads

    def _head(self, cell: str, place: int) -> int:
        if cell == NOT_GIVEN:
            raise DataError(
                "the word has no head, but others in its sentence do (give all of "
                "them heads, or none; trees that are known in part are read with "
                "partial=True, or --partial)",
                path=self.file,
                line=place,
            )
        if not _NUMBER.fullmatch(cell):
            raise DataError(
                f'head "{cell[:_LONGEST_SHOWN]}" is not the '
                "number of a word (they count from 1; 0 is the root, and _ means none)",
                path=self.file,
                line=place,
            )
        return int(cell)


def _column(format: tree_format.TreeFormat, name: str, table: list[Column]) -> Column:
    """Return a field of all words; equal strings are kept once."""
    place = format.places.get(name)
    if place is None:
        return (NOT_GIVEN,) * len(table[0])
    return tuple(map(intern, table[place]))


def _shown(line: str) -> str:
    shown = line if len(line) <= _LONGEST_SHOWN else line[: _LONGEST_SHOWN - 3] + "..."
    return f'line: "{shown}"'
