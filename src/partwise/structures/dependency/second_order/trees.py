"""The best tree, and the probabilities of parts, from a chart that `inside` filled."""

from __future__ import annotations

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
from partwise.structures.dependency.second_order.chart import (
    Chart,
    Scores,
    between_options,
    complete_options,
    completes,
    incomplete_options,
    inside,
)
from partwise.structures.interface import CodeArray, FloatArray, IntArray

LARGEST = 1e308


@kernel
def best_second_order_tree(
    arcs: SentenceArcs,
    given: Scores,
    single_root: bool,
    heads: CodeArray,
    chart: Chart,
    waiting: IntArray,
) -> float:
    """Write the heads of the best tree; return its score, -inf if there is none.

    There is none, either, where scores are so large that sums of them overflow: the
    options of a chart cannot be told apart then. `waiting` has room for four numbers
    for every word and four more.
    """
    if _may_overflow(arcs, given):
        return -np.inf
    value = inside(arcs, given, single_root, False, chart)
    if value == -np.inf or arcs.n == 0:
        return value
    # Complete items whose arcs are to be found: the arc to the head, and the end.
    waiting[0], waiting[1] = arcs.n_arcs, arcs.n
    count = 2
    while count > 0:
        count -= 2
        a, e = waiting[count], waiting[count + 1]
        h = arcs.modifier[a] if a < arcs.n_arcs else 0
        if e == h:
            continue
        number = _number_of(arcs, a, h)
        options = complete_options(arcs, given, chart, number, h, e)
        b = _last_arc(arcs, h, e, vectors.place_of_largest(chart.row[:options]))
        waiting[count], waiting[count + 1] = b, e
        count += 2
        while b >= 0:
            m = arcs.modifier[b]
            heads[m - 1] = h
            one = single_root and h == 0
            options = incomplete_options(arcs, given, chart, number, b, one)
            rank = vectors.place_of_largest(chart.row[:options])
            s = inner_arc(arcs, b, rank) if rank else -1
            options = between_options(arcs, chart, b, s)
            far = vectors.place_of_largest(chart.row[:options])
            step = 1 if h < m else -1
            r = arcs.modifier[s] + far * step if s >= 0 else h
            waiting[count], waiting[count + 1] = b, r + step
            count += 2
            if s >= 0:
                waiting[count], waiting[count + 1] = s, r
                count += 2
            b = s
    return value


@kernel
def _may_overflow(arcs: SentenceArcs, given: Scores) -> bool:
    """Say whether some score is no number, or too large for sums over a tree."""
    most, n_bad = LARGEST / (3 * arcs.n + 3), 0
    for j in range(arcs.n_arcs):
        n_bad += not given.arc[j] <= most
    for j in range(arcs.siblings[arcs.n_arcs]):
        n_bad += not given.siblings[j] <= most
    for j in range(arcs.grand[arcs.n_arcs]):
        n_bad += not given.grand[j] <= most
    return n_bad > 0


@kernel
def _number_of(arcs: SentenceArcs, a: int, h: int) -> int:
    """Return the number of arc `a` among those to its word `h`."""
    number = 0
    while parent_arc(arcs, h, number) != a:
        number += 1
    return number


@kernel
def _last_arc(arcs: SentenceArcs, h: int, e: int, place: int) -> int:
    """Return which arc an option of a complete item stands for."""
    return arcs.right[h] + place if e > h else arcs.right[h] - 1 - place


@kernel
def second_order_marginals(
    arcs: SentenceArcs,
    given: Scores,
    single_root: bool,
    mu: Scores,
    chart: Chart,
    mass: Chart,
) -> float:
    """Write the expected count of every part; return ``log Z``.

    Every item hands its mass down to those that its options consist of, in proportion
    to the options: what `inside` did, the other way round.
    """
    n, n_arcs = arcs.n, arcs.n_arcs
    vectors.fill(mu.arc, n_arcs, 0.0)
    vectors.fill(mu.siblings, arcs.siblings[n_arcs], 0.0)
    vectors.fill(mu.grand, arcs.grand[n_arcs], 0.0)
    log_z = inside(arcs, given, single_root, True, chart)
    if log_z == -np.inf or n == 0:
        return log_z
    vectors.fill(mass.complete, (n_arcs + 1) * (n + 1), 0.0)
    vectors.fill(mass.incomplete, arcs.grand[n_arcs], 0.0)
    vectors.fill(mass.between, arcs.siblings[n_arcs], 0.0)
    completes(arcs, mass)[n_arcs, n] = 1.0
    left = n_arcs - 1
    for width in range(n, 0, -1):
        for h in range(n + 1):
            for number in range(n_parents(arcs, h)):
                a = parent_arc(arcs, h, number)
                for e in (h - width, h + width):
                    if 1 <= e <= n and not covers(arcs, a, e):
                        _hand_down_complete(
                            arcs, given, mu, chart, mass, a, number, h, e
                        )
        while left >= 0:
            b = arcs.by_length[left]
            if abs(arcs.head[b] - arcs.modifier[b]) < width:
                break
            _hand_down_arc(arcs, given, single_root, mu, chart, mass, b)
            left -= 1
    return log_z


@kernel
def _shares(chart: Chart, count: int) -> FloatArray:
    shares = chart.shares[:count]
    vectors.softmax(chart.row[:count], shares)
    return shares


@kernel
def _hand_down_complete(
    arcs: SentenceArcs,
    given: Scores,
    mu: Scores,
    chart: Chart,
    mass: Chart,
    a: int,
    number: int,
    h: int,
    e: int,
) -> None:
    of_completes = completes(arcs, mass)
    whole = of_completes[a, e]
    if whole == 0.0:
        return
    shares = _shares(chart, complete_options(arcs, given, chart, number, h, e))
    for j in range(shares.size):
        b = _last_arc(arcs, h, e, j)
        mass.incomplete[arcs.grand[b] + number] += whole * shares[j]
        of_completes[b, e] += whole * shares[j]
        mu.siblings[last_part(arcs, b)] += whole * shares[j]


@kernel
def _hand_down_arc(
    arcs: SentenceArcs,
    given: Scores,
    single_root: bool,
    mu: Scores,
    chart: Chart,
    mass: Chart,
    b: int,
) -> None:
    """Hand down the masses of all items that end with arc `b`: these are its parts."""
    h, m, at = arcs.head[b], arcs.modifier[b], arcs.siblings[b]
    for number in range(n_parents(arcs, h)):
        whole = mass.incomplete[arcs.grand[b] + number]
        if whole == 0.0:
            continue
        mu.grand[arcs.grand[b] + number] = whole
        mu.arc[b] += whole
        one = single_root and h == 0
        shares = _shares(chart, incomplete_options(arcs, given, chart, number, b, one))
        for rank in range(shares.size):
            mass.between[at + rank] += whole * shares[rank]
            if rank > 0:
                s = inner_arc(arcs, b, rank)
                mass.incomplete[arcs.grand[s] + number] += whole * shares[rank]
    of_completes, step = completes(arcs, mass), 1 if h < m else -1
    for rank in range(n_inner(arcs, b) + 1):
        whole = mass.between[at + rank]
        if whole == 0.0:
            continue
        mu.siblings[at + rank] = whole
        if rank == 0:
            of_completes[b, h + step] += whole
            continue
        s = inner_arc(arcs, b, rank)
        shares = _shares(chart, between_options(arcs, chart, b, s))
        for j in range(shares.size):
            r = arcs.modifier[s] + j * step
            of_completes[s, r] += whole * shares[j]
            of_completes[b, r + step] += whole * shares[j]
