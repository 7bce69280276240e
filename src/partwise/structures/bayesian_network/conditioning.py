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

from partwise.structures.bayesian_network.network import Network
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


class Conditioner:
    """Conditions a network, again and again; what it knows of a family it keeps."""

    def __init__(self, network: Network):
        self._network = network
        self._families = [network.family(v) for v in range(network.n_variables)]
        self._known: dict[tuple[int, ...], tuple[tuple[int, ...], Term] | None] = {}

    def condition(self, pattern: NDArray[np.int8]) -> Condition:
        """Condition on the variables that are observed."""
        state = pattern.tolist()
        hidden = [v for v, one in enumerate(state) if one == HIDDEN]
        place = {v: j for j, v in enumerate(hidden)}
        cliques: dict[tuple[int, ...], list[Term]] = {}
        for v, family in enumerate(self._families):
            key = (v, *[state[u] for u in family])
            if key not in self._known:
                self._known[key] = self._meet(v, key[1:])
            found = self._known[key]
            if found is not None:
                inside, term = found
                cliques.setdefault(tuple(place[u] for u in inside), []).append(term)
        evidence = cliques.pop((), [])
        covered = {j for clique in cliques for j in clique}
        for j in range(len(hidden)):
            if j not in covered:
                cliques[(j,)] = []
        return Condition(hidden, cliques, evidence)

    def _meet(
        self, v: int, states: tuple[int, ...]
    ) -> tuple[tuple[int, ...], Term] | None:
        """Return the hidden members of a family, in order, and its term.

        None where a parent has an unknown value: there is no such distribution, and
        the family tells nothing. If the variable itself has one, its weight is after
        all others, where there is one for every distribution.
        """
        network, family = self._network, self._families[v]
        *above, own = states
        if UNKNOWN in above:
            return None
        at = network.weight_at[v]
        stride_of = dict(zip(family, network.strides(v), strict=True))
        if own == UNKNOWN:
            del stride_of[v]
            at = network.n_weights + network.distribution_at[v]
            stride_of = {u: k // network.n_values[v] for u, k in stride_of.items()}
        inside = sorted(
            u for u, one in zip(family, states, strict=True) if one == HIDDEN
        )
        strides = np.zeros(network.n_variables, np.int64)
        for u, stride in stride_of.items():
            strides[u] = 0 if u in inside else stride
        axes = [stride_of[u] * np.arange(network.n_values[u]) for u in inside]
        steps = reduce(np.add.outer, axes, np.zeros((), np.int64))
        return tuple(inside), Term(at, strides, tuple(steps.ravel().tolist()))
