"""A corpus of lattices as flat arrays."""

from __future__ import annotations

from typing import NamedTuple

from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.rows import SparseRows

END = -1
"""What fills an output after its last edge."""


class Words(NamedTuple):
    """What every edge yields, as numbers of words; no pointers: nothing at all.

    The words of edge `e` are ``number[ptr[e]:ptr[e + 1]]``.
    """

    ptr: IntArray
    number: CodeArray


class GoodPaths(NamedTuple):
    """The good paths of lattice `i` are ``ptr[i]:ptr[i + 1]``, the right one first.

    Path `p` is ``codes[path_ptr[p]:path_ptr[p + 1]]``.
    """

    ptr: IntArray
    path_ptr: IntArray
    codes: CodeArray


class PathTable(NamedTuple):
    """How many nodes each lattice has, and how long and how many its paths are."""

    n_nodes: IntArray
    longest: IntArray
    n_paths: FloatArray
    most_features: int


class Lattice(NamedTuple):
    """A corpus of lattices; make one with `make_lattice`.

    The parts of lattice `i` are the edges ``ptr[i]:ptr[i + 1]``: those on a path, in
    topological order. An output is a path: the numbers of its edges, which increase,
    and `END` after them. Edge `e` was number ``given[e]`` of its lattice.

    `by_words`: paths that yield the same words are one output, of which `kbest` returns
    the best path, and all are good if one is.
    """

    ptr: IntArray
    source: CodeArray
    target: CodeArray
    given: CodeArray
    costs: FloatArray
    rows: SparseRows
    words: Words
    good: GoodPaths
    paths: PathTable
    by_words: int

    def path(self, i: int, y: CodeArray) -> list[int]:
        """Return an output of lattice `i` as the numbers of the edges given for it.

        Examples
        --------
        >>> import numpy as np
        >>> from partwise.structures import LatticeLayout, decode, make_lattice
        >>> from partwise.structures import make_sparse_rows
        >>> layout = LatticeLayout([3], [0, 3], [1, 0, 0], [2, 1, 1], [0], [2])
        >>> rows = make_sparse_rows([0, 1, 2, 3], [0, 1, 2])
        >>> s = make_lattice(layout, rows, None)
        >>> found = decode(s, np.array([1.0, 0.0, 0.5]))
        >>> s.path(0, found.codes[found.ptr[0] : found.ptr[1]])
        [2, 0]
        """
        edges: list[int] = self.given[self.ptr[i] + y[y >= 0]].tolist()
        return edges
