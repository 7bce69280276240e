"""Ids of plain feature dicts, whose values are strings, for many tokens at a time.

Looking up one attribute after another, Python mostly waits for memory. Here it
only lines the strings up, and compiled code finds them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from operator import countOf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partwise.features.csr import UNKNOWN
from partwise.features.vocabulary import BadName

if TYPE_CHECKING:
    from partwise.features.byte_table import ByteTable

FEWEST_TOKENS = 256  # for fewer it is not worth it
CHUNK = 512  # tokens; their strings have to fit into the processor's cache

_flat = chain.from_iterable


class ByteLookup:
    """Looks up ids in a table that is made once enough of them are asked for.

    Parameters
    ----------
    valued : dict
        Name -> value -> id. Names may come later, if asking for them brings them; the
        values of a name must not change.
    n_attributes : int
        How many attributes there are, at least.

    Examples
    --------
    >>> lookup = ByteLookup({"word": {"Paris": 0}}, 1)
    >>> list(lookup.ids_of([{"word": "Paris"}]))  # too few tokens
    []
    """

    def __init__(self, valued: dict[str, dict[str, int]], n_attributes: int) -> None:
        self._valued = valued
        self._numbers: dict[str, int] = {}
        self._n_attributes = n_attributes
        self._n_asked = 0
        self._table: ByteTable | None = None
        self._is_usable = True

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the table out of copies and pickles: it is quickly made again."""
        return ByteLookup, (self._valued, self._n_attributes)

    def ids_of(
        self, tokens: list[Any]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int32]]]:
        """Yield the ids of chunks of tokens, and in these the end of each token.

        This ends at the first chunk that is not all plain dicts.
        """
        if not self._is_usable or len(tokens) < FEWEST_TOKENS:
            return
        numbers = _Numbers({}, {})
        for start in range(0, len(tokens), CHUNK):
            chunk = tokens[start : start + CHUNK]
            if countOf(map(type, chunk), dict) < len(chunk):
                return
            values = list(_flat(map(dict.values, chunk)))
            if countOf(map(type, values), str) < len(values):
                return
            try:
                if start == 0:
                    if not self._has_table(chunk, len(tokens) * len(chunk[0])):
                        return
                    numbers = _Numbers(self._numbers, self._valued)
                names = numbers.of_tokens(chunk)
            except BadName:
                return
            except NewName:  # the next table has it, too
                self._table, self._n_asked = None, 0
                return
            ends = np.cumsum(np.fromiter(map(len, chunk), np.int64, len(chunk)))
            ids = self._find(values, names)
            # Unequal only if another thread changes the dicts meanwhile.
            if ids is None or ids.size != ends[-1]:
                return
            yield ends, ids

    def _find(
        self, values: list[str], names: NDArray[np.int32]
    ) -> NDArray[np.int32] | None:
        from partwise.features.byte_table import ids_in

        if self._table is None or len(values) != names.size:
            return None
        return ids_in(self._table, values, names)

    def _has_table(self, chunk: list[dict[str, str]], n_asked: int) -> bool:
        """Say whether there is a table; make it if that costs less than it saves."""
        self._n_asked += n_asked
        if self._table is None and self._n_asked >= self._n_attributes:
            from partwise.features.byte_table import IS_USABLE, byte_table

            for name in set(_flat(chunk)):
                self._valued[name]
            self._numbers = {name: number for number, name in enumerate(self._valued)}
            if IS_USABLE:
                sizes = list(map(len, self._valued.values()))
                names = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
                ids = _flat(map(dict.values, self._valued.values()))
                self._table = byte_table(
                    _flat(self._valued.values()),
                    names,
                    np.fromiter(ids, np.int32, names.size),
                )
            self._is_usable = self._table is not None
        return self._table is not None


class NewName(Exception):
    """A name with values that are not in the table."""


class _Numbers(dict[tuple[str, ...], bytes]):
    """The names of a token -> their numbers, as the bytes of an int32 array."""

    def __init__(
        self, numbers: dict[str, int], valued: dict[str, dict[str, int]]
    ) -> None:
        self._numbers = numbers
        self._valued = valued

    def __missing__(self, names: tuple[str, ...]) -> bytes:
        for name in names:
            if not isinstance(name, str):
                raise BadName(name)
            if name not in self._numbers and self._valued[name]:
                raise NewName(name)
        numbers = [self._numbers.get(name, UNKNOWN) for name in names]
        packed = self[names] = np.array(numbers, np.int32).tobytes()
        return packed

    def of_tokens(self, tokens: list[dict[str, str]]) -> NDArray[np.int32]:
        """Return the numbers of all names of some tokens."""
        packed = b"".join(map(self.__getitem__, map(tuple, tokens)))
        return np.frombuffer(packed, np.int32)
