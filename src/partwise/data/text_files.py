"""Plain text, paragraph by paragraph, as it comes in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from partwise.data import files
from partwise.data.files import BLOCK
from partwise.data.tree_format import BYTE_ORDER_MARK, is_blank

LONGEST = 50_000
"""Longer paragraphs are cut, at white space if there is any."""
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")


class Paragraph(NamedTuple):
    """A part of a text that sentences do not go beyond.

    Attributes
    ----------
    text : str
        Its characters, with the white space after it.
    start : int
        Where it begins in the text.
    begins : bool
        Whether it is the beginning of a paragraph, rather than a later part.
    last : bool
        Whether nothing more has come in so far.
    """

    text: str
    start: int
    begins: bool = True
    last: bool = False


def read_paragraphs(
    source: files.Source, *, encoding: str = "utf-8"
) -> Iterator[Paragraph]:
    r"""Read a text paragraph by paragraph; blank lines end paragraphs.

    Parameters
    ----------
    source : path, "-" or file object
        The text, plain or gzip; ``"-"`` is standard input.
    encoding : str, default="utf-8"
        Its encoding.

    Yields
    ------
    Paragraph
        Together they hold every character up to the blank line after the last word.

    Examples
    --------
    >>> import io
    >>> [one.text for one in read_paragraphs(io.StringIO("One.\n\nTwo."))]
    ['One.\n\n', 'Two.']
    """
    name = files.source_name(source)
    blocks = files.decoded_blocks(source, name, encoding, BLOCK)
    return cut_paragraphs(files.whole_sentences(blocks, is_blank))


def cut_paragraphs(texts: Iterable[str]) -> Iterator[Paragraph]:
    """Cut a text, which comes in parts that end with blank lines, into paragraphs."""
    at = 0
    blank: list[str] = []  # white space before the first word
    for number, text in enumerate(texts):
        if number == 0:
            text = text.removeprefix(BYTE_ORDER_MARK)
        blank.append(text)
        if not text.strip():
            continue
        text = "".join(blank)
        ends = [one.end() for one in _BLANK_LINE.finditer(text)]
        first = seen = 0
        for end in (*ends, len(text)):
            begin, seen = seen, end
            if not text[begin:end].strip():  # further blank lines: before the next word
                continue
            part = text[first:end]
            for offset, piece in _short_parts(part):
                last = first + offset + len(piece) == len(text)
                yield Paragraph(piece, at + first + offset, offset == 0, last)
            first = end
        blank = [text[first:]]
        at += first


def _short_parts(text: str) -> Iterator[tuple[int, str]]:
    begin = 0
    while len(text) - begin > LONGEST:
        window = text[begin : begin + LONGEST]
        cut = max(window.rfind(" "), window.rfind("\n")) + 1
        # White space belongs to the word before it, and every part has a word.
        end = begin + (cut if window[:cut].strip() else LONGEST)
        while end < len(text) and text[end].isspace():
            end += 1
        yield begin, text[begin:end]
        begin = end
    if begin < len(text):
        yield begin, text[begin:]
