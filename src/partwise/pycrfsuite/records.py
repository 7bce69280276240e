"""The weights of attributes, each attribute's in one place of memory.

Tagging mostly waits for memory; so what is known of an attribute lies side by side, in
a record of words of 64 bits. The first says how many labels have a weight; these labels
and weights follow in turn. If they are many, the first word is `DENSE`, and a weight
for every label follows: adding a whole row is faster.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.structures.interface import CodeArray, FloatArray, IntArray

DENSE = np.uint64(1 << 63)
DENSE_SHARE = 0.25  # of the labels; from here on whole rows are faster


class Records(NamedTuple):
    """The record of attribute `a` is ``words[ptr[a] : ptr[a + 1]]``."""

    ptr: IntArray
    words: NDArray[np.uint64]

    def starts(self, numbers: CodeArray) -> CodeArray:
        """Return where the records of attributes begin; those unknown stay -1."""
        return np.where(numbers < 0, numbers, self.ptr[numbers]).astype(np.int32)


def make_records(
    ptr: IntArray, label: CodeArray, weight: FloatArray, n_labels: int
) -> Records:
    """Return the records of attributes, given in compressed rows.

    Examples
    --------
    >>> ptr, label = np.array([0, 1, 3]), np.array([2, 0, 1])
    >>> records = make_records(ptr, label, np.array([0.5, 1.0, 2.0]), 5)
    >>> records.ptr.tolist(), records.words[:2].tolist()
    ([0, 3, 9], [1, 2])
    >>> records.words.view(np.float64)[4:].tolist()
    [1.0, 2.0, 0.0, 0.0, 0.0]
    """
    n_pairs = np.diff(ptr)
    is_dense = n_pairs > DENSE_SHARE * n_labels
    size = 1 + np.where(is_dense, n_labels, 2 * n_pairs)
    starts = np.concatenate([[0], np.cumsum(size)])
    words = np.zeros(starts[-1], np.uint64)
    weights = words.view(np.float64)
    words[starts[:-1]] = np.where(is_dense, DENSE, n_pairs.astype(np.uint64))
    owner = np.repeat(np.arange(n_pairs.size), n_pairs)
    rank = np.arange(label.size) - ptr[owner]
    in_row = is_dense[owner]
    place = starts[owner] + 1 + np.where(in_row, label, 2 * rank)
    words[place[~in_row]] = label[~in_row]
    weights[np.where(in_row, place, place + 1)] = weight
    return Records(starts, words)
