"""Finding all attributes of a sentence at once, in compiled code.

Asking a dictionary for one attribute after the other mostly waits for memory. Dicts of
features tend to have the same names, token after token; so for names that were met
before, Python only lines up the values, and `partwise.features.byte_table` finds them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate, chain
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.features.byte_table import IS_USABLE, ByteTable, byte_table, ids_in
from partwise.features.vocabulary import Vocabulary
from partwise.pycrfsuite.items import Items
from partwise.pycrfsuite.records import Records

MOST_SHAPES = 1 << 12
MOST_VALUES = 1 << 18  # and tokens, in all patterns; what is remembered stays small
NUMBERS = frozenset({bool, int, float})
NO_AMOUNTS = np.empty(0)

# A feature that is there has no value; these texts stand for that. No value is the
# same: text with such characters has no bytes, and python-crfsuite refuses it.
THERE, NOT_THERE = "\ud800", "\ud801"
AS_TEXT = {True: THERE, False: NOT_THERE}
TEXT, FLAG, NUMBER = range(3)  # kinds of values
KINDS = {str: TEXT, bool: FLAG}


@dataclass(frozen=True, eq=False, slots=True)  # told apart by what they are, quickly
class _Shape:
    """What tokens with the same names have in common.

    `numbers` are those of their names, as the bytes of int32; `kinds` are those of
    their values when these names were first met, a byte each.
    """

    numbers: bytes
    kinds: bytes


NESTED = _Shape(b"", b"")
"""Names of values that have names themselves, which are not looked for here."""


class _Kind(NamedTuple):
    """Where the values of one kind are, and what takes them out."""

    at: NDArray[np.intp]
    taken: Callable[[list[Any]], tuple[Any, ...]]


class _Parts(NamedTuple):
    """How values are sorted into texts, which are looked up, and all others.

    `starts` are where the records of the others begin, and 0 for texts.
    """

    texts: _Kind
    flags: _Kind
    numbers: _Kind
    names: NDArray[np.int32]
    starts: NDArray[np.int32]


@dataclass(slots=True)
class _Pattern:
    """What sequences of tokens with the same shapes have in common."""

    numbers: NDArray[np.int32]
    ends: NDArray[np.int64]
    has_flags: bool
    is_nested: bool
    parts: _Parts | None = None


class SentenceLookup:
    """Reads sequences of dicts; says None where others have to do it.

    Numbers are where the records of attributes begin in `records`.
    """

    def __init__(self, vocabulary: Vocabulary, contents: Records) -> None:
        self._vocabulary = vocabulary
        self._contents = contents
        self._shapes: dict[tuple[str, ...], _Shape] = {}
        self._expected: dict[tuple[str, ...], _Shape] = {}
        self._patterns: dict[tuple[Any, ...], _Pattern] = {}
        self._n_remembered = 0
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
        if pattern.parts is not None:
            try:
                return _read_parts(self._table, pattern.parts, values, pattern.ends)
            except (TypeError, ValueError):  # a name has texts here, numbers there
                pattern.parts = None
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
        names = list(map(tuple, sequence))
        # Most tokens have the names of the one in the middle; comparing is quick.
        usual = names[len(names) // 2]
        key: tuple[Any, ...] = names[0], usual, names[-1], len(names)
        if names[1:-1].count(usual) != len(names) - 2:
            shape = self._shapes[usual]
            key = tuple([shape if own == usual else self._shapes[own] for own in names])
        known = self._patterns.get(key)
        if known is None:
            found = [self._shapes[own] for own in names]
            known = _Pattern(
                np.frombuffer(b"".join([s.numbers for s in found]), np.int32),
                np.array([0, *accumulate([len(s.kinds) for s in found])], np.int64),
                any(any(s.kinds) for s in found),
                NESTED in found,
            )
            size = len(names) + known.numbers.size
            if self._n_remembered + size <= MOST_VALUES:
                self._n_remembered += size
                self._patterns[key] = known
                if self._table is not None and known.has_flags:
                    kinds = b"".join([s.kinds for s in found])
                    known.parts = _make_parts(self._table, known.numbers, kinds)
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
            each = [KINDS.get(type(value), NUMBER) for value in token.values()]
            self._expected[names] = _Shape(packed, bytes(each))
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
        # What is remembered knows where records are in the table before.
        self._patterns, self._n_remembered = {}, 0


def _make_parts(
    table: ByteTable, names: NDArray[np.int32], kinds: bytes
) -> _Parts | None:
    """Return how values are sorted, or None if the table cannot say."""
    kind_of = np.frombuffer(kinds, np.uint8)
    texts, flags, numbers = (_kind(kind_of == kind) for kind in (TEXT, FLAG, NUMBER))
    others = np.flatnonzero(kind_of)
    known = ids_in(table, [THERE] * others.size, names[others])
    if known is None:
        return None
    starts = np.zeros(names.size, np.int32)
    starts[others] = known
    return _Parts(texts, flags, numbers, names[texts.at], starts)


def _kind(is_one: NDArray[np.bool_]) -> _Kind:
    at = np.flatnonzero(is_one)
    if at.size > 1:
        return _Kind(at, itemgetter(*at.tolist()))
    places = at.tolist()  # for less than two, `itemgetter` returns no tuple
    return _Kind(at, lambda values: tuple([values[place] for place in places]))


def _read_parts(
    table: ByteTable, parts: _Parts, values: list[Any], ends: NDArray[np.int64]
) -> Items | None:
    """Look the texts up; raise an error if the others are of other kinds."""
    texts, flags, numbers, names, starts = parts
    amounts = np.ones(len(values))
    amounts[flags.at] = np.frombuffer(bytes(flags.taken(values)), np.uint8)
    amounts[numbers.at] = array("d", numbers.taken(values))
    found = ids_in(table, texts.taken(values), names)
    if found is None:
        return None
    starts = starts.copy()
    starts[texts.at] = found
    return Items(ends, starts, amounts)


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
