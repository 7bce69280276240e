"""Whether working sets that come from a file can be trusted."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.solvers.facts import Fact, find
from partwise.solvers.working_sets.sets import WorkingSets
from partwise.structures.decoding import check_outputs
from partwise.structures.interface import IntArray


def are_working_sets(name: str) -> Fact:
    """Say that linked lists end, and that every member is an output of its example.

    The lengths of the arrays are facts of their own, to be checked before.
    """

    def fact(keeper: Any, problem: Any) -> None:
        sets: WorkingSets = find(name, keeper, problem)
        room = np.array([sets.alpha.size, sets.codes.size])
        if (sets.used < 0).any() or (sets.used > room).any():
            raise ValueError(f"'{name}.used' does not fit the room there is")
        owner, member = _walk(name, sets)
        check_outputs(problem.structure, owner, sets.code_at[member], sets.codes)

    return fact


def _walk(name: str, sets: WorkingSets) -> tuple[IntArray, IntArray]:
    """Return all members with their examples; refuse lists that meet, or have no end.

    All lists are followed at once, step by step.
    """
    n_members = int(sets.used[0])
    seen = np.zeros(n_members, bool)
    owners, members = [], []
    owner, member = np.arange(sets.newest.size), sets.newest
    while True:
        linked = member >= 0
        owner, member = owner[linked], member[linked]
        if member.size == 0:
            break
        if (member >= n_members).any():
            raise ValueError(f"{name!r} links to members that are not there")
        if seen[member].any() or np.unique(member).size != member.size:
            raise ValueError(f"{name!r} has lists that meet, or have no end")
        seen[member] = True
        owners.append(owner)
        members.append(member)
        member = sets.older[member]
    none = np.zeros(0, np.int64)
    return np.concatenate([none, *owners]), np.concatenate([none, *members])
