"""Which variables a variable depends on: a user's graph, or one that is learnt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError
from partwise.estimators.bayesian_network.discrete_table import Name
from partwise.estimators.checks import check_listed
from partwise.estimators.labels import listed
from partwise.structures.bayesian_network import find_cycle
from partwise.structures.interface import FloatArray, IntArray


def read_graph(graph: Any, names: Sequence[Name]) -> list[list[int]]:
    """Return the parents of every variable in a user's graph.

    Parameters
    ----------
    graph : networkx.DiGraph or iterable of pairs
        Edges lead from a parent to its child.
    names : sequence
        The variables.

    Examples
    --------
    >>> read_graph([("rain", "wet"), ("hose", "wet")], ["wet", "rain", "hose"])
    [[1, 2], [], []]
    """
    edges = _edges(graph)
    number = {name: v for v, name in enumerate(names)}
    nodes = (
        list(graph.nodes) if hasattr(graph, "nodes") else [u for e in edges for u in e]
    )
    for node in nodes:
        if node not in number:
            raise DataError(
                f"graph: {node!r} is not a variable of the table, which has "
                f"{listed(names)}"
            )
    if hasattr(graph, "nodes"):
        for name in names:
            if name not in graph:
                raise DataError(
                    f"column {name!r} is not in the graph (add it as a node, or leave "
                    "it out)"
                )
    parents: list[list[int]] = [[] for _ in names]
    for parent, child in edges:
        if number[parent] not in parents[number[child]]:
            parents[number[child]].append(number[parent])
    cycle = find_cycle(parents)
    if cycle:
        shown = " -> ".join(str(names[v]) for v in cycle)
        raise DataError(f"the graph has a cycle, {shown} (turn or remove an edge)")
    return [sorted(group) for group in parents]


def _edges(graph: Any) -> list[tuple[Name, Name]]:
    if hasattr(graph, "edges") and hasattr(graph, "nodes"):
        if not graph.is_directed():
            raise DataError(
                "graph: its edges have no direction; a networkx.DiGraph is needed, "
                "with edges from parents to children"
            )
        return [(edge[0], edge[1]) for edge in graph.edges]
    wanted = "graph must be a networkx.DiGraph or a list of (parent, child) pairs"
    check_listed(graph, wanted)
    edges = []
    for edge in graph:
        if isinstance(edge, str | bytes) or len(tuple(edge)) != 2:
            raise DataError(f"graph: {edge!r} is not a (parent, child) pair")
        edges.append(tuple(edge))
    return edges


def naive_parents(n_variables: int, target: int) -> list[list[int]]:
    """Let every variable depend on the class, and on nothing else.

    Examples
    --------
    >>> naive_parents(3, target=2)
    [[2], [2], []]
    """
    return [[] if v == target else [target] for v in range(n_variables)]


def tree_augmented_parents(
    codes: NDArray[np.int64],
    n_values: Sequence[int],
    target: int,
    weight: FloatArray | None = None,
) -> list[list[int]]:
    """Let every variable depend on the class, and on one other variable.

    The tree of dependencies that is most likely, the one of most mutual information
    given the class (Friedman, Geiger and Goldszmidt, Machine Learning 29, 1997).

    Parameters
    ----------
    codes : array of shape (n_rows, n_variables)
        The values.
    n_values : sequence of int
        How many there are of every variable.
    target : int
        The class.
    weight : array, optional
        A weight for every row.

    Examples
    --------
    The second column is a copy of the first, the third has nothing to do with them:

    >>> codes = np.array([[0, 0, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1], [1, 1, 0, 1]])
    >>> tree_augmented_parents(codes, [2] * 4, target=3)[1]
    [0, 3]
    """
    others = [v for v in range(len(n_values)) if v != target]
    information = conditional_information(
        codes[:, others],
        [n_values[v] for v in others],
        codes[:, target],
        n_values[target],
        weight,
    )
    parents = naive_parents(len(n_values), target)
    for child, parent in enumerate(_widest_tree(information)):
        if parent >= 0:
            v = others[child]
            parents[v] = sorted([others[parent], target])
    return parents


def conditional_information(
    codes: NDArray[np.int64],
    n_values: Sequence[int],
    given: IntArray,
    n_given: int,
    weight: FloatArray | None = None,
) -> NDArray[np.float64]:
    """Return the mutual information of every two columns, given another one.

    ``I(a; b | c) = sum P(a, b, c) ln (P(a, b, c) P(c) / (P(a, c) P(b, c)))``, with
    counts for probabilities.
    """
    from scipy import sparse

    n_rows, n_columns = codes.shape
    first = np.cumsum([0, *n_values])
    weights = np.ones(n_rows) if weight is None else weight
    result = np.zeros((n_columns, n_columns))
    column_of = np.repeat(np.arange(n_columns), n_values)
    for c in range(n_given):
        rows = np.flatnonzero(given == c)
        mass = weights[rows].sum() / weights.sum()
        if not mass > 0.0:
            continue
        # A row has a one for the value of every column: products count pairs.
        at = (codes[rows] + first[:-1]).ravel()
        ptr = np.arange(rows.size + 1) * n_columns
        ones = sparse.csr_array((np.ones(at.size), at, ptr), (rows.size, first[-1]))
        scale = sparse.diags_array(weights[rows] / weights.sum())
        # Kept sparse: of many values, few occur together.
        joint = (ones.T @ scale @ ones).tocoo()
        one, other = joint.coords
        own = joint.diagonal()
        there = joint.data > 0.0
        p, one, other = joint.data[there], one[there], other[there]
        terms = p * np.log(p * mass / (own[one] * own[other]))
        pair = column_of[one] * n_columns + column_of[other]
        result += np.bincount(pair, terms, result.size).reshape(result.shape)
    np.fill_diagonal(result, 0.0)
    return result


def _widest_tree(information: NDArray[np.float64]) -> list[int]:
    """Return the parent of every column in a maximum spanning tree (Prim's algorithm).

    The root, the first column, has -1.
    """
    n = len(information)
    parent = np.full(n, -1)
    outside = np.ones(n, bool)
    best = np.full(n, -np.inf)
    current = 0
    for _ in range(n - 1):
        outside[current] = False
        nearer = outside & (information[current] > best)
        best[nearer], parent[nearer] = information[current][nearer], current
        current = int(np.argmax(np.where(outside, best, -np.inf)))
    return parent.tolist()
