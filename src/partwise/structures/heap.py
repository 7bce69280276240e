"""Heaps of numbered items, the one with the highest score first.

A heap is an array of the items' numbers; their scores lie elsewhere and do not move.
Of equal scores the one with the higher rank goes first, where there are ranks; else
none is preferred, and no item passes an equal one.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures.interface import FloatArray, IntArray

Items: TypeAlias = NDArray[Any]
Ranks: TypeAlias = IntArray | None


@kernel
def _goes_first(a: int, b: int, score: FloatArray, rank: Ranks) -> bool:
    if rank is not None and score[a] == score[b]:
        return rank[a] > rank[b]
    return score[a] > score[b]


@kernel
def rise(heap: Items, at: int, score: FloatArray, rank: Ranks) -> None:
    """Move the item at a place up to where it belongs, after it was added there.

    Examples
    --------
    >>> import numpy as np
    >>> heap, score = np.array([0, 1, 2]), np.array([3.0, 1.0, 5.0])
    >>> rise(heap, 2, score, None)
    >>> heap.tolist()
    [2, 1, 0]
    """
    item = heap[at]
    while at > 0 and _goes_first(item, heap[(at - 1) // 2], score, rank):
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = item


@kernel
def sink(heap: Items, size: int, at: int, score: FloatArray, rank: Ranks) -> None:
    """Move the item at a place of a heap of `size` down to where it belongs."""
    item = heap[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _goes_first(heap[child + 1], heap[child], score, rank):
            child += 1
        if not _goes_first(heap[child], item, score, rank):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = item


@kernel
def take_first(heap: Items, size: int, score: FloatArray, rank: Ranks) -> int:
    """Take the first item out of a heap of `size`, which has one less then."""
    item = heap[0]
    heap[0] = heap[size - 1]
    sink(heap, size - 1, 0, score, rank)
    return item
