"""The k best projective trees: Eisner's chart with a list in every cell.

A cell lists the best ways to make it, in order, and for each of them the split and the
places in the lists of the two halves. Every tree is made in just one way, so that what
comes out are different trees. The names are those of `projective`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures.interface import CodeArray, FloatArray


class Ranking(NamedTuple):
    """A table of lists: values in falling order, ``-inf`` where there are no more.

    The three pointers of an entry are its split and its places in the two halves.
    """

    values: FloatArray
    pointers: NDArray[np.int32]


class KBestChart(NamedTuple):
    """The lists of a sentence, and the spans still to be taken apart."""

    right: Ranking
    left: Ranking
    joined: Ranking
    open_right: Ranking
    open_left: Ranking
    forest: Ranking
    before: Ranking
    rooted: Ranking
    spans: CodeArray


def make_kbest_chart(n_words: int, k: int) -> KBestChart:
    """Make the lists for sentences of up to `n_words` words; none for one best tree."""
    size = n_words if k > 1 else 0

    def table(rows: int, columns: int) -> Ranking:
        shape = (rows, columns, k)
        return Ranking(np.zeros(shape), np.zeros((*shape, 3), np.int32))

    return KBestChart(
        right=table(size, size),
        left=table(size, size),
        joined=table(size, size),
        open_right=table(size, size),
        open_left=table(size, size),
        forest=table(1, size + 1),
        before=table(1, size + 1),
        rooted=table(1, size + 1),
        spans=np.zeros((2 * size + 2, 4), np.int32),
    )


@kernel
def _merge(
    x: FloatArray, y: FloatArray, table: Ranking, s: int, t: int, k: int
) -> None:
    """List the best sums of an entry of ``x[u]`` and one of ``y[u]``, for any `u`."""
    values, pointers = table.values[s, t], table.pointers[s, t]
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
                    pointers[j] = pointers[j - 1]
                    j -= 1
                values[j] = value
                pointers[j, 0] = u
                pointers[j, 1] = a
                pointers[j, 2] = b


@kernel
def _fill(ranked: FloatArray, single_root: bool, k: int, chart: KBestChart) -> None:
    n = ranked.shape[0] - 1
    right, left = chart.right, chart.left
    for s in range(n):
        for j in range(k):
            right.values[s, s, j] = left.values[s, s, j] = 0.0 if j == 0 else -np.inf
    for width in range(1, n):
        for s in range(n - width):
            t = s + width
            _merge(
                right.values[s, s:t],
                left.values[s + 1 : t + 1, t],
                chart.joined,
                s,
                t,
                k,
            )
            joined = chart.joined.values[s, t : t + 1]
            _merge(joined, ranked[s + 1 : s + 2, t + 1], chart.open_right, s, t, k)
            _merge(joined, ranked[t + 1 : t + 2, s + 1], chart.open_left, s, t, k)
            _merge(
                chart.open_right.values[s, s + 1 : t + 1],
                right.values[s + 1 : t + 1, t],
                right,
                s,
                t,
                k,
            )
            _merge(left.values[s, s:t], chart.open_left.values[s:t, t], left, s, t, k)
    forest, before, rooted = chart.forest, chart.before, chart.rooted
    for j in range(k):
        forest.values[0, 0, j] = 0.0 if j == 0 else -np.inf
    for r in range(n):
        _merge(forest.values[0, : r + 1], left.values[: r + 1, r], before, 0, r, k)
        _merge(before.values[0, r : r + 1], ranked[0:1, r + 1], rooted, 0, r, k)
        if single_root and r + 1 < n:
            for j in range(k):
                forest.values[0, r + 1, j] = -np.inf
        else:
            _merge(
                rooted.values[0, : r + 1], right.values[: r + 1, r], forest, 0, r + 1, k
            )


RIGHT, LEFT, JOINED = 0, 1, 2


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
        r, of_rooted, of_right = chart.forest.pointers[0, end, rank]
        depth = _push(spans, depth, RIGHT, r, end - 1, of_right)
        _, of_before, of_arc = chart.rooted.pointers[0, r, of_rooted]
        heads[r] = 0
        ranks[r] = of_arc
        end, rank, of_left = chart.before.pointers[0, r, of_before]
        depth = _push(spans, depth, LEFT, end, r, of_left)
    while depth > 0:
        depth -= 1
        kind, s, t, rank = spans[depth]
        if kind == RIGHT:
            split, of_open, of_right = chart.right.pointers[s, t, rank]
            u = s + 1 + split
            _, of_joined, of_arc = chart.open_right.pointers[s, u, of_open]
            heads[u] = s + 1
            ranks[u] = of_arc
            depth = _push(spans, depth, JOINED, s, u, of_joined)
            depth = _push(spans, depth, RIGHT, u, t, of_right)
        elif kind == LEFT:
            split, of_left, of_open = chart.left.pointers[s, t, rank]
            u = s + split
            _, of_joined, of_arc = chart.open_left.pointers[u, t, of_open]
            heads[u] = t + 1
            ranks[u] = of_arc
            depth = _push(spans, depth, LEFT, s, u, of_left)
            depth = _push(spans, depth, JOINED, u, t, of_joined)
        else:
            split, of_right, of_left = chart.joined.pointers[s, t, rank]
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
        At most the number that `make_kbest_chart` was told.
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
    while found < k and chart.forest.values[0, n, found] > -np.inf:
        scores[found] = chart.forest.values[0, n, found]
        _read(chart, n, found, heads[found], ranks[found])
        found += 1
    return found
