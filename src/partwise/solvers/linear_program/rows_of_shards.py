"""Rows of a corpus whose examples are elsewhere: those who have them write the rows.

How long a row is shows when it is written. So there are two passes, one that says how
long the rows are, and one that fills the room made for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.losses.wrong_outputs import Violations
from partwise.solvers.linear_program.rows import (
    RowRoom,
    Rows,
    RowScratch,
    make_room,
    make_row_scratch,
    write_row_of,
)
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray, IntArray, Structure
from partwise.structures.parallel import Crew, Worker
from partwise.structures.sharing import borders, filled, given
from partwise.structures.vectors import copy


class RowsOfShards(Rows):
    """All constraints so far, of examples that a crew has."""

    crew: Crew

    def _make_room(self) -> None:
        """Make none: rows are written elsewhere."""

    def add(self, todo: IntArray, found: Violations) -> None:
        """Add the rows of the wrong outputs that were found for some examples."""
        if not todo.size:
            return
        count = found.slack.size
        wanted = np.zeros(count, np.uint8)
        wanted[todo] = 1
        sizes, margin = np.zeros(count, np.int64), np.zeros(count)
        shared = Violations(
            given(found.slack), given(found.amount), given(found.codes, found.start),
            borders(found.start), given(found.good),
        )  # fmt: skip
        asked = given(wanted), self.rules.unit, shared
        self.crew.run(_measure, *asked, filled(sizes))
        ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        idx, val = np.zeros(int(ptr[-1]), np.int64), np.zeros(int(ptr[-1]))
        self.crew.run(
            _fill, *asked,
            borders(ptr), filled(idx, ptr), filled(val, ptr), filled(margin),
        )  # fmt: skip
        self._append(RowRoom(idx, val, ptr[todo + 1], todo, margin[todo]))


@kernel
def _measure_rows(
    s: Structure,
    start: int,
    stop: int,
    wanted: NDArray[np.uint8],
    unit: bool,
    found: Violations,
    sizes: IntArray,
    room: RowRoom,
    scratch: RowScratch,
    ws: Any,
) -> None:
    for i in range(start, stop):
        if wanted[i]:
            waist.visit(s, i, ws)
            sizes[i] = write_row_of(s, i, unit, found, room, 0, 0, scratch, ws)


@kernel
def _fill_rows(
    s: Structure,
    start: int,
    stop: int,
    wanted: NDArray[np.uint8],
    unit: bool,
    found: Violations,
    ptr: IntArray,
    idx: IntArray,
    val: FloatArray,
    margin: FloatArray,
    room: RowRoom,
    scratch: RowScratch,
    ws: Any,
) -> None:
    for i in range(start, stop):
        if wanted[i]:
            waist.visit(s, i, ws)
            end = write_row_of(s, i, unit, found, room, 0, 0, scratch, ws)
            copy(room.idx[:end], idx[ptr[i] : ptr[i + 1]])
            copy(room.val[:end], val[ptr[i] : ptr[i + 1]])
            margin[i] = room.margin[0]


def _measure(s: Structure, start: int, stop: int, worker: Worker, *things: Any) -> None:
    """Write how long the rows of some examples are."""
    own = (*things, *_tools(s), worker.ws)
    _measure_rows(s, start, stop, *own)


def _fill(s: Structure, start: int, stop: int, worker: Worker, *things: Any) -> None:
    """Write the rows of some examples where there is room for them."""
    own = (*things, *_tools(s), worker.ws)
    _fill_rows(s, start, stop, *own)


def _tools(s: Structure) -> tuple[Any, ...]:
    """Make room for a row, and scratch arrays to write it with."""
    return make_room(int(waist.max_features(s)), 1), make_row_scratch(s)
