"""Which phrases there may be, once a coarser grammar has ruled out the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures.interface import FloatArray, IntArray


class AllowedPhrases(NamedTuple):
    """What the phrases of a corpus may be.

    A phrase may have symbols of the span class `k` where its row of `table` is not 0 in
    the column ``column[k]``. Without any columns, every phrase is allowed.
    """

    column: IntArray
    table: NDArray[np.uint8]


def all_phrases() -> AllowedPhrases:
    """Return that every phrase is allowed."""
    return AllowedPhrases(np.zeros(0, np.int64), np.zeros((0, 0), np.uint8))


@kernel
def of_sentence(allowed: AllowedPhrases, first: int, last: int) -> AllowedPhrases:
    """Return what is allowed of the phrases of one sentence."""
    return AllowedPhrases(allowed.column, allowed.table[first:last])


@kernel
def is_allowed(allowed: AllowedPhrases, phrase: int, of_class: int) -> bool:
    """Say whether a phrase may have the symbols of a class."""
    if allowed.column.size == 0:
        return True
    return bool(allowed.table[phrase, allowed.column[of_class]] != 0)


@kernel
def is_open(allowed: AllowedPhrases, phrase: int) -> bool:
    """Say whether a phrase may have any symbols at all."""
    if allowed.column.size == 0:
        return True
    row = allowed.table[phrase]
    for k in range(row.size):
        if row[k] != 0:
            return True
    return False


@kernel
def rule_out(
    allowed: AllowedPhrases,
    phrase: int,
    span_class: IntArray,
    value: FloatArray,
    nothing: float,
) -> None:
    """Set the values of the symbols that a phrase may not have to `nothing`."""
    if allowed.column.size == 0:
        return
    row = allowed.table[phrase]
    for a in range(value.size):
        if span_class[a] < 0 or row[allowed.column[span_class[a]]] == 0:
            value[a] = nothing
