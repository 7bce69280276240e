"""Messages on a junction tree: the best score, the sum of all, and marginals.

A table holds a number for every configuration of a bag, ``[own, shared]``. A message is
what a table is reduced to for the parent, a number for every configuration of the
vertices that the two share: the largest score, or the logarithm of the sum. Bags are
passed children first, and on the way back parents first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.structures.graph.corpus import CliqueTable, Graph, KindTable
from partwise.structures.graph.junction_tree import Bags, JunctionTrees
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.vectors import exponentials, largest, sum_of


class MessageSpace(NamedTuple):
    """Scratch arrays: all tables and messages of an example, and one more of each.

    `tables` holds scores, conditional probabilities or probabilities, in turn.
    """

    tables: FloatArray
    messages: FloatArray
    table: FloatArray
    top: FloatArray
    total: FloatArray
    digits: IntArray
    scores: FloatArray


def make_message_space(s: Graph) -> MessageSpace:
    """Make the scratch arrays for the largest example of a corpus."""
    n_tables, n_messages, table, message, axes = s.inference.largest.tolist()
    parts = int(np.diff(s.cliques.part_at).max(initial=0))
    return MessageSpace(
        np.zeros(n_tables),
        np.zeros(n_messages),
        np.zeros(table),
        np.zeros(message),
        np.zeros(message),
        np.zeros(axes, np.int64),
        np.zeros(parts),
    )


# --- a factor in a table ----------------------------------------------------------


@kernel
def _next_block(digits: IntArray, sizes: IntArray, strides: IntArray, at: Any) -> Any:
    """Count on in all axes but the last two; return where the factor is then."""
    axis = sizes.size - 3
    while axis >= 0:
        digits[axis] += 1
        at += strides[axis]
        if digits[axis] < sizes[axis]:
            return at
        at -= strides[axis] * sizes[axis]
        digits[axis] = 0
        axis -= 1
    return at


@kernel
def add_factor(
    factor: FloatArray,
    sizes: IntArray,
    strides: IntArray,
    digits: IntArray,
    table: FloatArray,
) -> None:
    """Add a factor to all entries of a table."""
    n_axes = sizes.size
    n_rows, n_columns = sizes[n_axes - 2], sizes[n_axes - 1]
    down, across = strides[n_axes - 2], strides[n_axes - 1]
    digits[:n_axes] = 0
    at, block = 0, 0
    while at < table.size:
        for a in range(n_rows):
            row, start = table[at : at + n_columns], block + a * down
            if across == 0:
                value = factor[start]
                for b in range(n_columns):
                    row[b] += value
            elif across == 1:
                values = factor[start : start + n_columns]
                for b in range(n_columns):
                    row[b] += values[b]
            else:
                for b in range(n_columns):
                    row[b] += factor[start + b * across]
            at += n_columns
        block = _next_block(digits, sizes, strides, block)


@kernel
def sum_to_factor(
    table: FloatArray,
    sizes: IntArray,
    strides: IntArray,
    digits: IntArray,
    factor: FloatArray,
) -> None:
    """Add all entries of a table to the factor they belong to: the adjoint."""
    n_axes = sizes.size
    n_rows, n_columns = sizes[n_axes - 2], sizes[n_axes - 1]
    down, across = strides[n_axes - 2], strides[n_axes - 1]
    digits[:n_axes] = 0
    at, block = 0, 0
    while at < table.size:
        for a in range(n_rows):
            row, start = table[at : at + n_columns], block + a * down
            if across == 0:
                factor[start] += sum_of(row)
            elif across == 1:
                values = factor[start : start + n_columns]
                for b in range(n_columns):
                    values[b] += row[b]
            else:
                for b in range(n_columns):
                    factor[start + b * across] += row[b]
            at += n_columns
        block = _next_block(digits, sizes, strides, block)


# --- up, from the leaves to the roots ---------------------------------------------


@kernel
def _legal_scores(own: FloatArray, classes: IntArray, out: FloatArray) -> None:
    """Copy the scores of a clique's configurations, with -inf where forbidden."""
    for a in range(own.size):
        out[a] = own[a] if classes[a] >= 0 else -np.inf


