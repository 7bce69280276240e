"""The first rows of column generation: those that an online learner stumbles over.

Rows found at one point say little about other weights, and the solution of a master
problem with few rows is far from any good weights. A few passes with an update after
every example, as small as will do (the passive-aggressive rule), meet rows at many
points and end at weights to start from.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise._threads import chunks
from partwise.losses import wrong_outputs
from partwise.losses.wrong_outputs import Rules, Search, make_tools
from partwise.solvers.linear_program.rows import RowRoom, Rows, RowScratch, write_row_of
from partwise.structures import interface as waist
from partwise.structures.interface import Diff, FloatArray, IntArray, Structure
from partwise.structures.scratch import Scratch, make_scratch

AVERAGED = 50
"""Points in a pass that the average is taken over."""


@kernel
def _learn(
    s: Structure,
    examples: IntArray,
    rules: Rules,
    C: FloatArray,
    positive: bool,
    w: FloatArray,
    augmented: FloatArray,
    found: wrong_outputs.Violations,
    candidates: wrong_outputs.Candidates,
    scratch: Scratch,
    diff: Diff,
    room: RowRoom,
    most: int,
    rows: RowScratch,
    ws: Any,
) -> tuple[int, int]:
    """Visit some examples; return how many were visited, and how many rows found."""
    count, at = 0, 0
    for n in range(examples.size):
        if count >= room.end.size or at + most > room.idx.size:
            return n, count
        i = examples[n]
        if C[i] == 0.0:
            continue
        found.slack[i] = wrong_outputs.UNFINISHED
        wrong_outputs.find_violations(
            s, w, rules, i, i + 1, augmented, found, candidates, scratch, diff, ws
        )
        if not found.amount[i] > 0.0:
            continue
        end = write_row_of(s, i, rules.unit, found, room, count, at, rows, ws)
        sqnorm = 0.0
        for k in range(at, end):
            sqnorm += room.val[k] ** 2
        if sqnorm > 0.0:
            step = min(found.amount[i] / sqnorm, C[i])
            for k in range(at, end):
                j = room.idx[k]
                w[j] += step * room.val[k]
                if positive:
                    w[j] = max(w[j], 0.0)
            at = end
            count += 1
    return examples.size, count


def warm_up(
    search: Search,
    rows: Rows,
    C: FloatArray,
    positive: bool,
    passes: int,
    rng: np.random.Generator,
    average: FloatArray,
) -> Iterator[float]:
    """Add rows, and set `average` to the mean weights of the last pass."""
    w = np.zeros(average.size)
    scratch, ws = make_scratch(search.s), waist.workspace(search.s, search.k)
    augmented, candidates, diff = make_tools(search.s, search.k)
    pieces = max(min(AVERAGED, C.size), 1)
    for done in range(passes):
        average[:] = 0.0
        for part, examples in enumerate(
            np.array_split(rng.permutation(C.size), pieces)
        ):
            for start, stop in chunks(examples.size):
                while start < stop:
                    n, count = _learn(
                        search.s, examples[start:stop], search.rules, C, positive, w,
                        augmented, search.found, candidates, scratch, diff,
                        rows.room, rows.most, rows.scratch, ws,
                    )  # fmt: skip
                    rows.take(int(count))
                    start += n
            average += w / pieces
            yield (done + (part + 1) / pieces) / passes
