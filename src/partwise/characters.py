"""How text fills a line: what is printable, and how many columns it takes."""

from __future__ import annotations

import re
from unicodedata import category, east_asian_width

# Joiners are part of how Persian, Hindi and emoji are spelt, and take no room.
JOINERS = "\u200c\u200d"
# Vowels and finals of Korean syllables written in pieces: they join the first one.
JOINING_JAMO = range(0x1160, 0x1200)
DOTTED_CIRCLE = "\u25cc"
ACTED_UPON = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable(text: str, ascii_only: bool = False) -> str:
    r"""Return text that is safe to show: whatever is not printable is escaped.

    Parameters
    ----------
    text : str
        Any text, with control characters and escape sequences maybe.
    ascii_only : bool, default=False
        Escape everything beyond ASCII as well.

    Examples
    --------
    >>> print(printable("red\x1b[31m"), printable("café", ascii_only=True))
    red\x1b[31m caf\xe9
    """
    if not text.isprintable():
        text = "".join(
            c if c.isprintable() or c in JOINERS else _escaped(c) for c in text
        )
    if ascii_only:
        return text.encode("ascii", "backslashreplace").decode()
    # A mark with nothing to sit on would change the character in front of the text.
    return DOTTED_CIRCLE + text if text and not _columns(text[0]) else text


def safe_json(text: str) -> str:
    r"""Return JSON without the control characters that JSON leaves as they are.

    Terminals act on them, and so do readers of lines.

    Examples
    --------
    >>> print(safe_json('["red\x9b31m"]'))
    ["red\u009b31m"]
    """
    if text.isprintable():
        return text
    return ACTED_UPON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def display_width(text: str) -> int:
    r"""Return the number of columns that printable text takes in a terminal.

    Examples
    --------
    >>> display_width("cafe\u0301"), display_width("日本語")
    (4, 6)
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def cut(text: str, width: int, ellipsis: str = "…") -> str:
    """Return text that takes at most ``width`` columns, with a sign if it was cut.

    Examples
    --------
    >>> cut("Donaudampfschiff", 8), cut("日本語", 4), cut("short", 8)
    ('Donauda…', '日…', 'short')
    """
    if display_width(text) <= width:
        return text
    kept, room = [], width - len(ellipsis)
    for character in text:
        room -= _columns(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept) + ellipsis


def pad(text: str, width: int) -> str:
    """Return text with spaces after it, ``width`` columns in all.

    Examples
    --------
    >>> pad("日本", 6) + "|"
    '日本  |'
    """
    return text + " " * (width - display_width(text))


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _columns(character: str) -> int:
    if character in JOINERS or ord(character) in JOINING_JAMO:
        return 0
    if category(character) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
