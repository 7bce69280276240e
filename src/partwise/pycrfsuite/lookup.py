"""Finding all attributes of a sentence at once, in compiled code.

Asking a dictionary for one attribute after the other mostly waits for memory. Dicts of
features tend to have the same names, token after token; so for names that were met
before, Python only lines up the values, and `partwise.features.byte_table` finds them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.features.byte_table import IS_USABLE, ByteTable, byte_table, ids_in
from partwise.features.vocabulary import Vocabulary
from partwise.pycrfsuite.items import Items
from partwise.pycrfsuite.records import Records

MOST_SHAPES = 1 << 12
MOST_PATTERNS, LONGEST_PATTERN = 512, 128  # what is remembered stays small
NUMBERS = frozenset({bool, int, float})
NO_AMOUNTS = np.empty(0)

# A feature that is there has no value; these texts stand for that. No value is the
# same: text with such characters has no bytes, and python-crfsuite refuses it.
THERE, NOT_THERE = "\ud800", "\ud801"
AS_TEXT = {True: THERE, False: NOT_THERE}


@dataclass(frozen=True, eq=False, slots=True)  # told apart by what they are, quickly
class _Shape:
    """What tokens with the same names have in common.

    `numbers` are those of their names, as the bytes of int32; `has_flags` says
    whether some values were no text when these names were first met.
    """

    numbers: bytes
    size: int
    has_flags: bool


NESTED = _Shape(b"", 0, False)
"""Names of values that have names themselves, which are not looked for here."""


class _Pattern(NamedTuple):
    """What sequences of tokens with the same shapes have in common."""

    numbers: NDArray[np.int32]
    ends: NDArray[np.int64]
    has_flags: bool
    is_nested: bool


class SentenceLookup:
    """Reads sequences of dicts; says None where others have to do it.

    Numbers are where the records of attributes begin in `records`.
    """

    def __init__(self, vocabulary: Vocabulary, contents: Records) -> None:
        self._vocabulary = vocabulary
        self._contents = contents
        self._shapes: dict[tuple[str, ...], _Shape] = {}
        self._expected: dict[tuple[str, ...], _Shape] = {}
        self._patterns: dict[tuple[_Shape, ...], _Pattern] = {}
        self._names: dict[str, int] = {}
        self._table: ByteTable | None = None
        self._is_usable = IS_USABLE
        self._n_asked = 0
        self.records = contents.words

    def read(self, sequence: Any) -> Items | None:
        """Return the rows of a sequence of dicts, or None."""
        if sequence.__class__ is not list or not sequence or not self._is_usable:
            return None
        try:
            pattern = self._pattern(sequence)
            values = list(chain.from_iterable(map(dict.values, sequence)))
        except KeyError:  # names that were not met before
            self._expect(sequence)
            return None
        except TypeError:  # tokens that are not dicts
            return None
        if self._table is None or pattern.is_nested:
            return None
        numbers, amounts = pattern.numbers, NO_AMOUNTS
        try:
            if pattern.has_flags:
                values = list(map(AS_TEXT.get, values, values))
            try:
                found = ids_in(self._table, values, numbers)
            except TypeError:  # there are numbers among the values
                amounts = _take_numbers(values)
                found = ids_in(self._table, values, numbers)
        except TypeError:
            return None
        return None if found is None else Items(pattern.ends, found, amounts)

    def _pattern(self, sequence: list[Any]) -> _Pattern:
        """Return what is known of a sequence by its names."""
        shapes = self._shapes
        # Most tokens have the names of the one in the middle; comparing is quick.
        usual = tuple(sequence[len(sequence) // 2])
        shape = shapes[usual]
        found = tuple(
            [
                shape if (names := tuple(token)) == usual else shapes[names]
                for token in sequence
            ]
        )
        known = self._patterns.get(found)
        if known is None:
            known = _Pattern(
                np.frombuffer(b"".join([s.numbers for s in found]), np.int32),
                np.array([0, *accumulate([s.size for s in found])], np.int64),
                any(s.has_flags for s in found),
                NESTED in found,
            )
            if len(self._patterns) < MOST_PATTERNS and len(found) <= LONGEST_PATTERN:
                self._patterns[found] = known
        return known

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
        """Give numbers to the names of a token."""
        names = tuple(token)
        if names in self._shapes or names in self._expected:
            return
        if len(self._shapes) + len(self._expected) >= MOST_SHAPES:
            return
        kinds = {value.__class__ for value in token.values()}
        if kinds <= {str, *NUMBERS} and all(name.__class__ is str for name in names):
            known = self._names
            numbers = [known.setdefault(name, len(known)) for name in names]
            packed = np.array(numbers, np.int32).tobytes()
            self._expected[names] = _Shape(packed, len(names), kinds != {str})
        else:
            self._shapes[names] = NESTED

    def _make_table(self) -> None:
        plain, valued = self._vocabulary
        values, names, ids = [], [], []
        for name, number in self._names.items():
            known = {**valued[name], THERE: plain[name]}
            if known[THERE] < 0:
                del known[THERE]
            values.append(list(known))
            names.append(np.full(len(known), number, np.int32))
            ids.append(np.fromiter(known.values(), np.int32, len(known)))
        none = np.empty(0, np.int32)
        self._table = byte_table(
            chain.from_iterable(values),
            np.concatenate([none, *names]),
            np.concatenate([none, *ids]),
            (self._contents.ptr, self._contents.words),
        )
        self._is_usable = self._table is not None
        if self._table is not None:
            self.records = self._table.entries
        self._shapes |= self._expected
        self._expected = {}


def _take_numbers(values: list[Any]) -> NDArray[np.float64]:
    """Put numbers aside and say in their place that there are some."""
    at = [place for place, value in enumerate(values) if value.__class__ is not str]
    amounts = [values[place] for place in at]
    if not NUMBERS.issuperset(map(type, amounts)):
        raise TypeError("not a number")
    for place in at:
        values[place] = THERE
    result = np.ones(len(values))
    result[at] = amounts
    return result
