"""What is known of the labels of a chain of higher order."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partwise.errors import DataError
from partwise.structures.ngrams.corpus import NGramChain
from partwise.structures.ngrams.table import BORDER, MOST_STEPS


def possible_tuples(
    wrong: NDArray[np.bool_], ptr: ArrayLike, size: int, most: int = MOST_STEPS
) -> NDArray[np.int32]:
    """Return the different tuples of `size` labels that completions have, sorted.

    Parameters
    ----------
    wrong : boolean matrix
        True where a position does not have a label; a row of False says nothing.
    ptr : array of int
        Sequence `i` is the positions ``ptr[i]:ptr[i + 1]``.
    size : int
        Of how many labels.
    most : int
        Refuse to list more tuples than this.

    Raises
    ------
    DataError
        If there are too many tuples.

    Examples
    --------
    >>> wrong = np.array([[False, True], [False, False], [True, False]])
    >>> possible_tuples(wrong, [0, 3], 2).tolist()
    [[-1, -1], [-1, 0], [0, 0], [0, 1], [1, 1]]
    """
    border: tuple[tuple[int, ...], ...] = ((BORDER,),) * size
    patterns = {border}
    right = [tuple(np.flatnonzero(~row).tolist()) for row in wrong]
    for first, last in pairwise(np.asarray(ptr).tolist()):
        own = [*border[1:], *right[first:last]]
        patterns |= {tuple(own[t : t + size]) for t in range(last - first)}
    found: set[tuple[int, ...]] = set()
    for pattern in patterns:
        if math.prod(map(len, pattern)) > most or len(found) > most:
            raise DataError(
                f"where labels are not known, more than {most:,} tuples of {size} of "
                f"the {wrong.shape[1]} labels are possible; use a lower order, or "
                "fewer labels"
            )
        found.update(product(*pattern))
    return np.array(sorted(found), np.int32)


def first_contradiction(
    s: NGramChain, wrong: NDArray[np.bool_]
) -> tuple[int, int] | None:
    """Return the first (sequence, position) up to which no labels are possible.

    None if what is known agrees with the constraints everywhere.
    """
    source, target = s.grams.source, s.grams.target
    for i in range(s.ptr.size - 1):
        first, last = int(s.ptr[i]), int(s.ptr[i + 1])
        reached = np.zeros(s.grams.label.size, bool)
        reached[0] = True  # the border
        for t in range(first, last):
            is_open = ~wrong[t]
            if s.mask.tokens.size:
                is_open = is_open & (s.mask.tokens[t] > 0)
            if t == last - 1:
                is_open = is_open & (s.mask.end > 0)
            taken = reached[source] & is_open[s.grams.label[target]]
            reached = np.zeros_like(reached)
            reached[target[taken]] = True
            if not reached.any():
                return i, t - first
    return None
