"""Sums over all derivations with logarithms: slower, and safe for any finite scores."""

from __future__ import annotations

import numpy as np

from partwise._jit import kernel
from partwise.structures.grammar import chart as charts
from partwise.structures.grammar import places
from partwise.structures.grammar.allowed import is_open, rule_out
from partwise.structures.grammar.applications import find_application
from partwise.structures.grammar.chart import Parsing, PartScores
from partwise.structures.grammar.inside_outside import (
    NEGLIGIBLE,
    read_probabilities,
    span_probability,
)
from partwise.structures.grammar.rules import Grammar
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.random_numbers import next_uniform
from partwise.structures.vectors import fill

FAR = -70.0
"""What is this far below the largest does not change a sum."""


@kernel
def _add_to_best(
    parsing: Parsing,
    start: int,
    m: int,
    end: int,
    best: FloatArray,
    out: FloatArray,
) -> None:
    """Add to pairs what a split gives, relative to the best of each pair."""
    grammar, scores, n, chart = parsing
    one, other = places.cell_at(n, start, m), places.cell_at(n, m, end)
    if chart.n_there[other] == 0:
        return
    rules, at = grammar.rules, places.split_at(n, start, m, end)
    left, right, own = chart.value[one], chart.value[other], chart.own
    if scores.application.size > 0:
        charts.spread_own(scores, at, 1.0, own)
    for j in range(chart.n_there[one]):
        b = chart.there[one, j]
        for p in range(rules.pair_ptr[b], rules.pair_ptr[b + 1]):
            value = (left[b] + right[rules.pair_right[p]]) + scores.split[at] + own[p]
            # Not above it: next to a huge number FAR is nothing.
            if value > -np.inf and value >= best[p] + FAR:
                out[p] += np.exp(value - best[p])
    if scores.application.size > 0:
        charts.spread_own(scores, at, 0.0, own)


@kernel
def _sum_parents(
    grammar: Grammar,
    scores: PartScores,
    best: FloatArray,
    total: FloatArray,
    top: FloatArray,
    out: FloatArray,
) -> None:
    """Write the sums of parents, from those of pairs, ``total * exp(best)``."""
    rules = grammar.rules
    for p in range(best.size):
        if best[p] > -np.inf:
            best[p] += np.log(total[p])
            for r in range(rules.rule_ptr[p], rules.rule_ptr[p + 1]):
                a = rules.parent[r]
                top[a] = max(top[a], best[p] + scores.rule[r])
    for p in range(best.size):
        if best[p] > -np.inf:
            for r in range(rules.rule_ptr[p], rules.rule_ptr[p + 1]):
                a = rules.parent[r]
                if top[a] > -np.inf:  # its rules may all be ruled out
                    out[a] += np.exp(best[p] + scores.rule[r] - top[a])


@kernel
def log_inside(
    parsing: Parsing, pair_total: FloatArray, parent_top: FloatArray
) -> float:
    """Fill the chart with logarithms of sums; return log Z.

    `pair_total` and the rows of `parent_top` are scratch.
    """
    grammar, scores, n, chart = parsing
    charts.put_words(scores, n, -np.inf, chart)
    best = chart.pair_value
    for width in range(2, n + 1):
        for start in range(n - width + 1):
            end = start + width
            cell, phrase = (
                places.cell_at(n, start, end),
                places.phrase_at(n, start, end),
            )
            if not is_open(scores.allowed, phrase):
                charts.leave_empty(chart, cell, -np.inf)
                continue
            fill(best, best.size, -np.inf)
            fill(pair_total, pair_total.size, 0.0)
            for m in range(start + 1, end):
                charts.join_best_split(parsing, start, m, end, best)
            for m in range(start + 1, end):
                _add_to_best(parsing, start, m, end, best, pair_total)
            value, top = chart.value[cell], parent_top[cell]
            fill(value, value.size, 0.0)
            fill(top, top.size, -np.inf)
            _sum_parents(grammar, scores, best, pair_total, top, value)
            rule_out(scores.allowed, phrase, grammar.span_class, top, -np.inf)
            span = scores.span[phrase]
            for a in range(value.size):
                if top[a] > -np.inf:
                    value[a] = top[a] + np.log(value[a]) + span[grammar.span_class[a]]
                else:
                    value[a] = -np.inf
            charts.list_symbols(chart, cell, -np.inf)
    return _log_root_sum(grammar, chart.value[places.cell_at(n, 0, n)])


