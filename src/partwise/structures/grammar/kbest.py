"""The k best derivations, found lazily (Huang and Chiang, IWPT 2005, algorithm 3).

After the best derivation of everything (`fill_best`), only what the next one needs is
looked at. An *item* is a symbol over a span with a list of its best derivations, in
order. A derivation is a rule, a split, and a place in the list of each child; the next
one of an item is the best of the candidates that its last one gives way to:

- the same rule and split, with the next derivation of one child;
- where the last was the best of its rule and split, the next best rule and split.

A derivation (left, right) comes from (left, right - 1), or from (left - 1, 0) if right
is 0: so none comes up twice. The last item is the root, whose rules are the root
symbols.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.structures.grammar import chart as charts
from partwise.structures.grammar import places
from partwise.structures.grammar.chart import Parsing
from partwise.structures.grammar.rules import Grammar
from partwise.structures.interface import CodeArray, FloatArray, IntArray

BEST = -1
"""Instead of a derivation: the best of its item, which need not be listed."""
NONE, UNKNOWN = -1, -2
ROOT = -1
"""The symbol of the item above the root symbols."""

# Columns of a derivation: `LINK` leads to the next one of the list it is in.
RULE, SPLIT, LEFT, RIGHT, LINK = range(5)
# Columns of an item: `CANDIDATES` begins the list of those that are not ranked yet.
SYMBOL, START, END, FIRST, LAST, CANDIDATES, IS_DONE = range(7)


class KBestSpace(NamedTuple):
    """Derivations and items, how many there are, and what is still to be done."""

    derivation: IntArray
    score: FloatArray
    item: IntArray
    size: IntArray
    item_of: IntArray
    waiting: IntArray
    todo: IntArray


def make_kbest_space(longest: int, k: int, grammar: Grammar) -> KBestSpace:
    """Make the scratch arrays; none for one best derivation.

    One more derivation of the root asks for at most one more of one item for each word,
    and each of these opens two items and adds three candidates.
    """
    steps = (longest + 1) * k if k > 1 else 0
    cells = places.n_cells(longest) if k > 1 else 0
    return KBestSpace(
        np.zeros((5 * steps + 1, 5), np.int64),
        np.zeros(5 * steps + 1),
        np.zeros((2 * steps + 1, 7), np.int64),
        np.zeros(2, np.int64),
        np.zeros((cells, grammar.n_symbols), np.int64),
        np.zeros(longest + 1, np.int64),
        np.zeros((longest + 1, 4), np.int64),
    )


@kernel
def _add(
    rule: int, split: int, left: int, right: int, score: float, space: KBestSpace
) -> int:
    """Write a derivation; return its number."""
    at = space.size[0]
    space.size[0] += 1
    space.derivation[at, RULE] = rule
    space.derivation[at, SPLIT] = split
    space.derivation[at, LEFT] = left
    space.derivation[at, RIGHT] = right
    space.derivation[at, LINK] = NONE
    space.score[at] = score
    return at


@kernel
def _add_next_rule(
    parsing: Parsing, item: IntArray, after: int, space: KBestSpace
) -> int:
    """Write the best derivation by the best rule and split that come after another.

    Those of equal scores come in the order of their numbers. Return NONE if there are
    no more.
    """
    grammar, _, n, chart = parsing
    start, end, rules = item[START], item[END], grammar.rules
    bound, last_r, last_m = np.inf, -1, -1
    if after != NONE:
        bound = space.score[after]
        last_r, last_m = space.derivation[after, RULE], space.derivation[after, SPLIT]
    best, best_r, best_m = -np.inf, -1, -1
    if item[SYMBOL] == ROOT:
        for a in range(grammar.n_symbols):
            value = chart.value[places.cell_at(n, start, end), a]
            if grammar.is_root[a] and best < value <= bound:
                if value < bound or a > last_r:
                    best, best_r = value, a
    else:
        a = item[SYMBOL]
        for j in range(rules.parent_ptr[a], rules.parent_ptr[a + 1]):
            r = rules.of_parent[j]
            for m in range(start + 1, end):
                value = charts.application_score(parsing, r, start, m, end)
                if best < value <= bound:
                    is_later = r > last_r or (r == last_r and m > last_m)
                    if value < bound or is_later:
                        best, best_r, best_m = value, r, m
    if best == -np.inf:
        return NONE
    return _add(best_r, best_m, BEST, BEST, best, space)


@kernel
def _open(
    parsing: Parsing, symbol: int, start: int, end: int, space: KBestSpace
) -> int:
    """Make an item with its best derivation; return its number."""
    at = space.size[1]
    space.size[1] += 1
    item = space.item[at]
    item[SYMBOL] = symbol
    item[START] = start
    item[END] = end
    item[CANDIDATES] = NONE
    item[IS_DONE] = 0
    item[FIRST] = _add_next_rule(parsing, item, NONE, space)
    item[LAST] = item[FIRST]
    return at


@kernel
def _child(
    grammar: Grammar, item: IntArray, last: IntArray, side: int
) -> tuple[int, int, int]:
    """Return the symbol and the span of a child of an item's last derivation."""
    if item[SYMBOL] == ROOT:
        return last[RULE], item[START], item[END]
    if side == LEFT:
        return grammar.rules.left[last[RULE]], item[START], last[SPLIT]
    return grammar.rules.right[last[RULE]], last[SPLIT], item[END]


