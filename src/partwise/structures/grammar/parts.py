"""The parts of a derivation, their features and their costs.

In `theta` come the rules of the grammar, tied over the sentence; the symbols that every
word may have; for every phrase, a span of two words or more, the classes of symbols;
the splits; and the rule applications that are listed with features of their own. An
application ``(A -> B C, start, split, end)`` scores as the sum of its rule, its span
and its split, so that rules times splits need not be stored; one that is listed scores
its own part on top.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.grammar import places
from partwise.structures.grammar.allowed import is_allowed, is_open, of_sentence
from partwise.structures.grammar.applications import find_application
from partwise.structures.grammar.chart import Chart, PartScores, make_chart
from partwise.structures.grammar.corpus import ConstituencyTrees
from partwise.structures.grammar.inside_outside import InsideSpace, make_inside_space
from partwise.structures.grammar.kbest import KBestSpace, make_kbest_space
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.rows import row_add, row_dot, row_entries, row_size
from partwise.structures.vectors import fill


class GrammarSpace(NamedTuple):
    """Scratch arrays: of charts, and of the classes of one word."""

    chart: Chart
    sums: InsideSpace
    kbest: KBestSpace
    word: FloatArray


@waist.n_examples.implement(ConstituencyTrees)
def _(s: ConstituencyTrees) -> int:
    return s.sentences.ptr.size - 1


@waist.n_weights.implement(ConstituencyTrees)
def _(s: ConstituencyTrees) -> int:
    return s.layout.n_weights


@kernel
def n_words(s: ConstituencyTrees, i: int) -> int:
    """Return how many words sentence `i` has."""
    return s.sentences.ptr[i + 1] - s.sentences.ptr[i]


@kernel
def n_listed(s: ConstituencyTrees, i: int) -> int:
    """Return how many rule applications of sentence `i` have their own features."""
    ptr, split_ptr = s.applications.ptr, s.sentences.split_ptr
    return ptr[split_ptr[i + 1]] - ptr[split_ptr[i]] if ptr.size > 0 else 0


@kernel
def part_offsets(s: ConstituencyTrees, i: int) -> tuple[int, int, int, int, int]:
    """Return where words, phrases, splits and rule applications begin in `theta`.

    And, last, its length.
    """
    n, first, of_words = n_words(s, i), s.sentences.ptr[i], s.sentences.symbol_ptr
    word_at = s.grammar.rules.parent.size
    span_at = word_at + of_words[first + n] - of_words[first]
    split_at = span_at + places.n_phrases(n) * s.grammar.n_span_classes
    application_at = split_at + places.n_splits(n)
    return word_at, span_at, split_at, application_at, application_at + n_listed(s, i)


@kernel
def part_views(s: ConstituencyTrees, i: int, values: FloatArray) -> PartScores:
    """View the numbers of parts by their kinds."""
    n, first = n_words(s, i), s.sentences.ptr[i]
    word_at, span_at, split_at, application_at, end = part_offsets(s, i)
    split_ptr, phrase_ptr = s.sentences.split_ptr, s.sentences.phrase_ptr
    listed = s.applications
    return PartScores(
        values[:word_at],
        values[word_at:span_at],
        values[span_at:split_at].reshape(places.n_phrases(n), s.grammar.n_span_classes),
        values[split_at:application_at],
        values[application_at:end],
        s.sentences.symbol_ptr[first : first + n + 1],
        s.sentences.symbol,
        listed.ptr[split_ptr[i] : split_ptr[i + 1] + 1],
        listed.rule,
        of_sentence(s.allowed, phrase_ptr[i], phrase_ptr[i + 1]),
    )


@waist.n_parts.implement(ConstituencyTrees)
def _(s: ConstituencyTrees, i: int) -> int:
    return part_offsets(s, i)[4]


@waist.output_size.implement(ConstituencyTrees)
def _(s: ConstituencyTrees, i: int) -> int:
    return 4 * n_words(s, i) - 3


@kernel
def longest_sentence(s: ConstituencyTrees) -> int:
    """Return how many words the longest sentence has."""
    longest = 0
    for i in range(s.sentences.ptr.size - 1):
        longest = max(longest, n_words(s, i))
    return longest


@kernel
def _longest_row(rows: Any, n_rows: int) -> int:
    longest = 0
    for t in range(n_rows):
        longest = max(longest, row_size(rows, t))
    return longest


@kernel
def _max_features(s: ConstituencyTrees) -> int:
    sentences = s.sentences
    of_rule = _longest_row(s.grammar.rows, s.grammar.rules.parent.size)
    of_word = _longest_row(s.words, sentences.ptr[-1])
    of_span = _longest_row(s.spans, sentences.phrase_ptr[-1])
    of_split = _longest_row(s.splits, sentences.split_ptr[-1])
    of_application = _longest_row(s.applications.rows, s.applications.rule.size)
    of_place = of_rule + of_word + of_span + of_split + of_application
    return max(2 * longest_sentence(s) * of_place, 1)


@waist.max_features.implement(ConstituencyTrees)
def _(s: ConstituencyTrees) -> int:
    return _max_features(s)


@waist.workspace.implement(ConstituencyTrees)
def _(s: ConstituencyTrees, k: int) -> Any:
    longest = int(longest_sentence(s))
    return GrammarSpace(
        make_chart(longest, s.grammar),
        make_inside_space(longest, s.grammar),
        make_kbest_space(longest, k, s.grammar),
        np.zeros(s.grammar.n_word_classes),
    )


@waist.part_scores.implement(ConstituencyTrees)
def _(s: ConstituencyTrees, i: int, w: FloatArray, theta: FloatArray, ws: Any) -> None:
    fill(theta, part_offsets(s, i)[4], 0.0)
    own, sentences, layout = part_views(s, i, theta), s.sentences, s.layout
    for r in range(own.rule.size):
        row_dot(s.grammar.rows, r, w[: layout.word_at], own.rule[r : r + 1])
    at = 0
    for t in range(n_words(s, i)):
        fill(ws.word, ws.word.size, 0.0)
        word_w = w[layout.word_at : layout.span_at]
        row_dot(s.words, sentences.ptr[i] + t, word_w, ws.word)
        for j in range(own.symbol_ptr[t], own.symbol_ptr[t + 1]):
            own.word[at] = ws.word[s.grammar.word_class[own.symbol[j]]]
            at += 1
    _score_phrases(s, i, w, own)
    for j in range(own.application.size):
        own_w = w[layout.application_at : layout.n_weights]
        number = own.application_ptr[0] + j
        row_dot(s.applications.rows, number, own_w, own.application[j : j + 1])


@kernel
def _score_phrases(
    s: ConstituencyTrees, i: int, w: FloatArray, own: PartScores
) -> None:
    """Score spans and splits; phrases that are in no output have no features."""
    n, sentences, layout = n_words(s, i), s.sentences, s.layout
    span_w = w[layout.span_at : layout.split_at]
    split_w = w[layout.split_at : layout.application_at]
    for start in range(n):
        for end in range(start + 2, n + 1):
            p, at = places.phrase_at(n, start, end), places.first_split(n, start, end)
            if is_open(own.allowed, p):
                row_dot(s.spans, sentences.phrase_ptr[i] + p, span_w, own.span[p])
                for m in range(at, at + end - start - 1):
                    split = sentences.split_ptr[i] + m
                    row_dot(s.splits, split, split_w, own.split[m : m + 1])


@waist.add_parts.implement(ConstituencyTrees)
def _(
    s: ConstituencyTrees, i: int, mu: FloatArray, scale: float, w: FloatArray, ws: Any
) -> float:
    own, sentences, layout = part_views(s, i, mu), s.sentences, s.layout
    change = 0.0
    for r in range(own.rule.size):
        if own.rule[r] != 0.0:
            rule_w = w[: layout.word_at]
            change += row_add(s.grammar.rows, r, own.rule[r : r + 1], scale, rule_w)
    at = 0
    for t in range(n_words(s, i)):
        fill(ws.word, ws.word.size, 0.0)
        for j in range(own.symbol_ptr[t], own.symbol_ptr[t + 1]):
            ws.word[s.grammar.word_class[own.symbol[j]]] += own.word[at]
            at += 1
        word_w = w[layout.word_at : layout.span_at]
        change += row_add(s.words, sentences.ptr[i] + t, ws.word, scale, word_w)
    change += _add_phrases(s, i, own, scale, w)
    for j in range(own.application.size):
        if own.application[j] != 0.0:
            own_w = w[layout.application_at : layout.n_weights]
            rows, number = s.applications.rows, own.application_ptr[0] + j
            change += row_add(rows, number, own.application[j : j + 1], scale, own_w)
    return change


@kernel
def _add_phrases(
    s: ConstituencyTrees, i: int, own: PartScores, scale: float, w: FloatArray
) -> float:
    n, sentences, layout = n_words(s, i), s.sentences, s.layout
    span_w = w[layout.span_at : layout.split_at]
    split_w = w[layout.split_at : layout.application_at]
    change = 0.0
    for start in range(n):
        for end in range(start + 2, n + 1):
            p, at = places.phrase_at(n, start, end), places.first_split(n, start, end)
            if not is_open(own.allowed, p):
                continue
            if not _is_zero(own.span[p]):
                phrase = sentences.phrase_ptr[i] + p
                change += row_add(s.spans, phrase, own.span[p], scale, span_w)
            for m in range(at, at + end - start - 1):
                if own.split[m] != 0.0:
                    share, split = own.split[m : m + 1], sentences.split_ptr[i] + m
                    change += row_add(s.splits, split, share, scale, split_w)
    return change


@kernel
def _is_zero(values: FloatArray) -> bool:
    for k in range(values.size):
        if values[k] != 0.0:
            return False
    return True


@kernel
def symbol_part(s: ConstituencyTrees, i: int, t: int, symbol: int | np.int32) -> int:
    """Return which of the word parts of a sentence a word's symbol is."""
    sentences = s.sentences
    at = sentences.symbol_ptr[sentences.ptr[i] + t]
    while sentences.symbol[at] != symbol:
        at += 1
    return at - sentences.symbol_ptr[sentences.ptr[i]]


