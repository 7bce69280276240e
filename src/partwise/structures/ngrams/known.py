"""What is known of the labels of a chain of higher order."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partwise.errors import DataError
from partwise.structures.ngrams.corpus import NGramChain
from partwise.structures.ngrams.table import BORDER, MOST_STEPS

Pattern = tuple[tuple[int, ...], ...]


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
    patterns = possible_patterns(wrong, ptr, size, most)
    return list_tuples(patterns, wrong.shape[1], most)


def possible_patterns(
    wrong: NDArray[np.bool_], ptr: ArrayLike, size: int, most: int = MOST_STEPS
) -> set[Pattern]:
    """Return what `list_tuples` lists; refuse at once if that is too much.

    A pattern are the labels that are possible at `size` positions in a row. Parameters
    and errors are those of `possible_tuples`.
    """
    border: Pattern = ((BORDER,),) * size
    patterns = {border}
    right = [tuple(np.flatnonzero(~row).tolist()) for row in wrong]
    for first, last in pairwise(np.asarray(ptr).tolist()):
        own = [*border[1:], *right[first:last]]
        patterns |= {tuple(own[t : t + size]) for t in range(last - first)}
    if any(_at_least(patterns, place) > most for place in range(size)):
        raise _too_many(size, wrong.shape[1], most)
    return patterns


def _at_least(patterns: set[Pattern], place: int) -> int:
    """Return how many tuples there are at least, without listing them.

    Tuples with different labels at a place are different, and those with the same
    label there are as many as the largest pattern with it says, or more.
    """
    with_label: dict[int, int] = {}
    for pattern in patterns:
        others = math.prod(len(pattern[i]) for i in range(len(pattern)) if i != place)
        for k in pattern[place]:
            with_label[k] = max(with_label.get(k, 0), others)
    return sum(with_label.values())


def _too_many(size: int, n_labels: int, most: int) -> DataError:
    return DataError(
        f"where labels are not known, more than {most:,} tuples of {size} of "
        f"the {n_labels} labels are possible; use a lower order, or fewer labels"
    )


def list_tuples(
    patterns: set[Pattern], n_labels: int, most: int = MOST_STEPS
) -> NDArray[np.int32]:
    """Return the different tuples that fit a pattern, sorted; refuse too many."""
    found: set[tuple[int, ...]] = set()
    for pattern in patterns:
        found.update(product(*pattern))
        if len(found) > most:
            raise _too_many(len(pattern), n_labels, most)
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
