"""What is known of the labels of a chain, as parts that its completions do not have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.structures.chain.corpus import Chain
from partwise.structures.interface import FloatArray, IntArray
from partwise.structures.partial import PartialOutputs, make_partial


def wrong_parts(s: Any, wrong: NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """Return the parts of wrong labels, and where those of every sequence begin."""
    position, label = np.nonzero(wrong)
    at = np.searchsorted(position, s.ptr)
    first = np.repeat(s.ptr[:-1], np.diff(at))
    return at, (position - first) * s.layout.n_labels + label


def know_labels(
    s: Any, wrong: NDArray[np.bool_], costs: FloatArray | None = None
) -> PartialOutputs:
    """Return the corpus with labels that are known in part.

    Parameters
    ----------
    s : Chain or NGramChain
        The corpus, with one of the possible labels of every position as the right one.
    wrong : boolean matrix
        True where a position does not have a label; a row of False says nothing.
    costs : matrix, optional
        What the wrong labels of every position cost; what they cost beside the right
        one of the corpus by default.

    Examples
    --------
    >>> from partwise.structures import make_chain, make_sparse_rows
    >>> chain = make_chain(make_sparse_rows([0, 1, 2], [0, 1]), [0, 2], [0, 0], 2)
    >>> know_labels(chain, np.array([[False, True], [False, False]])).forbidden.ids
    array([1])
    """
    at, ids = wrong_parts(s, wrong)
    return make_partial(s, at, ids, None if costs is None else costs[wrong])


def first_contradiction(s: Chain, wrong: NDArray[np.bool_]) -> tuple[int, int] | None:
    """Return the first (sequence, position) up to which no labels are possible.

    None if what is known agrees with the constraints everywhere.
    """
    for i in range(s.ptr.size - 1):
        first, last = int(s.ptr[i]), int(s.ptr[i + 1])
        open_here = ~wrong[first:last]
        if s.mask.tokens.size:
            open_here &= s.mask.tokens[first:last] > 0
        reached = s.mask.start > 0
        for t in range(last - first):
            if t:
                reached = np.asarray((s.mask.transitions[reached] > 0).any(axis=0))
            reached = reached & open_here[t]
            if t == last - first - 1:
                reached = reached & (s.mask.end > 0)
            if not reached.any():
                return i, t
    return None
