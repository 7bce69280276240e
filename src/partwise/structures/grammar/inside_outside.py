"""Sums over all derivations: inside-outside with scaled probabilities.

Values of a span are scaled so that the largest is one, and the logarithm of the scale
is kept: no exponential is taken inside the cubic loops. That is exact as long as
nothing that can be reached falls below `TINY` of what is beside it; whenever something
does (scores more than a hundred apart), `inside_outside` says so, and the sentence is
done again with logarithms (`log_inside_outside`).

The way down hands out probabilities: that of a symbol over a span is shared out among
the rules and splits that may be below it, and so to its children.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.structures.grammar import places
from partwise.structures.grammar.allowed import is_open, rule_out
from partwise.structures.grammar.chart import (
    Chart,
    Parsing,
    PartScores,
    leave_empty,
    list_symbols,
)
from partwise.structures.grammar.rules import Grammar, RuleTable
from partwise.structures.interface import CodeArray, FloatArray
from partwise.structures.vectors import exponentials, fill, largest

TINY = 1e-50
"""Less than this of what is beside it is not safe."""
LEAST = 1e-150
"""What may come of a few such factors; a few more, and it would underflow."""
NEGLIGIBLE = 1e-30
"""Probabilities that are not handed down."""


class InsideSpace(NamedTuple):
    """Scratch arrays: scales of spans, exponentials, and probabilities of symbols."""

    log_scale: FloatArray
    split_top: FloatArray
    parent_top: FloatArray
    rule: FloatArray
    span: FloatArray
    split: FloatArray
    pair_share: FloatArray
    probability: FloatArray


def make_inside_space(longest: int, grammar: Grammar) -> InsideSpace:
    """Make the scratch arrays for sentences of up to `longest` words."""
    size = places.n_cells(longest)
    return InsideSpace(
        np.zeros(size),
        np.zeros(size),
        np.zeros(size),
        np.zeros(grammar.rules.parent.size),
        np.zeros(grammar.n_span_classes),
        np.zeros(longest),
        np.zeros(grammar.rules.pair_right.size),
        np.zeros((size, grammar.n_symbols)),
    )


@kernel
def _put_words(scores: PartScores, n: int, chart: Chart, space: InsideSpace) -> bool:
    """Fill the spans of one word; say whether that was safe."""
    at, safe = 0, True
    for t in range(n):
        cell = places.cell_at(n, t, t + 1)
        value = chart.value[cell]
        fill(value, value.size, 0.0)
        count = scores.symbol_ptr[t + 1] - scores.symbol_ptr[t]
        own = scores.word[at : at + count]
        top = largest(own)
        if top == -np.inf:
            return False
        for j in range(count):
            one = np.exp(own[j] - top)
            value[scores.symbol[scores.symbol_ptr[t] + j]] = one
            safe = safe and one >= TINY
        at += count
        space.log_scale[cell] = top
        list_symbols(chart, cell, 0.0)
    return safe


@kernel
def _weigh_splits(
    scores: PartScores, n: int, start: int, end: int, chart: Chart, space: InsideSpace
) -> tuple[float, bool]:
    """Write what multiplies the two parts of every split, the largest being one.

    Return the logarithm of their scale, and whether some are tiny.
    """
    splits = scores.split[places.first_split(n, start, end) :]
    top = -np.inf
    for m in range(start + 1, end):
        one, other = places.cell_at(n, start, m), places.cell_at(n, m, end)
        weight = -np.inf
        if chart.n_there[one] > 0 and chart.n_there[other] > 0:
            scale = space.log_scale[one] + space.log_scale[other]
            weight = splits[m - start - 1] + scale
        space.split[m - start - 1] = weight
        top = max(top, weight)
    any_tiny = False
    for j in range(end - start - 1):
        if space.split[j] > -np.inf:
            space.split[j] = np.exp(space.split[j] - top)
            any_tiny = any_tiny or space.split[j] < TINY
        else:
            space.split[j] = 0.0
    return top, any_tiny


@kernel
def _join(
    rules: RuleTable,
    there: CodeArray,
    left: FloatArray,
    right: FloatArray,
    split: float,
    out: FloatArray,
) -> None:
    """Add to pairs what the two parts of a split give."""
    for j in range(there.size):
        b = there[j]
        first, last = rules.pair_ptr[b], rules.pair_ptr[b + 1]
        pair_right, total = rules.pair_right[first:last], out[first:last]
        of_left = left[b] * split
        for p in range(total.size):
            total[p] += of_left * right[pair_right[p]]


@kernel
def _tiny_splits_are_safe(
    rules: RuleTable, n: int, start: int, end: int, chart: Chart, space: InsideSpace
) -> bool:
    """Say whether no pair is there by tiny splits alone, which might underflow."""
    for m in range(start + 1, end):
        if space.split[m - start - 1] >= TINY:
            continue
        one, right = places.cell_at(n, start, m), chart.value[places.cell_at(n, m, end)]
        for j in range(chart.n_there[one]):
            b = chart.there[one, j]
            for p in range(rules.pair_ptr[b], rules.pair_ptr[b + 1]):
                if right[rules.pair_right[p]] > 0.0 and chart.pair_value[p] < LEAST:
                    return False
    return True


@kernel
def _inside_span(
    parsing: Parsing, start: int, end: int, rule_top: float, space: InsideSpace
) -> bool:
    """Fill one span; say whether that was safe."""
    grammar, scores, n, chart = parsing
    rules, cell, pair = grammar.rules, places.cell_at(n, start, end), chart.pair_value
    value, phrase = chart.value[cell], places.phrase_at(n, start, end)
    leave_empty(chart, cell, 0.0)
    if not is_open(scores.allowed, phrase):
        return True
    split_top, any_tiny = _weigh_splits(scores, n, start, end, chart, space)
    if split_top == -np.inf:
        return True
    fill(pair, pair.size, 0.0)
    for m in range(start + 1, end):
        one, other = places.cell_at(n, start, m), places.cell_at(n, m, end)
        if chart.n_there[one] > 0 and chart.n_there[other] > 0:
            there, split = chart.there[one, : chart.n_there[one]], space.split
            left, right = chart.value[one], chart.value[other]
            _join(rules, there, left, right, split[m - start - 1], pair)
    if any_tiny and not _tiny_splits_are_safe(rules, n, start, end, chart, space):
        return False
    for p in range(pair.size):
        if pair[p] > 0.0:
            for r in range(rules.rule_ptr[p], rules.rule_ptr[p + 1]):
                value[rules.parent[r]] += pair[p] * space.rule[r]
    rule_out(scores.allowed, phrase, grammar.span_class, value, 0.0)
    list_symbols(chart, cell, 0.0)
    there = chart.there[cell, : chart.n_there[cell]]
    if there.size == 0:
        return True
    span = scores.span[phrase]
    span_top = largest(span)
    if span_top == -np.inf:  # ruled out, which logarithms can tell from tiny
        return False
    exponentials(span, span_top, space.span)
    top = 0.0
    for j in range(there.size):
        value[there[j]] *= space.span[grammar.span_class[there[j]]]
        top = max(top, value[there[j]])
    if top < LEAST:
        return False
    least = 1.0
    for j in range(there.size):
        value[there[j]] /= top
        least = min(least, value[there[j]])
    space.split_top[cell] = split_top
    space.parent_top[cell] = top
    space.log_scale[cell] = split_top + rule_top + span_top + np.log(top)
    return least >= TINY


@kernel
def inside(parsing: Parsing, space: InsideSpace) -> tuple[float, bool]:
    """Sum over all derivations of every span; return log Z and whether it is safe."""
    grammar, scores, n, chart = parsing
    rule_top = 0.0
    if scores.rule.size > 0:
        rule_top = largest(scores.rule)
        if rule_top == -np.inf:
            return 0.0, False
        exponentials(scores.rule, rule_top, space.rule)
        for r in range(space.rule.size):
            if space.rule[r] < TINY:
                return 0.0, False
    if not _put_words(scores, n, chart, space):
        return 0.0, False
    for width in range(2, n + 1):
        for start in range(n - width + 1):
            end = start + width
            if not _inside_span(parsing, start, end, rule_top, space):
                return 0.0, False
    cell = places.cell_at(n, 0, n)
    total = root_sum(grammar, chart.value[cell])
    return (np.log(total) + space.log_scale[cell] if total > 0.0 else -np.inf), True


@kernel
def root_sum(grammar: Grammar, value: FloatArray) -> float:
    """Return the sum of the values of root symbols."""
    total = 0.0
    for a in range(value.size):
        if grammar.is_root[a]:
            total += value[a]
    return total


@kernel
def _share_out(grammar: Grammar, cell: int, chart: Chart, space: InsideSpace) -> None:
    """Write what each pair below a span is worth to its parents."""
    rules, share = grammar.rules, space.pair_share
    value, probability = chart.value[cell], space.probability[cell]
    fill(share, share.size, 0.0)
    for j in range(chart.n_there[cell]):
        a = chart.there[cell, j]
        if probability[a] > NEGLIGIBLE:
            factor = _factor(grammar, a, probability[a], value[a], cell, space)
            for i in range(rules.parent_ptr[a], rules.parent_ptr[a + 1]):
                r = rules.of_parent[i]
                share[rules.pair[r]] += factor * space.rule[r]


@kernel
def _factor(
    grammar: Grammar,
    a: int,
    probability: float,
    value: float,
    cell: int,
    space: InsideSpace,
) -> float:
    """Return what turns a product of children's values into a probability."""
    span = space.span[grammar.span_class[a]]
    return probability * span / (value * space.parent_top[cell])


