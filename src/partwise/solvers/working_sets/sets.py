"""Working sets: the outputs with a positive dual variable, example by example.

Outputs are kept as their codes, never as feature vectors. The members of one
example form a linked list, newest first; a member whose dual variable falls to
zero is unlinked, and its room is won back when the arrays next grow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.interface import CodeArray, FloatArray, IntArray, Structure
from partwise.structures.scratch import Scratch
from partwise.structures.vectors import copy


class WorkingSets(NamedTuple):
    """The outputs, their dual variables, and their constants.

    ``newest[i]`` is the newest member of example `i`, ``older[m]`` the one before
    member `m`, -1 for none. ``used`` holds the numbers of members and codes taken.
    """

    newest: IntArray
    mass: FloatArray
    older: IntArray
    alpha: FloatArray
    cost: FloatArray
    sqnorm: FloatArray
    code_at: IntArray
    codes: CodeArray
    used: IntArray


def make_working_sets(n_examples: int, n_members: int, n_codes: int) -> WorkingSets:
    """Make empty working sets with room for some members."""
    return WorkingSets(
        newest=np.full(n_examples, -1, np.int64),
        mass=np.zeros(n_examples),
        older=np.full(n_members, -1, np.int64),
        alpha=np.zeros(n_members),
        cost=np.zeros(n_members),
        sqnorm=np.zeros(n_members),
        code_at=np.zeros(n_members, np.int64),
        codes=np.zeros(n_codes, np.int32),
        used=np.zeros(2, np.int64),
    )


@kernel
def has_room(sets: WorkingSets, n_outputs: int, n_codes: int) -> bool:
    """Say whether so many more outputs, each of `n_codes` codes, fit."""
    members, codes = sets.used[0] + n_outputs, sets.used[1] + n_outputs * n_codes
    return members <= sets.alpha.size and codes <= sets.codes.size


@kernel
def is_member(sets: WorkingSets, i: int, y: CodeArray, size: int) -> bool:
    """Say whether output `y` is in the working set of example `i`."""
    m = sets.newest[i]
    while m >= 0:
        at = sets.code_at[m]
        same = True
        for j in range(size):
            if sets.codes[at + j] != y[j]:
                same = False
                break
        if same:
            return True
        m = sets.older[m]
    return False


@kernel
def is_pair(sets: WorkingSets, i: int) -> bool:
    """Say whether example `i` has two outputs at most."""
    second = sets.older[sets.newest[i]]
    return second < 0 or sets.older[second] < 0


@kernel
def add_member(
    sets: WorkingSets, i: int, y: CodeArray, size: int, cost: float, sqnorm: float
) -> None:
    """Put output `y` into the working set of example `i`, with alpha = 0."""
    m, at = sets.used[0], sets.used[1]
    copy(y[:size], sets.codes[at:])
    sets.code_at[m] = at
    sets.alpha[m] = 0.0
    sets.cost[m] = cost
    sets.sqnorm[m] = sqnorm
    sets.older[m] = sets.newest[i]
    sets.newest[i] = m
    sets.used[0] += 1
    sets.used[1] += size


@kernel
def drop_zeros(sets: WorkingSets, i: int) -> None:
    """Unlink the members of example `i` whose dual variable is zero."""
    before, m = -1, sets.newest[i]
    while m >= 0:
        if sets.alpha[m] == 0.0:
            if before < 0:
                sets.newest[i] = sets.older[m]
            else:
                sets.older[before] = sets.older[m]
        else:
            before = m
        m = sets.older[m]


@kernel
def sum_parts(
    s: Structure, sets: WorkingSets, ptr: IntArray, mu: FloatArray, scratch: Scratch
) -> None:
    """Add ``alpha_y n_r(y)`` over all members to the parts of every example."""
    for i in range(sets.newest.size):
        size = waist.output_size(s, i)
        m = sets.newest[i]
        while m >= 0:
            y = sets.codes[sets.code_at[m] : sets.code_at[m] + size]
            found = waist.parts_of(s, i, y, scratch.ids, scratch.counts)
            for p in range(found):
                mu[ptr[i] + scratch.ids[p]] += sets.alpha[m] * scratch.counts[p]
            m = sets.older[m]


@kernel
def _copy_members(s: Structure, old: WorkingSets, new: WorkingSets) -> None:
    """Copy what is still linked, keeping the order within each example."""
    for i in range(old.newest.size):
        size = waist.output_size(s, i)
        new.mass[i] = old.mass[i]
        last = -1
        m = old.newest[i]
        while m >= 0:
            at, to, to_at = old.code_at[m], new.used[0], new.used[1]
            copy(old.codes[at : at + size], new.codes[to_at:])
            new.code_at[to] = to_at
            new.alpha[to] = old.alpha[m]
            new.cost[to] = old.cost[m]
            new.sqnorm[to] = old.sqnorm[m]
            if last < 0:
                new.newest[i] = to
            else:
                new.older[last] = to
            last = to
            new.used[0] += 1
            new.used[1] += size
            m = old.older[m]


@kernel
def _count_members(s: Structure, sets: WorkingSets) -> tuple[int, int]:
    members, codes = 0, 0
    for i in range(sets.newest.size):
        m = sets.newest[i]
        while m >= 0:
            members += 1
            codes += waist.output_size(s, i)
            m = sets.older[m]
    return members, codes


def count_members(s: Structure, sets: WorkingSets) -> int:
    """Return how many outputs all the working sets hold together."""
    return int(_count_members(s, sets)[0])


def with_room(s: Structure, sets: WorkingSets, n_members: int, n_codes: int) -> Any:
    """Return the same working sets, tidied, with room for that many more."""
    members, codes = _count_members(s, sets)
    new = make_working_sets(
        sets.newest.size, 2 * int(members) + n_members, 2 * int(codes) + n_codes
    )
    _copy_members(s, sets, new)
    return new


@kernel
def value_members(
    s: Structure,
    i: int,
    w: FloatArray,
    sets: WorkingSets,
    values: FloatArray,
    y_gold: CodeArray,
    diff: waist.Diff,
    ws: Any,
) -> None:
    """Set ``values[m] = cost - w . dPhi`` for the members of example `i`."""
    size = waist.output_size(s, i)
    m = sets.newest[i]
    while m >= 0:
        y = sets.codes[sets.code_at[m] : sets.code_at[m] + size]
        values[m] = sets.cost[m] - waist.diff_dot(s, i, y, y_gold, w, diff, ws)
        m = sets.older[m]


@kernel
def rank_members(
    sets: WorkingSets, i: int, values: FloatArray
) -> tuple[int, int, float]:
    """Return the member of largest value, the one with mass of smallest, the mean."""
    high = low = -1
    mean = 0.0
    m = sets.newest[i]
    while m >= 0:
        mean += sets.alpha[m] * values[m]
        if high < 0 or values[m] > values[high]:
            high = m
        if sets.alpha[m] > 0.0 and (low < 0 or values[m] < values[low]):
            low = m
        m = sets.older[m]
    return high, low, mean
