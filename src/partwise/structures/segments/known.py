"""What is known of segments, as parts that completions do not have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partwise.structures.interface import IntArray
from partwise.structures.partial import PartialOutputs, make_partial
from partwise.structures.segments.corpus import Segments


def know_codes(s: Segments, wrong: NDArray[np.bool_]) -> PartialOutputs:
    """Return the corpus with segments that are known in part.

    Parameters
    ----------
    s : Segments
        The corpus, with one of the possible segmentations as the right one.
    wrong : boolean matrix
        True where a token does not have a code: that a segment of a label begins there,
        or goes on. A row of False says nothing of its token, which then costs nothing.

    Examples
    --------
    >>> from partwise.structures import make_segments, make_sparse_rows
    >>> s = make_segments(make_sparse_rows([0, 1, 2], [0, 1]), [0, 2], [0, 0], [1, 2])
    >>> wrong = np.zeros((2, 4), bool)
    >>> wrong[1, 1:] = True  # the second token begins a segment of label 0
    >>> know_codes(s, wrong).forbidden.ids  # a part is a token, a label and a length
    array([2, 4])
    """
    s = _without_unknown_costs(s, np.asarray(~wrong.any(axis=1)))
    return make_partial(s, *wrong_parts(s, wrong))


def wrong_parts(s: Segments, wrong: NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """Return the parts with wrong codes, and where those of every sequence begin."""
    K, M = s.layout.n_labels, s.layout.n_shapes
    n_tokens = int(s.ptr[-1])
    end = np.repeat(s.ptr[1:], np.diff(s.ptr))
    bad = np.zeros((n_tokens, M), bool)
    token = np.arange(n_tokens)
    for k in range(K):
        goes_wrong = wrong[:, k].copy()
        for length in range(1, int(s.shape_at[k + 1] - s.shape_at[k]) + 1):
            last = token + length - 1
            inside = last < end
            if length > 1:
                goes_wrong[inside] |= wrong[last[inside], K + k]
            # Parts that stick out of their sequence are never asked for.
            bad[:, int(s.shape_at[k]) + length - 1] = goes_wrong & inside
    token, shape = np.nonzero(bad)
    at = np.searchsorted(token, s.ptr)
    ids = (token - np.repeat(s.ptr[:-1], np.diff(at))) * M + shape
    return at, ids


def _without_unknown_costs(s: Segments, unknown: NDArray[np.bool_]) -> Segments:
    """Return the corpus with tokens that cost nothing where nothing is known."""
    costs = s.costs
    weight = costs.token_weight if costs.token_weight.size else np.ones(unknown.size)
    missed = np.where(unknown, 0.0, costs.missed) if costs.missed.size else costs.missed
    return s._replace(
        costs=costs._replace(token_weight=np.where(unknown, 0.0, weight), missed=missed)
    )


def farthest(s: Segments, wrong: NDArray[np.bool_] | None, i: int) -> int:
    """Return the token up to which some segments of sequence `i` are possible."""
    K, first, n = s.layout.n_labels, int(s.ptr[i]), int(s.ptr[i + 1] - s.ptr[i])
    bad = np.zeros((n, 2 * K), bool)
    if wrong is not None:
        bad |= wrong[first : first + n]
    if s.mask.tokens.size:
        bad |= s.mask.tokens[first : first + n] == 0
    ends: list[set[int]] = [set() for _ in range(n + 1)]
    for t in range(n):
        for k in range(K):
            if t == 0:
                follows = s.mask.start[k] > 0
            else:
                follows = any(s.mask.transitions[a, k] for a in ends[t])
            limit = min(int(s.shape_at[k + 1] - s.shape_at[k]), n - t)
            for d in range(limit if follows else 0):
                if bad[t + d, k if d == 0 else K + k]:
                    break
                ends[t + d + 1].add(k)
    return min(max((t for t in range(n + 1) if ends[t]), default=0), n - 1)
