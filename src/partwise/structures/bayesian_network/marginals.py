"""Answers about variables, where the waist speaks of parts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise.structures.bayesian_network.corpus import BayesianNetwork
from partwise.structures.decoding import part_marginals
from partwise.structures.interface import FloatArray, IntArray


class VariableMarginals(NamedTuple):
    """The distributions of hidden variables, given what is observed.

    Attributes
    ----------
    at : array of int
        Where that of every hidden variable begins, row after row;
    probabilities : array
        all of them, end to end.
    log_likelihood : array
        Of what is observed, for every row.
    """

    at: IntArray
    probabilities: FloatArray
    log_likelihood: FloatArray


def variable_marginals(
    s: BayesianNetwork, w: FloatArray, n_jobs: int = 1
) -> VariableMarginals:
    """Return the distribution of every hidden variable of every row.

    Examples
    --------
    >>> from partwise.structures import make_bayesian_network, make_network
    >>> network = make_network([2, 2], [(), (0,)])
    >>> s = make_bayesian_network(network, [[-1, 0]], [True, False])
    >>> w = np.log([0.5, 0.5, 0.9, 0.1, 0.3, 0.7])
    >>> variable_marginals(s, w).probabilities.round(4).tolist()
    [0.75, 0.25]
    """
    vertices, cliques = s.graph.vertices, s.graph.cliques
    wanted = np.diff(cliques.part_at[cliques.ptr])
    _, mu, log_z = part_marginals(s, w, wanted, n_jobs)
    # A variable has the marginals of its smallest clique, summed over the others.
    n_parts = np.diff(cliques.part_at)[vertices.home]
    owner = np.repeat(np.arange(n_parts.size), n_parts)
    a = np.arange(owner.size) - (np.cumsum(n_parts) - n_parts)[owner]
    value = a // vertices.home_stride[owner] % vertices.n_labels[owner]
    share = mu[cliques.part_at[vertices.home[owner]] + a]
    total = int(vertices.n_labels.sum())
    summed = np.bincount(vertices.cost_at[owner] + value, share, total)
    return VariableMarginals(vertices.cost_at, np.asarray(summed, np.float64), log_z)
