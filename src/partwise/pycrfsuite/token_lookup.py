"""Finding the attributes of a token by its names: one dictionary a name.

For dicts within dicts, lists of strings, and sentences before there is a table of all
attributes. What is neither text nor there or not there is left to `ItemReader`.
"""

from __future__ import annotations

from operator import getitem
from typing import Any, NamedTuple

import numpy as np

from partwise.features.csr import UNKNOWN
from partwise.features.vocabulary import SEPARATOR, Vocabulary
from partwise.pycrfsuite.items import Items

MOST_SHAPES = 1 << 12


class _Answers(dict[Any, int]):
    """The numbers of the values of one name; True stands for the name by itself."""

    def __missing__(self, value: Any) -> int:
        if value.__class__ is str:
            return UNKNOWN
        raise KeyError(value)


class _Shape(NamedTuple):
    """What dicts with the same names have in common.

    There is a dictionary for every name. `nested` are the places of dicts, with what
    the names in them begin with.
    """

    answers: tuple[_Answers, ...]
    nested: tuple[tuple[int, str], ...]


class TokenLookup:
    """Reads lists of dicts, or of strings; says None where others have to do it.

    Examples
    --------
    >>> from partwise.features.vocabulary import joined_vocabulary
    >>> lookup = TokenLookup(joined_vocabulary(["word:Paris", "-1:word:in", "first"]))
    >>> lookup.read([{"word": "in"}, {"word": "Paris", "-1": {"word": "in"}}]).numbers
    array([-1,  1,  0, -1], dtype=int32)
    >>> lookup.read([["first", "last"]]).numbers
    array([ 2, -1], dtype=int32)
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._shapes: dict[tuple[str, ...], _Shape] = {}
        self._answers: dict[str, _Answers] = {}
        self._strings = _Answers(vocabulary.plain)

    def read(self, sequence: Any) -> Items | None:
        """Return the rows of a sequence, or None."""
        if sequence.__class__ is not list:
            return None
        numbers: list[int] = []
        ends = [0]
        try:
            for token in sequence:
                if token.__class__ is dict:
                    numbers += self._numbers("", token)
                elif token.__class__ is list:
                    numbers += map(self._strings.__getitem__, token)
                else:
                    return None
                ends.append(len(numbers))
        except (KeyError, TypeError):
            return None
        return Items(np.array(ends, np.int64), np.array(numbers, np.int32), np.empty(0))

    def _numbers(self, prefix: str, token: dict[Any, Any]) -> list[int]:
        """Return the numbers of a dict's attributes; names begin with `prefix`."""
        shape = self._shapes.get((prefix, *token))
        if shape is None:
            shape = self._note_shape(prefix, token)
        numbers: list[int] = []
        values: Any = token.values()
        if shape.nested:
            values = list(values)
            for place, longer in shape.nested:
                if values[place].__class__ is dict:
                    numbers += self._numbers(longer, values[place])
                    values[place] = False
        numbers += map(getitem, shape.answers, values)
        return numbers

    def _note_shape(self, prefix: str, token: dict[Any, Any]) -> _Shape:
        """Return the dictionaries of names; raise TypeError if these are none."""
        nested = tuple(
            (place, f"{prefix}{name}{SEPARATOR}")
            for place, (name, value) in enumerate(token.items())
            if value.__class__ is dict
        )
        names = [prefix + name for name in token]  # refuses what is no text
        shape = _Shape(tuple(map(self._of, names)), nested)
        if len(self._shapes) < MOST_SHAPES:
            self._shapes[prefix, *token] = shape
        return shape

    def _of(self, name: str) -> _Answers:
        """Return the numbers of the values of a name."""
        known = self._answers.get(name)
        if known is None:
            plain, valued = self._vocabulary
            known = _Answers(valued[name])
            known[True], known[False] = plain[name], UNKNOWN
            if len(self._answers) < MOST_SHAPES:
                self._answers[name] = known
        return known