@kernel
def _log_root_sum(grammar: Grammar, value: FloatArray) -> float:
    top, total = -np.inf, 0.0
    for a in range(value.size):
        if grammar.is_root[a]:
            top = max(top, value[a])
    if top == -np.inf:
        return top
    for a in range(value.size):
        if grammar.is_root[a] and value[a] > -np.inf:
            total += np.exp(value[a] - top)
    return top + np.log(total)


@kernel
def _outside_span(
    parsing: Parsing, start: int, end: int, mu: PartScores, probability: FloatArray
) -> None:
    """Hand the probabilities of a span down to its parts."""
    grammar, n, chart = parsing.grammar, parsing.n, parsing.chart
    rules, cell = grammar.rules, places.cell_at(n, start, end)
    at = places.first_split(n, start, end)
    for j in range(chart.n_there[cell]):
        a = chart.there[cell, j]
        if probability[cell, a] <= NEGLIGIBLE:
            continue
        # What would hand down less than is negligible needs no exponential.
        least = chart.value[cell, a] + np.log(NEGLIGIBLE / probability[cell, a])
        for i in range(rules.parent_ptr[a], rules.parent_ptr[a + 1]):
            r = rules.of_parent[i]
            for m in range(start + 1, end):
                value = charts.application_score(parsing, r, start, m, end)
                if value >= least:  # they are equal where the score is huge
                    share = np.exp(value - chart.value[cell, a]) * probability[cell, a]
                    probability[places.cell_at(n, start, m), rules.left[r]] += share
                    probability[places.cell_at(n, m, end), rules.right[r]] += share
                    mu.rule[r] += share
                    mu.split[at + m - start - 1] += share
                    number = find_application(
                        mu.application_ptr, mu.application_rule, at + m - start - 1, r
                    )
                    if number >= 0:
                        mu.application[number - mu.application_ptr[0]] += share


@kernel
def log_outside(
    parsing: Parsing, log_z: float, mu: PartScores, probability: FloatArray
) -> None:
    """Write the probabilities of all parts to `mu`, after `log_inside`; they were zero.

    `probability` is scratch, a row for every span.
    """
    grammar, n, chart = parsing.grammar, parsing.n, parsing.chart
    root = places.cell_at(n, 0, n)
    whole = probability[: places.n_cells(n)].reshape(-1)
    fill(whole, whole.size, 0.0)
    for a in range(grammar.n_symbols):
        if grammar.is_root[a] and chart.value[root, a] > -np.inf:
            probability[root, a] = np.exp(chart.value[root, a] - log_z)
    for width in range(n, 1, -1):
        for start in range(n - width + 1):
            end = start + width
            cell = places.cell_at(n, start, end)
            if span_probability(cell, chart, probability[cell]) > NEGLIGIBLE:
                _outside_span(parsing, start, end, mu, probability)
    read_probabilities(grammar, n, probability, chart, mu)


@kernel
def draw_derivation(
    parsing: Parsing, log_z: float, y: CodeArray, state: IntArray
) -> None:
    """Draw a derivation, after `log_inside`.

    From the root down: a rule and a split for every symbol, in proportion to the sum
    over the derivations that begin with them.
    """
    grammar, n, chart = parsing.grammar, parsing.n, parsing.chart
    rules, todo = grammar.rules, chart.todo
    top, left = chart.value[places.cell_at(n, 0, n)], next_uniform(state)
    root = -1
    for a in range(top.size):
        if grammar.is_root[a] and top[a] > -np.inf and left >= 0.0:
            root = a
            left -= np.exp(top[a] - log_z)
    depth = charts.push(todo, 0, root, 0, n)
    while depth > 0:
        depth -= 1
        a, start, end = todo[depth, 0], todo[depth, 1], todo[depth, 2]
        if end == start + 1:
            y[3 * (n - 1) + start] = a
            continue
        whole, left = chart.value[places.cell_at(n, start, end), a], next_uniform(state)
        chosen, split = -1, -1
        for i in range(rules.parent_ptr[a], rules.parent_ptr[a + 1]):
            r = rules.of_parent[i]
            for m in range(start + 1, end):
                value = charts.application_score(parsing, r, start, m, end)
                if value > -np.inf and left >= 0.0:
                    chosen, split = r, m
                    left -= np.exp(value - whole)
        charts.write_node(y, n, start, split, end, chosen)
        depth = charts.push(todo, depth, rules.left[chosen], start, split)
        depth = charts.push(todo, depth, rules.right[chosen], split, end)
