"""The constraints that column generation has found, as a sparse matrix that grows.

A row says ``w . (Phi(good) - Phi(wrong)) >= margin - xi_i``. Only weights that occur in
a row matter to the master problem: they are its columns, numbered as they come.
"""

from __future__ import annotations

from copy import copy as copy_of
from typing import Any, NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.losses.wrong_outputs import Rules, Violations
from partwise.solvers.facts import distinct, pointers, same_length, shape, within
from partwise.solvers.keeping import Keeper
from partwise.structures import interface as waist
from partwise.structures.interface import (
    CodeArray,
    FloatArray,
    IntArray,
    SparseSum,
    Structure,
)
from partwise.structures.vectors import copy

CHUNK = 1 << 18
"""Entries that are collected before they are appended to the others."""


class RowRoom(NamedTuple):
    """Room to write sparse rows, one after the other."""

    idx: IntArray
    val: FloatArray
    end: IntArray
    owner: IntArray
    margin: FloatArray


@kernel
def _take_parts(
    s: Structure, i: int, y: CodeArray, sign: float, parts: SparseSum, diff: waist.Diff
) -> None:
    found = waist.parts_of(s, i, y, diff.ids, diff.counts)
    for p in range(found):
        waist.accumulate(parts, diff.ids[p], sign * diff.counts[p])


@kernel
def _write_row(
    s: Structure,
    i: int,
    y: CodeArray,
    y_good: CodeArray,
    room: RowRoom,
    at: int,
    parts: SparseSum,
    diff: waist.Diff,
    ws: Any,
) -> int:
    """Write ``Phi(good) - Phi(y)`` from `at` on; return where it ends.

    Parts that both outputs have are left out before their features are looked at.
    """
    _take_parts(s, i, y_good, 1.0, parts, diff)
    _take_parts(s, i, y, -1.0, parts, diff)
    for j in range(parts.size[0]):
        slot = parts.slots[j]
        count, part = parts.values[slot], parts.keys[slot]
        parts.keys[slot] = -1
        parts.values[slot] = 0.0
        if count != 0.0:
            n = waist.part_row(s, i, part, diff.idx, diff.val, ws)
            for f in range(n):
                waist.accumulate(diff.total, diff.idx[f], count * diff.val[f])
    parts.size[0] = 0
    for j in range(diff.total.size[0]):
        slot = diff.total.slots[j]
        if diff.total.values[slot] != 0.0:
            room.idx[at] = diff.total.keys[slot]
            room.val[at] = diff.total.values[slot]
            at += 1
        diff.total.keys[slot] = -1
        diff.total.values[slot] = 0.0
    diff.total.size[0] = 0
    return at


class RowScratch(NamedTuple):
    """Scratch arrays to write rows with."""

    y: CodeArray
    y_good: CodeArray
    parts: SparseSum
    diff: waist.Diff


def make_room(n_entries: int, n_rows: int) -> RowRoom:
    """Make room for rows with so many entries."""
    return RowRoom(
        np.zeros(n_entries, np.int64), np.zeros(n_entries), np.zeros(n_rows, np.int64),
        np.zeros(n_rows, np.int64), np.zeros(n_rows),
    )  # fmt: skip


def make_row_scratch(s: Structure) -> RowScratch:
    """Make the scratch arrays that rows of a corpus need."""
    most_parts, most_codes = waist.largest_sizes(s)
    return RowScratch(
        np.zeros(most_codes, np.int32),
        np.zeros(most_codes, np.int32),
        waist.make_sparse_sum(2 * (most_parts + 2 * most_codes)),
        waist.make_diff(s),
    )


@kernel
def write_row_of(
    s: Structure,
    i: int,
    unit: bool,
    found: Violations,
    room: RowRoom,
    number: int,
    at: int,
    scratch: RowScratch,
    ws: Any,
) -> int:
    """Write the row of what was found for an example; return where it ends."""
    size = waist.output_size(s, i)
    copy(found.codes[found.start[i] : found.start[i] + size], scratch.y)
    waist.good_at(s, i, found.good[i], scratch.y_good)
    at = _write_row(
        s, i, scratch.y, scratch.y_good, room, at, scratch.parts, scratch.diff, ws
    )
    room.end[number] = at
    room.owner[number] = i
    room.margin[number] = 1.0 if unit else waist.cost(s, i, scratch.y)
    return at


@kernel
def _write_rows(
    s: Structure,
    todo: IntArray,
    unit: bool,
    found: Violations,
    room: RowRoom,
    most: int,
    scratch: RowScratch,
    ws: Any,
) -> int:
    """Write the rows of some examples while there is room; return how many."""
    at = 0
    for n in range(todo.size):
        if n >= room.end.size or at + most > room.idx.size:
            return n
        waist.visit(s, todo[n], ws)
        at = write_row_of(s, todo[n], unit, found, room, n, at, scratch, ws)
    return todo.size


