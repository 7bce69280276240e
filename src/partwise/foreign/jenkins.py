"""Bob Jenkins' hash `lookup3` of many keys at once (hashlittle, from 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]

FIRST = 0xDEADBEEF
BLOCK = 12  # bytes, three words
MIX = (4, 6, 8, 16, 19, 4)
FINISH = (14, 11, 25, 16, 4, 14, 24)


def _turned(x: Words, by: int) -> Words:
    return (x << np.uint32(by)) | (x >> np.uint32(32 - by))


def _mix(words: list[Words]) -> None:
    """Stir three words, each time with the roles of the three moved on."""
    for turn, by in enumerate(MIX):
        a, b, c = turn % 3, (turn + 1) % 3, (turn + 2) % 3
        words[a] = (words[a] - words[c]) ^ _turned(words[c], by)
        words[c] = words[c] + words[b]


def _finish(words: list[Words]) -> Words:
    for turn, by in enumerate(FINISH):
        c, b = (2 + turn) % 3, (1 + turn) % 3
        words[c] = (words[c] ^ words[b]) - _turned(words[b], by)
    return words[2]


def hash_keys(keys: Sequence[bytes]) -> Words:
    """Return the hash of every key; no key may be empty.

    Examples
    --------
    >>> hash_keys([b"Four score and seven years ago"]).tolist() == [0x17770551]
    True
    """
    n_blocks = np.array([-(-len(key) // BLOCK) for key in keys], np.int64)
    result = np.zeros(len(keys), np.uint32)
    # Keys of the same number of blocks make a matrix; zeros at the end add nothing.
    for size in np.unique(n_blocks).tolist():
        members = np.flatnonzero(n_blocks == size)
        group = [keys[i] for i in members.tolist()]
        text = b"".join(key.ljust(size * BLOCK, b"\0") for key in group)
        matrix: Any = np.frombuffer(text, "<u4").reshape(len(group), 3 * size)
        lengths = np.array([len(key) for key in group], np.uint32)
        words = [lengths + np.uint32(FIRST)] * 3
        for block in range(size):
            for j in range(3):
                words[j] = words[j] + matrix[:, 3 * block + j]
            if block + 1 < size:
                _mix(words)
        result[members] = _finish(words)
    return result
