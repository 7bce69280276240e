"""Projective trees by dynamic programming (Eisner 1996), in O(n^3).

A word and its modifiers on one side make a *half*: ``right[s, t]`` is the best (or the
sum of all) of the trees over the words ``s..t`` with head ``s``, ``left[s, t]`` of the
ones with head ``t``. Two halves that meet, ``joined[s, t]``, make an arc between ``s``
and ``t``, in one direction or the other. Heads find their modifiers on the two sides
independently of each other: that is what makes it O(n^3).

The chart is the same for the best tree and for the sum over all trees; only how the
ways to split a span are gathered differs. Every split is a sum of two rows of the
chart, and each table is kept in the order in which it is read, so that the loops are
over neighbours. Words count from zero here, while in ``score[head, modifier]`` the root
is 0 and the first word 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise._jit import generic, kernel
from partwise.structures.interface import CodeArray, FloatArray
from partwise.structures.vectors import dot, exponentials, largest, sum_of

# The tables of a chart; one whose name ends in BY_END is transposed.
RIGHT, RIGHT_BY_END, LEFT, LEFT_BY_END, JOINED = range(5)
OPEN_RIGHT, OPEN_LEFT_BY_END = 5, 6
# Its rows.
FOREST, BEFORE, ROOTED = range(3)


class EisnerChart(NamedTuple):
    """Seven tables and three rows of a sentence, in two arrays.

    ``OPEN_RIGHT, s, t`` is `joined` with the arc from ``s`` to ``t`` and
    ``OPEN_LEFT_BY_END, t, s`` with the arc from ``t`` to ``s``. ``FOREST, t`` covers
    the first ``t`` words with trees that hang from the root, of which the last one has
    the head ``r`` in ``ROOTED, r``, still without its right half, and in ``BEFORE, r``
    without its arc.
    """

    tables: FloatArray
    rows: FloatArray


class Buffers(NamedTuple):
    """Room for the splits of one span, and the spans still to be taken apart."""

    sums: FloatArray
    shares: FloatArray
    spans: CodeArray


def make_eisner_chart(n_words: int) -> EisnerChart:
    """Make the tables for sentences of up to `n_words` words."""
    side = max(n_words, 1)
    return EisnerChart(np.zeros((7, side, side)), np.zeros((3, n_words + 1)))


def make_buffers(n_words: int) -> Buffers:
    """Make the scratch arrays for sentences of up to `n_words` words."""
    return Buffers(
        np.zeros(n_words + 1),
        np.zeros(n_words + 1),
        np.zeros((2 * n_words + 2, 3), np.int32),
    )


class Best(NamedTuple):
    """Of the ways to split a span, take the best."""


class Total(NamedTuple):
    """Of the ways to split a span, take the logarithm of the sum of all."""


class Products(NamedTuple):
    """Of the ways to split a span, take the sum; scores are factors, not logarithms."""


@generic
def nothing(how: Any) -> float:
    """Return the score of what cannot be."""
    raise NotImplementedError("nothing is required of every way to gather")


@generic
def unit(how: Any) -> float:
    """Return the score of what changes no other."""
    raise NotImplementedError("unit is required of every way to gather")


@generic
def joined_with(how: Any, score: float, other: float) -> float:
    """Return the score of two things at once."""
    raise NotImplementedError("joined_with is required of every way to gather")


@generic
def gather(how: Any, x: FloatArray, y: FloatArray, buffers: Buffers) -> float:
    """Gather the splits, each of which joins a score of `x` with one of `y`."""
    raise NotImplementedError("gather is required of every way to gather")


@nothing.implement(Best)
def _(how: Best) -> float:
    return -np.inf


@nothing.implement(Total)
def _(how: Total) -> float:
    return -np.inf


@nothing.implement(Products)
def _(how: Products) -> float:
    return 0.0


@unit.implement(Best)
def _(how: Best) -> float:
    return 0.0


@unit.implement(Total)
def _(how: Total) -> float:
    return 0.0


@unit.implement(Products)
def _(how: Products) -> float:
    return 1.0


@joined_with.implement(Best)
def _(how: Best, score: float, other: float) -> float:
    return score + other


@joined_with.implement(Total)
def _(how: Total, score: float, other: float) -> float:
    return score + other


@joined_with.implement(Products)
def _(how: Products, score: float, other: float) -> float:
    return score * other


@gather.implement(Products)
def _(how: Products, x: FloatArray, y: FloatArray, buffers: Buffers) -> float:
    return dot(x, y)


@gather.implement(Best)
def _(how: Best, x: FloatArray, y: FloatArray, buffers: Buffers) -> float:
    sums = buffers.sums[: x.size]
    for u in range(x.size):
        sums[u] = x[u] + y[u]
    return largest(sums)


@gather.implement(Total)
def _(how: Total, x: FloatArray, y: FloatArray, buffers: Buffers) -> float:
    sums, shares = buffers.sums[: x.size], buffers.shares[: x.size]
    for u in range(x.size):
        sums[u] = x[u] + y[u]
    top = largest(sums)
    if top == -np.inf:
        return top
    exponentials(sums, top, shares)
    return top + np.log(sum_of(shares))


@kernel
def fill_chart(
    how: Any, score: FloatArray, single_root: bool, chart: EisnerChart, buffers: Buffers
) -> float:
    """Gather all projective trees of a sentence by the scores of their arcs."""
    n = score.shape[0] - 1
    right, right_by_end = chart.tables[RIGHT], chart.tables[RIGHT_BY_END]
    left, left_by_end = chart.tables[LEFT], chart.tables[LEFT_BY_END]
    one = unit(how)
    for s in range(n):
        right[s, s] = right_by_end[s, s] = left[s, s] = left_by_end[s, s] = one
    for width in range(1, n):
        for s in range(n - width):
            t = s + width
            open_right = chart.tables[OPEN_RIGHT, s]
            open_left = chart.tables[OPEN_LEFT_BY_END, t]
            joined = gather(how, right[s, s:t], left_by_end[t, s + 1 : t + 1], buffers)
            chart.tables[JOINED, s, t] = joined
            open_right[t] = joined_with(how, joined, score[s + 1, t + 1])
            open_left[s] = joined_with(how, joined, score[t + 1, s + 1])
            right[s, t] = right_by_end[t, s] = gather(
                how, open_right[s + 1 : t + 1], right_by_end[t, s + 1 : t + 1], buffers
            )
            left[s, t] = left_by_end[t, s] = gather(
                how, left[s, s:t], open_left[s:t], buffers
            )
    return _hang_from_root(how, score, single_root, chart, buffers)


@kernel
def _hang_from_root(
    how: Any, score: FloatArray, single_root: bool, chart: EisnerChart, buffers: Buffers
) -> float:
    n = score.shape[0] - 1
    forest, rooted = chart.rows[FOREST], chart.rows[ROOTED]
    forest[0] = unit(how)
    for r in range(n):
        before = gather(
            how, forest[: r + 1], chart.tables[LEFT_BY_END, r, : r + 1], buffers
        )
        chart.rows[BEFORE, r] = before
        rooted[r] = joined_with(how, before, score[0, r + 1])
        if single_root and r + 1 < n:
            forest[r + 1] = nothing(how)
        else:
            forest[r + 1] = gather(
                how, rooted[: r + 1], chart.tables[RIGHT_BY_END, r, : r + 1], buffers
            )
    return forest[n]


@kernel
def _best_split(x: FloatArray, y: FloatArray) -> int:
    best = 0
    for u in range(1, x.size):
        if x[u] + y[u] > x[best] + y[best]:
            best = u
    return best


@kernel
def _push(spans: CodeArray, depth: int, kind: int, s: int, t: int) -> int:
    """Put a span on the stack, unless there is nothing in it to take apart."""
    if s == t:
        return depth
    spans[depth, 0] = kind
    spans[depth, 1] = s
    spans[depth, 2] = t
    return depth + 1


@kernel
def best_projective_tree(
    score: FloatArray,
    single_root: bool,
    heads: CodeArray,
    chart: EisnerChart,
    buffers: Buffers,
) -> float:
    """Write the heads of the best projective tree; return its score.

    Parameters
    ----------
    score : matrix
        ``score[head, modifier]`` with the root as 0; the diagonal and the first column
        do not matter, and an arc of score ``-inf`` is not allowed.
    single_root : bool
        Whether only one word may hang from the root.
    heads : array of int32
        ``heads[m - 1]`` becomes the head of word ``m``; untouched if there is no tree.
    chart, buffers
        Scratch arrays, as `make_eisner_chart` and `make_buffers` make them.
    """
    value = fill_chart(Best(), score, single_root, chart, buffers)
    if value == -np.inf:
        return value
    n = score.shape[0] - 1
    spans, depth = buffers.spans, 0
    # No back pointers were kept: looking for n splits costs less than storing n^2.
    end = n
    while end > 0:
        r = _best_split(
            chart.rows[ROOTED, :end], chart.tables[RIGHT_BY_END, end - 1, :end]
        )
        heads[r] = 0
        depth = _push(spans, depth, RIGHT, r, end - 1)
        end = _best_split(
            chart.rows[FOREST, : r + 1], chart.tables[LEFT_BY_END, r, : r + 1]
        )
        depth = _push(spans, depth, LEFT, end, r)
    while depth > 0:
        depth -= 1
        kind, s, t = spans[depth]
        if kind == RIGHT:
            u = s + 1
            u += _best_split(
                chart.tables[OPEN_RIGHT, s, s + 1 : t + 1],
                chart.tables[RIGHT_BY_END, t, s + 1 : t + 1],
            )
            heads[u] = s + 1
            depth = _push(spans, depth, JOINED, s, u)
            depth = _push(spans, depth, RIGHT, u, t)
        elif kind == LEFT:
            u = s + _best_split(
                chart.tables[LEFT, s, s:t], chart.tables[OPEN_LEFT_BY_END, t, s:t]
            )
            heads[u] = t + 1
            depth = _push(spans, depth, LEFT, s, u)
            depth = _push(spans, depth, JOINED, u, t)
        else:
            u = s + _best_split(
                chart.tables[RIGHT, s, s:t], chart.tables[LEFT_BY_END, t, s + 1 : t + 1]
            )
            depth = _push(spans, depth, RIGHT, s, u)
            depth = _push(spans, depth, LEFT, u + 1, t)
    return value
