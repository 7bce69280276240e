"""Trees of second order: the chart, and the options that every item of it has.

Half a tree is an item (Koo and Collins, 2010, model 1, which extends the algorithms of
Eisner, McDonald and Carreras), and items know the arc to their head:

- ``complete[a, e]``: what is below the word of arc `a` on one side, up to word `e`;
- ``incomplete[g]``: two arcs, `a` to a word and `b` from it, and all that is between
  the ends of `b`, where `g` is the part of grandparents that they are;
- ``between[s]``: what is between two siblings, or between a head and its nearest word,
  where `s` is that part of siblings.

Only arcs that survived pruning have items, so that a chart is as small as their number.
The best tree, the sum over all trees and the probabilities of parts ask for the same
options in the same order, and take the best, add up, or hand down.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.structures import vectors
from partwise.structures.dependency.second_order.candidates import (
    SentenceArcs,
    covers,
    inner_arc,
    last_part,
    n_inner,
    n_parents,
    parent_arc,
)
from partwise.structures.interface import FloatArray


class Scores(NamedTuple):
    """Scores, or expected counts, of the arcs and of the parts of second order."""

    arc: FloatArray
    siblings: FloatArray
    grand: FloatArray


class Chart(NamedTuple):
    """Scores, or masses, of all items; `row` and `shares` hold one item's options."""

    complete: FloatArray
    incomplete: FloatArray
    between: FloatArray
    row: FloatArray
    shares: FloatArray


def make_chart(n_words: int, n_arcs: int, n_siblings: int, n_grand: int) -> Chart:
    """Make a chart with room for so many words, arcs and parts of second order."""
    return Chart(
        np.zeros((n_arcs + 1) * (n_words + 1)),
        np.zeros(n_grand),
        np.zeros(n_siblings),
        np.zeros(n_arcs + n_words + 1),
        np.zeros(n_arcs + n_words + 1),
    )


@kernel
def completes(arcs: SentenceArcs, chart: Chart) -> FloatArray:
    """View the complete items as a matrix of arcs and ends."""
    n_rows, side = arcs.n_arcs + 1, arcs.n + 1
    return chart.complete[: n_rows * side].reshape(n_rows, side)


@kernel
def between_options(arcs: SentenceArcs, chart: Chart, b: int, s: int) -> int:
    """Write how arc `b` and its inner sibling `s` meet: at every word between.

    The words are in the order from the sibling to the word of `b`. Without a sibling
    (-1) there is one option: all up to the head is below the word.
    """
    complete, row = completes(arcs, chart), chart.row
    h, m = arcs.head[b], arcs.modifier[b]
    step = 1 if h < m else -1
    if s < 0:
        row[0] = complete[b, h + step]
        return 1
    start = arcs.modifier[s]
    first, count = start if step > 0 else m + 1, abs(m - start)
    one, other = complete[s, first : first + count], complete[b, first + step :]
    for j in range(count):
        row[j if step > 0 else count - 1 - j] = one[j] + other[j]
    return count


@kernel
def incomplete_options(
    arcs: SentenceArcs, given: Scores, chart: Chart, a_number: int, b: int, one: bool
) -> int:
    """Write which sibling is next to arc `b`, below the arc `a_number` to its head.

    With `one`, there is none.
    """
    row, at = chart.row, arcs.siblings[b]
    row[0] = chart.between[at] + given.siblings[at]
    count = 0 if one else n_inner(arcs, b)
    for rank in range(1, count + 1):
        s = inner_arc(arcs, b, rank)
        row[rank] = (
            chart.incomplete[arcs.grand[s] + a_number]
            + chart.between[at + rank]
            + given.siblings[at + rank]
        )
    return count + 1


@kernel
def complete_options(
    arcs: SentenceArcs, given: Scores, chart: Chart, a_number: int, h: int, e: int
) -> int:
    """Write which arc from word `h` towards `e` is the last one."""
    complete, row = completes(arcs, chart), chart.row
    first = arcs.right[h] if e > h else arcs.right[h] - 1
    step = 1 if e > h else -1
    count, b = 0, first
    while arcs.below[h] <= b < arcs.below[h + 1] and _reaches(arcs, b, h, e):
        row[count] = (
            chart.incomplete[arcs.grand[b] + a_number]
            + complete[b, e]
            + given.siblings[last_part(arcs, b)]
        )
        count += 1
        b += step
    return count


@kernel
def _reaches(arcs: SentenceArcs, b: int, h: int, e: int) -> bool:
    """Say whether the word of arc `b`, from `h`, lies between `h` and `e`."""
    m = arcs.modifier[b]
    return h < m <= e if e > h else e <= m < h


