r"""The text behind a treebank: tokens as they are written, and the spaces between them.

CoNLL-U says ``SpaceAfter=No`` where two tokens touch. Other spaces than a single one
are the entries ``SpacesBefore`` and ``SpacesAfter`` in MISC, escaped as UDPipe does:
``\s`` is a space, ``\n`` a line break. Where a sentence has none of these entries, its
comment ``# text`` tells.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from partwise.data.conllu_columns import NAMES, entry_of
from partwise.data.tree_format import BYTE_ORDER_MARK, FORMATS, NOT_GIVEN
from partwise.data.treebank import Sentence

_ESCAPES = {" ": r"\s", "\t": r"\t", "\r": r"\r", "\n": r"\n", "|": r"\p", "\\": r"\\"}
_UNESCAPES = {escape[1]: character for character, escape in _ESCAPES.items()}
_ESCAPED = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.?))", re.DOTALL)
PARAGRAPH = "\n\n"
_BEGINNINGS = ("newpar", "newdoc")
# How the names of characters begin in scripts without spaces, marks included.
_UNSPACED = (
    *("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN"),
    *("IDEOGRAPHIC", "FULLWIDTH"),
)


class SurfaceToken(NamedTuple):
    """A token as it is written: one word, or a multiword token such as ``don't``.

    Attributes
    ----------
    form : str
        What is written.
    first, last : int
        The numbers of its first and its last word, from 1.
    misc : str
        Its last column.
    """

    form: str
    first: int
    last: int
    misc: str = NOT_GIVEN

    @property
    def is_multiword(self) -> bool:
        """Whether it stands on a line of its own, before its words."""
        return self.last != self.first


def surface_tokens(sentence: Sentence) -> list[SurfaceToken]:
    r"""Return the tokens of a sentence as they are written.

    Examples
    --------
    >>> import io
    >>> from partwise.data import read_trees
    >>> rest = "\t_\t_\t_\t_\t_\t_\t_\t_\n"
    >>> text = f"1-2\tDon't{rest}1\tDo{rest}2\tn't{rest}3\tbark{rest}"
    >>> [token.form for token in surface_tokens(read_trees(io.StringIO(text))[0])]
    ["Don't", 'bark']
    """
    tokens: list[SurfaceToken] = []
    n_words = covered = 0
    for row in _rows(sentence):
        number, form, misc = row[0], row[NAMES.index("form")], row[-1]
        if number.isdecimal():
            n_words += 1
            if n_words > covered:
                tokens.append(SurfaceToken(form, n_words, n_words, misc))
        elif "-" in number:
            first, last = map(int, number.split("-"))
            if first == n_words + 1 and last >= first:
                tokens.append(SurfaceToken(form, first, last, misc))
                covered = last
    return tokens


def comment(sentence: Sentence, key: str) -> str | None:
    """Return the value of a comment such as ``# text = ...``; "" if it has none.

    Examples
    --------
    >>> comment(Sentence.from_columns(forms=["Hush"]), "text") is None
    True
    """
    for line in _lines(sentence):
        if line.startswith("#"):
            name, _, value = line[1:].partition("=")
            if name.split()[:1] == [key]:
                return value.strip("\r")[1:] if value.startswith(" ") else value
    return None


def escape_spaces(spaces: str) -> str:
    r"""Write white space so that a cell of MISC can hold it.

    Examples
    --------
    >>> escape_spaces(" \n")
    '\\s\\n'
    >>> unescape_spaces(escape_spaces(" \t|\\\n\u2028")) == " \t|\\\n\u2028"
    True
    """
    return "".join(map(_escaped, spaces))


def _escaped(character: str) -> str:
    """Return a character as it can stand in a line, whoever cuts lines."""
    if character in _ESCAPES:
        return _ESCAPES[character]
    if len(f"a{character}b".splitlines()) > 1 or not character.isprintable():
        return f"\\u{ord(character):04X}"
    return character


def unescape_spaces(text: str) -> str:
    """Read what `escape_spaces` wrote."""
    return _ESCAPED.sub(_unescaped, text)


def _unescaped(found: re.Match[str]) -> str:
    code, letter = found.groups()
    if code is None:
        return _UNESCAPES.get(letter, "")
    return chr(int(code, 16))


def spaces_after(sentence: Sentence, tokens: Sequence[SurfaceToken]) -> list[str]:
    """Return what follows each token of a sentence: mostly a space, or nothing."""
    found = [_given_spaces(token.misc) for token in tokens]
    if all(spaces is None for spaces in found[:-1]):
        text = comment(sentence, "text")
        aligned = None if text is None else _gaps(text.strip(), tokens)
        if aligned is not None:
            found[:-1] = aligned[:-1]
    return [" " if spaces is None else spaces for spaces in found]


def _given_spaces(misc: str) -> str | None:
    escaped = entry_of(misc, "SpacesAfter")
    if escaped is not None:
        return unescape_spaces(escaped)
    return "" if entry_of(misc, "SpaceAfter") == "No" else None


def _gaps(text: str, tokens: Sequence[SurfaceToken]) -> list[str] | None:
    """Return what follows each token in a text; None if the tokens are not its own."""
    gaps, at = [], 0
    for token in tokens:
        if not text.startswith(token.form, at):
            return None
        at += len(token.form)
        begin = at
        while at < len(text) and text[at].isspace():
            at += 1
        gaps.append(text[begin:at])
    return gaps if at == len(text) else None


def text_of(sentences: Iterable[Sentence]) -> str:
    r"""Return the text of sentences, from their tokens and the spaces between them.

    Paragraphs and documents (``# newpar``, ``# newdoc``) begin after a blank line.
    Where most sentences of a treebank end in ``SpaceAfter=No``, which texts in scripts
    with spaces do not have, a space is put between them all the same.

    Examples
    --------
    >>> text_of([Sentence.from_columns(forms=["Hush", "!"])])
    'Hush !'
    """
    pieces: list[str] = []
    for paragraph in paragraphs(sentences):
        if pieces and not pieces[-1].endswith("\n"):
            pieces.append(PARAGRAPH)
        for i, (before, tokens, gaps) in enumerate(paragraph):
            if i == 0 or not pieces[-1:] or pieces[-1] == "":
                pieces.append(before)
            for token, gap in zip(tokens, gaps, strict=True):
                pieces += [token.form, gap]
            is_told = entry_of(tokens[-1].misc, "SpacesAfter") is not None
        if pieces[-1] == " " and not is_told:
            pieces.pop()
    return "".join(pieces)


class Written(NamedTuple):
    """A sentence as it is written: spaces before it, tokens, spaces after each."""

    before: str
    tokens: list[SurfaceToken]
    gaps: list[str]


def paragraphs(sentences: Iterable[Sentence]) -> list[list[Written]]:
    """Return how sentences are written, paragraph by paragraph."""
    found: list[list[Written]] = [[]]
    for sentence in sentences:
        tokens = surface_tokens(sentence)
        if not tokens:
            continue
        if found[-1] and any(comment(sentence, key) is not None for key in _BEGINNINGS):
            found.append([])
        before = entry_of(tokens[0].misc, "SpacesBefore") or ""
        gaps = spaces_after(sentence, tokens)
        found[-1].append(Written(unescape_spaces(before), tokens, gaps))
    written = [one for paragraph in found for one in paragraph]
    unspaced = sum(is_unspaced(one.tokens[-1].form[-1]) for one in written)
    if unspaced > len(written) / 2:
        return [paragraph for paragraph in found if paragraph]
    if sum(one.gaps[-1] == "" for one in written) > len(written) / 2 > 0.5:
        for one in written:
            one.gaps[-1] = one.gaps[-1] or " "
    return [paragraph for paragraph in found if paragraph]


def is_unspaced(character: str) -> bool:
    """Say whether a character is of a script that is written without spaces.

    Examples
    --------
    >>> is_unspaced("狗"), is_unspaced("。"), is_unspaced("d")
    (True, True, False)
    """
    return unicodedata.name(character, "").startswith(_UNSPACED)


def _lines(sentence: Sentence) -> list[str]:
    read = sentence.verbatim
    if read is not None and read.format == "conllu":
        return read.text.removeprefix(BYTE_ORDER_MARK).split("\n")
    return sentence.to_text("conllu").split("\n")


def _rows(sentence: Sentence) -> list[list[str]]:
    """Return the first ten cells of every line that is no comment."""
    format = FORMATS["conllu"]
    return [
        line.removesuffix("\r").split("\t")[: len(NAMES)]
        for line in _lines(sentence)
        if format.is_content(line)
    ]