@kernel
def _best_of_columns(table: FloatArray, n_own: int, best: FloatArray) -> None:
    """Write the largest number of every column."""
    n_shared = best.size
    if n_shared == 1:
        best[0] = largest(table)
        return
    row = table[:n_shared]
    for j in range(n_shared):
        best[j] = row[j]
    for a in range(1, n_own):
        row = table[a * n_shared : (a + 1) * n_shared]
        for j in range(n_shared):
            best[j] = row[j] if row[j] > best[j] else best[j]


@kernel
def _normalise(scores: FloatArray, out: FloatArray) -> float:
    """Turn scores into probabilities; return the logarithm of their sum."""
    top = largest(scores)
    if top == -np.inf:
        out[:] = 0.0
        return top
    exponentials(scores, top, out)
    total = sum_of(out)
    for a in range(out.size):
        out[a] /= total
    return top + np.log(total)


@kernel
def _conditional(
    table: FloatArray,
    n_own: int,
    ws: MessageSpace,
    message: FloatArray,
    out: FloatArray,
) -> None:
    """Turn scores into probabilities of the own vertices given the shared ones.

    The message is the logarithm of the sum of every column. What is impossible gets the
    probability zero, whatever it is given.
    """
    n_shared = message.size
    if n_shared == 1:
        message[0] = _normalise(table, out)
        return
    top, total = ws.top[:n_shared], ws.total[:n_shared]
    _best_of_columns(table, n_own, top)
    for j in range(n_shared):
        total[j] = 0.0
        message[j] = top[j]
        # An infinite one would make NaNs of impossible scores.
        top[j] = 0.0 if top[j] == -np.inf else top[j]
    for a in range(n_own):
        row = table[a * n_shared : (a + 1) * n_shared]
        for j in range(n_shared):
            row[j] -= top[j]
    exponentials(table, 0.0, out)
    for a in range(n_own):
        row = out[a * n_shared : (a + 1) * n_shared]
        for j in range(n_shared):
            total[j] += row[j]
    for j in range(n_shared):
        if message[j] > -np.inf:
            message[j] += np.log(total[j])
        total[j] = 1.0 / total[j] if total[j] != 0.0 else 0.0
    for a in range(n_own):
        row = out[a * n_shared : (a + 1) * n_shared]
        for j in range(n_shared):
            row[j] *= total[j]


@kernel
def collect(
    cliques: CliqueTable,
    kinds: KindTable,
    trees: JunctionTrees,
    i: int,
    theta: FloatArray,
    sums: bool,
    ws: MessageSpace,
) -> float:
    """Fill all tables, children first; return the best score, or ``log Z``.

    A bag adds up the scores of its cliques and the messages of its children. For the
    best score, its table holds the best of all that hangs from it. For sums, it holds
    the probability of its own vertices given those it shares.
    """
    bags, factors = trees.bags, trees.factors
    part_at, first = cliques.part_at, cliques.ptr[i]
    t = trees.topology[i]
    result = 0.0
    for b in range(bags.ptr[t], bags.ptr[t + 1]):
        n_own, n_shared = bags.n_own[b], bags.n_shared[b]
        at, up = bags.table_at[b], bags.message_at[b]
        message = ws.messages[up : up + n_shared]
        table = ws.tables[at : at + n_own * n_shared]
        scores = ws.table[: n_own * n_shared] if sums else table
        scores[:] = 0.0
        for f in range(factors.ptr[b], factors.ptr[b + 1]):
            source = factors.source[f]
            if source >= 0:
                c = first + source
                factor = theta[part_at[c] - part_at[first] :][
                    : part_at[c + 1] - part_at[c]
                ]
                kind = cliques.kind[c]
                if not kinds.is_free[kind]:
                    legal = ws.scores[: factor.size]
                    _legal_scores(factor, kinds.classes[kinds.class_at[kind] :], legal)
                    factor = legal
            else:
                factor = ws.messages[bags.message_at[~source] :]
            start, stop = factors.axis_ptr[f], factors.axis_ptr[f + 1]
            sizes, strides = factors.sizes[start:stop], factors.strides[start:stop]
            add_factor(factor, sizes, strides, ws.digits, scores)
        if sums:
            _conditional(scores, n_own, ws, message, table)
        else:
            _best_of_columns(scores, n_own, message)
        if not bags.has_parent[b]:
            result += message[0]
    return result