class Rows(Keeper):
    """All constraints so far.

    Attributes
    ----------
    ptr, idx, val : array
        The rows, CSR; `idx` are columns, of which ``weight_of`` tells the weights.
    owner : array
        The example of every row.
    margin : array
        The margin that it asks for.
    idle : array
        For how many rounds a row has had no multiplier.
    """

    kept = growing = ("ptr", "idx", "val", "owner", "margin", "idle", "weight_of")
    facts = (
        pointers("ptr", "idx"),
        shape("ptr", "n_bounds"),
        same_length("idx", "val"),
        within("idx", 0, "n_columns"),
        same_length("owner", "margin", "idle"),
        within("owner", 0, "problem.n_examples"),
        within("weight_of", 0, "problem.n_weights"),
        distinct("weight_of"),
    )

    def __init__(self, s: Structure, rules: Rules, n_weights: int):
        self.s, self.rules = s, rules
        self.ptr = np.zeros(1, np.int64)
        self.idx = np.zeros(0, np.int32)
        self.val = np.zeros(0)
        self.owner = np.zeros(0, np.int64)
        self.margin = np.zeros(0)
        self.idle = np.zeros(0, np.int64)
        self.column_of = np.full(n_weights, -1, np.int32)
        self.weight_of = np.zeros(0, np.int64)
        self._make_room()

    def _make_room(self) -> None:
        """Make room to write rows, before they are appended to the others."""
        self.most = int(waist.max_features(self.s))
        self.room = make_room(CHUNK + self.most, CHUNK)
        self.scratch = make_row_scratch(self.s)
        self._ws = waist.workspace(self.s, 1)

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self.owner.size

    @property
    def n_bounds(self) -> int:
        """How many pointers the rows have."""
        return len(self) + 1

    @property
    def n_columns(self) -> int:
        """How many weights occur."""
        return self.weight_of.size

    def add(self, todo: IntArray, found: Violations) -> None:
        """Add the rows of the wrong outputs that were found for some examples."""
        while todo.size:
            n = int(
                _write_rows(
                    self.s, todo, self.rules.unit, found, self.room, self.most,
                    self.scratch, self._ws,
                )
            )  # fmt: skip
            todo = todo[n:]
            self.take(n)

    def take(self, n: int) -> None:
        """Add the first `n` rows of the room."""
        if n:
            end, room = self.room.end[:n], self.room
            idx, val = room.idx[: end[-1]], room.val[: end[-1]]
            self._append(RowRoom(idx, val, end, room.owner[:n], room.margin[:n]))

    def _append(self, written: RowRoom) -> None:
        """Add rows; number the weights that occur for the first time."""
        weights, val, end, owner, margin = written
        new = np.unique(weights[self.column_of[weights] < 0])
        self.column_of[new] = self.n_columns + np.arange(new.size, dtype=np.int32)
        self.weight_of = np.concatenate([self.weight_of, new])
        self.ptr = np.concatenate([self.ptr, self.ptr[-1] + end])
        self.idx = np.concatenate([self.idx, self.column_of[weights]])
        self.val = np.concatenate([self.val, val])
        self.owner = np.concatenate([self.owner, owner])
        self.margin = np.concatenate([self.margin, margin])
        self.idle = np.concatenate([self.idle, np.zeros(end.size, np.int64)])

    def drop(self, dropped: IntArray) -> None:
        """Forget some rows; columns stay."""
        keep = np.ones(len(self), bool)
        keep[dropped] = False
        sizes = np.diff(self.ptr)
        entries = np.repeat(keep, sizes)
        self.idx, self.val = self.idx[entries], self.val[entries]
        self.ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[keep])])
        self.owner, self.margin = self.owner[keep], self.margin[keep]
        self.idle = self.idle[keep]

    def in_units(self, feature: float, margin: float) -> Rows:
        """Return the same rows, with features and margins in these units."""
        other = copy_of(self)
        other.val, other.margin = self.val / feature, self.margin / margin
        return other

    def slacks(self, w: FloatArray, n_examples: int) -> FloatArray:
        """Return the largest violation of every example among the rows, at least 0."""
        product = self.val * w[self.weight_of][self.idx]
        sums = np.concatenate([np.zeros(1), np.cumsum(product)])
        slack = np.zeros(n_examples)
        missing = self.margin - (sums[self.ptr[1:]] - sums[self.ptr[:-1]])
        np.maximum.at(slack, self.owner, missing)
        return slack

    def restored(self) -> None:
        """Give the columns their numbers."""
        self.column_of[:] = -1
        self.column_of[self.weight_of] = np.arange(self.n_columns, dtype=np.int32)
