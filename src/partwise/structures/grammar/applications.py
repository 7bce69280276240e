"""Rule applications with features of their own: ``phi(A -> B C, start, split, end)``.

A part of a derivation is a rule at a place (Bartlett et al., NIPS 2004, example 2), and
its features may be anything that rule and place decide. A corpus has as many of these
parts as rules times splits. So those with features are listed, each with a row of its
own; all others score by their rule, their span and their split alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from partwise._jit import kernel
from partwise.structures.grammar.places import split_at
from partwise.structures.grammar.rules import Grammar
from partwise.structures.interface import IntArray
from partwise.structures.rows import SparseRows, check_rows, no_rows, take_rows


class Applications(NamedTuple):
    """Rule applications and their features; make one with `make_applications`.

    Splits are numbered through the corpus. The applications at split `p` are the
    numbers ``ptr[p]:ptr[p + 1]``, sorted by their rules. Without any, `ptr` is empty.
    """

    ptr: IntArray
    rule: IntArray
    rows: SparseRows


def make_applications(
    grammar: Grammar, lengths: ArrayLike, table: ArrayLike, rows: SparseRows
) -> Applications:
    """Check and sort rule applications that have features of their own.

    Parameters
    ----------
    grammar : Grammar
        Rules have the numbers that they have there.
    lengths : array of int
        The number of words of every sentence.
    table : array of int, shape (n_applications, 5)
        The sentence, the rule, and where its span starts, splits and ends.
    rows : SparseRows
        The features of every application, in the order given. Each column is a weight.

    Notes
    -----
    An application takes 16 bytes, an entry of its row 12, or 4 if all values are one,
    and every split of the corpus 8. A solver that keeps scores of parts keeps them for
    these parts, too.

    Examples
    --------
    >>> from partwise.structures import make_grammar, make_sparse_rows
    >>> grammar = make_grammar([(0, 0, 0)], 1, [0])
    >>> rows = make_sparse_rows([0, 1, 2], [0, 1])
    >>> table = [(0, 0, 0, 2, 3), (0, 0, 0, 1, 3)]
    >>> listed = make_applications(grammar, [3], table, rows)
    >>> listed.rows.idx.tolist()  # spans, by start and end, then splits
    [1, 0]
    """
    sizes = np.asarray(lengths, np.int64)
    given = np.asarray(table, np.int64).reshape(-1, 5)
    check_rows(rows, len(given), 1)
    i, rule, start, split, end = given.T
    if given.size and not 0 <= i.min() <= i.max() < sizes.size:
        raise ValueError(f"sentences of applications must lie in 0..{sizes.size - 1}")
    n = sizes[i]
    wrong = (start < 0) | (split <= start) | (end <= split) | (end > n)
    wrong |= (rule < 0) | (rule >= grammar.rules.parent.size)
    if wrong.any():
        which = tuple(given[int(np.flatnonzero(wrong)[0])].tolist())
        raise ValueError(
            f"{which} is not an application of a rule: sentence, rule, and "
            "0 <= start < split < end <= the number of words"
        )
    n_splits = (sizes + 1) * sizes * (sizes - 1) // 6
    split_ptr = np.concatenate([[0], np.cumsum(n_splits)]).astype(np.int64)
    place = np.zeros(len(given), np.int64)
    _number_splits(given, sizes, split_ptr, place)
    order = np.lexsort((rule, place))
    place, rule = place[order], rule[order]
    if ((np.diff(place) == 0) & (np.diff(rule) == 0)).any():
        raise ValueError("an application of a rule is listed twice")
    ptr = np.searchsorted(place, np.arange(split_ptr[-1] + 1)).astype(np.int64)
    return Applications(ptr, rule.copy(), take_rows(rows, order))


@kernel
def _number_splits(
    table: IntArray, lengths: IntArray, split_ptr: IntArray, out: IntArray
) -> None:
    for j in range(out.size):
        i, start, split, end = table[j, 0], table[j, 2], table[j, 3], table[j, 4]
        out[j] = split_ptr[i] + split_at(lengths[i], start, split, end)


def no_applications() -> Applications:
    """Return the absence of such features."""
    return Applications(np.zeros(0, np.int64), np.zeros(0, np.int64), no_rows())


@kernel
def find_application(ptr: IntArray, rule: IntArray, split: int, r: int) -> int:
    """Return the number of an application, or -1 if it is not listed."""
    if ptr.size == 0:
        return -1
    low, last = ptr[split], ptr[split + 1]
    high = last
    while low < high:
        middle = (low + high) // 2
        if rule[middle] < r:
            low = middle + 1
        else:
            high = middle
    return low if low < last and rule[low] == r else -1