@kernel
def _hand_down(
    rules: RuleTable,
    there: CodeArray,
    left: FloatArray,
    right: FloatArray,
    split: float,
    share: FloatArray,
    pair: FloatArray,
    to_left: FloatArray,
    to_right: FloatArray,
) -> float:
    """Give a split's two parts their probabilities; return that of the split."""
    total = 0.0
    for j in range(there.size):
        b = there[j]
        first, last = rules.pair_ptr[b], rules.pair_ptr[b + 1]
        pair_right, own_share = rules.pair_right[first:last], share[first:last]
        own_pair = pair[first:last]
        of_left = left[b] * split
        given = 0.0
        for p in range(own_share.size):
            if own_share[p] > 0.0:
                c = pair_right[p]
                product = of_left * right[c]
                own_pair[p] += product
                one = own_share[p] * product
                to_right[c] += one
                given += one
        to_left[b] += given
        total += given
    return total


@kernel
def _outside_span(
    parsing: Parsing, start: int, end: int, mu: PartScores, space: InsideSpace
) -> None:
    """Hand the probabilities of a span down to its parts."""
    grammar, scores, n, chart = parsing
    rules, cell, pair = grammar.rules, places.cell_at(n, start, end), chart.pair_value
    span = scores.span[places.phrase_at(n, start, end)]
    exponentials(span, largest(span), space.span)
    _share_out(grammar, cell, chart, space)
    _weigh_splits(scores, n, start, end, chart, space)
    fill(pair, pair.size, 0.0)
    at = places.first_split(n, start, end)
    for m in range(start + 1, end):
        split = space.split[m - start - 1]
        if split > 0.0:
            one, other = places.cell_at(n, start, m), places.cell_at(n, m, end)
            mu.split[at + m - start - 1] = _hand_down(
                rules,
                chart.there[one, : chart.n_there[one]],
                chart.value[one],
                chart.value[other],
                split,
                space.pair_share,
                pair,
                space.probability[one],
                space.probability[other],
            )
    value, probability = chart.value[cell], space.probability[cell]
    for j in range(chart.n_there[cell]):
        a = chart.there[cell, j]
        if probability[a] > NEGLIGIBLE:
            factor = _factor(grammar, a, probability[a], value[a], cell, space)
            for i in range(rules.parent_ptr[a], rules.parent_ptr[a + 1]):
                r = rules.of_parent[i]
                mu.rule[r] += factor * space.rule[r] * pair[rules.pair[r]]