@kernel
def _may_be(s: ConstituencyTrees, i: int, t: int, symbol: int | np.int32) -> bool:
    word = s.sentences.ptr[i] + t
    for at in range(s.sentences.symbol_ptr[word], s.sentences.symbol_ptr[word + 1]):
        if s.sentences.symbol[at] == symbol:
            return True
    return False


@waist.is_output.implement(ConstituencyTrees)
def _(s: ConstituencyTrees, i: int, y: CodeArray) -> bool:
    n, n_rules = n_words(s, i), s.grammar.rules.parent.size
    for m in range(1, n):
        r, start, end = y[m - 1], y[n - 1 + m - 1], y[2 * (n - 1) + m - 1]
        if not 0 <= r < n_rules or not 0 <= start < m or not m < end <= n:
            return False
        of_class = s.grammar.span_class[s.grammar.rules.parent[r]]
        phrase = s.sentences.phrase_ptr[i] + places.phrase_at(n, start, end)
        if not is_allowed(s.allowed, phrase, of_class):
            return False
    for t in range(n):
        if not _may_be(s, i, t, y[3 * (n - 1) + t]):
            return False
    return True


@waist.parts_of.implement(ConstituencyTrees)
def _(
    s: ConstituencyTrees, i: int, y: CodeArray, ids: IntArray, counts: FloatArray
) -> int:
    n, grammar, listed = n_words(s, i), s.grammar, s.applications
    word_at, span_at, split_at, application_at, _ = part_offsets(s, i)
    found, before = 0, s.sentences.split_ptr[i]
    for m in range(1, n):
        r, start, end = y[m - 1], y[n - 1 + m - 1], y[2 * (n - 1) + m - 1]
        phrase = places.phrase_at(n, start, end)
        of_class = grammar.span_class[grammar.rules.parent[r]]
        ids[found] = r
        ids[found + 1] = span_at + phrase * grammar.n_span_classes + of_class
        split = places.split_at(n, start, m, end)
        ids[found + 2] = split_at + split
        found += 3
        number = find_application(listed.ptr, listed.rule, before + split, r)
        if number >= 0:
            ids[found] = application_at + number - listed.ptr[before]
            found += 1
    for t in range(n):
        ids[found] = word_at + symbol_part(s, i, t, y[3 * (n - 1) + t])
        found += 1
    fill(counts, found, 1.0)
    return found


