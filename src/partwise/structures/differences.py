"""Differences of two outputs, place by place: only where the two differ.

A *place* is a number that a structure gives to what both outputs have, such as a word
or a space between words. One that answers the two questions below can have all
differences answered by `compare_by_place`.
"""

from __future__ import annotations

from typing import Any

from partwise._jit import generic, kernel
from partwise.structures import interface as waist
from partwise.structures.interface import CodeArray, Diff, FloatArray, Structure
from partwise.structures.rows import Rows, row_entries


@generic
def next_difference(
    s: Structure, i: int, y: CodeArray, y_ref: CodeArray, at: int
) -> int:
    """Return the first place after `at`, 0 at first, where outputs differ; 0 if none.

    Places are numbered from 1.
    """
    raise NotImplementedError("next_difference is required to compare by place")


@generic
def entries_at(
    s: Structure, i: int, y: CodeArray, other: CodeArray, at: int, diff: Diff, ws: Any
) -> int:
    """Write the features of output `y` at a place to `diff`; return how many.

    Those that the `other` output has there, too, may be left out.
    """
    raise NotImplementedError("entries_at is required to compare by place")


def compare_by_place(cls: type) -> None:
    """Let structures of class `cls` compare outputs at the places where they differ."""

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
        result = 0.0
        at = next_difference(s, i, y, y_ref, 0)
        while at > 0:
            for j in range(entries_at(s, i, y_ref, y, at, diff, ws)):
                result += diff.val[j] * w[diff.idx[j]]
            for j in range(entries_at(s, i, y, y_ref, at, diff, ws)):
                result -= diff.val[j] * w[diff.idx[j]]
            at = next_difference(s, i, y, y_ref, at)
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
        at = next_difference(s, i, y, y_ref, 0)
        while at > 0:
            for j in range(entries_at(s, i, y_ref, y, at, diff, ws)):
                w[diff.idx[j]] += scale * diff.val[j]
            for j in range(entries_at(s, i, y, y_ref, at, diff, ws)):
                w[diff.idx[j]] -= scale * diff.val[j]
            at = next_difference(s, i, y, y_ref, at)

    @waist.diff_sqnorm.implement(cls)
    def _sqnorm(
        s: Structure, i: int, y: CodeArray, y_ref: CodeArray, diff: Diff, ws: Any
    ) -> float:
        at = next_difference(s, i, y, y_ref, 0)
        while at > 0:
            for j in range(entries_at(s, i, y_ref, y, at, diff, ws)):
                waist.accumulate(diff.total, diff.idx[j], diff.val[j])
            for j in range(entries_at(s, i, y, y_ref, at, diff, ws)):
                waist.accumulate(diff.total, diff.idx[j], -diff.val[j])
            at = next_difference(s, i, y, y_ref, at)
        return waist.take_sqnorm(diff.total)


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
