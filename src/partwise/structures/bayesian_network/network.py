"""A directed acyclic graph of discrete variables, and where its weights lie.

A weight is the log-probability of a value of a variable given the values of its
parents. A variable and its parents are a *family*; the weights of a family are a table
with an axis for every parent, and the variable's own axis last.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.structures.counts import log_of_rest
from partwise.structures.graph.junction_tree import strides_of
from partwise.structures.interface import FloatArray, IntArray

MOST_WEIGHTS = 2**28
"""The most weights of a network: two gigabytes."""


class Network(NamedTuple):
    """Variables and their parents; make one with `make_network`.

    Attributes
    ----------
    n_values : tuple of int
        How many values every variable has.
    parents : tuple of tuples of int
        The parents of every variable.
    weight_at : tuple of int
        Where the weights of every family begin, and after the last one.
    distribution_at : tuple of int
        The number of a family's first distribution; and after the last one.

    Examples
    --------
    >>> network = make_network([2, 3], [(), (0,)])
    >>> network.n_weights, network.n_distributions
    (8, 3)
    """

    n_values: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]
    weight_at: tuple[int, ...]
    distribution_at: tuple[int, ...]

    @property
    def n_variables(self) -> int:
        """How many variables there are."""
        return len(self.n_values)

    @property
    def n_weights(self) -> int:
        """How many log-probabilities there are."""
        return self.weight_at[-1]

    @property
    def n_distributions(self) -> int:
        """How many distributions they are of."""
        return self.distribution_at[-1]

    def family(self, v: int) -> tuple[int, ...]:
        """Return the parents of a variable, and the variable itself."""
        return (*self.parents[v], v)

    def shape(self, v: int) -> tuple[int, ...]:
        """Return the shape of a family's table."""
        return tuple(self.n_values[u] for u in self.family(v))

    def strides(self, v: int) -> list[int]:
        """Return by how much an index grows with the value of each of the family."""
        return strides_of(list(self.shape(v)))

    def table(self, v: int, w: FloatArray) -> NDArray[np.float64]:
        """Return the weights of a family as a table; a view of `w`."""
        at = slice(self.weight_at[v], self.weight_at[v + 1])
        return np.asarray(w[at]).reshape(self.shape(v))

    def distribution(self) -> IntArray:
        """Return which distribution every weight belongs to."""
        sizes = [
            np.full(self.distribution_at[v + 1] - self.distribution_at[v], n)
            for v, n in enumerate(self.n_values)
        ]
        return np.repeat(np.arange(self.n_distributions), np.concatenate(sizes))


def make_network(
    n_values: Sequence[int],
    parents: Sequence[Sequence[int]],
    names: Sequence[Hashable] | None = None,
) -> Network:
    """Check a directed graph and lay out its weights.

    Parameters
    ----------
    n_values : sequence of int
        How many values every variable has.
    parents : sequence of sequences of int
        The parents of every variable: any order, no cycles.
    names : sequence, optional
        What variables are called where there are too many probabilities.

    Examples
    --------
    >>> make_network([2, 2], [(1,), (0,)])
    Traceback (most recent call last):
        ...
    ValueError: the graph has a cycle, 0 -> 1 -> 0: a network must not have any
    """
    values = tuple(int(n) for n in n_values)
    above = tuple(tuple(int(u) for u in group) for group in parents)
    if len(above) != len(values) or not values:
        raise ValueError(
            f"n_values describes {len(values)} variables and parents {len(above)}: "
            "both need an entry for every variable, and at least one"
        )
    for v, group in enumerate(above):
        if values[v] < 1:
            raise ValueError(f"variable {v} needs at least one value")
        if len({*group}) < len(group) or not {*group} <= {*range(len(values))}:
            raise ValueError(
                f"the parents of variable {v} must be different variables, "
                f"0..{len(values) - 1}: {list(group)}"
            )
    cycle = find_cycle(above)
    if cycle:
        shown = " -> ".join(map(str, cycle))
        raise ValueError(f"the graph has a cycle, {shown}: a network must not have any")
    rows = [prod(values[u] for u in group) for group in above]
    sizes = [n * count for n, count in zip(values, rows, strict=True)]
    if sum(sizes) > MOST_WEIGHTS:
        v = int(np.argmax(sizes))
        name = v if names is None else names[v]
        raise ValueError(
            f"{sum(sizes):.3g} probabilities are too many; variable {name!r} alone, "
            f"with its {len(above[v])} parents, has {sizes[v]:.3g}: give it fewer "
            "parents, or variables fewer values"
        )
    return Network(values, above, _ends(sizes), _ends(rows))


def _ends(sizes: list[int]) -> tuple[int, ...]:
    return tuple(np.cumsum([0, *sizes]).tolist())


def find_cycle(parents: Sequence[Sequence[int]]) -> list[int]:
    """Return a directed cycle, from parent to child and back; empty if there is none.

    Examples
    --------
    >>> find_cycle([[1], [2], [0], []])
    [0, 2, 1, 0]
    """
    left = set(range(len(parents))) - set(topological_order(parents))
    if not left:
        return []
    # Whatever is left has a parent that is left: go up until a variable comes again.
    path = [min(left)]
    while path[-1] not in path[:-1]:
        path.append(min(left.intersection(parents[path[-1]])))
    return path[path.index(path[-1]) :][::-1]


def topological_order(parents: Sequence[Sequence[int]]) -> list[int]:
    """Return the variables with parents before their children; not those in cycles.

    Examples
    --------
    >>> topological_order([[1], [], [0]])
    [1, 0, 2]
    """
    order: list[int] = []
    placed: set[int] = set()
    waiting = list(range(len(parents)))
    while True:
        ready = [v for v in waiting if placed.issuperset(parents[v])]
        if not ready:
            return order
        order += ready
        placed.update(ready)
        waiting = [v for v in waiting if v not in placed]


def with_unknown(w: FloatArray, network: Network) -> FloatArray:
    """Return the weights, and after them one a distribution for all other values.

    A value that training has not seen has the probability that the others leave to
    one. Where nothing is left, whatever the parents are, it tells nothing.
    """
    mass = np.bincount(network.distribution(), np.exp(w), network.n_distributions)
    return np.concatenate([w, log_of_rest(mass)])
