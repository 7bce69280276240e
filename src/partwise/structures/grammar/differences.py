"""Differences of two derivations, only where the two differ.

Every place between two words, 1 to ``n - 1``, is the split of one rule; where rule and
span are the same, so are all their parts. The places from `n` on are the words.
"""

from __future__ import annotations

from typing import Any

from partwise._jit import kernel
from partwise.structures.differences import compare_by_place
from partwise.structures.grammar.applications import find_application
from partwise.structures.grammar.corpus import ConstituencyTrees
from partwise.structures.grammar.parts import n_words
from partwise.structures.grammar.places import phrase_at, split_at
from partwise.structures.interface import CodeArray, Diff
from partwise.structures.rows import row_entries


@kernel
def _next_difference(
    s: ConstituencyTrees, n: int, y: CodeArray, y_ref: CodeArray, at: int
) -> int:
    at += 1
    while at < n:
        for j in range(3):
            if y[j * (n - 1) + at - 1] != y_ref[j * (n - 1) + at - 1]:
                return at
        at += 1
    while at < 2 * n and y[2 * n - 3 + at] == y_ref[2 * n - 3 + at]:
        at += 1
    return at if at < 2 * n else 0


@kernel
def _entries(
    s: ConstituencyTrees,
    i: int,
    n: int,
    y: CodeArray,
    other: CodeArray,
    at: int,
    diff: Diff,
    ws: Any,
) -> int:
    grammar, sentences, layout = s.grammar, s.sentences, s.layout
    idx, val = diff.idx, diff.val
    if at >= n:
        k, n_classes = grammar.word_class[y[2 * n - 3 + at]], grammar.n_word_classes
        t = sentences.ptr[i] + at - n
        found = row_entries(s.words, t, k, n_classes, idx, val)
        for j in range(found):
            idx[j] += layout.word_at
        return found
    r, start, end = y[at - 1], y[n - 1 + at - 1], y[2 * (n - 1) + at - 1]
    found = row_entries(grammar.rows, r, 0, 1, idx, val)
    k, n_classes = grammar.span_class[grammar.rules.parent[r]], grammar.n_span_classes
    phrase = sentences.phrase_ptr[i] + phrase_at(n, start, end)
    idx, val = diff.idx[found:], diff.val[found:]
    more = row_entries(s.spans, phrase, k, n_classes, idx, val)
    for j in range(more):
        idx[j] += layout.span_at
    found += more
    split = sentences.split_ptr[i] + split_at(n, start, at, end)
    idx, val = diff.idx[found:], diff.val[found:]
    more = row_entries(s.splits, split, 0, 1, idx, val)
    for j in range(more):
        idx[j] += layout.split_at
    found += more
    number = find_application(s.applications.ptr, s.applications.rule, split, r)
    if number < 0:
        return found
    idx, val = diff.idx[found:], diff.val[found:]
    more = row_entries(s.applications.rows, number, 0, 1, idx, val)
    for j in range(more):
        idx[j] += layout.application_at
    return found + more


compare_by_place(ConstituencyTrees, n_words, _next_difference, _entries)