@waist.part_row.implement(ConstituencyTrees)
def _(
    s: ConstituencyTrees, i: int, r: int, idx: IntArray, val: FloatArray, ws: Any
) -> int:
    grammar, sentences, layout = s.grammar, s.sentences, s.layout
    word_at, span_at, split_at, application_at, _ = part_offsets(s, i)
    if r < word_at:
        return row_entries(grammar.rows, r, 0, 1, idx, val)
    if r < span_at:
        entry = sentences.symbol_ptr[sentences.ptr[i]] + r - word_at
        t = sentences.ptr[i]
        while sentences.symbol_ptr[t + 1] <= entry:
            t += 1
        k = grammar.word_class[sentences.symbol[entry]]
        found = row_entries(s.words, t, k, grammar.n_word_classes, idx, val)
        at = layout.word_at
    elif r < split_at:
        n_classes = grammar.n_span_classes
        phrase = sentences.phrase_ptr[i] + (r - span_at) // n_classes
        k = (r - span_at) % n_classes
        if not is_open(s.allowed, phrase):
            return 0
        found = row_entries(s.spans, phrase, k, n_classes, idx, val)
        at = layout.span_at
    elif r < application_at:
        split = sentences.split_ptr[i] + r - split_at
        phrase = sentences.phrase_ptr[i] + places.phrase_of_split(
            n_words(s, i), r - split_at
        )
        if not is_open(s.allowed, phrase):
            return 0
        found = row_entries(s.splits, split, 0, 1, idx, val)
        at = layout.split_at
    else:
        number = s.applications.ptr[sentences.split_ptr[i]] + r - application_at
        found = row_entries(s.applications.rows, number, 0, 1, idx, val)
        at = layout.application_at
    for j in range(found):
        idx[j] += at
    return found


