"""The order in which CRFsuite visits the sequences, pass after pass.

`ap`, `pa` and `arow` find weights that depend on this order. So that programs find the
same weights as with CRFsuite, sequences are shuffled as it does that: by swapping each
with one that the C library's ``rand`` chooses, which begins as it does in a process
that has not drawn anything yet.
"""

from __future__ import annotations

import numpy as np

from partwise.structures.interface import IntArray

_WORDS, _NEAR, _DISCARDED = 31, 3, 310


class Rand:
    """The numbers of glibc's ``rand``: each word is the sum of two earlier ones.

    Examples
    --------
    >>> Rand().draw(3)
    [1804289383, 846930886, 1681692777]
    """

    def __init__(self, seed: int = 1) -> None:
        words = [seed]
        for _ in range(1, _WORDS):
            words.append(16807 * words[-1] % (2**31 - 1))
        # What comes after word i is words[i - 31] + words[i - 3].
        self._words = words[_NEAR:] + words[:_NEAR]
        self.draw(_DISCARDED)

    def draw(self, n: int) -> list[int]:
        """Return the next `n` numbers, which have 31 bits."""
        words = self._words
        for i in range(_WORDS, _WORDS + n):
            words.append((words[i - _WORDS] + words[i - _NEAR]) & 0xFFFFFFFF)
        self._words = words[-_WORDS:]
        return [word >> 1 for word in words[_WORDS:]]


class Shuffle:
    """Sequences in an order that is shuffled again for every pass."""

    def __init__(self) -> None:
        self._rand = Rand()
        self._order: list[int] = []

    def next(self, n: int) -> IntArray:
        """Return the order of the next pass over `n` sequences."""
        order = self._order = self._order or list(range(n))
        for i, drawn in enumerate(self._rand.draw(n)):
            j = drawn % n
            order[i], order[j] = order[j], order[i]
        return np.array(order, np.int64)
