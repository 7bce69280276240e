"""A corpus of sequences whose labels depend on several before them, as flat arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partwise.structures.costs import hamming, make_cost_matrix, make_token_weight
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.ngrams.table import NGrams
from partwise.structures.rows import Rows, check_rows, n_row_weights


class NGramLayout(NamedTuple):
    """Where each kind of weight lies in `w`."""

    n_labels: int
    has_end: int
    ngram_at: int
    end_at: int
    n_weights: int


class NGramMask(NamedTuple):
    """What is legal: 1 allowed, 0 forbidden. No rows in `tokens`: all are allowed."""

    end: NDArray[np.uint8]
    tokens: NDArray[np.uint8]


class NGramChain(NamedTuple):
    """A corpus of sequences of higher order; make one with `make_ngram_chain`.

    Costs are those of a `Chain`.
    """

    nodes: Rows
    grams: NGrams
    ptr: IntArray
    labels: CodeArray
    layout: NGramLayout
    mask: NGramMask
    costs: FloatArray
    token_weight: FloatArray


def make_ngram_chain(
    nodes: Rows,
    ptr: ArrayLike,
    labels: ArrayLike | None,
    n_labels: int,
    grams: NGrams,
    *,
    end: bool = False,
    costs: ArrayLike | None = None,
    token_weight: ArrayLike | None = None,
    forbidden_end: ArrayLike | None = None,
    forbidden_labels: ArrayLike | None = None,
) -> NGramChain:
    """Check the arrays of a corpus of sequences and lay out its weights.

    Parameters
    ----------
    nodes : rows of any kind
        The features of every position of the corpus.
    ptr : array of int
        Sequence `i` is the positions ``ptr[i]:ptr[i + 1]``.
    labels : array of int or None
        The right label of every position; None when only predicting.
    n_labels : int
        Labels are ``0 .. n_labels - 1``.
    grams : NGrams
        Which label tuples there are, as `make_ngrams` returns them.
    end : bool
        Whether the last label has weights of its own.
    costs, token_weight
        As in `make_chain`.
    forbidden_end : boolean vector, optional
        True where a sequence may not end with a label.
    forbidden_labels : boolean matrix, optional
        True where a position may not have a label.

    Examples
    --------
    >>> from partwise.structures.ngrams import make_ngrams, observed_tuples
    >>> from partwise.structures.rows import make_sparse_rows
    >>> y, ptr = [0, 1, 0], [0, 3]
    >>> grams = make_ngrams(observed_tuples(y, ptr, 2), observed_tuples(y, ptr, 3), 2)
    >>> rows = make_sparse_rows([0, 1, 2, 3], [0, 1, 0])
    >>> chain = make_ngram_chain(rows, ptr, y, 2, grams)
    >>> chain.layout.n_weights  # 4 of features, 5 of two and three labels
    9
    """
    ptr = np.ascontiguousarray(ptr, np.int64)
    if ptr.size == 0 or ptr[0] != 0 or (np.diff(ptr) < 0).any():
        raise ValueError("sequence pointers must start at 0 and never decrease")
    n_tokens = int(ptr[-1])
    check_rows(nodes, n_tokens, n_labels)
    given = np.zeros(n_tokens, np.int32) if labels is None else labels
    right = np.ascontiguousarray(given, np.int32)
    if right.size != n_tokens:
        raise ValueError(f"{right.size} labels for {n_tokens} positions")
    if right.size and not 0 <= right.min() <= right.max() < n_labels:
        raise ValueError(f"labels must lie in 0..{n_labels - 1}")
    ngram_at = int(n_row_weights(nodes, n_labels))
    end_at = ngram_at + grams.n_weights
    return NGramChain(
        nodes,
        grams,
        ptr,
        right,
        NGramLayout(n_labels, int(end), ngram_at, end_at, end_at + n_labels * end),
        NGramMask(
            np.ones(n_labels, np.uint8)
            if forbidden_end is None
            else np.ascontiguousarray(~np.asarray(forbidden_end, bool), np.uint8),
            np.zeros((0, n_labels), np.uint8)
            if forbidden_labels is None
            else np.ascontiguousarray(~np.asarray(forbidden_labels, bool), np.uint8),
        ),
        hamming(n_labels) if costs is None else make_cost_matrix(costs, n_labels),
        make_token_weight(token_weight, n_tokens),
    )


def illegal_positions(s: NGramChain) -> IntArray:
    """Return the positions of the corpus where gold has no step, or is forbidden."""
    found = []
    for i in range(s.ptr.size - 1):
        state = 0
        for t in range(int(s.ptr[i]), int(s.ptr[i + 1])):
            k = s.labels[t]
            e = s.grams.next_step[state, k]
            closed = s.mask.tokens.size > 0 and s.mask.tokens[t, k] == 0
            last = t + 1 == s.ptr[i + 1] and s.mask.end[k] == 0
            if e < 0 or closed or last:
                found.append(t)
                break
            state = s.grams.target[e]
    return np.array(found, np.int64)