@kernel
def _has_arc_towards(arcs: SentenceArcs, h: int, e: int) -> bool:
    """Say whether an arc from `h` has its word between `h` and `e`: the nearest one."""
    b = arcs.right[h] if e > h else arcs.right[h] - 1
    return arcs.below[h] <= b < arcs.below[h + 1] and _reaches(arcs, b, h, e)


@kernel
def _log_sum(chart: Chart, count: int) -> float:
    """Return the logarithm of the sum of some options."""
    return vectors.log_sum(chart.row[:count], chart.shares)


@kernel
def _raise(best: FloatArray, values: FloatArray, more: float) -> None:
    """Do ``best = max(best, values + more)``."""
    for j in range(best.size):
        value = values[j] + more
        best[j] = value if value > best[j] else best[j]


@kernel
def _fill_completes(
    arcs: SentenceArcs, given: Scores, summed: bool, h: int, e: int, chart: Chart
) -> None:
    """Fill the complete items from word `h` to `e`, below each arc to the word.

    The best options are found for all these arcs together.
    """
    complete, count = completes(arcs, chart), n_parents(arcs, h)
    best = chart.shares[:count]
    if not summed:
        vectors.fill(best, count, -np.inf)
        b, step = (arcs.right[h], 1) if e > h else (arcs.right[h] - 1, -1)
        while arcs.below[h] <= b < arcs.below[h + 1] and _reaches(arcs, b, h, e):
            more = complete[b, e] + given.siblings[last_part(arcs, b)]
            at = arcs.grand[b]
            _raise(best, chart.incomplete[at : at + count], more)
            b += step
    for number in range(count):
        a = parent_arc(arcs, h, number)
        if covers(arcs, a, e):
            continue
        if summed:
            n_options = complete_options(arcs, given, chart, number, h, e)
            complete[a, e] = _log_sum(chart, n_options)
        else:
            complete[a, e] = best[number]


@kernel
def _fill_incompletes(
    arcs: SentenceArcs, given: Scores, summed: bool, one: bool, b: int, chart: Chart
) -> None:
    """Fill the incomplete items that end with arc `b`, below each arc to its head."""
    h, m = arcs.head[b], arcs.modifier[b]
    count, at = n_parents(arcs, h), arcs.siblings[b]
    best = chart.shares[:count]
    if not summed:
        vectors.fill(best, count, chart.between[at] + given.siblings[at])
        for rank in range(1, 1 if one else n_inner(arcs, b) + 1):
            begin = arcs.grand[inner_arc(arcs, b, rank)]
            more = chart.between[at + rank] + given.siblings[at + rank]
            _raise(best, chart.incomplete[begin : begin + count], more)
    for number in range(count):
        value, part = -np.inf, arcs.grand[b] + number
        if not covers(arcs, parent_arc(arcs, h, number), m):
            value = given.arc[b] + given.grand[part]
            if summed:
                n_options = incomplete_options(arcs, given, chart, number, b, one)
                value += _log_sum(chart, n_options)
            else:
                value += best[number]
        chart.incomplete[part] = value


@kernel
def inside(
    arcs: SentenceArcs, given: Scores, single_root: bool, summed: bool, chart: Chart
) -> float:
    """Fill the chart; return the score of the best tree, or ``log Z`` if `summed`."""
    n, complete = arcs.n, completes(arcs, chart)
    vectors.fill(chart.complete, complete.size, -np.inf)
    for a in range(arcs.n_arcs):
        complete[a, arcs.modifier[a]] = 0.0
    complete[arcs.n_arcs, 0] = 0.0
    done = 0
    for width in range(1, n + 1):
        while done < arcs.n_arcs:
            b = arcs.by_length[done]
            if abs(arcs.head[b] - arcs.modifier[b]) > width:
                break
            _reach(arcs, given, single_root, summed, b, chart)
            done += 1
        for h in range(n + 1):
            for e in (h - width, h + width):
                if 1 <= e <= n and _has_arc_towards(arcs, h, e):
                    _fill_completes(arcs, given, summed, h, e, chart)
    return complete[arcs.n_arcs, n]


@kernel
def _reach(
    arcs: SentenceArcs,
    given: Scores,
    single_root: bool,
    summed: bool,
    b: int,
    chart: Chart,
) -> None:
    """Fill all items that end with arc `b`."""
    for rank in range(n_inner(arcs, b) + 1):
        s = inner_arc(arcs, b, rank) if rank else -1
        count = between_options(arcs, chart, b, s)
        chart.between[arcs.siblings[b] + rank] = (
            _log_sum(chart, count) if summed else vectors.largest(chart.row[:count])
        )
    one = single_root and arcs.head[b] == 0
    _fill_incompletes(arcs, given, summed, one, b, chart)
