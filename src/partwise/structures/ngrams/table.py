"""Which label tuples there are, which may follow each other, and what has weights.

A chain of order `n` remembers `n` labels: its *states* are tuples of these, and its
*steps* lead from one to the next, which drops the oldest label and adds one. Before the
first label stands as often as needed the border, -1. A step has weights for the last
two labels, the last three and so on up to ``n + 1``, as far as they occur in training.

A tuple that never occurred has no weights, so that nothing is lost if its oldest labels
are forgotten: with *unseen* tuples, a state is the longest end of the labels before
that occurs. So all label sequences are possible, and there are hardly more states than
tuples (as in the back-off automata of language models, and in the conditional random
fields of variable order of Ye, Lee, Chieu and Wu 2009). In rows of tuples, those that
are shorter are filled up with -2 at the front.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partwise._jit import kernel
from partwise.errors import DataError
from partwise.structures.interface import CodeArray, IntArray

BORDER = -1
FORGOTTEN = -2

MOST_STEPS = 4_000_000
"""More steps need more time for a token than anyone has."""


class NGrams(NamedTuple):
    """The states and steps of chains of higher order; `make_ngrams` makes them.

    State 0 is the border. Steps are sorted by where they lead to: those to state `j`
    are ``step_ptr[j]:step_ptr[j + 1]``. ``next_step[j, k]`` is the one from state `j`
    with label `k`, -1 if there is none; ``weight[e]`` has the numbers of the weights of
    a step, for ever longer tuples, -1 where there is none. `key` are the tuples as
    sorted numbers (see `key_of`), and `key_state` their states.
    """

    label: CodeArray
    source: CodeArray
    target: CodeArray
    step_ptr: IntArray
    next_step: NDArray[np.int32]
    weight: NDArray[np.int64]
    n_weights: int
    key: IntArray
    key_state: CodeArray


@kernel
def key_of(y: CodeArray, t: int, order: int, n_labels: int) -> int:
    """Return the number of the tuple of labels before position `t`."""
    key = 0
    for u in range(t - order, t):
        key = key * (n_labels + 2) + (y[u] + 2 if u >= 0 else 1)
    return key


@kernel
def step_to(grams: NGrams, y: CodeArray, t: int) -> int:
    """Return the step that leads to position `t`."""
    order, n_labels = grams.weight.shape[1], grams.next_step.shape[1]
    key, radix = key_of(y, t, order, n_labels), (n_labels + 2) ** (order - 1)
    for _ in range(order):
        at = np.searchsorted(grams.key, key)
        if at < grams.key.size and grams.key[at] == key:
            return grams.next_step[grams.key_state[at], y[t]]
        key %= radix  # forget the oldest label
        radix //= n_labels + 2
    return -1


def observed_tuples(labels: ArrayLike, ptr: ArrayLike, size: int) -> NDArray[np.int32]:
    """Return the different tuples of `size` labels that sequences have, sorted.

    Examples
    --------
    >>> observed_tuples([0, 1, 0], [0, 3], 2).tolist()
    [[-1, -1], [-1, 0], [0, 1], [1, 0]]
    """
    y, ends = np.asarray(labels, np.int32), np.asarray(ptr, np.int64)
    first = np.repeat(ends[:-1], np.diff(ends))
    columns = []
    for back in range(size - 1, -1, -1):
        at = np.arange(y.size) - back
        columns.append(np.where(at >= first, y[np.maximum(at, 0)], BORDER))
    start = np.full((1, size), BORDER, np.int32)
    return np.unique(np.vstack([start, np.stack(columns, axis=1)]), axis=0)


def make_ngrams(
    tuples: ArrayLike,
    weighted: ArrayLike,
    n_labels: int,
    *,
    start: bool = True,
    unseen: bool = False,
    forbidden_transitions: ArrayLike | None = None,
    forbidden_start: ArrayLike | None = None,
    most_steps: int = MOST_STEPS,
) -> NGrams:
    """Make the states and steps of chains of higher order.

    Parameters
    ----------
    tuples : array of shape (n, order)
        The label tuples that may be states, as `observed_tuples` returns them.
    weighted : array of shape (m, order + 1)
        The tuples of one more label that have weights, and all their ends.
    n_labels : int
        Labels are ``0 .. n_labels - 1``.
    start : bool
        Whether the first label has a weight of its own.
    unseen : bool
        Whether other tuples are possible, too: then the states are the ends of these
        that occur.
    forbidden_transitions, forbidden_start : boolean arrays, optional
        Pairs of labels that may not follow each other, and labels that may not be
        first.
    most_steps : int
        Refuse to make more steps than this.

    Raises
    ------
    DataError
        If there are too many steps.

    Examples
    --------
    >>> seen = [[0, 1, 0, 1]]
    >>> tuples = observed_tuples(seen[0], [0, 4], 2)
    >>> grams = make_ngrams(tuples, observed_tuples(seen[0], [0, 4], 3), 2)
    >>> grams.label.tolist(), grams.source.tolist(), grams.target.tolist()
    ([-1, 0, 1, 0], [0, 1, 3, 2], [1, 2, 2, 3])
    >>> rows = observed_tuples(seen[0], [0, 4], 3)
    >>> make_ngrams(tuples, rows, 2, unseen=True).next_step.min()  # all may follow
    np.int32(0)
    """
    known = {tuple(row) for row in np.asarray(tuples, np.int32).tolist()}
    order = np.asarray(tuples).shape[1]
    border = (BORDER,) * order
    free = np.ones((n_labels + 1, n_labels), bool)  # the last row is the border's
    if forbidden_transitions is not None:
        free[:-1] = ~np.asarray(forbidden_transitions, bool)
    if forbidden_start is not None:
        free[-1] = ~np.asarray(forbidden_start, bool)
    if unseen:
        ends = _possible_states(known, weighted, n_labels)
    else:
        ends = {row[-size:] for row in known for size in range(1, order + 1)}
    states = {border: 0}
    steps: list[tuple[int, int, tuple[int, ...]]] = []
    waiting = [border]
    while waiting:
        state = waiting.pop()
        open_labels = np.flatnonzero(free[state[-1]]).tolist()
        if not unseen:
            open_labels = _labels_after(state, open_labels, ends)
        for k in open_labels:
            other = (*state, k)[-order:]
            while unseen and other not in ends:
                other = other[1:]
            if other not in states:
                states[other] = len(states)
                waiting.append(other)
            steps.append((states[other], states[state], (*state, k)))
            if len(steps) > most_steps:
                raise DataError(
                    f"order={order}: more than {most_steps:,} pairs of label tuples "
                    f"may follow each other ({len(known):,} tuples of {n_labels} "
                    "labels occur); use a lower order, fewer labels, constraints"
                    + (", or transitions='observed'" if unseen else "")
                )
    return _table(states, sorted(steps), weighted, n_labels, start)


def _possible_states(
    known: set[tuple[int, ...]], weighted: ArrayLike, n_labels: int
) -> set[tuple[int, ...]]:
    """Return all tuples that tell something about what follows them.

    With a tuple come the tuples that begin and end it. So the longest end that is among
    them only depends on as many labels as the longest tuple has.
    """
    rows = known | {tuple(row[:-1]) for row in np.asarray(weighted, np.int32).tolist()}
    found: set[tuple[int, ...]] = {(k,) for k in range(n_labels)}
    for row in rows:
        own = row[row.count(FORGOTTEN) :]
        for first in range(len(own)):
            found.update(own[first:last] for last in range(first + 1, len(own) + 1))
    return found


def _labels_after(
    state: tuple[int, ...], labels: list[int], ends: set[tuple[int, ...]]
) -> list[int]:
    """Return the labels that were seen to follow a tuple.

    Where none was, as at the ends of sequences, those that follow its last labels; at
    worst all. So there are few tuples more than occur.
    """
    for first in range(1, len(state) + 1):
        found = [k for k in labels if (*state[first:], k) in ends]
        if found:
            return found
    return labels


def all_pairs(n_labels: int, size: int) -> NDArray[np.int32]:
    """Return all pairs of labels, and the border with each, as rows of `size`.

    Examples
    --------
    >>> all_pairs(1, 3).tolist()
    [[-2, -1, 0], [-2, 0, 0]]
    """
    rows = np.full(((n_labels + 1) * n_labels, size), FORGOTTEN, np.int32)
    rows[:, -2] = np.repeat(np.arange(BORDER, n_labels), n_labels)
    rows[:, -1] = np.tile(np.arange(n_labels), n_labels + 1)
    return rows


def weighted_tuples(weighted: ArrayLike, start: bool) -> list[tuple[int, ...]]:
    """Return all tuples that have a weight, in the order of these.

    Examples
    --------
    >>> weighted_tuples([[-1, 0, 1], [0, 1, 0]], start=True)
    [(0, 1), (-1, 0, 1), (1, 0), (0, 1, 0)]
    >>> weighted_tuples([[-2, 0, 1]], start=True)
    [(0, 1)]
    """
    found: dict[tuple[int, ...], None] = {}
    for row in np.asarray(weighted, np.int32).tolist():
        for size in range(2, len(row) + 1 - row.count(FORGOTTEN)):
            gram = tuple(row[-size:])
            # More than one border says no more than one does.
            if gram[:2] != (BORDER, BORDER) and (start or gram[0] != BORDER):
                found.setdefault(gram)
    return list(found)


def _table(
    states: dict[tuple[int, ...], int],
    steps: list[tuple[int, int, tuple[int, ...]]],
    weighted: ArrayLike,
    n_labels: int,
    start: bool,
) -> NGrams:
    order = len(next(iter(states)))
    numbers = {gram: n for n, gram in enumerate(weighted_tuples(weighted, start))}
    target = np.array([step[0] for step in steps], np.int32)
    source = np.array([step[1] for step in steps], np.int32)
    weight = np.full((len(steps), order), -1, np.int64)
    next_step = np.full((len(states), n_labels), -1, np.int32)
    for e, (_, before, gram) in enumerate(steps):
        next_step[before, gram[-1]] = e
        for size in range(2, len(gram) + 1):
            weight[e, size - 2] = numbers.get(gram[-size:], -1)
    radix = (n_labels + 2) ** np.arange(order - 1, -1, -1, dtype=np.int64)
    full = [(FORGOTTEN,) * (order - len(state)) + state for state in states]
    keys = (np.array(full, np.int64) - FORGOTTEN) @ radix
    by_key = np.argsort(keys)
    return NGrams(
        np.array([state[-1] for state in states], np.int32),
        source,
        target,
        np.searchsorted(target, np.arange(len(states) + 1)).astype(np.int64),
        next_step,
        weight,
        len(numbers),
        keys[by_key],
        by_key.astype(np.int32),
    )
