"""Lattices of many sentences, as flat arrays for the library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.translation.beam_search import Found
from benchmarks.translation.features import FeatureSpace, feature_rows
from benchmarks.translation.options import Options
from benchmarks.translation.vocabulary import IntArray
from partwise.structures import (
    Lattice,
    LatticeLayout,
    SparseRows,
    Words,
    decode,
    decode_kbest,
    make_lattice,
    make_sparse_rows,
)

FloatArray = NDArray[np.float64]
Paths = list[list[int]]


@dataclass(frozen=True)
class Corpus:
    """Lattice `i` has ``n_nodes[i]`` nodes and edges ``ptr[i]:ptr[i + 1]``.

    `covered` counts the source words that each edge translates, `history` has the two
    words before it, `words` what it yields.
    """

    n_nodes: IntArray
    ptr: IntArray
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    covered: NDArray[np.int32]
    history: NDArray[np.int32]
    words: Words
    rows: SparseRows

    def __len__(self) -> int:
        """Return the number of lattices."""
        return self.n_nodes.size

    def structure(
        self,
        good: Sequence[Paths] | None = None,
        *,
        rows: SparseRows | None = None,
        costs: FloatArray | None = None,
        by_words: bool = False,
    ) -> Lattice:
        """Return the corpus as the library wants it, perhaps with other features."""
        layout = LatticeLayout(
            self.n_nodes,
            self.ptr,
            self.source,
            self.target,
            np.zeros(len(self), np.int64),
            self.n_nodes - 1,
        )
        return make_lattice(
            layout,
            self.rows if rows is None else rows,
            good,
            costs=costs,
            words=self.words if by_words else None,
            by_words=by_words,
        )

    def select(self, kept: IntArray) -> Corpus:
        """Return some of the lattices."""
        edges = ranges(self.ptr, kept)
        rows, words = self.rows, self.words
        entries, at = ranges(rows.ptr, edges), ranges(words.ptr, edges)
        return Corpus(
            self.n_nodes[kept],
            _pointers(np.diff(self.ptr)[kept]),
            self.source[edges],
            self.target[edges],
            self.covered[edges],
            self.history[edges],
            Words(_pointers(np.diff(words.ptr)[edges]), words.number[at]),
            make_sparse_rows(
                _pointers(np.diff(rows.ptr)[edges]),
                rows.idx[entries],
                rows.val[entries],
                rows.n_columns,
            ),
        )

    def words_of(self, i: int, path: Sequence[int]) -> IntArray:
        """Return the words that a path of lattice `i` yields."""
        ptr, words = self.words
        first = self.ptr[i]
        parts = [words[ptr[first + e] : ptr[first + e + 1]] for e in path]
        return np.concatenate([np.zeros(0, np.int64), *parts])


def join_lattices(
    lattices: Iterable[tuple[Found, Options]], space: FeatureSpace
) -> Corpus:
    """Give all edges their features, and put the lattices one after the other.

    Lattices are taken one by one, and only their flat arrays kept.
    """
    n_nodes, sizes = [], []
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for found, options in lattices:
        n_nodes.append(found.n_nodes)
        sizes.append(found.source.size)
        ptr, idx, val = feature_rows(found, options, space)
        word_sizes, words = _words(found, options)
        for name, values in (
            ("source", found.source.astype(np.int32)),
            ("target", found.target.astype(np.int32)),
            ("covered", found.covered.astype(np.int32)),
            ("history", found.history[found.source].astype(np.int32)),
            ("word_sizes", word_sizes),
            ("words", words.astype(np.int32)),
            ("row_sizes", np.diff(ptr)),
            ("idx", idx),
            ("val", val),
        ):
            columns[name].append(values)
    joined = {
        name: np.concatenate([empty, *columns.pop(name)])
        for name, empty in _COLUMNS.items()
    }
    return Corpus(
        np.array(n_nodes, np.int64),
        _pointers(np.array(sizes, np.int64)),
        joined["source"],
        joined["target"],
        joined["covered"],
        joined["history"],
        Words(_pointers(joined["word_sizes"]), joined["words"]),
        make_sparse_rows(
            _pointers(joined["row_sizes"]), joined["idx"], joined["val"], space.size
        ),
    )


_COLUMNS = {
    "source": np.zeros(0, np.int32),
    "target": np.zeros(0, np.int32),
    "covered": np.zeros(0, np.int32),
    "history": np.zeros((0, 2), np.int32),
    "word_sizes": np.zeros(0, np.int64),
    "words": np.zeros(0, np.int32),
    "row_sizes": np.zeros(0, np.int64),
    "idx": np.zeros(0, np.int32),
    "val": np.zeros(0),
}


def ranges(ptr: IntArray, kept: IntArray) -> IntArray:
    """Return all numbers of ``ptr[k]:ptr[k + 1]``, for one `k` after the other.

    Examples
    --------
    >>> ranges(np.array([0, 2, 5]), np.array([1, 0])).tolist()
    [2, 3, 4, 0, 1]
    """
    sizes = np.diff(ptr)[kept]
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if ends.size else 0
    return np.repeat(ptr[:-1][kept] - ends + sizes, sizes) + np.arange(total)


def _pointers(sizes: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _words(found: Found, options: Options) -> tuple[IntArray, IntArray]:
    """Return how many words each edge yields, and which."""
    yields = [
        options.words[options.word_ptr[o] : options.word_ptr[o + 1]]
        if o >= 0
        else options.words[:0]
        for o in found.option.tolist()
    ]
    sizes = np.array([own.size for own in yields], np.int64)
    return sizes, np.concatenate([np.zeros(0, np.int64), *yields])


def best_paths(s: Lattice, w: FloatArray) -> Paths:
    """Return the best path of every lattice, as numbers of its edges."""
    found = decode(s, w)
    return [
        s.path(i, found.codes[found.ptr[i] : found.ptr[i + 1]])
        for i in range(found.scores.size)
    ]


def kbest_paths(s: Lattice, w: FloatArray, k: int) -> list[Paths]:
    """Return the k best paths of every lattice."""
    found = decode_kbest(s, w, k)
    return [
        [
            s.path(i, found.codes[j, found.ptr[i] : found.ptr[i + 1]])
            for j in range(found.found[i])
        ]
        for i in range(found.found.size)
    ]


def restrict_features(corpus: Corpus, number: IntArray, n_kept: int) -> Corpus:
    """Return the corpus with features renumbered, without those of number -1."""
    new = number[corpus.rows.idx]
    kept = new >= 0
    so_far = np.concatenate([[0], np.cumsum(kept)])
    rows = make_sparse_rows(
        so_far[corpus.rows.ptr], new[kept], corpus.rows.val[kept], n_kept
    )
    return replace(corpus, rows=rows)
