"""Finding all attributes of a sentence at once, where tokens are lists of strings."""

from __future__ import annotations

from itertools import accumulate, chain
from typing import Any

import numpy as np

from partwise.features.byte_table import IS_USABLE, ByteTable, byte_table, ids_in
from partwise.pycrfsuite.items import Items
from partwise.pycrfsuite.records import Records


class StringLookup:
    """Reads sequences of lists of strings; says None where others have to do it.

    Numbers are where the records of attributes begin in `records`.

    Examples
    --------
    >>> from partwise.pycrfsuite.records import make_records
    >>> one_each = make_records(np.arange(3), np.zeros(2, np.int32), np.ones(2), 9)
    >>> lookup = StringLookup(["first", "last"], one_each)
    >>> lookup.read([["first"], ["last"]]) is None  # too early for a table
    True
    """

    def __init__(self, attributes: list[str], contents: Records) -> None:
        self._attributes = attributes
        self._contents = contents
        self._table: ByteTable | None = None
        self._is_usable = IS_USABLE
        self._n_asked = 0
        self.records = contents.words

    def read(self, sequence: Any) -> Items | None:
        """Return the rows of a sequence, or None."""
        if sequence.__class__ is not list or not self._is_usable:
            return None
        if sequence and sequence[0].__class__ is dict:  # nearly always, told at once
            return None
        if set(map(type, sequence)) != {list}:
            return None
        values = list(chain.from_iterable(sequence))
        if self._table is None:
            self._n_asked += len(values)
            if self._n_asked >= len(self._attributes):  # now it pays
                self._make_table()
            return None
        try:
            found = ids_in(self._table, values, np.zeros(len(values), np.int32))
        except TypeError:  # not all are strings
            return None
        if found is None:
            return None
        ends = np.array([0, *accumulate(map(len, sequence))], np.int64)
        return Items(ends, found, np.empty(0))

    def _make_table(self) -> None:
        ids = np.arange(len(self._attributes), dtype=np.int32)
        contents = self._contents.ptr, self._contents.words
        self._table = byte_table(self._attributes, np.zeros_like(ids), ids, contents)
        if self._table is None:
            self._is_usable = False
        else:
            self.records = self._table.entries
