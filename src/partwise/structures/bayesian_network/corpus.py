"""A corpus of rows of a Bayesian network, some variables of each hidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partwise.structures.bayesian_network.conditioning import (
    UNKNOWN,
    Condition,
    Conditioner,
    Term,
    find_patterns,
)
from partwise.structures.bayesian_network.network import Network
from partwise.structures.costs import make_cost_matrix
from partwise.structures.graph import CliqueKind, Graph, Layout, make_graph
from partwise.structures.graph.corpus import MAX_TABLE
from partwise.structures.graph.layout import join_by_kind
from partwise.structures.interface import FloatArray, IntArray
from partwise.structures.rows import make_sparse_rows


class Terms(NamedTuple):
    """The families with hidden members: those of a clique are ``ptr[c]:ptr[c + 1]``.

    In configuration `a` of the clique, term `t` is the log-probability number
    ``at[t] + steps[step_at[t] + a]``.
    """

    ptr: IntArray
    at: IntArray
    step_at: IntArray
    steps: IntArray


class Evidence(NamedTuple):
    """The families without: example `i` has the weights ``at[ptr[i]:ptr[i + 1]]``."""

    ptr: IntArray
    at: IntArray


class BayesianNetwork(NamedTuple):
    """Rows of a Bayesian network; make them with `make_bayesian_network`.

    What is hidden of an example is a graph: its cliques are what families have in
    common with the hidden variables, and its parts are their configurations. One more
    part, the last, is in every output: the families of which nothing is hidden.
    """

    graph: Graph
    terms: Terms
    evidence: Evidence
    distribution: IntArray


def make_bayesian_network(
    network: Network,
    values: ArrayLike,
    hidden: ArrayLike,
    *,
    costs: Mapping[int, ArrayLike] | None = None,
    max_table: int = MAX_TABLE,
) -> BayesianNetwork:
    """Condition a network on what is observed in every row of a table.

    Parameters
    ----------
    network : Network
        The variables.
    values : array of int of shape (n_examples, n_variables)
        The values, from 0 on. A hidden one is the right output; -1 when only
        predicting. An observed -1 is a value that the network does not know: its
        probability is the mass that its distribution leaves to one, and what depends
        on it tells nothing. The weights are then those of `with_unknown`.
    hidden : array of bool
        Which variables are hidden, of every example or of all alike.
    costs : mapping, optional
        For some variables a matrix ``costs[right, predicted]``; every wrong value of
        the others costs 1.
    max_table : int
        The most numbers in the tables that inference makes for one example.

    Examples
    --------
    Two causes and an effect. Of the first row the causes are hidden, of the second the
    effect is:

    >>> from partwise.structures.bayesian_network import make_network
    >>> network = make_network([2, 3, 2], [(), (), (0, 1)])
    >>> hidden = [[True, True, False], [False, False, True]]
    >>> s = make_bayesian_network(network, [[0, 2, 1], [1, 0, 0]], hidden)
    >>> s.graph.cliques.part_at.tolist()  # 2, 3 and 2 * 3 parts; 2 parts
    [0, 2, 5, 11, 13]
    """
    table = np.ascontiguousarray(values, np.int64)
    _check_values(network, table)
    mask = np.broadcast_to(np.asarray(hidden, bool), table.shape)
    patterns, of = find_patterns(table, mask)
    conditioner = Conditioner(network)
    conditions = [conditioner.condition(pattern) for pattern in patterns]
    layout, kinds = _lay_out(network, conditions, of)
    graph = make_graph(
        layout,
        kinds,
        make_sparse_rows(np.zeros(layout.kind.size + 1), np.zeros(0), None, 0),
        np.maximum(table[mask], 0),
        costs=_vertex_costs(network, table, mask, costs or {}),
        max_table=max_table,
    )
    distribution = network.distribution()
    if (patterns == UNKNOWN).any():
        unknown = np.arange(network.n_distributions)
        distribution = np.concatenate([distribution, unknown])
    return BayesianNetwork(
        graph,
        _gather_terms(conditions, of, table),
        _gather_evidence(conditions, of, table),
        distribution.astype(np.int64),
    )


def _check_values(network: Network, table: IntArray) -> None:
    if table.ndim != 2 or table.shape[1] != network.n_variables:
        raise ValueError(
            "values must be a table with a column for each of the "
            f"{network.n_variables} variables, not of shape {table.shape}"
        )
    outside = (table < UNKNOWN) | (table >= np.array(network.n_values))
    if outside.any():
        i, v = (int(at[0]) for at in np.nonzero(outside))
        raise ValueError(
            f"example {i}, variable {v}: {table[i, v]} is not one of its values, "
            f"0..{network.n_values[v] - 1}"
        )


# Rows with the same condition have the same lists: they are put end to end.


def _lay_out(
    network: Network, conditions: list[Condition], of: IntArray
) -> tuple[Layout, list[CliqueKind]]:
    """Return the graphs of hidden variables; a kind of cliques is a shape."""
    shapes: dict[tuple[int, ...], int] = {}
    n_labels, sizes, members, kinds = [], [], [], []
    for one in conditions:
        own = [network.n_values[v] for v in one.hidden]
        n_labels.append(own)
        sizes.append([len(clique) for clique in one.cliques])
        members.append(list(chain.from_iterable(one.cliques)))
        found = [tuple(own[j] for j in clique) for clique in one.cliques]
        kinds.append([shapes.setdefault(shape, len(shapes)) for shape in found])
    layout = Layout(
        _pointers(of, n_labels),
        join_by_kind(of, n_labels),
        _pointers(of, sizes),
        np.concatenate([[0], np.cumsum(join_by_kind(of, sizes))]),
        join_by_kind(of, members),
        join_by_kind(of, kinds),
    )
    return layout, [CliqueKind(shape, 0) for shape in shapes]


def _pointers(of: IntArray, lists: Sequence[Sequence[int]]) -> IntArray:
    """Return where the list of every example begins."""
    sizes = np.array([len(one) for one in lists], np.int64)
    return np.concatenate([[0], np.cumsum(sizes[of])]).astype(np.int64)


def _gather_terms(conditions: list[Condition], of: IntArray, table: IntArray) -> Terms:
    steps: dict[tuple[int, ...], int] = {}
    n_steps = 0
    counts, step_at = [], []
    terms = [list(chain.from_iterable(one.cliques.values())) for one in conditions]
    for one, own in zip(conditions, terms, strict=True):
        counts.append([len(terms) for terms in one.cliques.values()])
        for term in own:
            if term.steps not in steps:
                steps[term.steps] = n_steps
                n_steps += len(term.steps)
        step_at.append([steps[term.steps] for term in own])
    return Terms(
        np.concatenate([[0], np.cumsum(join_by_kind(of, counts))]).astype(np.int64),
        _first_weights(terms, of, table),
        join_by_kind(of, step_at),
        np.array(list(chain.from_iterable(steps)), np.int64),
    )


def _gather_evidence(
    conditions: list[Condition], of: IntArray, table: IntArray
) -> Evidence:
    terms = [one.evidence for one in conditions]
    at = [[term.at for term in own] for own in terms]
    return Evidence(_pointers(of, at), _first_weights(terms, of, table))


def _first_weights(terms: list[list[Term]], of: IntArray, table: IntArray) -> IntArray:
    """Return where the weights of every term begin, by the values observed."""
    at = [[term.at for term in own] for own in terms]
    ptr, result = _pointers(of, at), join_by_kind(of, at)
    order = np.argsort(of, kind="stable")
    ends = np.searchsorted(of[order], np.arange(len(terms) + 1))
    for number, own in enumerate(terms):
        if own:
            rows = order[ends[number] : ends[number + 1]]
            strides = np.array([term.strides for term in own]).T
            result[ptr[rows][:, None] + np.arange(len(own))] += table[rows] @ strides
    return result


def _vertex_costs(
    network: Network,
    table: IntArray,
    hidden: NDArray[np.bool_],
    costs: Mapping[int, ArrayLike],
) -> FloatArray:
    """Return the cost of every value of every hidden variable, end to end."""
    owner, right = np.nonzero(hidden)[1], np.maximum(table[hidden], 0)
    n_values = np.array(network.n_values)[owner]
    first = np.cumsum(n_values) - n_values
    result = np.ones(n_values.sum())
    result[first + right] = 0.0
    for v, given in costs.items():
        n = network.n_values[v]
        matrix = make_cost_matrix(np.asarray(given, np.float64), n)
        mine = owner == v
        result[first[mine][:, None] + np.arange(n)] = matrix[right[mine]]
    return result
