"""The k best projective trees: Eisner's chart with a list in every cell.

A cell lists the best ways to make it, in order, and for each of them the split and the
places in the lists of the two halves. Every tree is made in just one way, so that the
results are different trees. The names are those of `projective`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures.interface import CodeArray, FloatArray


class KBestChart(NamedTuple):
    """Lists of a sentence, and the spans still to be taken apart.

    `values` fall, and are ``-inf`` where there are no more. The three `pointers` of an
    entry are its split and its places in the lists of the two halves. The tables are
    `RIGHT`, `LEFT`, `JOINED`, `OPEN_RIGHT` and `OPEN_LEFT`, the rows `FOREST`,
    `BEFORE` and `ROOTED`.
    """

    values: FloatArray
    pointers: NDArray[np.int32]
    row_values: FloatArray
    row_pointers: NDArray[np.int32]
    spans: CodeArray


RIGHT, LEFT, JOINED, OPEN_RIGHT, OPEN_LEFT = range(5)
FOREST, BEFORE, ROOTED = range(3)


def make_kbest_chart(n_words: int, k: int) -> KBestChart:
    """Make the lists for sentences of up to `n_words` words; none for one best tree."""
    size = n_words if k > 1 else 0
    return KBestChart(
        np.zeros((5, size, size, k)),
        np.zeros((5, size, size, k, 3), np.int32),
        np.zeros((3, size + 1, k)),
        np.zeros((3, size + 1, k, 3), np.int32),
        np.zeros((2 * size + 2, 4), np.int32),
    )


@kernel
def _merge(
    x: FloatArray,
    y: FloatArray,
    values: FloatArray,
    pointers: NDArray[np.int32],
    k: int,
) -> None:
    """List the best sums of an entry of ``x[u]`` and one of ``y[u]``, for any `u`."""
    for j in range(k):
        values[j] = -np.inf
    for u in range(x.shape[0]):
        for a in range(min(k, x.shape[1])):
            if x[u, a] + y[u, 0] <= values[k - 1]:
                break  # the others of this split are no better
            # Of those that both halves rank higher there are (a + 1) (b + 1) - 1.
            for b in range(min(k // (a + 1), y.shape[1])):
                value = x[u, a] + y[u, b]
                if value <= values[k - 1]:
                    break
                j = k - 1
                while j > 0 and values[j - 1] < value:
                    values[j] = values[j - 1]
                    for e in range(3):
                        pointers[j, e] = pointers[j - 1, e]
                    j -= 1
                values[j] = value
                pointers[j, 0] = u
                pointers[j, 1] = a
                pointers[j, 2] = b


@kernel
def _make(
    table: int, x: FloatArray, y: FloatArray, s: int, t: int, k: int, chart: KBestChart
) -> None:
    """Fill one list of a table."""
    _merge(x, y, chart.values[table, s, t], chart.pointers[table, s, t], k)


@kernel
def _make_row(
    row: int, x: FloatArray, y: FloatArray, t: int, k: int, chart: KBestChart
) -> None:
    """Fill one list of a row."""
    _merge(x, y, chart.row_values[row, t], chart.row_pointers[row, t], k)


@kernel
def _fill(ranked: FloatArray, single_root: bool, k: int, chart: KBestChart) -> None:
    n = ranked.shape[0] - 1
    right, left = chart.values[RIGHT], chart.values[LEFT]
    open_right, open_left = chart.values[OPEN_RIGHT], chart.values[OPEN_LEFT]
    for s in range(n):
        for j in range(k):
            right[s, s, j] = left[s, s, j] = 0.0 if j == 0 else -np.inf
    for width in range(1, n):
        for s in range(n - width):
            t = s + width
            after = slice(s + 1, t + 1)
            _make(JOINED, right[s, s:t], left[after, t], s, t, k, chart)
            joined = chart.values[JOINED, s, t : t + 1]
            _make(OPEN_RIGHT, joined, ranked[s + 1 : s + 2, t + 1], s, t, k, chart)
            _make(OPEN_LEFT, joined, ranked[t + 1 : t + 2, s + 1], s, t, k, chart)
            _make(RIGHT, open_right[s, after], right[after, t], s, t, k, chart)
            _make(LEFT, left[s, s:t], open_left[s:t, t], s, t, k, chart)
    forest, before = chart.row_values[FOREST], chart.row_values[BEFORE]
    rooted = chart.row_values[ROOTED]
    for j in range(k):
        forest[0, j] = 0.0 if j == 0 else -np.inf
    for r in range(n):
        _make_row(BEFORE, forest[: r + 1], left[: r + 1, r], r, k, chart)
        _make_row(ROOTED, before[r : r + 1], ranked[0:1, r + 1], r, k, chart)
        if single_root and r + 1 < n:
            for j in range(k):
                forest[r + 1, j] = -np.inf
        else:
            _make_row(FOREST, rooted[: r + 1], right[: r + 1, r], r + 1, k, chart)


@kernel
def _push(spans: CodeArray, depth: int, kind: int, s: int, t: int, rank: int) -> int:
    """Put a span on the stack, unless there is nothing in it to take apart."""
    if s == t:
        return depth
    spans[depth, 0] = kind
    spans[depth, 1] = s
    spans[depth, 2] = t
    spans[depth, 3] = rank
    return depth + 1


@kernel
def _read(
    chart: KBestChart, n: int, rank: int, heads: CodeArray, ranks: CodeArray
) -> None:
    """Follow the pointers of one tree."""
    spans, depth, end = chart.spans, 0, n
    while end > 0:
        r, of_rooted, of_right = chart.row_pointers[FOREST, end, rank]
        depth = _push(spans, depth, RIGHT, r, end - 1, of_right)
        _, of_before, of_arc = chart.row_pointers[ROOTED, r, of_rooted]
        heads[r] = 0
        ranks[r] = of_arc
        end, rank, of_left = chart.row_pointers[BEFORE, r, of_before]
        depth = _push(spans, depth, LEFT, end, r, of_left)
    while depth > 0:
        depth -= 1
        kind, s, t, rank = spans[depth]
        if kind == RIGHT:
            split, of_open, of_right = chart.pointers[RIGHT, s, t, rank]
            u = s + 1 + split
            _, of_joined, of_arc = chart.pointers[OPEN_RIGHT, s, u, of_open]
            heads[u] = s + 1
            ranks[u] = of_arc
            depth = _push(spans, depth, JOINED, s, u, of_joined)
            depth = _push(spans, depth, RIGHT, u, t, of_right)
        elif kind == LEFT:
            split, of_left, of_open = chart.pointers[LEFT, s, t, rank]
            u = s + split
            _, of_joined, of_arc = chart.pointers[OPEN_LEFT, u, t, of_open]
            heads[u] = t + 1
            ranks[u] = of_arc
            depth = _push(spans, depth, LEFT, s, u, of_left)
            depth = _push(spans, depth, JOINED, u, t, of_joined)
        else:
            split, of_right, of_left = chart.pointers[JOINED, s, t, rank]
            u = s + split
            depth = _push(spans, depth, RIGHT, s, u, of_right)
            depth = _push(spans, depth, LEFT, u + 1, t, of_left)


@kernel
def best_projective_trees(
    ranked: FloatArray,
    single_root: bool,
    k: int,
    heads: CodeArray,
    ranks: CodeArray,
    scores: FloatArray,
    chart: KBestChart,
) -> int:
    """Write the `k` best projective trees, best first; return how many there are.

    Parameters
    ----------
    ranked : array of three dimensions
        ``ranked[head, modifier]`` lists the scores of the labels of an arc, best first.
    single_root : bool
        Whether only one word may hang from the root.
    k : int
        At most the number that `make_kbest_chart` was given.
    heads, ranks : matrices of int32
        A row for every tree: the head of every word and the place of its arc's label.
    scores : array
        The scores of the trees.
    chart : KBestChart
        Scratch arrays.
    """
    n = ranked.shape[0] - 1
    _fill(ranked, single_root, k, chart)
    found = 0
    while found < k and chart.row_values[FOREST, n, found] > -np.inf:
        scores[found] = chart.row_values[FOREST, n, found]
        _read(chart, n, found, heads[found], ranks[found])
        found += 1
    return found
