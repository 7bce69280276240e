"""The chart of a sentence, and the best derivation (Cocke, Kasami and Younger).

For every span and symbol the chart holds the best score, or the sum over all
derivations. A span is filled from its splits: first what every pair of children is
worth, then, once for the whole span, what that gives their parents. So the cubic part
goes over pairs, of which there are fewer than rules, and only over those whose left
child is there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.structures.grammar.allowed import AllowedPhrases, is_open, rule_out
from partwise.structures.grammar.applications import find_application
from partwise.structures.grammar.places import cell_at, n_cells, phrase_at, split_at
from partwise.structures.grammar.rules import Grammar, RuleTable
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.vectors import fill


class Chart(NamedTuple):
    """Scratch arrays of one thread.

    A row of `value` for every span, a column for every symbol; `there` lists the
    symbols of a span, the first ``n_there`` of its row. `own` holds what the pairs of
    one split score on their own, and zeros in between.
    """

    value: FloatArray
    there: CodeArray
    n_there: IntArray
    pair_value: FloatArray
    own: FloatArray
    todo: IntArray


class PartScores(NamedTuple):
    """The scores of a sentence's parts, and what its words and phrases may be.

    The rule applications that are listed at split `p` have the rules
    ``application_rule[application_ptr[p]:application_ptr[p + 1]]``; the first of the
    sentence has the first number of `application`.
    """

    rule: FloatArray
    word: FloatArray
    span: FloatArray
    split: FloatArray
    application: FloatArray
    symbol_ptr: IntArray
    symbol: CodeArray
    application_ptr: IntArray
    application_rule: IntArray
    allowed: AllowedPhrases


class Parsing(NamedTuple):
    """What a sentence of `n` words is parsed with, and where."""

    grammar: Grammar
    scores: PartScores
    n: int
    chart: Chart


def make_chart(longest: int, grammar: Grammar) -> Chart:
    """Make the scratch arrays for sentences of up to `longest` words."""
    size = n_cells(longest)
    return Chart(
        np.zeros((size, grammar.n_symbols)),
        np.zeros((size, grammar.n_symbols), np.int32),
        np.zeros(size, np.int64),
        np.zeros(grammar.rules.pair_right.size),
        np.zeros(grammar.rules.pair_right.size),
        np.zeros((longest + 1, 4), np.int64),
    )


@kernel
def list_symbols(chart: Chart, cell: int, nothing: float) -> None:
    """List the symbols of a span: those whose value is more than `nothing`."""
    value, there = chart.value[cell], chart.there[cell]
    found = 0
    for a in range(value.size):
        if value[a] > nothing:
            there[found] = a
            found += 1
    chart.n_there[cell] = found


@kernel
def leave_empty(chart: Chart, cell: int, nothing: float) -> None:
    """Give a span no symbols."""
    value = chart.value[cell]
    fill(value, value.size, nothing)
    chart.n_there[cell] = 0


@kernel
def put_words(scores: PartScores, n: int, nothing: float, chart: Chart) -> None:
    """Fill the spans of one word with the scores of their symbols."""
    at = 0
    for t in range(n):
        cell = cell_at(n, t, t + 1)
        value = chart.value[cell]
        fill(value, value.size, nothing)
        for j in range(scores.symbol_ptr[t], scores.symbol_ptr[t + 1]):
            value[scores.symbol[j]] = scores.word[at]
            at += 1
        list_symbols(chart, cell, nothing)


@kernel
def join_best(
    rules: RuleTable,
    there: CodeArray,
    left: FloatArray,
    right: FloatArray,
    split: float,
    out: FloatArray,
) -> None:
    """Raise the values of pairs to what the two parts of a split give."""
    for j in range(there.size):
        b = there[j]
        first, last = rules.pair_ptr[b], rules.pair_ptr[b + 1]
        pair_right, best = rules.pair_right[first:last], out[first:last]
        of_left = left[b]
        for p in range(best.size):
            value = (of_left + right[pair_right[p]]) + split
            if value > best[p]:
                best[p] = value


@kernel
def spread_own(scores: PartScores, split: int, factor: float, own: FloatArray) -> None:
    """Write the scores of the applications listed at a split to `own`, by their rules.

    Where some are, every rule is a pair of its own. A `factor` of zero clears them.
    """
    first = scores.application_ptr[0]
    for j in range(scores.application_ptr[split], scores.application_ptr[split + 1]):
        score = scores.application[j - first] if factor != 0.0 else 0.0
        own[scores.application_rule[j]] = factor * score


@kernel
def join_best_own(
    rules: RuleTable,
    there: CodeArray,
    left: FloatArray,
    right: FloatArray,
    split: float,
    own: FloatArray,
    out: FloatArray,
) -> None:
    """Do what `join_best` does, with scores of their own for pairs."""
    for j in range(there.size):
        b = there[j]
        for p in range(rules.pair_ptr[b], rules.pair_ptr[b + 1]):
            value = ((left[b] + right[rules.pair_right[p]]) + split) + own[p]
            if value > out[p]:
                out[p] = value


@kernel
def join_best_split(
    parsing: Parsing, start: int, m: int, end: int, out: FloatArray
) -> None:
    """Raise the values of pairs to what a split gives."""
    grammar, scores, n, chart = parsing
    one, other = cell_at(n, start, m), cell_at(n, m, end)
    if chart.n_there[other] == 0:
        return
    there, at = chart.there[one, : chart.n_there[one]], split_at(n, start, m, end)
    left, right, split = chart.value[one], chart.value[other], scores.split[at]
    if scores.application.size == 0:
        join_best(grammar.rules, there, left, right, split, out)
        return
    spread_own(scores, at, 1.0, chart.own)
    join_best_own(grammar.rules, there, left, right, split, chart.own, out)
    spread_own(scores, at, 0.0, chart.own)


@kernel
def _best_parents(
    rules: RuleTable, rule: FloatArray, pair: FloatArray, out: Any
) -> None:
    """Raise the values of parents to what pairs of children give."""
    for p in range(pair.size):
        if pair[p] > -np.inf:
            for r in range(rules.rule_ptr[p], rules.rule_ptr[p + 1]):
                value = pair[p] + rule[r]
                if value > out[rules.parent[r]]:
                    out[rules.parent[r]] = value


@kernel
def fill_best(parsing: Parsing) -> None:
    """Find the score of the best derivation of every span and symbol."""
    grammar, scores, n, chart = parsing
    put_words(scores, n, -np.inf, chart)
    pair = chart.pair_value
    for width in range(2, n + 1):
        for start in range(n - width + 1):
            end = start + width
            cell, phrase = cell_at(n, start, end), phrase_at(n, start, end)
            leave_empty(chart, cell, -np.inf)
            if not is_open(scores.allowed, phrase):
                continue
            fill(pair, pair.size, -np.inf)
            for m in range(start + 1, end):
                join_best_split(parsing, start, m, end, pair)
            value, span = chart.value[cell], scores.span[phrase]
            _best_parents(grammar.rules, scores.rule, pair, value)
            rule_out(scores.allowed, phrase, grammar.span_class, value, -np.inf)
            for a in range(value.size):
                if value[a] > -np.inf:
                    value[a] += span[grammar.span_class[a]]
            list_symbols(chart, cell, -np.inf)


@kernel
def best_root(grammar: Grammar, n: int, value: FloatArray) -> int:
    """Return the root symbol of the best derivation, or -1 if there is none."""
    whole = value[cell_at(n, 0, n)]
    best = -1
    for a in range(whole.size):
        if grammar.is_root[a] and whole[a] > -np.inf:
            if best < 0 or whole[a] > whole[best]:
                best = a
    return best


@kernel
def joined_score(
    parsing: Parsing,
    r: int,
    start: int,
    m: int,
    end: int,
    left: float,
    right: float,
) -> float:
    """Return the score of a span by rule `r` and split `m`, given those of its parts.

    In the order of `fill_best`, so that the two agree to the last bit.
    """
    grammar, scores, n, _ = parsing
    at = split_at(n, start, m, end)
    score = (left + right) + scores.split[at]
    number = find_application(scores.application_ptr, scores.application_rule, at, r)
    if number >= 0:
        score += scores.application[number - scores.application_ptr[0]]
    of_class = grammar.span_class[grammar.rules.parent[r]]
    return (score + scores.rule[r]) + scores.span[phrase_at(n, start, end), of_class]


@kernel
def application_score(parsing: Parsing, r: int, start: int, m: int, end: int) -> float:
    """Return the best score of a span whose rule is `r` and whose split is `m`."""
    rules, n, value = parsing.grammar.rules, parsing.n, parsing.chart.value
    left = value[cell_at(n, start, m), rules.left[r]]
    right = value[cell_at(n, m, end), rules.right[r]]
    return joined_score(parsing, r, start, m, end, left, right)


@kernel
def write_node(y: CodeArray, n: int, start: int, m: int, end: int, r: int) -> None:
    """Write into an output which rule splits at `m`, and its span."""
    y[m - 1] = r
    y[n - 1 + m - 1] = start
    y[2 * (n - 1) + m - 1] = end


@kernel
def push(todo: IntArray, depth: int, symbol: int, start: int, end: int) -> int:
    """Put a symbol over a span on the stack of what is still to be taken apart."""
    todo[depth, 0] = symbol
    todo[depth, 1] = start
    todo[depth, 2] = end
    return depth + 1


@kernel
def read_best(
    parsing: Parsing, symbol: int, start: int, end: int, y: CodeArray
) -> None:
    """Write the best derivation of a span from a symbol."""
    rules, todo, n = parsing.grammar.rules, parsing.chart.todo, parsing.n
    depth = push(todo, 0, symbol, start, end)
    while depth > 0:
        depth -= 1
        a, start, end = todo[depth, 0], todo[depth, 1], todo[depth, 2]
        if end == start + 1:
            y[3 * (n - 1) + start] = a
            continue
        best, best_r, best_m = -np.inf, -1, -1
        for j in range(rules.parent_ptr[a], rules.parent_ptr[a + 1]):
            r = rules.of_parent[j]
            for m in range(start + 1, end):
                value = application_score(parsing, r, start, m, end)
                if value > best:
                    best, best_r, best_m = value, r, m
        write_node(y, n, start, best_m, end, best_r)
        depth = push(todo, depth, rules.left[best_r], start, best_m)
        depth = push(todo, depth, rules.right[best_r], best_m, end)
