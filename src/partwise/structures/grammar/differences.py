"""Differences of two derivations, only where the two differ.

Every place between two words is the split of one rule; where rule and span are the
same, so are all their parts.
"""

from __future__ import annotations

from typing import Any

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.grammar.corpus import ConstituencyTrees
from partwise.structures.grammar.parts import n_words
from partwise.structures.grammar.places import first_split, phrase_at
from partwise.structures.interface import CodeArray, Diff, FloatArray
from partwise.structures.rows import row_entries


@kernel
def _next_difference(y: CodeArray, y_ref: CodeArray, n: int, at: int) -> int:
    """Return the first place after `at` at which two derivations differ, or ``2 n``.

    Places 1 to ``n - 1`` lie between words, `n` and those after it are the words.
    """
    at += 1
    while at < n:
        for j in range(3):
            if y[j * (n - 1) + at - 1] != y_ref[j * (n - 1) + at - 1]:
                return at
        at += 1
    while at < 2 * n and y[2 * n - 3 + at] == y_ref[2 * n - 3 + at]:
        at += 1
    return at


@kernel
def _entries(
    s: ConstituencyTrees, i: int, n: int, y: CodeArray, at: int, diff: Diff
) -> int:
    """Write the features of a derivation at one place; return how many."""
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
    split = sentences.split_ptr[i] + first_split(n, start, end) + at - start - 1
    idx, val = diff.idx[found:], diff.val[found:]
    more = row_entries(s.splits, split, 0, 1, idx, val)
    for j in range(more):
        idx[j] += layout.split_at
    return found + more


@waist.diff_dot.implement(ConstituencyTrees)
def _(
    s: ConstituencyTrees,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    w: FloatArray,
    diff: Diff,
    ws: Any,
) -> float:
    n = n_words(s, i)
    result = 0.0
    at = _next_difference(y, y_ref, n, 0)
    while at < 2 * n:
        for j in range(_entries(s, i, n, y_ref, at, diff)):
            result += diff.val[j] * w[diff.idx[j]]
        for j in range(_entries(s, i, n, y, at, diff)):
            result -= diff.val[j] * w[diff.idx[j]]
        at = _next_difference(y, y_ref, n, at)
    return result


@waist.diff_add.implement(ConstituencyTrees)
def _(
    s: ConstituencyTrees,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    scale: float,
    w: FloatArray,
    diff: Diff,
    ws: Any,
) -> None:
    n = n_words(s, i)
    at = _next_difference(y, y_ref, n, 0)
    while at < 2 * n:
        for j in range(_entries(s, i, n, y_ref, at, diff)):
            w[diff.idx[j]] += scale * diff.val[j]
        for j in range(_entries(s, i, n, y, at, diff)):
            w[diff.idx[j]] -= scale * diff.val[j]
        at = _next_difference(y, y_ref, n, at)


@waist.diff_sqnorm.implement(ConstituencyTrees)
def _(
    s: ConstituencyTrees, i: int, y: CodeArray, y_ref: CodeArray, diff: Diff, ws: Any
) -> float:
    n = n_words(s, i)
    at = _next_difference(y, y_ref, n, 0)
    while at < 2 * n:
        for j in range(_entries(s, i, n, y_ref, at, diff)):
            waist.accumulate(diff.total, diff.idx[j], diff.val[j])
        for j in range(_entries(s, i, n, y, at, diff)):
            waist.accumulate(diff.total, diff.idx[j], -diff.val[j])
        at = _next_difference(y, y_ref, n, at)
    return waist.take_sqnorm(diff.total)
