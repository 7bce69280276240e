"""Differences of two outputs, place by place: only where the two differ.

A *place* is a number that a structure gives to what both outputs have, such as a word
or a space between words.
"""

from __future__ import annotations

from typing import Any

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.interface import CodeArray, Diff, FloatArray, Structure
from partwise.structures.rows import Rows, row_entries


def compare_by_place(
    cls: type, size: Any, next_difference: Any, entries: Any, *, listed: bool = False
) -> None:
    """Let structures of class `cls` compare outputs at the places where they differ.

    Parameters
    ----------
    cls : type
        The class of the structure.
    size : kernel
        ``size(s, i)`` is asked once and handed to the others as `n`.
    next_difference : kernel
        ``next_difference(s, n, y, y_ref, at)`` returns the first place after `at`, 0 at
        first, where two outputs differ, and 0 if there are no more.
    entries : kernel
        ``entries(s, i, n, y, other, at, diff, ws)`` writes the features of output `y`
        at a place to `diff` and returns how many. Those that the other output has
        there, too, may be left out.
    listed : bool
        Whether to answer `diff_entries`. There must be room for all features of both
        outputs, each counted as often as it comes: `max_features`.
    """

    @waist.diff_dot.implement(cls)
    def _dot(
        s: Structure,
        i: int,
        y: CodeArray,
        y_ref: CodeArray,
        w: FloatArray,
        diff: Diff,
        ws: Any,
    ) -> float:
        n, result = size(s, i), 0.0
        at = next_difference(s, n, y, y_ref, 0)
        while at > 0:
            for j in range(entries(s, i, n, y_ref, y, at, diff, ws)):
                result += diff.val[j] * w[diff.idx[j]]
            for j in range(entries(s, i, n, y, y_ref, at, diff, ws)):
                result -= diff.val[j] * w[diff.idx[j]]
            at = next_difference(s, n, y, y_ref, at)
        return result

    @waist.diff_add.implement(cls)
    def _add(
        s: Structure,
        i: int,
        y: CodeArray,
        y_ref: CodeArray,
        scale: float,
        w: FloatArray,
        diff: Diff,
        ws: Any,
    ) -> None:
        n = size(s, i)
        at = next_difference(s, n, y, y_ref, 0)
        while at > 0:
            for j in range(entries(s, i, n, y_ref, y, at, diff, ws)):
                w[diff.idx[j]] += scale * diff.val[j]
            for j in range(entries(s, i, n, y, y_ref, at, diff, ws)):
                w[diff.idx[j]] -= scale * diff.val[j]
            at = next_difference(s, n, y, y_ref, at)

    @waist.shrink_diff.implement(cls)
    def _shrink(
        s: Structure,
        i: int,
        y: CodeArray,
        y_ref: CodeArray,
        v: FloatArray,
        w: FloatArray,
        l1_ratio: float,
        diff: Diff,
        ws: Any,
    ) -> float:
        n, change = size(s, i), 0.0
        at = next_difference(s, n, y, y_ref, 0)
        while at > 0:
            for j in range(entries(s, i, n, y_ref, y, at, diff, ws)):
                change += waist.shrink_at(diff.idx[j], v, w, l1_ratio)
            for j in range(entries(s, i, n, y, y_ref, at, diff, ws)):
                change += waist.shrink_at(diff.idx[j], v, w, l1_ratio)
            at = next_difference(s, n, y, y_ref, at)
        return change

    @waist.diff_collect.implement(cls)
    def _collect(
        s: Structure, i: int, y: CodeArray, y_ref: CodeArray, diff: Diff, ws: Any
    ) -> None:
        n = size(s, i)
        at = next_difference(s, n, y, y_ref, 0)
        while at > 0:
            for j in range(entries(s, i, n, y_ref, y, at, diff, ws)):
                waist.accumulate(diff.total, diff.idx[j], diff.val[j])
            for j in range(entries(s, i, n, y, y_ref, at, diff, ws)):
                waist.accumulate(diff.total, diff.idx[j], -diff.val[j])
            at = next_difference(s, n, y, y_ref, at)

    if listed:
        _list_by_place(cls, size, next_difference, entries)


def _list_by_place(cls: type, size: Any, next_difference: Any, entries: Any) -> None:
    @waist.diff_entries.implement(cls)
    def _entries(
        s: Structure, i: int, y: CodeArray, y_ref: CodeArray, diff: Diff, ws: Any
    ) -> int:
        ids, counts, idx, val, total = diff
        n, found = size(s, i), 0
        at = next_difference(s, n, y, y_ref, 0)
        while at > 0:
            rest = Diff(ids, counts, idx[found:], val[found:], total)
            found += entries(s, i, n, y_ref, y, at, rest, ws)
            rest = Diff(ids, counts, idx[found:], val[found:], total)
            more = entries(s, i, n, y, y_ref, at, rest, ws)
            for j in range(found, found + more):
                val[j] = -val[j]
            found += more
            at = next_difference(s, n, y, y_ref, at)
        return found


@kernel
def accumulate_row(
    rows: Rows, t: int, k: int, n_labels: int, offset: int, sign: float, diff: Diff
) -> None:
    """Add the features of row `t` with label `k`, times a sign, to the sparse sum.

    The weights of these rows begin at `offset`.
    """
    found = row_entries(rows, t, k, n_labels, diff.idx, diff.val)
    for j in range(found):
        waist.accumulate(diff.total, offset + diff.idx[j], sign * diff.val[j])
