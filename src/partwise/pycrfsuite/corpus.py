"""What a trainer is given: labelled sequences, numbered as CRFsuite numbers them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.pycrfsuite.items import (
    AttributeNumbers,
    Items,
    as_text,
    c_string,
    numbering_vocabulary,
    read_items,
)
from partwise.structures.rows import SparseRows


class Instance(NamedTuple):
    """One labelled sequence."""

    items: Items
    labels: NDArray[np.int32]
    group: int


class Tokens(NamedTuple):
    """Some sequences end to end: their borders, attributes and labels."""

    ptr: NDArray[np.int64]
    rows: SparseRows
    labels: NDArray[np.int32]


class Corpus:
    """All sequences; labels and attributes are numbered in order of appearance.

    Examples
    --------
    >>> corpus = Corpus()
    >>> corpus.append([["walk"], ["shop"]], ["sunny", "rainy"], 0)
    >>> corpus.labels, corpus.tokens(-1).rows.idx
    ({'sunny': 0, 'rainy': 1}, array([0, 1], dtype=int32))
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.attributes: dict[str, int] = AttributeNumbers()
        self.labels: dict[str, int] = {}
        self._vocabulary = numbering_vocabulary(self.attributes)
        self._instances: list[Instance] = []

    def append(self, xseq: Any, yseq: Any, group: int) -> None:
        """Add a sequence; an empty one leaves no trace."""
        items = read_items(xseq, self._vocabulary)
        names = [c_string(as_text(label)) for label in yseq]
        n_items = items.ptr.size - 1
        if n_items != len(names):
            raise ValueError(
                f"The numbers of items and labels differ: |x| = {n_items}, "
                f"|y| = {len(names)}"
            )
        numbers = [self.labels.setdefault(name, len(self.labels)) for name in names]
        if names:
            labels = np.array(numbers, np.int32)
            self._instances.append(Instance(items, labels, group))

    def tokens(self, holdout: int, only: bool = False) -> Tokens:
        """Return all sequences but those of a group, or only those."""
        chosen = [one for one in self._instances if (one.group == holdout) == only]
        n_columns = len(self.attributes)
        lengths = [one.labels.size for one in chosen]
        per_item = _joined([np.diff(one.items.ptr) for one in chosen], np.int64)
        numbers = _joined([one.items.numbers for one in chosen], np.int32)
        values = np.empty(0)
        if any(one.items.values.size for one in chosen):
            values = np.concatenate(
                [
                    one.items.values
                    if one.items.values.size
                    else np.ones(one.items.numbers.size)
                    for one in chosen
                ]
            )
        row_ptr = np.concatenate([[0], np.cumsum(per_item)]).astype(np.int64)
        return Tokens(
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            SparseRows(row_ptr, numbers, values, n_columns),
            _joined([one.labels for one in chosen], np.int32),
        )


def _joined(arrays: list[Any], dtype: Any) -> Any:
    return np.concatenate([np.empty(0, dtype), *arrays]).astype(dtype, copy=False)
