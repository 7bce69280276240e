"""Ids of named attributes, in two levels: name -> id and name -> value -> id.

Encoding looks up millions of attributes, so a lookup is nothing but one or two
dictionary accesses; what happens to an attribute that is not there is decided
by the class of the dictionary, in ``__missing__``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.features.csr import UNKNOWN
from partwise.features.strings import Tensors, stable_hash
from partwise.model_file.content import Content
from partwise.model_file.packing import pack_strings, prefixed, stored_strings

# Hashes are remembered for speed, but in bounded memory.
MAX_REMEMBERED_HASHES = 1 << 17  # of the values of a name
MAX_REMEMBERED_NAMES = 1 << 8

SEPARATOR = ":"  # of name and value, in the attributes of other programs
AFTER_SEPARATOR = chr(ord(SEPARATOR) + 1)  # what comes next in the alphabet


class Vocabulary(NamedTuple):
    """Where the ids of attributes are looked up.

    Attributes
    ----------
    plain : dict
        Name of an attribute without a value -> id.
    valued : dict
        Name -> value -> id.
    """

    plain: dict[str, int]
    valued: dict[str, dict[str, int]]

    @property
    def n_attributes(self) -> int:
        """How many attributes there are."""
        if self.is_joined:  # the others are the same ones once more
            return len(self.plain)
        return len(self.plain) + sum(map(len, self.valued.values()))

    @property
    def is_joined(self) -> bool:
        """Whether a name with a value is the attribute ``name:value``."""
        return isinstance(self.valued, _Joined)

    @property
    def is_growing(self) -> bool:
        """Whether every attribute that is asked for gets an id of its own."""
        return isinstance(self.valued, _Growing)

    def keys_by_id(self) -> list[tuple[str, str | None]]:
        """Return (name, value) for each id; the value is None where there is none."""
        keys: list[Any] = [None] * self.n_attributes
        for name, attribute in self.plain.items():
            keys[attribute] = name, None
        for name, values in () if self.is_joined else self.valued.items():
            for value, attribute in values.items():
                keys[attribute] = name, value
        return keys


class BadName(Exception):
    """A feature name that is not a string."""


class _ByName(dict[str, dict[str, int]]):
    """Name -> values; asking for a new name is the time to check it."""

    def __missing__(self, name: str) -> dict[str, int]:
        if not isinstance(name, str):
            raise BadName(name)
        return self._new_values(name)

    def _new_values(self, name: str) -> dict[str, int]:
        return _NOTHING


class _Growing(_ByName):
    """Gives each new name a dictionary in which new values get the next id."""

    def __init__(self, next_id: Callable[[], int]) -> None:
        self._next_id = next_id

    def _new_values(self, name: str) -> dict[str, int]:
        values = self[name] = defaultdict(self._next_id)
        return values


class _Frozen(dict[str, int]):
    """Answers UNKNOWN for strings it does not have, and learns nothing."""

    def __missing__(self, string: str) -> int:
        return UNKNOWN


_NOTHING: dict[str, int] = _Frozen()


class _Joined(_ByName):
    """Finds the values of a name among attributes ``name:value``, when first asked.

    There may be colons in names as well as in values, so that only those who ask know
    where a name ends.
    """

    def __init__(self, plain: dict[str, int]) -> None:
        self._plain = plain
        self._sorted: list[str] = []

    def _new_values(self, name: str) -> dict[str, int]:
        if len(self._sorted) < len(self._plain):
            self._sorted = sorted(self._plain)
        begin = bisect_left(self._sorted, f"{name}{SEPARATOR}")
        end = bisect_left(self._sorted, f"{name}{AFTER_SEPARATOR}")
        if begin == end:
            return _NOTHING
        rest = len(name) + len(SEPARATOR)
        joined = self._sorted[begin:end]
        values = self[name] = _Frozen((s[rest:], self._plain[s]) for s in joined)
        return values

    def __reduce__(self) -> tuple[Any, ...]:
        return _Joined, (self._plain,)


class _Hashed(dict[str, int]):
    """Computes ids that are the same in every process."""

    def __init__(self, prefix: tuple[str, ...], mask: int) -> None:
        self._prefix = prefix
        self._mask = mask

    def __missing__(self, string: str) -> int:
        if len(self) >= MAX_REMEMBERED_HASHES:
            self.clear()
        bucket = self[string] = stable_hash(*self._prefix, string) & self._mask
        return bucket

    def __reduce__(self) -> tuple[Any, ...]:
        return _Hashed, (self._prefix, self._mask)


class _HashedByName(_ByName):
    def __init__(self, mask: int) -> None:
        self._mask = mask

    def _new_values(self, name: str) -> dict[str, int]:
        if len(self) >= MAX_REMEMBERED_NAMES:
            self.clear()
        values = self[name] = _Hashed((name,), self._mask)
        return values

    def __reduce__(self) -> tuple[Any, ...]:
        return _HashedByName, (self._mask,)


def growing_vocabulary() -> Vocabulary:
    """Return an empty vocabulary that learns what it is asked for.

    Examples
    --------
    >>> vocabulary = growing_vocabulary()
    >>> vocabulary.valued["word"]["Paris"], vocabulary.plain["is_title"]
    (0, 1)
    >>> vocabulary.valued["word"]["Paris"]
    0
    """
    next_id = count().__next__
    return Vocabulary(defaultdict(next_id), _Growing(next_id))


def frozen_vocabulary(vocabulary: Vocabulary, new_ids: NDArray[np.int32]) -> Vocabulary:
    """Return a vocabulary that keeps the attributes with a new id >= 0.

    Examples
    --------
    >>> import numpy as np
    >>> vocabulary = growing_vocabulary()
    >>> ids = vocabulary.plain["rare"], vocabulary.plain["often"]
    >>> frozen = frozen_vocabulary(vocabulary, np.array([-1, 0], np.int32))
    >>> frozen.plain["often"], frozen.plain["rare"], frozen.valued["new"]["x"]
    (0, -1, -1)
    """
    renumber = new_ids.tolist()
    keeps_all = renumber == list(range(len(renumber)))

    def kept(ids: dict[str, int]) -> _Frozen:
        if keeps_all:
            return _Frozen(ids)
        pairs = ((string, renumber[attribute]) for string, attribute in ids.items())
        return _Frozen((string, new) for string, new in pairs if new >= 0)

    valued = ((name, kept(values)) for name, values in vocabulary.valued.items())
    by_name = _ByName((name, values) for name, values in valued if values)
    return Vocabulary(kept(vocabulary.plain), by_name)


def joined_vocabulary(names: Iterable[str]) -> Vocabulary:
    """Return the vocabulary of attributes as CRFsuite names them.

    A feature with a string as its value is the attribute ``name:value``.

    Examples
    --------
    >>> vocabulary = joined_vocabulary(["bias", "-1:word:Paris"])
    >>> vocabulary.plain["bias"], vocabulary.valued["-1:word"]["Paris"]
    (0, 1)
    >>> vocabulary.valued["-1"]["word:Paris"], vocabulary.valued["word"]["Paris"]
    (1, -1)
    """
    plain = _Frozen((name, number) for number, name in enumerate(names))
    return Vocabulary(plain, _Joined(plain))


def hashed_vocabulary(hash_bits: int) -> Vocabulary:
    """Return a vocabulary whose ids are stable hashes of `hash_bits` bits.

    Examples
    --------
    >>> hashed_vocabulary(8).valued["word"]["Paris"] < 256
    True
    """
    mask = (1 << hash_bits) - 1
    return Vocabulary(_Hashed((), mask), _HashedByName(mask))


def vocabulary_to_tensors(vocabulary: Vocabulary, prefix: str) -> Tensors:
    """Store a vocabulary as arrays whose names start with `prefix`."""
    keys = vocabulary.keys_by_id()
    numbers: dict[str, int] = {}
    names = [numbers.setdefault(name, len(numbers)) for name, _ in keys]
    values = (value or "" for _, value in keys)
    return {
        **prefixed(f"{prefix}.names", pack_strings(numbers, by_character=True)),
        **prefixed(f"{prefix}.values", pack_strings(values, by_character=True)),
        f"{prefix}.name": np.array(names, np.int32),
        f"{prefix}.has_value": np.array(
            [value is not None for _, value in keys], np.uint8
        ),
    }


def vocabulary_from_tensors(
    tensors: Mapping[str, NDArray[Any]], prefix: str
) -> Vocabulary:
    """Read back what `vocabulary_to_tensors` stored, trusting nothing."""
    content = Content(tensors, {}, "", 0, "").part(prefix)
    names, values = stored_strings(content, "names"), stored_strings(content, "values")
    n, n_names = len(values), len(names)
    name_of = content.tensor(
        "name", dtype=np.int32, length=n, at_least=0, below=n_names
    )
    has_value = content.tensor("has_value", dtype=np.uint8, length=n)
    vocabulary = Vocabulary(_Frozen(), _ByName())
    plain, valued = vocabulary
    rows = zip(name_of.tolist(), has_value.tolist(), values, strict=True)
    for attribute, (number, marked, value) in enumerate(rows):
        name = names[number]
        if not marked:
            plain[name] = attribute
        else:
            if name not in valued:
                valued[name] = _Frozen()
            valued[name][value] = attribute
    if vocabulary.n_attributes != len(values):
        raise content.error("an attribute is stored twice")
    return vocabulary
