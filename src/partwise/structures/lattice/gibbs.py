"""Edge scores of a lattice with given marginals, which are always exact.

A distribution over paths whose probabilities are products over edges is a Markov chain
on the nodes: the score of an edge is the logarithm of the probability of taking it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.structures import interface as waist
from partwise.structures.interface import LEAST_PROBABILITY, FloatArray
from partwise.structures.lattice.corpus import Lattice
from partwise.structures.vectors import fill


@waist.gibbs_scores.implement(Lattice)
def _(s: Lattice, i: int, mu: FloatArray, theta: FloatArray, ws: Any) -> None:
    first = s.ptr[i]
    n_edges = s.ptr[i + 1] - first
    mass = ws.sums.total
    fill(mass, s.paths.n_nodes[i], 0.0)
    for e in range(n_edges):
        mass[s.source[first + e]] += mu[e]
    for e in range(n_edges):
        whole = mass[s.source[first + e]]
        # Where no path comes, any way to go on will do.
        share = mu[e] / whole if whole > 0.0 else 1.0
        theta[e] = np.log(max(share, LEAST_PROBABILITY))
