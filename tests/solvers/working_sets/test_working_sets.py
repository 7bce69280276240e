"""Working sets: what they hold, in which order, and how they win back room."""

from typing import Any

import numpy as np
import pytest

import problems
from partwise.solvers.working_sets.sets import (
    WorkingSets,
    add_member,
    count_members,
    drop_zeros,
    has_room,
    is_member,
    make_working_sets,
    with_room,
)


def members_of(sets: WorkingSets, i: int) -> list[int]:
    listed = []
    m = int(sets.newest[i])
    while m >= 0:
        listed.append(m)
        m = int(sets.older[m])
    return listed


def small_sets() -> tuple[Any, WorkingSets]:
    """Return a corpus of three chains, and sets with two outputs in the first."""
    s = problems.chain_sparse(problems.draw(problems.chain_sparse, count=3))
    sets = make_working_sets(3, 4, 12)
    for y, alpha in (([0, 1, 2], 1.0), ([2, 2, 2], 0.5)):
        add_member(sets, 0, np.array(y, np.int32), 3, 2.0, 3.0)
        sets.alpha[sets.used[0] - 1] = alpha
    return s, sets


def test_working_sets_know_their_members() -> None:
    s, sets = small_sets()
    assert is_member(sets, 0, np.array([0, 1, 2], np.int32), 3)
    assert is_member(sets, 0, np.array([2, 2, 2], np.int32), 3)
    assert not is_member(sets, 0, np.array([2, 2, 1], np.int32), 3)
    assert not is_member(sets, 1, np.array([0], np.int32), 1)
    assert members_of(sets, 0) == [1, 0], "newest first"
    assert count_members(s, sets) == 2


def test_working_sets_know_when_they_are_full() -> None:
    _, sets = small_sets()
    assert has_room(sets, 1, 6)
    assert not has_room(sets, 1, 7), "codes"
    for _ in range(2):
        add_member(sets, 1, np.zeros(1, np.int32), 1, 1.0, 1.0)
    assert not has_room(sets, 1, 1), "members"


@pytest.mark.parametrize("zeros", [[0], [1], [0, 1], []])
def test_working_sets_drop_what_has_become_zero(zeros: list[int]) -> None:
    _, sets = small_sets()
    sets.alpha[zeros] = 0.0
    drop_zeros(sets, 0)
    assert members_of(sets, 0) == [m for m in (1, 0) if m not in zeros]


def test_working_sets_tidied_win_back_room_and_keep_the_order() -> None:
    s, sets = small_sets()
    add_member(sets, 0, np.array([1, 1, 1], np.int32), 3, 5.0, 6.0)
    sets.alpha[:3] = [1.0, 0.0, 0.25]
    drop_zeros(sets, 0)
    new = with_room(s, sets, 10, 30)
    assert new.used.tolist() == [2, 6]
    assert new.alpha[members_of(new, 0)].tolist() == [0.25, 1.0]
    assert new.cost[members_of(new, 0)].tolist() == [5.0, 2.0]
    assert new.sqnorm[members_of(new, 0)].tolist() == [6.0, 3.0]
    assert is_member(new, 0, np.array([0, 1, 2], np.int32), 3)
    assert is_member(new, 0, np.array([1, 1, 1], np.int32), 3)
    assert not is_member(new, 0, np.array([2, 2, 2], np.int32), 3)
    assert new.alpha.size == 14
    assert new.codes.size == 42
