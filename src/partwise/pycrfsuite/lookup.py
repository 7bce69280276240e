"""Finding all attributes of a sentence at once, in compiled code.

Asking a dictionary for one attribute after the other mostly waits for memory. Dicts of
features tend to have the same names, token after token; so for names that were met
before, Python only lines up the values, and `partwise.features.byte_table` finds them.
Names whose value was a number or a flag when they were met have nothing to be found:
where their records begin is known beforehand.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import accumulate, chain, compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.features.byte_table import IS_USABLE, ByteTable, byte_table, ids_in
from partwise.features.csr import UNKNOWN
from partwise.features.vocabulary import Vocabulary
from partwise.pycrfsuite.items import Items
from partwise.pycrfsuite.records import Records

MOST_SHAPES = 1 << 12
NUMBERS = frozenset({bool, int, float})
NO_AMOUNTS = np.empty(0)

# A feature that is there has no value; these texts stand for that. No value is the
# same: text with such characters has no bytes, and python-crfsuite refuses it.
THERE, NOT_THERE = "\ud800", "\ud801"
AS_TEXT = {True: THERE, False: NOT_THERE}


class _Shape(NamedTuple):
    """What tokens with the same names have in common; arrays are given as bytes.

    `is_text` says of every name whether its value was text when these names were first
    met, and `is_flag` whether it was not; `numbers` are those of all names, `texts` and
    `flags` of either kind; `starts` are where the records of flags begin.
    """

    size: int
    is_text: bytes
    is_flag: bytes
    numbers: bytes
    texts: bytes
    flags: bytes
    starts: bytes = b""


NESTED = _Shape(0, b"", b"", b"", b"", b"")
"""Names of values that have names themselves, which are not looked for here."""


class SentenceLookup:
    """Reads sequences of dicts; says None where others have to do it.

    Numbers are where the records of attributes begin in `records`.
    """

    def __init__(self, vocabulary: Vocabulary, contents: Records) -> None:
        self._vocabulary = vocabulary
        self._contents = contents
        self._shapes: dict[tuple[str, ...], _Shape] = {}
        self._expected: dict[tuple[str, ...], _Shape] = {}
        self._names: dict[str, int] = {}
        self._table: ByteTable | None = None
        self._is_usable = IS_USABLE
        self._kinds_vary = False
        self._n_asked = 0
        self.records = contents.words

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
        if self._table is None or NESTED in shapes:
            return None
        ends = np.array([0, *accumulate([s.size for s in shapes])], np.int64)
        try:
            if not self._kinds_vary:
                try:
                    return self._of_known_kinds(self._table, shapes, values, ends)
                except (TypeError, OverflowError):  # other kinds than these names had
                    self._kinds_vary = True
            return self._of_any_kinds(self._table, shapes, values, ends)
        except TypeError:
            return None

    def _of_known_kinds(
        self,
        table: ByteTable,
        shapes: list[_Shape],
        values: list[Any],
        ends: NDArray[np.int64],
    ) -> Items | None:
        """Look texts up; the others are flags and numbers, or `TypeError` is raised."""
        numbers = np.frombuffer(b"".join([s.texts for s in shapes]), np.int32)
        if numbers.size == len(values):
            found = ids_in(table, values, numbers)
            return None if found is None else Items(ends, found, NO_AMOUNTS)
        is_text = b"".join([s.is_text for s in shapes])
        texts = list(compress(values, is_text))
        flags = compress(values, b"".join([s.is_flag for s in shapes]))
        amounts = np.frombuffer(array("d", flags), np.float64)
        found = ids_in(table, texts, numbers)
        if found is None:
            return None
        known = np.frombuffer(b"".join([s.starts for s in shapes]), np.int32)
        kinds = np.frombuffer(is_text, np.bool_)
        starts, in_order = np.empty(kinds.size, np.int32), np.empty(kinds.size)
        if _put_in_order(kinds, found, known, amounts, starts, in_order):
            return Items(ends, starts, NO_AMOUNTS)
        return Items(ends, starts, in_order)

    def _of_any_kinds(
        self,
        table: ByteTable,
        shapes: list[_Shape],
        values: list[Any],
        ends: NDArray[np.int64],
    ) -> Items | None:
        """Look all values up, flags as texts that stand for them."""
        numbers = np.frombuffer(b"".join([s.numbers for s in shapes]), np.int32)
        values = list(map(AS_TEXT.get, values, values))
        amounts = NO_AMOUNTS
        try:
            found = ids_in(table, values, numbers)
        except TypeError:  # there are numbers among the values
            amounts = _take_numbers(values)
            found = ids_in(table, values, numbers)
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
        """Give numbers to the names of a token."""
        names = tuple(token)
        if names in self._shapes or names in self._expected:
            return
        if len(self._shapes) + len(self._expected) >= MOST_SHAPES:
            return
        kinds = {value.__class__ for value in token.values()}
        if kinds <= {str, *NUMBERS} and all(name.__class__ is str for name in names):
            known = self._names
            numbers = np.array(
                [known.setdefault(name, len(known)) for name in names], np.int32
            )
            is_text = np.array([v.__class__ is str for v in token.values()], np.bool_)
            self._expected[names] = _Shape(
                len(names),
                is_text.tobytes(),
                (~is_text).tobytes(),
                numbers.tobytes(),
                numbers[is_text].tobytes(),
                numbers[~is_text].tobytes(),
            )
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
        if self._table is not None:
            for key, shape in self._shapes.items():
                flags = np.frombuffer(shape.flags, np.int32)
                starts = ids_in(self._table, [THERE] * flags.size, flags)
                assert starts is not None
                self._shapes[key] = shape._replace(starts=starts.tobytes())


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


@kernel
def _put_in_order(
    is_text: NDArray[np.bool_],
    of_texts: NDArray[np.int32],
    of_flags: NDArray[np.int32],
    amounts: NDArray[np.float64],
    starts: NDArray[np.int32],
    in_order: NDArray[np.float64],
) -> bool:
    """Write starts and amounts in the order of the values; True if amounts are one."""
    text, flag, all_one = 0, 0, True
    for i in range(is_text.size):
        in_order[i] = 1.0
        if is_text[i]:
            starts[i] = of_texts[text]
            text += 1
            continue
        starts[i], in_order[i] = of_flags[flag], amounts[flag]
        if amounts[flag] == 0.0:
            starts[i] = UNKNOWN  # nothing is added for it
        elif amounts[flag] != 1.0:
            all_one = False
        flag += 1
    return all_one