@waist.gold.implement(ConstituencyTrees)
def _(s: ConstituencyTrees, i: int, y: CodeArray) -> None:
    first = 4 * s.sentences.ptr[i] - 3 * i
    for j in range(4 * n_words(s, i) - 3):
        y[j] = s.gold[first + j]


@waist.add_costs.implement(ConstituencyTrees)
def _(s: ConstituencyTrees, i: int, theta: FloatArray) -> None:
    n, own = n_words(s, i), part_views(s, i, theta)
    right = s.gold_class[s.sentences.phrase_ptr[i] :]
    for p in range(own.span.shape[0]):
        row = own.span[p]
        for k in range(row.size):
            if k != right[p]:
                row[k] += s.layout.span_cost
    gold_at = 4 * s.sentences.ptr[i] - 3 * i + 3 * (n - 1)
    at = 0
    for t in range(n):
        for j in range(own.symbol_ptr[t], own.symbol_ptr[t + 1]):
            if own.symbol[j] != s.gold[gold_at + t]:
                own.word[at] += s.layout.word_cost
            at += 1


@waist.cost.implement(ConstituencyTrees)
def _(s: ConstituencyTrees, i: int, y: CodeArray) -> float:
    n, grammar = n_words(s, i), s.grammar
    right = s.gold_class[s.sentences.phrase_ptr[i] :]
    total = 0.0
    for m in range(1, n):
        r, start, end = y[m - 1], y[n - 1 + m - 1], y[2 * (n - 1) + m - 1]
        of_class = grammar.span_class[grammar.rules.parent[r]]
        if of_class != right[places.phrase_at(n, start, end)]:
            total += s.layout.span_cost
    gold_at = 4 * s.sentences.ptr[i] - 3 * i
    for j in range(3 * (n - 1), 4 * n - 3):
        if y[j] != s.gold[gold_at + j]:
            total += s.layout.word_cost
    return total
