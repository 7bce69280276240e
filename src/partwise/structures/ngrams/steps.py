"""The probability of every step at every position."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray
from partwise.structures.ngrams.corpus import NGramChain
from partwise.structures.ngrams.inference import NGramSpace
from partwise.structures.ngrams.scores import part_views
from partwise.structures.ngrams.sums import expect_logs, sum_logs
from partwise.structures.scratch import Scratch, make_scratch


@kernel
def _find_shares(
    s: NGramChain,
    i: int,
    w: FloatArray,
    shares: FloatArray,
    scratch: Scratch,
    ws: NGramSpace,
) -> float:
    waist.part_scores(s, i, w, scratch.theta, ws)
    given = part_views(s, i, scratch.theta, ws.zeros)
    counts = part_views(s, i, scratch.mu, ws.unused)
    log_z = sum_logs(s, given, ws)
    if log_z > -np.inf:
        expect_logs(s, given, counts, shares, log_z, ws)
    return log_z


def step_shares(s: NGramChain, w: FloatArray) -> Iterator[tuple[float, FloatArray]]:
    """Yield log Z of every sequence, and the probability of each step at each position.

    That is an array of shape (n_positions, n_steps), in the order of the steps of
    `NGrams`. One sequence after the other, since all together might not fit.

    Examples
    --------
    >>> from partwise.structures import make_dense_rows
    >>> from partwise.structures.ngrams import make_ngram_chain, make_ngrams
    >>> grams = make_ngrams([[-1, 0], [0, 0]], [[-1, -1, 0], [-1, 0, 0]], 1)
    >>> s = make_ngram_chain(make_dense_rows([[1.0]] * 2), [0, 2], None, 1, grams)
    >>> [(_, shares)] = step_shares(s, np.zeros(s.layout.n_weights))
    >>> shares.tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    scratch, ws = make_scratch(s), waist.workspace(s, 1)
    for i, length in enumerate(np.diff(s.ptr).tolist()):
        shares = np.zeros((length, s.grams.source.size))
        log_z = _find_shares(s, i, w, shares, scratch, ws) if length else 0.0
        yield log_z, shares
