"""Reading trees in brackets, and sentences to parse, for commands."""

from __future__ import annotations

import contextlib
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from partwise.cli.options import FILES, FORMAT, Encoding, in_panel
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise.constituents import Tree
    from partwise.data.bracketed import PlacedTree

# How much a command reads to detect trees in brackets.
BEGINNING = 1 << 14
# As in trees: other kinds of blanks may be part of words.
_BLANKS = re.compile("[ \t\r\f\v]+")
# A label or another bracket follows directly; in a sentence, a blank follows.
_OPENING = re.compile(r"\s*\((\s*\(|[^\s()]|\s*$)")
# The first of the lines of a tree; a sentence has a word after the first one.
_LONG_OPENING = re.compile(r"\s*\([^\s()]*\s*(\(|$)")


class SentenceFormat(StrEnum):
    """How a file of sentences to parse is laid out."""

    brackets = "brackets"
    sentences = "sentences"


class BracketFormat(StrEnum):
    """The format of trees."""

    brackets = "brackets"


KeepFunctions = Annotated[
    bool,
    in_panel(
        FILES,
        "Trees in brackets: keep function tags (NP-SBJ) and empty elements.",
        "--keep-functions",
    ),
]


class PlacedSentence(NamedTuple):
    """A sentence to parse, and where it was read."""

    words: tuple[str, ...]
    tags: tuple[str, ...] | None
    place: str

    @property
    def given(self) -> Sequence[Any]:
        """The sentence as parsers take it: words, or pairs of word and tag."""
        if self.tags is None:
            return self.words
        return list(zip(self.words, self.tags, strict=True))


@dataclass(frozen=True)
class BracketFiles:
    """How trees in brackets are read."""

    encoding: Encoding = "utf-8"
    keep_functions: KeepFunctions = False

    def stream(self, path: str, partial: bool = False) -> Iterator[PlacedTree]:
        """Read trees one by one, as they come in."""
        from partwise.data.bracketed import iter_placed

        return iter_placed(
            path,
            clean=not self.keep_functions,
            encoding=self.encoding,
            partial=partial,
        )

    def parses(self, path: str) -> list[Tree | None]:
        """Read what a parser wrote; None where it found no parse."""
        from partwise.data.bracketed import iter_parses

        clean = not self.keep_functions
        return list(iter_parses(path, clean=clean, encoding=self.encoding))

    def read(self, path: str, partial: bool = False) -> list[PlacedTree]:
        """Read all trees of a file, which must not be empty."""
        trees = list(self.stream(path, partial))
        if not trees:
            raise DataError(f"{path}: holds no trees (expected brackets)")
        return trees


@dataclass(frozen=True)
class TreesOnly(BracketFiles):
    """How files are read that can only be trees."""

    format: Annotated[BracketFormat | None, FORMAT] = None


@dataclass(frozen=True)
class SentenceFiles(BracketFiles):
    """How sentences to parse are read.

    They are lines of words with blanks between them (of ``word/TAG`` where tags are
    given), or those of trees. By default the format is detected
    from the beginning of the file.
    """

    format: Annotated[SentenceFormat | None, FORMAT] = None

    def sentences(
        self, path: str, *, with_tags: bool = False
    ) -> Iterator[PlacedSentence]:
        """Read sentences one by one, as they come in."""
        from partwise.constituents import tags, words

        if self.format == "brackets" or (
            self.format is None and _begins_with_tree(path, self.encoding)
        ):
            with _hint_at_sentences(self.format is None):
                for placed in self.stream(path):
                    own = tags(placed.tree) if with_tags else None
                    yield PlacedSentence(words(placed.tree), own, placed.place)
            return
        from partwise.data.files import read_lines, source_name

        file = source_name(path)
        for line, text in read_lines(path, encoding=self.encoding):
            found = [word for word in _BLANKS.split(text) if word]
            if found:
                yield _sentence(found, with_tags, f"{file}:{line}")


def _sentence(tokens: list[str], with_tags: bool, place: str) -> PlacedSentence:
    from partwise.data.bracketed import escape_brackets

    if not with_tags:
        return PlacedSentence(tuple(map(escape_brackets, tokens)), None, place)
    pairs = [token.rpartition("/")[::2] for token in tokens]
    for token, (word, tag) in zip(tokens, pairs, strict=True):
        if not word or not tag:
            raise DataError(
                f"{place}: {token!r} has no tag, but the parser was trained with tags "
                "that are given (write word/TAG, or give trees in brackets)"
            )
    words, tags = zip(*pairs, strict=True)
    return PlacedSentence(tuple(map(escape_brackets, words)), tags, place)


@contextlib.contextmanager
def _hint_at_sentences(is_guess: bool) -> Iterator[None]:
    """Say what to do if sentences were taken for trees."""
    try:
        yield
    except DataError as error:
        if not is_guess:
            raise
        hint = "it begins like a tree; for sentences: --format sentences"
        raise DataError(f"{error} ({hint})") from None


def _begins_with_tree(path: str, encoding: str) -> bool:
    """Say whether these are trees, where they might be sentences with brackets.

    A line whose brackets all close must be trees, and nothing else.
    """
    if not is_bracketed(path, encoding):
        return False
    from io import StringIO

    from partwise.data.bracketed import read_brackets

    line = _first_line(path, encoding)
    if line.count("(") > line.count(")"):
        return _LONG_OPENING.match(line) is not None
    try:
        return bool(read_brackets(StringIO(line), clean=False))
    except DataError:
        return False


def is_bracketed(path: str, encoding: str = "utf-8") -> bool:
    """Say whether a file, or standard input, begins like a tree in brackets.

    A sentence may begin like this as well.
    """
    line = _first_line(path, encoding)
    cells = line.split("\t")
    # A bracket may be the first word of a file of word, tag and head.
    is_word = len(cells) == 3 and cells[2].strip().isdecimal()
    return _OPENING.match(line) is not None and not is_word


def _first_line(path: str, encoding: str) -> str:
    """Return the first line that is neither blank nor a comment, if there is one."""
    from partwise.data.files import read_blocks

    if path == "-":
        text = _peek().decode(encoding, errors="replace").removeprefix("\ufeff")
    else:
        text = next(read_blocks(path, encoding=encoding, size=BEGINNING), "")
    lines = text.splitlines()
    return next((line for line in lines if line.strip() and line[0] != "#"), "")


def _peek() -> bytes:
    """Return the beginning of standard input, which is read again later."""
    from partwise.data.files import GZIP_MAGIC

    stream: Any = getattr(sys.stdin, "buffer", None)
    start = b""
    if hasattr(stream, "peek"):
        start = bytes(stream.peek(BEGINNING))
    elif stream is not None and stream.seekable():
        place = stream.tell()
        start = bytes(stream.read(BEGINNING))
        stream.seek(place)
    if start.startswith(GZIP_MAGIC):
        with contextlib.suppress(zlib.error):  # reading it reports what is wrong
            return zlib.decompressobj(wbits=31).decompress(start)
    return start
