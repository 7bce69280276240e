"""What a fitted Bayesian network shows: its graph and its tables."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partwise.estimators.bayesian_network.discrete_table import Name, Variable
from partwise.estimators.generative.model import GenerativeModel
from partwise.estimators.labels import class_array
from partwise.structures.bayesian_network import Network

if TYPE_CHECKING:
    import networkx as nx


class NetworkTables(GenerativeModel):
    """Names, values, parents and probabilities of a fitted network."""

    _variables: list[Variable]
    _targets: list[int]
    _network: Network

    @property
    def variables_(self) -> list[Name]:
        """The names of all variables."""
        self._check_fitted()
        return [variable.name for variable in self._variables]

    @property
    def targets_(self) -> list[Name]:
        """The names of those that are predicted."""
        self._check_fitted()
        return [self._variables[v].name for v in self._targets]

    @property
    def values_(self) -> dict[Name, NDArray[Any]]:
        """The values of every variable, sorted."""
        self._check_fitted()
        return {one.name: class_array(one.values.classes) for one in self._variables}

    @property
    def parents_(self) -> dict[Name, list[Name]]:
        """The parents of every variable, in the order of the axes of its table."""
        names = self.variables_
        return {
            name: [names[u] for u in self._network.parents[v]]
            for v, name in enumerate(names)
        }

    @property
    def graph_(self) -> nx.DiGraph:
        """The graph."""
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(self.variables_)
        for child, parents in self.parents_.items():
            graph.add_edges_from((parent, child) for parent in parents)
        return graph

    @property
    def probabilities_(self) -> dict[Name, NDArray[np.float64]]:
        """For every variable a table, an axis for each parent and its own last."""
        names, w = self.variables_, np.exp(self.weights_)
        return {name: self._network.table(v, w) for v, name in enumerate(names)}

    @property
    def missing_(self) -> dict[Name, NDArray[np.float64]]:
        """What each distribution leaves to one."""
        return {
            name: np.maximum(1.0 - table.sum(axis=-1), 0.0)
            for name, table in self.probabilities_.items()
        }

    def table(self, variable: Name) -> list[dict[Name, Any]]:
        """Return the probabilities of one variable as rows, ready for a data frame.

        Examples
        --------
        >>> from partwise import BayesianNetworkClassifier
        >>> model = BayesianNetworkClassifier(objective="likelihood", smoothing=0)
        >>> model = model.fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 0, 1])
        >>> model.table(0)[1]
        {'class': 0, 0: 'b', 'probability': 0.333...}
        """
        if variable not in self.variables_:
            raise ValueError(f"{variable!r} is not one of {self.variables_}")
        v = self.variables_.index(variable)
        family = [self._variables[u] for u in self._network.family(v)]
        names = [one.name for one in family]
        values = product(*(one.values.classes for one in family))
        flat = self.probabilities_[variable].ravel().tolist()
        return [
            {**dict(zip(names, row, strict=True)), "probability": p}
            for row, p in zip(values, flat, strict=True)
        ]
