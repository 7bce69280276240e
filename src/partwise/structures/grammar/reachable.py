"""The rule applications in a chart: those that some derivation of a sentence has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.grammar.chart import Parsing, fill_best, make_chart
from partwise.structures.grammar.corpus import ConstituencyTrees
from partwise.structures.grammar.parts import longest_sentence, n_words, part_views
from partwise.structures.grammar.places import cell_at
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.vectors import fill


@kernel
def _hand_down(parsing: Parsing, start: int, end: int, wanted: Any) -> None:
    """Mark the children of all rules that a span may have below a derivation."""
    grammar, _, n, chart = parsing
    rules, cell = grammar.rules, cell_at(n, start, end)
    for a in range(grammar.n_symbols):
        if wanted[cell, a] == 0:
            continue
        for j in range(rules.parent_ptr[a], rules.parent_ptr[a + 1]):
            b, c = rules.left[rules.of_parent[j]], rules.right[rules.of_parent[j]]
            for m in range(start + 1, end):
                one, other = cell_at(n, start, m), cell_at(n, m, end)
                if chart.value[one, b] > -np.inf and chart.value[other, c] > -np.inf:
                    wanted[one, b] = 1
                    wanted[other, c] = 1


@kernel
def _walk(parsing: Parsing, wanted: Any, table: CodeArray) -> int:
    """Write the applications in a chart, as far as there is room; count all of them."""
    grammar, _, n, chart = parsing
    rules, value, found = grammar.rules, chart.value, 0
    wanted[:] = 0
    for a in range(grammar.n_symbols):
        if grammar.is_root[a] and value[cell_at(n, 0, n), a] > -np.inf:
            wanted[cell_at(n, 0, n), a] = 1
    for width in range(n, 1, -1):
        for start in range(n - width + 1):
            _hand_down(parsing, start, start + width, wanted)
    for start in range(n):
        for end in range(start + 2, n + 1):
            cell = cell_at(n, start, end)
            for m in range(start + 1, end):
                one, other = cell_at(n, start, m), cell_at(n, m, end)
                for r in range(rules.parent.size):
                    if wanted[cell, rules.parent[r]] == 0:
                        continue
                    if value[one, rules.left[r]] == -np.inf:
                        continue
                    if value[other, rules.right[r]] == -np.inf:
                        continue
                    if found < table.shape[0]:
                        table[found, 0] = r
                        table[found, 1] = start
                        table[found, 2] = m
                        table[found, 3] = end
                    found += 1
    return found


@kernel
def _chart_applications(
    s: ConstituencyTrees,
    i: int,
    theta: FloatArray,
    chart: Any,
    wanted: Any,
    table: CodeArray,
) -> int:
    parsing = Parsing(s.grammar, part_views(s, i, theta), n_words(s, i), chart)
    fill(theta, theta.size, 0.0)
    fill_best(parsing)
    return _walk(parsing, wanted, table)


def _visit(s: ConstituencyTrees, i: int, room: Any, table: CodeArray) -> int:
    """Count the applications of a sentence, and write them if there is room."""
    theta, chart, wanted = room
    own = theta[: waist.n_parts(s, i)]
    return int(_chart_applications(s, i, own, chart, wanted, table))


def _room(s: ConstituencyTrees) -> Any:
    chart = make_chart(int(longest_sentence(s)), s.grammar)
    wanted = np.zeros(chart.value.shape, np.uint8)
    return np.zeros(waist.largest_sizes(s)[0]), chart, wanted


def count_applications(s: ConstituencyTrees) -> IntArray:
    """Return how many rule applications the chart of every sentence has."""
    room, none = _room(s), np.zeros((0, 4), np.int32)
    counts = [_visit(s, i, room, none) for i in range(waist.n_examples(s))]
    return np.array(counts, np.int64)


def chart_applications(s: ConstituencyTrees) -> Iterator[CodeArray]:
    """Yield, for every sentence, the rule applications in its chart.

    Yields
    ------
    array of int, shape (n_applications, 4)
        The rule, and where its span starts, splits and ends: by start, end, split and
        rule.

    Examples
    --------
    >>> from partwise.structures import make_constituency_trees, make_grammar
    >>> from partwise.structures import make_sparse_rows
    >>> grammar = make_grammar([(0, 0, 0)], 1, [0])
    >>> none = [make_sparse_rows([0] * (n + 1), [], None, 1) for n in (3, 3, 4)]
    >>> s = make_constituency_trees(grammar, [3], [0, 1, 2, 3], [0, 0, 0], *none)
    >>> [table] = chart_applications(s)
    >>> table.tolist()
    [[0, 0, 1, 2], [0, 0, 1, 3], [0, 0, 2, 3], [0, 1, 2, 3]]
    """
    room = _room(s)
    for i, count in enumerate(count_applications(s).tolist()):
        table = np.zeros((count, 4), np.int32)
        if count:
            _visit(s, i, room, table)
        yield table