@kernel
def span_probability(cell: int, chart: Chart, probability: FloatArray) -> float:
    """Return the probability that a span is a constituent."""
    total = 0.0
    for j in range(chart.n_there[cell]):
        total += probability[chart.there[cell, j]]
    return total


@kernel
def outside(parsing: Parsing, mu: PartScores, space: InsideSpace) -> None:
    """Write the probabilities of all parts to `mu`, after `inside`; they were zero."""
    grammar, n, chart = parsing.grammar, parsing.n, parsing.chart
    root = places.cell_at(n, 0, n)
    whole = space.probability[: places.n_cells(n)].reshape(-1)
    fill(whole, whole.size, 0.0)
    total = root_sum(grammar, chart.value[root])
    for a in range(grammar.n_symbols):
        if grammar.is_root[a]:
            space.probability[root, a] = chart.value[root, a] / total
    for width in range(n, 1, -1):
        for start in range(n - width + 1):
            end = start + width
            cell = places.cell_at(n, start, end)
            probability = space.probability[cell]
            if span_probability(cell, chart, probability) > NEGLIGIBLE:
                _outside_span(parsing, start, end, mu, space)
    read_probabilities(grammar, n, space.probability, chart, mu)


@kernel
def read_probabilities(
    grammar: Grammar, n: int, probability: FloatArray, chart: Chart, mu: PartScores
) -> None:
    """Write the probabilities of words' symbols and of spans' classes to `mu`."""
    at = 0
    for t in range(n):
        own = probability[places.cell_at(n, t, t + 1)]
        for j in range(mu.symbol_ptr[t], mu.symbol_ptr[t + 1]):
            mu.word[at] = own[mu.symbol[j]]
            at += 1
    for width in range(2, n + 1):
        for start in range(n - width + 1):
            cell = places.cell_at(n, start, start + width)
            span = mu.span[places.phrase_at(n, start, start + width)]
            for j in range(chart.n_there[cell]):
                a = chart.there[cell, j]
                span[grammar.span_class[a]] += probability[cell, a]
