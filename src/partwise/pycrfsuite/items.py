"""Items, the features of one token, in all the forms that python-crfsuite takes.

An item is a dict or a collection of strings. In a dict, a string is part of the name of
an attribute (``name:value``), a number is the value of an attribute, and a dict, list
or set is an item whose names begin with ``name:``.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.features.vocabulary import SEPARATOR, Vocabulary


class AttributeNumbers(dict[str, int]):
    """Numbers the attributes it is asked for, in the order of their first appearance.

    Examples
    --------
    >>> numbers = AttributeNumbers()
    >>> numbers["b"], numbers["a"], numbers["b"]
    (0, 1, 0)
    """

    def __missing__(self, name: str) -> int:
        """Give a new attribute the next number."""
        cut = c_string(name)
        if cut not in self:
            self[cut] = len(self)
        return self[cut]


class _Values(dict[str, int]):
    """Remembers the numbers of the values of one name."""

    def __init__(self, name: str, numbers: dict[str, int]) -> None:
        self._prefix = name + SEPARATOR
        self._numbers = numbers

    def __missing__(self, value: str) -> int:
        number = self[value] = self._numbers[self._prefix + value]
        return number


class _ValuesByName(dict[str, dict[str, int]]):
    def __init__(self, numbers: dict[str, int]) -> None:
        self._numbers = numbers

    def __missing__(self, name: str) -> dict[str, int]:
        values = self[name] = _Values(name, self._numbers)
        return values


def numbering_vocabulary(numbers: dict[str, int]) -> Vocabulary:
    """Return the vocabulary whose attributes are numbered by `numbers`."""
    return Vocabulary(numbers, _ValuesByName(numbers))


def c_string(name: str) -> str:
    """Return what is left of a string in C, where a zero ends it."""
    name.encode("utf-8", "surrogateescape")  # refuses what has no bytes
    return name.partition("\0")[0]


def as_text(name: Any) -> str:
    """Return a name or a label, which may be bytes, as text."""
    if isinstance(name, str):
        return str(name)
    if isinstance(name, bytes | bytearray):
        return bytes(name).decode("utf-8", "surrogateescape")
    raise TypeError(f"expected bytes, {type(name).__name__} found")


class Items(NamedTuple):
    """The attributes of the items of a sequence, in compressed rows.

    `values` is empty if all are one.
    """

    ptr: NDArray[np.int64]
    numbers: NDArray[np.int32]
    values: NDArray[np.float64]


class ItemReader:
    """Reads items into rows; what is not one among the values is noted apart."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._numbers = array("i")
        self._ptr = [0]
        self._other_at: list[int] = []
        self._other: list[float] = []

    def read(self, sequence: Iterable[Any]) -> Items:
        """Read all items of a sequence."""
        plain, valued = self._vocabulary
        numbers, ptr = self._numbers, self._ptr
        append, end_row = numbers.append, ptr.append
        note_at, note = self._other_at.append, self._other.append
        for item in sequence:
            if item.__class__ is dict:  # nearly always; this loop takes the time
                for name, value in item.items():
                    if value.__class__ is str and name.__class__ is str:
                        append(valued[name][value])
                    elif value.__class__ is bool and name.__class__ is str:
                        if not value:
                            note_at(len(numbers))
                            note(0.0)
                        append(plain[name])
                    else:
                        self._read_feature("", name, value)
            else:
                self._read_item("", item)
            end_row(len(numbers))
        found = np.array(numbers, np.int32)
        values = np.empty(0)
        if self._other:
            values = np.ones(found.size)
            values[self._other_at] = self._other
        return Items(np.array(ptr, np.int64), found, values)

    def _read_item(self, prefix: str, item: Any) -> None:
        if isinstance(item, dict):
            for name, value in item.items():
                self._read_feature(prefix, name, value)
            return
        len(item)  # a generator is no item
        plain = self._vocabulary.plain
        for name in item:
            self._numbers.append(plain[prefix + as_text(name)])

    def _read_feature(self, prefix: str, name: Any, value: Any) -> None:
        name = prefix + as_text(name)
        if isinstance(value, dict | list | set):
            self._read_item(name + SEPARATOR, value)
        elif isinstance(value, str | bytes):
            self._numbers.append(self._vocabulary.valued[name][as_text(value)])
        else:
            number = _number(value)
            if number != 1.0:
                self._note(number)
            self._numbers.append(self._vocabulary.plain[name])

    def _note(self, value: float) -> None:
        self._other_at.append(len(self._numbers))
        self._other.append(value)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"must be real number, not {type(value).__name__}") from None


class ItemSequence:
    """The items of one sequence, read once for several uses.

    Parameters
    ----------
    pyseq : iterable of items, or ItemSequence
        Per token a dict or a list of strings; the forms are python-crfsuite's.

    Examples
    --------
    >>> ItemSequence([{"foo": 1, "bar": 0}, {"foo": 1.5, "baz": 2}])
    <ItemSequence of size 2>
    >>> ItemSequence([["foo"], {"bar": {"baz": 1}}]).items()
    [{'foo': 1.0}, {'bar:baz': 1.0}]
    """

    _names: list[str]
    _items: Items

    def __init__(self, pyseq: Any) -> None:
        if isinstance(pyseq, ItemSequence):
            self._names, self._items = pyseq._names, pyseq._items
            return
        numbers = AttributeNumbers()
        self._items = ItemReader(numbering_vocabulary(numbers)).read(pyseq)
        self._names = list(numbers)

    def items(self) -> list[dict[str, float]]:
        """Return every item as a dict from attributes to values."""
        ptr, numbers, values = self._items
        names = [self._names[number] for number in numbers.tolist()]
        amounts = values.tolist() if values.size else [1.0] * numbers.size
        pairs = list(zip(names, amounts, strict=True))
        return [dict(pairs[a:b]) for a, b in pairwise(ptr.tolist())]

    def numbered(self, vocabulary: Vocabulary) -> Items:
        """Return the rows in the numbers of another vocabulary."""
        plain = vocabulary.plain
        known = np.array([plain[name] for name in self._names], np.int32)
        return self._items._replace(numbers=known[self._items.numbers])

    def __len__(self) -> int:
        """Return the number of items."""
        return self._items.ptr.size - 1

    def __repr__(self) -> str:
        """Return the size, as python-crfsuite does."""
        return f"<ItemSequence of size {len(self)}>"


def read_items(sequence: Any, vocabulary: Vocabulary) -> Items:
    """Read a sequence, which may be an `ItemSequence`, with a vocabulary."""
    if isinstance(sequence, ItemSequence):
        return sequence.numbered(vocabulary)
    return ItemReader(vocabulary).read(sequence)
