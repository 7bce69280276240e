"""Lists of the best translations: their words, dense features and counts for BLEU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.translation.bleu import N_COUNTS, all_counts
from benchmarks.translation.dense_features import N_DENSE
from benchmarks.translation.lattices import Corpus, kbest_paths
from benchmarks.translation.vocabulary import IntArray
from partwise.structures import Lattice, make_sparse_rows

FloatArray = NDArray[np.float64]


class NBest(NamedTuple):
    """Translations of several sentences; ``owner[h]`` is the sentence, never falling.

    Within its lattice, translation `h` is the path ``paths[h]``.
    """

    owner: IntArray
    paths: list[list[int]]
    words: list[IntArray]
    features: FloatArray
    counts: IntArray


def dense_matrix(corpus: Corpus) -> FloatArray:
    """Return the dense features of all edges."""
    rows = corpus.rows
    owner = np.repeat(np.arange(rows.ptr.size - 1), np.diff(rows.ptr))
    dense = rows.idx < N_DENSE
    result = np.zeros((rows.ptr.size - 1, N_DENSE))
    result[owner[dense], rows.idx[dense]] = rows.val[dense]
    return result


def scored_structure(corpus: Corpus, columns: FloatArray) -> Lattice:
    """Return the lattices with other features: a column of values for each.

    Outputs are told apart by their words.
    """
    n, width = columns.shape
    rows = make_sparse_rows(
        np.arange(n + 1) * width, np.tile(np.arange(width), n), columns.ravel(), width
    )
    return corpus.structure(rows=rows, by_words=True)


def list_best(
    corpus: Corpus,
    references: Sequence[IntArray],
    columns: FloatArray,
    w: FloatArray,
    k: int,
    features: FloatArray | None = None,
) -> NBest:
    """Return the k best translations with different words, by weighted columns.

    Parameters
    ----------
    columns : array
        Values for every edge, which `w` weighs.
    features : array, optional
        What to report of the edges, summed over paths; by default `columns`.
    """
    s = scored_structure(corpus, columns)
    lists = kbest_paths(s, w, k)
    sizes = [len(paths) for paths in lists]
    owner: IntArray = np.repeat(np.arange(len(lists)), sizes)
    paths = [path for own in lists for path in own]
    words = [corpus.words_of(int(i), p) for i, p in zip(owner, paths, strict=True)]
    values = columns if features is None else features
    edges = np.concatenate(
        [np.zeros(0, np.int64)]
        + [corpus.ptr[i] + np.array(p) for i, p in zip(owner, paths, strict=True)]
    )
    ends = np.cumsum([len(path) for path in paths])
    so_far = np.concatenate([np.zeros((1, values.shape[1])), values[edges]]).cumsum(0)
    sums = np.diff(so_far[np.concatenate([[0], ends])], axis=0)
    counts = all_counts(words, owner, references)
    return NBest(owner, paths, words, sums, counts.reshape(-1, N_COUNTS))


def merge(one: NBest, other: NBest) -> NBest:
    """Return the translations of both, those with the same words and features once."""
    seen: set[tuple[int, bytes, bytes]] = set()
    kept = []
    both = [(one, h) for h in range(one.owner.size)]
    both += [(other, h) for h in range(other.owner.size)]
    for lists, h in both:
        values = np.round(lists.features[h], 6).tobytes()
        key = (int(lists.owner[h]), lists.words[h].tobytes(), values)
        if key not in seen:
            seen.add(key)
            kept.append((lists, h))
    kept.sort(key=lambda pair: int(pair[0].owner[pair[1]]))
    return NBest(
        np.array([lists.owner[h] for lists, h in kept], np.int64),
        [lists.paths[h] for lists, h in kept],
        [lists.words[h] for lists, h in kept],
        np.array([lists.features[h] for lists, h in kept]),
        np.array([lists.counts[h] for lists, h in kept]),
    )
