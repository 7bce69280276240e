"""Differences of two label sequences of higher order, only where the two differ.

A place is a position, counted from 1: there are a label and the step to it.
"""

from __future__ import annotations

from typing import Any

from partwise._jit import kernel
from partwise.structures.differences import compare_by_place
from partwise.structures.interface import CodeArray, Diff
from partwise.structures.ngrams.corpus import NGramChain
from partwise.structures.ngrams.parts import step_entries
from partwise.structures.ngrams.table import step_to
from partwise.structures.rows import row_entries


@kernel
def _size(s: NGramChain, i: int) -> int:
    return s.ptr[i + 1] - s.ptr[i]


@kernel
def _next_difference(
    s: NGramChain, n: int, y: CodeArray, y_ref: CodeArray, at: int
) -> int:
    order = s.grams.weight.shape[1]
    for t in range(at, n):
        for u in range(max(t - order, 0), t + 1):
            if y[u] != y_ref[u]:
                return t + 1
    return 0


@kernel
def _entries(
    s: NGramChain,
    i: int,
    n: int,
    y: CodeArray,
    other: CodeArray,
    at: int,
    diff: Diff,
    ws: Any,
) -> int:
    K, t = s.layout.n_labels, at - 1
    found = step_entries(s, step_to(s.grams, y, t), diff.idx, diff.val)
    if y[t] != other[t]:
        idx, val = diff.idx[found:], diff.val[found:]
        found += row_entries(s.nodes, s.ptr[i] + t, y[t], K, idx, val)
        if s.layout.has_end and t == n - 1:
            diff.idx[found], diff.val[found] = s.layout.end_at + y[t], 1.0
            found += 1
    return found


compare_by_place(NGramChain, _size, _next_difference, _entries)
