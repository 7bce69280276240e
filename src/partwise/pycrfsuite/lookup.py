"""Finding all attributes of a sentence at once, in compiled code.

Asking a dictionary for one attribute after the other mostly waits for memory. Dicts of
features tend to have the same names, token after token; so for names that were met
before, Python only lines up the values, and `partwise.features.byte_table` finds them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.features.byte_table import IS_USABLE, ByteTable, byte_table, ids_in
from partwise.features.vocabulary import Vocabulary
from partwise.pycrfsuite.items import Items

MOST_SHAPES = 1 << 12
NUMBERS = frozenset({bool, int, float})


class _Shape(NamedTuple):
    """What tokens with the same names have in common.

    `numbers` are those of their names, as the bytes of int32, and `others` the places
    of values that are not text.
    """

    numbers: bytes
    others: tuple[int, ...]
    size: int


class SentenceLookup:
    """Reads sequences of dicts; says None where `ItemReader` has to do it.

    Examples
    --------
    >>> from partwise.features.vocabulary import joined_vocabulary
    >>> lookup = SentenceLookup(joined_vocabulary(["word:Paris", "bias"]))
    >>> lookup.read([{"word": "Paris"}]) is None  # too early for a table
    True
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._shapes: dict[tuple[str, ...], _Shape] = {}
        self._expected: dict[tuple[str, ...], _Shape] = {}
        self._names: dict[str, int] = {}
        self._table: ByteTable | None = None
        self._is_usable = IS_USABLE
        self._n_asked = 0

    def read(self, sequence: Any) -> Items | None:
        """Return the rows of a sequence of dicts, or None."""
        if sequence.__class__ is not list or not self._is_usable:
            return None
        try:
            shapes = [self._shapes[names] for names in map(tuple, sequence)]
            values = list(chain.from_iterable(map(dict.values, sequence)))
        except KeyError:  # names that were not met before
            self._expect(sequence)
            return None
        except TypeError:  # tokens that are not dicts
            return None
        ends = np.zeros(len(shapes) + 1, np.int64)
        np.cumsum([shape.size for shape in shapes], out=ends[1:])
        amounts = np.empty(0)
        if any([shape.others for shape in shapes]):
            taken = _take_numbers(values, shapes, ends)
            if taken is None:
                return None
            amounts = taken
        numbers = np.frombuffer(b"".join([s.numbers for s in shapes]), np.int32)
        found = None
        if self._table is not None:
            try:
                found = ids_in(self._table, values, numbers)
            except TypeError:  # a value that is not text where others are
                return None
        return None if found is None else Items(ends, found, amounts)

    def _expect(self, sequence: Iterable[Any]) -> None:
        """Note the names of a sequence that the table does not know.

        A new table is made once as many attributes were asked for as there are, so that
        it costs less than it saves.
        """
        tokens = [token for token in sequence if token.__class__ is dict]
        self._n_asked += sum(map(len, tokens))
        for token in tokens:
            self._note_shape(token)
        if self._n_asked >= self._vocabulary.n_attributes and self._expected:
            self._n_asked = 0
            self._make_table()

    def _note_shape(self, token: dict[Any, Any]) -> None:
        """Give numbers to the names of a token, odd ones to those without text."""
        names = tuple(token)
        if names in self._shapes or names in self._expected:
            return
        if len(self._shapes) + len(self._expected) >= MOST_SHAPES:
            return
        if not all(name.__class__ is str for name in names):
            return
        others = tuple(
            place
            for place, value in enumerate(token.values())
            if value.__class__ is not str
        )
        first = [2 * self._names.setdefault(name, len(self._names)) for name in names]
        for place in others:
            first[place] += 1
        packed = np.array(first, np.int32).tobytes()
        self._expected[names] = _Shape(packed, others, len(names))

    def _make_table(self) -> None:
        plain, valued = self._vocabulary
        values, names, ids = [], [], []
        for name, number in self._names.items():
            known = valued[name]
            values.append(list(known))
            names.append(np.full(len(known), 2 * number, np.int32))
            ids.append(np.fromiter(known.values(), np.int32, len(known)))
            if plain[name] >= 0:
                values.append([""])
                names.append(np.array([2 * number + 1], np.int32))
                ids.append(np.array([plain[name]], np.int32))
        none = np.empty(0, np.int32)
        self._table = byte_table(
            chain.from_iterable(values),
            np.concatenate([none, *names]),
            np.concatenate([none, *ids]),
        )
        self._is_usable = self._table is not None
        self._shapes |= self._expected
        self._expected = {}


def _take_numbers(
    values: list[Any], shapes: list[_Shape], ends: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    """Put numbers aside and leave no text in their place; None if one is none."""
    at = [
        begin + place
        for begin, shape in zip(ends.tolist(), shapes, strict=False)
        for place in shape.others
    ]
    amounts = [values[place] for place in at]
    if not NUMBERS.issuperset(map(type, amounts)):
        return None
    for place in at:
        values[place] = ""
    result = np.ones(len(values))
    result[at] = amounts
    return result
