"""Part scores of a chain with given marginals, and chains that have them exactly.

A chain is a Markov chain: the first label, then each label given the one before.
The scores are the logarithms of these conditional probabilities, an edge marginal
over a node marginal (Bartlett, Collins, Taskar and McAllester, NIPS 2004, section 5).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.chain.corpus import Chain
from partwise.structures.chain.scores import part_views
from partwise.structures.interface import LEAST_PROBABILITY, FloatArray
from partwise.structures.rows import make_sparse_rows


@waist.untied.implement(Chain)
def untied(s: Chain) -> Chain:
    """Return the same corpus with transition parts of their own at every position.

    Outputs, features, weights and scores are the same; only `theta` and `mu` are
    longer, so that any distribution of neighbouring labels has a Gibbs form.

    Examples
    --------
    >>> from partwise.structures import make_chain, make_sparse_rows
    >>> rows = make_sparse_rows([0, 1, 2, 3], [0, 1, 0])
    >>> tied = make_chain(rows, [0, 3], [0, 1, 0], 2)
    >>> [int(waist.n_parts(s, 0)) for s in (tied, untied(tied))]
    [10, 14]
    """
    if s.edges.n_columns > 0:
        return s
    # A feature of transitions that no position has, and so without weights.
    edges = make_sparse_rows(np.zeros(int(s.ptr[-1]) + 1), [], None, n_columns=1)
    return s._replace(edges=edges)


@kernel
def _log_ratio(part: float, whole: float) -> float:
    """Return a conditional log-probability; any will do given what never happens."""
    if whole <= 0.0:
        return 0.0
    return np.log(max(part / whole, LEAST_PROBABILITY))


@waist.gibbs_scores.implement(Chain)
def _(s: Chain, i: int, mu: FloatArray, theta: FloatArray, ws: Any) -> None:
    """Write conditional log-probabilities.

    Exact where every position has transition parts of its own (`edges`, `untied`).
    Tied ones are pooled over the positions, and the nodes then make up for what the
    label before, at its own position, would have led to. That is exact for sequences
    of up to two positions and for conditional probabilities that are the same at all
    of them, approximate otherwise, and may be far off: take `untied` where a start
    must keep what was reached.
    """
    theta[: waist.n_parts(s, i)] = 0.0
    if s.ptr[i + 1] == s.ptr[i]:
        return
    node_mu, transition_mu = part_views(s, i, mu, ws.zeros)[:2]
    node, transition = part_views(s, i, theta, ws.zeros)[:2]
    length, n_labels = node.shape
    for k in range(n_labels):
        node[0, k] = np.log(max(node_mu[0, k], LEAST_PROBABILITY))
    for t in range(transition.shape[0]):
        for a in range(n_labels):
            whole = 0.0
            for b in range(n_labels):
                whole += transition_mu[t, a, b]
            for b in range(n_labels):
                if s.mask.transitions[a, b]:
                    transition[t, a, b] = _log_ratio(transition_mu[t, a, b], whole)
    if s.edges.n_columns > 0:
        return
    for t in range(1, length):
        for b in range(n_labels):
            foreseen = 0.0
            for a in range(n_labels):
                if s.mask.transitions[a, b]:
                    foreseen += node_mu[t - 1, a] * np.exp(transition[0, a, b])
            node[t, b] = _log_ratio(node_mu[t, b], foreseen)
