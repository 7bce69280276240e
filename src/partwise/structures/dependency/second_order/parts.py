"""The parts of trees of second order, their features and their costs.

In `theta` come the arcs, the label parts (a row of all labels at a time), the parts of
siblings and those of grandparents.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.delegation import hand_on
from partwise.structures.dependency import arcs as arc_features
from partwise.structures.dependency import labels
from partwise.structures.dependency.second_order.candidates import (
    SentenceArcs,
    arcs_of,
    covers,
    find_arc,
    inner_arc,
    last_part,
    n_inner,
    n_parents,
    parent_arc,
)
from partwise.structures.dependency.second_order.chart import Scores
from partwise.structures.dependency.second_order.corpus import (
    SecondOrderTrees,
    grandparent_of,
    is_last,
    sibling_of,
)
from partwise.structures.dependency.second_order.triples import (
    Triple,
    add_triple,
    grand_triple,
    prepare_triples,
    sibling_triple,
    triple_indices,
    triple_score,
)
from partwise.structures.interface import CodeArray, FloatArray, IntArray

hand_on(SecondOrderTrees, "first", waist.n_examples, waist.output_size)
hand_on(SecondOrderTrees, "first", waist.gold, waist.cost)


class PartBorders(NamedTuple):
    """Where the label parts, siblings and grandparents of a sentence begin."""

    labels: int
    siblings: int
    grand: int
    end: int


@kernel
def borders_of(s: SecondOrderTrees, i: int) -> PartBorders:
    """Return where the kinds of parts of sentence `i` begin."""
    found = s.arcs
    n_arcs = found.first[i + 1] - found.first[i]
    last = found.first[i + 1] + i
    siblings = (
        n_arcs + (s.rows.first[i + 1] - s.rows.first[i]) * s.first.labels.n_labels
    )
    grand = siblings + found.siblings[last]
    return PartBorders(n_arcs, siblings, grand, grand + found.grand[last])


@kernel
def part_views(s: SecondOrderTrees, i: int, values: FloatArray) -> Scores:
    """Cut what belongs to parts: arcs, siblings and grandparents."""
    at = borders_of(s, i)
    return Scores(
        values[: at.labels], values[at.siblings : at.grand], values[at.grand : at.end]
    )


@waist.n_weights.implement(SecondOrderTrees)
def _(s: SecondOrderTrees) -> int:
    return s.first.layout.n_weights + (1 << s.triples.bits)


@waist.n_parts.implement(SecondOrderTrees)
def _(s: SecondOrderTrees, i: int) -> int:
    return borders_of(s, i).end


@waist.n_deciding.implement(SecondOrderTrees)
def _(s: SecondOrderTrees, i: int) -> int:
    """Count the arcs, and the labels of modifiers, which have one head each."""
    n, count = s.first.ptr[i + 1] - s.first.ptr[i], 0
    rows = s.rows.row[s.rows.first[i] : s.rows.first[i + 1]]
    while count < rows.size and rows[count] < 2 * n:
        count += 1
    return borders_of(s, i).labels + count * s.first.labels.n_labels


@kernel
def _max_features(s: SecondOrderTrees) -> int:
    longest = 0
    for i in range(s.first.ptr.size - 1):
        longest = max(longest, s.first.ptr[i + 1] - s.first.ptr[i])
    one = arc_features.n_arc_features(s.first.arcs)
    one += labels.n_label_features(s.first.labels)
    one += 2 * (s.triples.templates.seed.size + s.triples.templates.n_siblings)
    return max(2 * longest * one, 1)


@waist.max_features.implement(SecondOrderTrees)
def _(s: SecondOrderTrees) -> int:
    return _max_features(s)


@waist.visit.implement(SecondOrderTrees)
def _(s: SecondOrderTrees, i: int, ws: Any) -> None:
    n = s.first.ptr[i + 1] - s.first.ptr[i]
    arc_features.prepare_arcs(s.first.arcs, i, n, ws.arcs)
    prepare_triples(s.triples, i, n, ws.triples)


@kernel
def _triple_of_siblings(
    s: SecondOrderTrees, arcs: SentenceArcs, b: int, rank: int
) -> Triple:
    h, m, sibling = arcs.head[b], arcs.modifier[b], 0
    if rank > n_inner(arcs, b):
        return sibling_triple(s.triples, arcs.n, h, m, 0)
    if rank > 0:
        sibling = arcs.modifier[inner_arc(arcs, b, rank)]
    return sibling_triple(s.triples, arcs.n, h, sibling, m)


@kernel
def _triple_of_grandparents(
    s: SecondOrderTrees, arcs: SentenceArcs, b: int, a: int
) -> Triple:
    return grand_triple(s.triples, arcs.head[a], arcs.head[b], arcs.modifier[b])


@kernel
def is_grand_part(arcs: SentenceArcs, b: int, a: int) -> bool:
    """Say whether arcs `a` to a head and `b` from it can be in one projective tree."""
    return a < arcs.n_arcs and not covers(arcs, a, arcs.modifier[b])


@kernel
def _arc_entries(
    s: SecondOrderTrees,
    i: int,
    arcs: SentenceArcs,
    b: int,
    idx: IntArray,
    val: FloatArray,
    ws: Any,
) -> int:
    """Write the features of arc `b`; return how many."""
    h, m = arcs.head[b], arcs.modifier[b]
    return arc_features.arc_entries(s.first.arcs, i, arcs.n, h, m, idx, val, ws.arcs)


@waist.part_scores.implement(SecondOrderTrees)
def _(s: SecondOrderTrees, i: int, w: FloatArray, theta: FloatArray, ws: Any) -> None:
    arcs, at, first = arcs_of(s.arcs, i), borders_of(s, i), s.first
    given, of_triples = part_views(s, i, theta), w[first.layout.n_weights :]
    arc_features.some_arc_scores(
        first.arcs,
        i,
        arcs.n,
        arcs.head,
        arcs.modifier,
        w,
        given.arc,
        ws.idx,
        ws.val,
        ws.arcs,
    )
    n_labels, of_labels = first.labels.n_labels, w[first.layout.label_at :]
    for r in range(s.rows.first[i + 1] - s.rows.first[i]):
        start = at.labels + r * n_labels
        row, out = s.rows.row[s.rows.first[i] + r], theta[start : start + n_labels]
        labels.score_row(first.labels, i, arcs.n, row, of_labels, out, ws.rows)
    for b in range(arcs.n_arcs):
        for rank in range(n_inner(arcs, b) + 2):
            given.siblings[arcs.siblings[b] + rank] = triple_score(
                s.triples, _triple_of_siblings(s, arcs, b, rank), of_triples, ws.triples
            )
        for number in range(n_parents(arcs, arcs.head[b])):
            a = parent_arc(arcs, arcs.head[b], number)
            given.grand[arcs.grand[b] + number] = 0.0
            if is_grand_part(arcs, b, a):
                given.grand[arcs.grand[b] + number] = triple_score(
                    s.triples,
                    _triple_of_grandparents(s, arcs, b, a),
                    of_triples,
                    ws.triples,
                )


@waist.add_parts.implement(SecondOrderTrees)
def _(
    s: SecondOrderTrees, i: int, mu: FloatArray, scale: float, w: FloatArray, ws: Any
) -> float:
    arcs, at, first = arcs_of(s.arcs, i), borders_of(s, i), s.first
    change = 0.0
    for b in range(arcs.n_arcs):
        if mu[b] == 0.0:
            continue
        found = _arc_entries(s, i, arcs, b, ws.idx, ws.val, ws)
        for j in range(found):
            old, step = w[ws.idx[j]], scale * mu[b] * ws.val[j]
            change += step * (2.0 * old + step)
            w[ws.idx[j]] = old + step
    n_labels, of_labels = first.labels.n_labels, w[first.layout.label_at :]
    for r in range(s.rows.first[i + 1] - s.rows.first[i]):
        start = at.labels + r * n_labels
        row, shares = s.rows.row[s.rows.first[i] + r], mu[start : start + n_labels]
        change += labels.add_row(
            first.labels, i, arcs.n, row, shares, scale, of_labels, ws.rows
        )
    counts, of_triples = part_views(s, i, mu), w[first.layout.n_weights :]
    for b in range(arcs.n_arcs):
        for rank in range(n_inner(arcs, b) + 2):
            count = counts.siblings[arcs.siblings[b] + rank]
            if count != 0.0:
                one = _triple_of_siblings(s, arcs, b, rank)
                change += add_triple(
                    s.triples, one, scale * count, of_triples, ws.triples
                )
        for number in range(n_parents(arcs, arcs.head[b])):
            a = parent_arc(arcs, arcs.head[b], number)
            count = counts.grand[arcs.grand[b] + number]
            if count != 0.0 and is_grand_part(arcs, b, a):
                one = _triple_of_grandparents(s, arcs, b, a)
                change += add_triple(
                    s.triples, one, scale * count, of_triples, ws.triples
                )
    return change


@waist.is_output.implement(SecondOrderTrees)
def _(s: SecondOrderTrees, i: int, y: CodeArray) -> bool:
    if not waist.is_output(s.first, i, y):
        return False
    arcs = arcs_of(s.arcs, i)
    for m in range(1, arcs.n + 1):
        if find_arc(arcs, y[m - 1], m) < 0:
            return False
    return True


@kernel
def rank_of(arcs: SentenceArcs, b: int, sibling: int) -> int:
    """Return the rank of the arc to an inner sibling of the word of arc `b`."""
    if sibling == 0:
        return 0
    rank = 1
    while arcs.modifier[inner_arc(arcs, b, rank)] != sibling:
        rank += 1
    return rank


@kernel
def parent_number(arcs: SentenceArcs, h: int, g: int) -> int:
    """Return the number of the arc from `g` among those to `h`."""
    number = 0
    while h > 0 and arcs.head[parent_arc(arcs, h, number)] != g:
        number += 1
    return number


@waist.parts_of.implement(SecondOrderTrees)
def _(
    s: SecondOrderTrees, i: int, y: CodeArray, ids: IntArray, counts: FloatArray
) -> int:
    arcs, at, n_labels = arcs_of(s.arcs, i), borders_of(s, i), s.first.labels.n_labels
    found = 0
    for m in range(1, arcs.n + 1):
        b = find_arc(arcs, y[m - 1], m)
        ids[found] = b
        found += 1
        for kind in range(3 if n_labels else 0):
            row = s.rows.of_arc[s.arcs.first[i] + b, kind]
            ids[found] = at.labels + row * n_labels + y[arcs.n + m - 1]
            found += 1
        rank = rank_of(arcs, b, sibling_of(y, m))
        ids[found] = at.siblings + arcs.siblings[b] + rank
        number = parent_number(arcs, y[m - 1], grandparent_of(y, m))
        ids[found + 1] = at.grand + arcs.grand[b] + number
        found += 2
    for m in range(1, arcs.n + 1):  # after all that every word has
        if is_last(y, arcs.n, m):
            b = find_arc(arcs, y[m - 1], m)
            ids[found] = at.siblings + last_part(arcs, b)
            found += 1
    counts[:found] = 1.0
    return found


class PlaceOfPart(NamedTuple):
    """The arc of a part of second order, and the number of the part among its own."""

    arc: int
    number: int


@kernel
def _place(begin: IntArray, n_arcs: int, part: int) -> PlaceOfPart:
    low, high = 0, n_arcs
    while high - low > 1:
        middle = (low + high) // 2
        if begin[middle] <= part:
            low = middle
        else:
            high = middle
    return PlaceOfPart(low, part - begin[low])


@waist.part_row.implement(SecondOrderTrees)
def _(
    s: SecondOrderTrees, i: int, r: int, idx: IntArray, val: FloatArray, ws: Any
) -> int:
    arcs, at, first = arcs_of(s.arcs, i), borders_of(s, i), s.first
    if r < at.labels:
        return _arc_entries(s, i, arcs, r, idx, val, ws)
    if r < at.siblings:
        n_labels = first.labels.n_labels
        row = s.rows.row[s.rows.first[i] + (r - at.labels) // n_labels]
        label = (r - at.labels) % n_labels
        found = labels.row_part_entries(first.labels, i, arcs.n, row, label, idx, val)
        for j in range(found):
            idx[j] += first.layout.label_at
        return found
    if r < at.grand:
        place = _place(arcs.siblings, arcs.n_arcs, r - at.siblings)
        one = _triple_of_siblings(s, arcs, place.arc, place.number)
    else:
        place = _place(arcs.grand, arcs.n_arcs, r - at.grand)
        a = parent_arc(arcs, arcs.head[place.arc], place.number)
        if not is_grand_part(arcs, place.arc, a):
            return 0
        one = _triple_of_grandparents(s, arcs, place.arc, a)
    return triple_entries(s, one, idx, val, ws)


@kernel
def triple_entries(
    s: SecondOrderTrees, one: Triple, idx: IntArray, val: FloatArray, ws: Any
) -> int:
    """Write the features of three words; return how many."""
    found = triple_indices(s.triples, one, idx, ws.triples)
    for j in range(found):
        idx[j] += s.first.layout.n_weights
        val[j] = 1.0
    return found


@waist.add_costs.implement(SecondOrderTrees)
def _(s: SecondOrderTrees, i: int, theta: FloatArray) -> None:
    arcs, at, first = arcs_of(s.arcs, i), borders_of(s, i), s.first
    n_labels, begin = first.labels.n_labels, first.ptr[i]
    for b in range(arcs.n_arcs):
        word = begin + arcs.modifier[b] - 1
        if arcs.head[b] != first.heads[word]:
            theta[b] += _weight(s, word) * first.layout.head_cost
    for r in range(s.rows.first[i + 1] - s.rows.first[i]):
        row = s.rows.row[s.rows.first[i] + r]
        if row < 2 * arcs.n:  # what the modifier says is part of every arc to it
            word = begin + row % arcs.n
            for k in range(n_labels):
                if k != first.word_labels[word]:
                    theta[at.labels + r * n_labels + k] += (
                        _weight(s, word) * first.layout.label_cost
                    )


@kernel
def _weight(s: SecondOrderTrees, word: int) -> float:
    return s.first.word_weight[word] if s.first.word_weight.size else 1.0