@kernel
def _next_of_child(
    parsing: Parsing, item: IntArray, side: int, space: KBestSpace
) -> tuple[int, int]:
    """Return the derivation after that of a child, and the child's item.

    The derivation is NONE if there are no more, UNKNOWN if that is still to be found.
    """
    last = space.derivation[item[LAST]]
    has_none = item[SYMBOL] == ROOT if side == RIGHT else last[RIGHT] != BEST
    if has_none:
        return NONE, NONE
    symbol, start, end = _child(parsing.grammar, item, last, side)
    if end == start + 1:
        return NONE, NONE
    cell = places.cell_at(parsing.n, start, end)
    if space.item_of[cell, symbol] == NONE:
        space.item_of[cell, symbol] = _open(parsing, symbol, start, end, space)
    at = space.item_of[cell, symbol]
    child = space.item[at]
    current = child[FIRST] if last[side] == BEST else last[side]
    if space.derivation[current, LINK] != NONE:
        return space.derivation[current, LINK], at
    return (NONE if child[IS_DONE] else UNKNOWN), at


@kernel
def _score_with(
    parsing: Parsing, item: IntArray, left: int, right: int, space: KBestSpace
) -> float:
    """Score the last derivation of an item with other derivations of its children.

    By `joined_score` as `application_score`, so that no next one scores higher.
    """
    if item[SYMBOL] == ROOT:
        return space.score[left]
    n, value, rules = parsing.n, parsing.chart.value, parsing.grammar.rules
    start, end = item[START], item[END]
    last = space.derivation[item[LAST]]
    r, m = last[RULE], last[SPLIT]
    of_left = value[places.cell_at(n, start, m), rules.left[r]]
    of_right = value[places.cell_at(n, m, end), rules.right[r]]
    if left != BEST:
        of_left = space.score[left]
    if right != BEST:
        of_right = space.score[right]
    return charts.joined_score(parsing, r, start, m, end, of_left, of_right)


@kernel
def _add_candidate(item: IntArray, candidate: int, space: KBestSpace) -> None:
    if candidate != NONE:
        space.derivation[candidate, LINK] = item[CANDIDATES]
        item[CANDIDATES] = candidate


@kernel
def _rank_next(item: IntArray, space: KBestSpace) -> None:
    """Move the best candidate to the end of an item's list."""
    link = space.derivation[:, LINK]
    best, before_best = item[CANDIDATES], NONE
    if best == NONE:
        item[IS_DONE] = 1
        return
    before = best
    while link[before] != NONE:
        if space.score[link[before]] > space.score[best]:
            best, before_best = link[before], before
        before = link[before]
    if before_best == NONE:
        item[CANDIDATES] = link[best]
    else:
        link[before_best] = link[best]
    link[best] = NONE
    link[item[LAST]] = best
    item[LAST] = best


@kernel
def _find_next(parsing: Parsing, root: int, space: KBestSpace) -> None:
    """Add one derivation to the list of an item, if there is one more.

    Items wait for their children on a stack.
    """
    space.waiting[0] = root
    depth = 1
    while depth > 0:
        item = space.item[space.waiting[depth - 1]]
        left, left_item = _next_of_child(parsing, item, LEFT, space)
        if left == UNKNOWN:
            space.waiting[depth] = left_item
            depth += 1
            continue
        right, right_item = _next_of_child(parsing, item, RIGHT, space)
        if right == UNKNOWN:
            space.waiting[depth] = right_item
            depth += 1
            continue
        last = space.derivation[item[LAST]]
        for side in (LEFT, RIGHT):
            following = left if side == LEFT else right
            if following != NONE:
                one = following if side == LEFT else last[LEFT]
                other = following if side == RIGHT else last[RIGHT]
                score = _score_with(parsing, item, one, other, space)
                added = _add(last[RULE], last[SPLIT], one, other, score, space)
                _add_candidate(item, added, space)
        if last[LEFT] == BEST and last[RIGHT] == BEST:
            added = _add_next_rule(parsing, item, item[LAST], space)
            _add_candidate(item, added, space)
        _rank_next(item, space)
        depth -= 1


@kernel
def _read(parsing: Parsing, derivation: int, y: CodeArray, space: KBestSpace) -> None:
    """Write a derivation of the root."""
    rules, todo, n = parsing.grammar.rules, space.todo, parsing.n
    symbol, at = space.derivation[derivation, RULE], space.derivation[derivation, LEFT]
    todo[0, 3] = at
    depth = charts.push(todo, 0, symbol, 0, n)
    while depth > 0:
        depth -= 1
        symbol, start = todo[depth, 0], todo[depth, 1]
        end, at = todo[depth, 2], todo[depth, 3]
        if at == BEST:
            charts.read_best(parsing, symbol, start, end, y)
        else:
            one = space.derivation[at]
            r, m = one[RULE], one[SPLIT]
            charts.write_node(y, n, start, m, end, r)
            todo[depth, 3] = one[LEFT]
            depth = charts.push(todo, depth, rules.left[r], start, m)
            todo[depth, 3] = one[RIGHT]
            depth = charts.push(todo, depth, rules.right[r], m, end)


@kernel
def best_derivations(
    parsing: Parsing, k: int, ys: CodeArray, scores: FloatArray, space: KBestSpace
) -> int:
    """Write the `k` best derivations, best first; return how many there are."""
    n = parsing.n
    charts.fill_best(parsing)
    space.size[0] = space.size[1] = 0
    for cell in range(places.n_cells(n)):
        for a in range(parsing.grammar.n_symbols):
            space.item_of[cell, a] = NONE
    root = space.item[_open(parsing, ROOT, 0, n, space)]
    at, found = root[FIRST], 0
    while at != NONE:
        scores[found] = space.score[at]
        _read(parsing, at, ys[found], space)
        found += 1
        if found == k:
            break
        _find_next(parsing, 0, space)
        at = space.derivation[at, LINK]
    return found
