"""What the observed variables of a row leave of a network.

With some variables observed, a family's table has an axis only for those that are
hidden. Families with the same hidden variables are looked at together, as one clique;
those with none are the same in every output, and are evidence.
"""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.structures.bayesnet.network import Network
from partwise.structures.interface import IntArray

OBSERVED, HIDDEN, UNKNOWN = 0, 1, -1


class Term(NamedTuple):
    """A family, as a clique meets it.

    Attributes
    ----------
    at : int
        Its first weight.
    strides : array of int
        By how much that changes with the value of every variable that is observed.
    steps : tuple of int
        By how much with every configuration of the hidden ones.
    """

    at: int
    strides: IntArray
    steps: tuple[int, ...]


class Condition(NamedTuple):
    """What is left of a network for rows with the same variables observed.

    Attributes
    ----------
    hidden : list of int
        The hidden variables.
    cliques : dict
        The families' terms by the hidden variables they have, counted in `hidden`.
    evidence : list of Term
        Those of families that have none.
    """

    hidden: list[int]
    cliques: dict[tuple[int, ...], list[Term]]
    evidence: list[Term]


def find_patterns(
    values: IntArray, hidden: NDArray[np.bool_]
) -> tuple[NDArray[np.int8], IntArray]:
    """Return what rows have observed, hidden and unknown, and which of it each has."""
    state = np.where(hidden, HIDDEN, np.where(values < 0, UNKNOWN, OBSERVED))
    patterns, of = np.unique(state.astype(np.int8), axis=0, return_inverse=True)
    return patterns, of.reshape(-1)


def condition(network: Network, pattern: NDArray[np.int8]) -> Condition:
    """Condition a network on the variables that are observed.

    A family whose parents have an unknown value tells nothing: there is no such
    distribution. A variable with an unknown value has a weight after all others, one
    for every distribution.
    """
    hidden = np.flatnonzero(pattern == HIDDEN).tolist()
    place = {v: j for j, v in enumerate(hidden)}
    cliques: dict[tuple[int, ...], list[Term]] = {}
    for v in range(network.n_variables):
        at = network.weight_at[v]
        stride_of = dict(zip(network.family(v), network.strides(v), strict=True))
        if pattern[v] == UNKNOWN:
            del stride_of[v]
            at = network.n_weights + network.distribution_at[v]
            stride_of = {u: k // network.n_values[v] for u, k in stride_of.items()}
        if any(pattern[u] == UNKNOWN for u in stride_of):
            continue
        inside = sorted(place[u] for u in stride_of if u in place)
        strides = np.zeros(network.n_variables, np.int64)
        for u, stride in stride_of.items():
            strides[u] = 0 if u in place else stride
        axes = [
            stride_of[u] * np.arange(network.n_values[u]) for u in _at(hidden, inside)
        ]
        steps = reduce(np.add.outer, axes, np.zeros((), np.int64))
        term = Term(at, strides, tuple(steps.ravel().tolist()))
        cliques.setdefault(tuple(inside), []).append(term)
    evidence = cliques.pop((), [])
    for j in range(len(hidden)):
        if not any(j in clique for clique in cliques):
            cliques[(j,)] = []
    return Condition(hidden, cliques, evidence)


def _at(hidden: list[int], inside: list[int]) -> list[int]:
    return [hidden[j] for j in inside]
