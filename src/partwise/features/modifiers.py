"""Modifiers: what a template can see of a word besides the word itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

LONGEST_AFFIX = 9
# What is seen of cells derived from a resource: all of a cell that is not empty, or
# with a number its beginning. Templates name these in other words; see `resources`.
FILLED = "filled"


def _lower(word: str) -> str:
    return word.lower()


class _Classes(dict[int, str]):
    """The class of a character, by its number; found when it is first asked for."""

    def __missing__(self, number: int) -> str:
        """Map letters to X and x, digits to d, and the rest to itself."""
        character = chr(number)
        if character.isupper():
            found = "X"
        elif character.isalpha():
            found = "x"
        else:
            found = "d" if character.isdigit() else character
        self[number] = found
        return found


_CLASSES = _Classes()


def _shape(longest_run: int) -> Callable[[str], str]:
    """Make a modifier that maps characters to classes, and cuts runs of the same."""
    too_long = re.compile(rf"(.)\1{{{longest_run},}}", re.DOTALL)

    def cut(found: re.Match[str]) -> str:
        return found[0][:longest_run]

    return lambda word: too_long.sub(cut, word.translate(_CLASSES))


def _prefix(word: str, length: int) -> str | None:
    return word[:length] if len(word) >= length else None


def _suffix(word: str, length: int) -> str | None:
    return word[-length:] if len(word) >= length else None


def _kind(word: str) -> str:
    """Sort a word into one of a few kinds by its characters."""
    if not any(map(str.isalnum, word)):
        return "punctuation"
    if not any(map(str.isalpha, word)):
        return "number"
    if not word.isalpha():
        return "mixed"
    if len(word) > 1 and word.isupper():
        return "upper"
    if word[0].isupper() and not any(map(str.isupper, word[1:])):
        return "initial"
    return "camel" if any(map(str.isupper, word)) else "lower"


def _flag(test: Callable[[str], bool]) -> Callable[[str], str | None]:
    """Make a modifier that says yes or nothing."""
    return lambda word: "yes" if test(word) else None


def _affixes() -> dict[str, Callable[[str], str | None]]:
    affixes: dict[str, Callable[[str], str | None]] = {}
    for length in range(1, LONGEST_AFFIX + 1):
        affixes[f"prefix{length}"] = partial(_prefix, length=length)
        affixes[f"suffix{length}"] = partial(_suffix, length=length)
    return affixes


# name -> function; a result of None means that there is no attribute.
MODIFIERS: dict[str, Callable[[str], str | None]] = {
    "lower": _lower,
    "shape": _shape(longest_run=4),
    "short_shape": _shape(longest_run=1),
    "kind": _kind,
    "has_digit": _flag(lambda word: any(map(str.isdigit, word))),
    "has_upper": _flag(lambda word: any(map(str.isupper, word))),
    "has_hyphen": _flag(lambda word: "-" in word),
    "is_title": _flag(str.istitle),
    **_affixes(),
}


def modifier(name: str) -> Callable[[str], str | None]:
    """Return the modifier of a name; that of the empty name is the word itself.

    Examples
    --------
    >>> list(map(modifier("prefix2"), ["of", "a", "Paris"]))
    ['of', None, 'Pa']
    """
    if name.startswith(FILLED):
        length = name.removeprefix(FILLED)
        return partial(_prefix, length=int(length)) if length else _filled
    return MODIFIERS[name] if name else _whole


def _filled(word: str) -> str | None:
    return word or None


def _whole(word: str) -> str:
    return word


def modify(name: str, word: str) -> str | None:
    """Apply a modifier by name; the empty name returns the word itself.

    Examples
    --------
    >>> modify("shape", "McDonald's-1999")
    "XxXxxxx'x-dddd"
    >>> modify("short_shape", "McDonald's-1999")
    "XxXx'x-d"
    >>> modify("suffix3", "of") is None
    True
    >>> [modify("kind", word) for word in ("IBM", "Paris", "3.5", "--", "eBay")]
    ['upper', 'initial', 'number', 'punctuation', 'camel']
    >>> modify("has_digit", "B2B"), modify("has_digit", "Paris")
    ('yes', None)
    """
    return modifier(name)(word)