# --- down, from the roots to the leaves -------------------------------------------


@kernel
def distribute(
    cliques: CliqueTable, trees: JunctionTrees, i: int, mu: FloatArray, ws: MessageSpace
) -> None:
    """Add the probabilities of all configurations to `mu`, after sums were collected.

    Nothing is exponentiated or subtracted: a bag's conditional probabilities times the
    probability of what it shares, which its parent knows.
    """
    bags, factors = trees.bags, trees.factors
    part_at, first = cliques.part_at, cliques.ptr[i]
    t = trees.topology[i]
    for b in range(bags.ptr[t + 1] - 1, bags.ptr[t] - 1, -1):
        n_own, n_shared = bags.n_own[b], bags.n_shared[b]
        at, up = bags.table_at[b], bags.message_at[b]
        table = ws.tables[at : at + n_own * n_shared]
        if bags.has_parent[b]:
            given = ws.messages[up : up + n_shared]
            for a in range(n_own):
                row = table[a * n_shared : (a + 1) * n_shared]
                for j in range(n_shared):
                    row[j] *= given[j]
        for f in range(factors.ptr[b], factors.ptr[b + 1]):
            source = factors.source[f]
            if source >= 0:
                factor = mu[part_at[first + source] - part_at[first] :]
            else:
                up = bags.message_at[~source]
                factor = ws.messages[up : up + bags.n_shared[~source]]
                factor[:] = 0.0
            start, stop = factors.axis_ptr[f], factors.axis_ptr[f + 1]
            sizes, strides = factors.sizes[start:stop], factors.strides[start:stop]
            sum_to_factor(table, sizes, strides, ws.digits, factor)


# --- outputs ------------------------------------------------------------------------


@kernel
def index_of(bags: Bags, b: int, y: CodeArray) -> int:
    """Return where the labels `y` are in the table of a bag."""
    result = 0
    for j in range(bags.member_ptr[b], bags.member_ptr[b + 1]):
        result += y[bags.members[j]] * bags.strides[j]
    return result


@kernel
def set_own(bags: Bags, b: int, row: int, n_labels: IntArray, y: CodeArray) -> None:
    """Give a bag's own vertices the labels of a row of its table."""
    at = row * bags.n_shared[b]
    first = bags.member_ptr[b]
    for j in range(first, first + bags.n_own_members[b]):
        v = bags.members[j]
        y[v] = at // bags.strides[j] % n_labels[v]


@kernel
def trace_best(
    bags: Bags,
    start: int,
    stop: int,
    n_labels: IntArray,
    y: CodeArray,
    ws: MessageSpace,
) -> None:
    """Write the best labels of the bags ``start, start - 1, .., stop``.

    Given those of the bags nearer the root, and after the best scores were collected; a
    bag's best row is the first that gives its message again.
    """
    for b in range(start, stop - 1, -1):
        n_own, n_shared = bags.n_own[b], bags.n_shared[b]
        set_own(bags, b, 0, n_labels, y)
        column = index_of(bags, b, y)
        table = ws.tables[bags.table_at[b] + column :]
        best = ws.messages[bags.message_at[b] + column]
        row = 0
        while row < n_own - 1 and table[row * n_shared] != best:
            row += 1
        set_own(bags, b, row, n_labels, y)
