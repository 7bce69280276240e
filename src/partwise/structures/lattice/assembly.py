"""The arrays of a corpus of lattices: checked, put in order, and put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from partwise.errors import DataError
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.lattice.corpus import END, GoodPaths, Lattice, PathTable, Words
from partwise.structures.lattice.good import refuse_all_good
from partwise.structures.lattice.layout import (
    LatticeLayout,
    check_layout,
    order_checked,
)
from partwise.structures.lattice.ordering import Ordering, measure_paths
from partwise.structures.rows import SparseRows, check_rows

Paths: TypeAlias = Sequence[Sequence[int]]
"""Paths of one lattice, each as the numbers of its edges from start to end."""


def _no_words() -> Words:
    """Return the words of edges that yield nothing."""
    return Words(np.zeros(0, np.int64), np.zeros(0, np.int32))


def make_lattice(
    layout: LatticeLayout,
    rows: SparseRows,
    good: Sequence[Paths] | None,
    *,
    costs: ArrayLike | None = None,
    words: Words | None = None,
    by_words: bool = False,
) -> Lattice:
    """Check the arrays of a corpus of lattices, and put their edges in order.

    Takes time and memory proportional to the number of edges and their features. The
    corpus takes 28 bytes per edge, 12 for each of its features (4 where all values are
    1), and where edges yield words another 8, and 4 per word. A thread needs another 16
    bytes per edge and 28 per node of the largest lattice; for the k best paths another
    20 per edge, 52 per node, and 28 for each edge of these paths.

    Parameters
    ----------
    layout : LatticeLayout
        Nodes and edges, start and end. Edges that lie on no path are left out.
    rows : SparseRows
        The features of every edge; a feature has one weight.
    good : sequence of sequences of paths, or None
        For every lattice its good paths, as numbers of the edges that were given,
        counted within the lattice. The first is the right one. None when only
        predicting.
    costs : array, optional
        What using an edge costs; nothing on the right path. By default 1 for every
        edge that lies on no good path.
    words : Words, optional
        What every edge yields.
    by_words : bool
        Whether paths that yield the same words are the same output. Not for
        ``SetHinge(compare="closest")``, which has to see all paths.

    Examples
    --------
    Two edges side by side, and one after them:

    >>> from partwise.structures import make_sparse_rows
    >>> layout = LatticeLayout([3], [0, 3], [0, 0, 1], [1, 1, 2], [0], [2])
    >>> s = make_lattice(layout, make_sparse_rows([0, 1, 2, 3], [0, 1, 2]), [[[1, 2]]])
    >>> s.costs.tolist(), s.paths.n_paths.tolist()
    ([1.0, 0.0, 0.0], [2.0])
    """
    given = check_layout(layout)
    check_rows(rows, given.source.size, 1)
    return make_ordered_lattice(
        order_checked(given), given.edge_ptr, rows, good, costs, words, by_words
    )


def make_ordered_lattice(
    made: Ordering,
    edge_ptr: IntArray,
    rows: SparseRows,
    good: Sequence[Paths] | None,
    costs: ArrayLike | None,
    words: Words | None,
    by_words: bool,
) -> Lattice:
    """Do what `make_lattice` does, for lattices whose edges are already in order.

    Their rows, costs and words are as given: those of lattice `i` are
    ``edge_ptr[i]:edge_ptr[i + 1]``.
    """
    n_edges = int(edge_ptr[-1])
    # The place of every kept edge among all that were given.
    first = np.repeat(edge_ptr[:-1], np.diff(made.edge_ptr))
    place = first + made.given
    own_rows = _take_rows(rows, place)
    sizes = measure_paths(made, own_rows.ptr)
    words = _check_words(words, n_edges, by_words)
    right = _no_good_paths(made.n_nodes.size)
    if good is not None:
        right = _number_good(good, made, edge_ptr)
    s = Lattice(
        made.edge_ptr,
        made.source,
        made.target,
        made.given,
        np.zeros(made.given.size),
        own_rows,
        words if words.ptr.size == 0 else Words(*_take_rows(words, place)[:2]),
        right,
        PathTable(made.n_nodes, sizes.longest, sizes.n_paths, sizes.most_features),
        int(by_words),
    )
    if good is None:
        return s
    s = s._replace(costs=_edge_costs(s, costs, place))
    refuse_all_good(s)
    return s


def _take_rows(rows: SparseRows | Words, place: IntArray) -> SparseRows:
    """Return some rows in another order; those of words have no values."""
    ptr, idx = rows[:2]
    val = rows.val if isinstance(rows, SparseRows) else np.zeros(0)
    width = rows.n_columns if isinstance(rows, SparseRows) else 0
    if place.size == ptr.size - 1 and (place == np.arange(place.size)).all():
        return SparseRows(ptr, idx, val, width)
    sizes = np.diff(ptr)[place]
    new_ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    at = np.repeat(ptr[:-1][place] - new_ptr[:-1], sizes) + np.arange(new_ptr[-1])
    return SparseRows(new_ptr, idx[at], val[at] if val.size else val, width)


def _check_words(words: Words | None, n_edges: int, by_words: bool) -> Words:
    if words is None or np.size(words.ptr) == 0:
        if by_words:
            raise ValueError("by_words needs the words that edges yield")
        return _no_words()
    ptr = np.ascontiguousarray(words.ptr, np.int64)
    number = np.ascontiguousarray(words.number, np.int32)
    if ptr.shape != (n_edges + 1,) or ptr[0] != 0 or (np.diff(ptr) < 0).any():
        raise ValueError(f"the pointers of words must fit {n_edges} edges")
    if ptr[-1] != number.size:
        raise ValueError(f"the last pointer is {ptr[-1]}, of {number.size} words")
    if number.min(initial=0) < 0:
        raise ValueError("words must be numbered from 0 on")
    return Words(ptr, number)


def _no_good_paths(n: int) -> GoodPaths:
    """Return what is known of good paths when only predicting: nothing."""
    zeros = np.zeros(n + 1, np.int64)
    return GoodPaths(zeros, np.zeros(1, np.int64), np.zeros(0, np.int32))


def _number_good(good: Sequence[Paths], made: Ordering, ptr: IntArray) -> GoodPaths:
    """Check good paths, and number their edges as the corpus does."""
    n = made.n_nodes.size
    if len(good) != n:
        raise DataError(f"{n} lattices, but good paths of {len(good)}")
    counts, sizes, codes = [], [], []
    for i, paths in enumerate(good):
        own = slice(int(made.edge_ptr[i]), int(made.edge_ptr[i + 1]))
        number = np.full(int(ptr[i + 1] - ptr[i]), END, np.int64)
        number[made.given[own]] = np.arange(own.stop - own.start)
        ends = made.source[own], made.target[own], int(made.n_nodes[i]) - 1
        if len(paths) == 0:
            raise DataError(
                "it has no good path (give it one, or leave it out)",
                where=f"lattice {i}",
                example=i,
            )
        # What comes twice counts once; dicts keep the order.
        different = list(dict.fromkeys(tuple(map(int, path)) for path in paths))
        for path in different:
            codes.append(_number_path(path, number, *ends, i))
            sizes.append(len(path))
        counts.append(len(different))
    return GoodPaths(
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([np.zeros(0, np.int32), *codes]),
    )


def _number_path(
    path: tuple[int, ...],
    number: IntArray,
    source: CodeArray,
    target: CodeArray,
    last: int,
    i: int,
) -> CodeArray:
    edges = np.array(path, np.int64)
    known = (edges >= 0) & (edges < number.size)
    if not known.all():
        raise DataError(
            f"good path {list(path)} has no edge {edges[~known][0]} to take (there are "
            f"{number.size}, counted from 0)",
            where=f"lattice {i}",
            example=i,
        )
    codes = number[edges].astype(np.int32)
    nodes = [0, *target[codes].tolist()]
    joined = (codes >= 0).all() and (source[codes] == nodes[:-1]).all()
    if not joined or nodes[-1] != last:
        raise DataError(
            f"{list(path)} is not a path from its start to its end (the numbers are "
            "those of edges, each beginning where the one before ended)",
            where=f"lattice {i}",
            example=i,
        )
    return codes


def _edge_costs(s: Lattice, costs: ArrayLike | None, place: IntArray) -> FloatArray:
    """Return what every edge costs; the right path must cost nothing."""
    path_owner = np.repeat(np.arange(s.ptr.size - 1), np.diff(s.good.ptr))
    owner = np.repeat(path_owner, np.diff(s.good.path_ptr))
    on_good = s.ptr[owner] + s.good.codes
    if costs is None:
        result = np.ones(s.given.size)
        result[on_good] = 0.0
        return result
    result = np.ascontiguousarray(costs, np.float64)
    if result.ndim != 1 or (place.size and result.size <= int(place.max())):
        raise ValueError(f"{result.size} costs do not give one for every edge")
    result = result[place]
    if not (result >= 0).all() or not np.isfinite(result).all():
        raise DataError("the costs of edges must be finite and not negative")
    sizes = np.diff(s.good.path_ptr)
    is_right = np.zeros(sizes.size, bool)
    is_right[s.good.ptr[:-1]] = True
    wrong = np.flatnonzero(np.repeat(is_right, sizes) & (result[on_good] > 0))
    if wrong.size:
        i, e = int(owner[wrong[0]]), int(on_good[wrong[0]])
        raise DataError(
            f"edge {s.given[e]} lies on the right path, the first of the good ones, "
            f"and must cost nothing, not {result[e]:g}",
            where=f"lattice {i}",
            example=i,
            part=int(s.given[e]),
        )
    return result
