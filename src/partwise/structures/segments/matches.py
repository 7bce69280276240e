"""Features of whole segments: which stretches of tokens have which attributes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from partwise.structures.interface import CodeArray, IntArray


class Matches(NamedTuple):
    """Stretches of tokens and their attributes; make them with `make_matches`.

    Those that begin at token ``t`` are ``ptr[t]:ptr[t + 1]``: `length` tokens long,
    with one attribute each.
    """

    ptr: IntArray
    length: CodeArray
    attribute: CodeArray
    n_attributes: int


def make_matches(
    start: ArrayLike, length: ArrayLike, attribute: ArrayLike, ptr: IntArray, n: int
) -> Matches:
    """Check and sort a list of stretches with attributes.

    Parameters
    ----------
    start, length, attribute : arrays of int
        Where in the corpus every stretch begins, how many tokens it has, and an
        attribute of it. A stretch with several attributes is listed several times.
    ptr : array of int
        Sequence `i` is the tokens ``ptr[i]:ptr[i + 1]``; stretches stay inside.
    n : int
        How many attributes there are.

    Examples
    --------
    >>> make_matches([2, 0], [1, 2], [0, 0], np.array([0, 3]), 1).length.tolist()
    [2, 1]
    """
    begin = np.ascontiguousarray(start, np.int64)
    size = np.ascontiguousarray(length, np.int32)
    number = np.ascontiguousarray(attribute, np.int32)
    n_tokens = int(ptr[-1])
    if not begin.size == size.size == number.size:
        raise ValueError("matches need a start, a length and an attribute each")
    if begin.size:
        if not 0 <= begin.min() <= begin.max() < n_tokens or size.min() < 1:
            raise ValueError("a match lies outside of the corpus")
        if (begin + size > ptr[np.searchsorted(ptr, begin, side="right")]).any():
            raise ValueError("a match goes beyond the end of its sequence")
        if not 0 <= number.min() <= number.max() < n:
            raise ValueError(f"attributes of matches must lie in 0..{n - 1}")
    order = np.lexsort((number, size, begin))
    counts = np.bincount(begin, minlength=n_tokens)
    at = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Matches(at, size[order], number[order], int(n))


def no_matches(n_tokens: int) -> Matches:
    """Return the matches of a corpus whose whole segments have no features."""
    none = np.zeros(0, np.int32)
    return Matches(np.zeros(n_tokens + 1, np.int64), none, none, 0)
