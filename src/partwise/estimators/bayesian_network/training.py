"""How a Bayesian network is trained: from a table to probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError
from partwise.estimators.bayesian_network import discrete_table
from partwise.estimators.bayesian_network.answers import make_corpus
from partwise.estimators.bayesian_network.discrete_table import MISSING, Name, Table
from partwise.estimators.bayesian_network.graph import (
    naive_parents,
    read_graph,
    tree_augmented_parents,
)
from partwise.estimators.bayesian_network.settings import BayesianNetworkSettings
from partwise.estimators.bayesian_network.tables import NetworkTables
from partwise.estimators.checks import check_same_length
from partwise.estimators.costs import cost_matrix
from partwise.estimators.generative.reference_distributions import check_distributions
from partwise.estimators.generative.suitable_weights import suitable_Cs
from partwise.estimators.labels import class_array, listed
from partwise.solvers.loop import Evaluate
from partwise.structures import bayesian_network as networks
from partwise.structures.bayesian_network import BayesianNetwork
from partwise.structures.decoding import decode
from partwise.structures.interface import FloatArray, IntArray


class TrainingRows(NamedTuple):
    """The codes of a table, and which of them margins are required for."""

    codes: IntArray
    hidden: NDArray[np.bool_]


class BayesianNetworkTraining(NetworkTables, BayesianNetworkSettings):
    """The part of `BayesianNetworkClassifier` that trains."""

    n_features_in_: int
    feature_names_in_: NDArray[Any]
    _costs: dict[int, FloatArray]

    # --- from a table to training data ------------------------------------------------

    def _read(
        self, X: Any, y: Any, sample_weight: Any, hidden: Any = None
    ) -> tuple[TrainingRows, FloatArray | None]:
        """Encode what `fit` is given; everything is checked before training starts."""
        self._check_settings()
        table, targets = self._with_targets(discrete_table.read_table(X), y)
        if table.n_rows == 0:
            raise discrete_table.table_error("there are no rows to learn from", "X")
        for name in table.names:
            if not isinstance(name, str | int) or table.names.count(name) > 1:
                raise discrete_table.table_error(
                    f"names of columns are different strings or integers: {name!r}", "X"
                )
        self._variables, columns = [], []
        for v, name in enumerate(table.names):
            where = "X" if y is None or v not in targets else "y"
            variable, codes = discrete_table.learn_variable(
                name, table.columns[v], where
            )
            self._variables.append(variable)
            columns.append(codes)
        codes = np.column_stack(columns)
        weight = self._weights_of(sample_weight, len(codes))
        self._set_targets(targets)
        n_values = [len(variable.values) for variable in self._variables]
        parents = self._find_parents(codes, weight)
        self._network = networks.make_network(n_values, parents, table.names)
        self._costs = self._cost_matrices()
        total = len(codes) if weight is None else float(weight.sum())
        self._suitable_C = self._find_suitable_C(total)
        if self._own_name() == "own":
            self._own_reference()
        return TrainingRows(codes, self._hidden(hidden, codes.shape)), weight

    def _with_targets(self, table: Table, y: Any) -> tuple[Table, list[int]]:
        """Return the table with the columns to predict, and which these are."""
        wanted = self.target
        names = list(wanted) if isinstance(wanted, list | tuple) else [wanted]
        self._named = table.is_named
        if y is None:
            if wanted is None or not names:
                raise ValueError(
                    "it is not clear what to predict: give y, or target, the name of a "
                    "column (or a list of names)"
                )
            missing = [name for name in names if name not in table.names]
            if missing:
                raise discrete_table.table_error(
                    f"there is no column {missing[0]!r}, which is a target; the "
                    f"columns are {listed(table.names)}",
                    "X",
                )
            return table, [table.names.index(name) for name in names]
        added = discrete_table.read_target(y, None if wanted is None else names)
        if table.names:
            check_same_length(table.n_rows, added.n_rows)
        for name in added.names:
            if name in table.names:
                raise DataError(
                    f"X and y both have a column {name!r}; leave one out, or say how y "
                    "is called with target"
                )
        n = len(table.names)
        both = table._replace(
            names=table.names + added.names,
            columns=table.columns + added.columns,
            n_rows=added.n_rows,
        )
        return both, list(range(n, n + len(added.names)))

    def _set_targets(self, targets: list[int]) -> None:
        self._targets = targets
        if len(set(targets)) < len(targets):
            raise ValueError(f"target names a column twice: {self.target!r}")
        if len(targets) == len(self._variables) and self.graph is None:
            raise discrete_table.table_error(
                "there are no columns to predict the class from", "X"
            )
        labels = [self._variables[v].values for v in targets]
        self._labels = labels[0]
        classes = [class_array(one.classes) for one in labels]
        self.classes_ = classes[0] if len(classes) == 1 else classes
        names = [one.name for v, one in enumerate(self._variables) if v not in targets]
        self.n_features_in_ = len(names)
        if self._named and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.array(names, object)
        elif hasattr(self, "feature_names_in_"):  # of an earlier fit
            del self.feature_names_in_

    def _find_parents(
        self, codes: IntArray, weight: FloatArray | None
    ) -> list[list[int]]:
        if self.graph is not None:
            return read_graph(self.graph, [one.name for one in self._variables])
        if len(self._targets) > 1:
            raise ValueError(
                f"{len(self._targets)} variables to predict need a graph: one is "
                "learnt only for a single class"
            )
        n, target = len(self._variables), self._targets[0]
        if self.structure == "naive":
            return naive_parents(n, target)
        n_values = [len(variable.values) for variable in self._variables]
        return tree_augmented_parents(codes, n_values, target, weight)

    def _cost_matrices(self) -> dict[int, FloatArray]:
        """Return the costs of mistakes in every target."""
        variables = [self._variables[v] for v in self._targets]
        if len(variables) == 1:
            given = {variables[0].name: self.costs}
        elif self.costs is None or isinstance(self.costs, Mapping):
            given = dict(self.costs or {})
        else:
            raise ValueError(
                "costs of several variables must be a dict, with their names as keys"
            )
        names = [variable.name for variable in variables]
        for name in given:
            if name not in names:
                raise ValueError(f"costs: {name!r} is not one of the targets, {names}")
        costs = {
            v: cost_matrix(given.get(variable.name), variable.values)
            for v, variable in zip(self._targets, variables, strict=True)
        }
        if not any(matrix.any() for matrix in costs.values()):
            raise DataError("every mistake costs nothing: nothing to learn from")
        return costs

    def _find_suitable_C(self, n_rows: float) -> float:
        """Return a C by the size of the penalty, and of losses if all were wrong."""
        apart = [m.sum() / (m.size - len(m)) for m in self._costs.values()]
        power = 2 if self.loss == "squared_hinge" else 1
        worst = n_rows * float(sum(apart)) ** power
        return suitable_Cs(self._network.n_distributions, worst)[0]

    def _own_reference(self) -> FloatArray:
        """Return a user's tables, as the weights are laid out."""
        given = self.reference
        names = [variable.name for variable in self._variables]
        if not isinstance(given, Mapping) or set(given) != set(names):
            raise ValueError(
                "a reference of your own is a mapping with a table for every variable, "
                f"{listed(names)}"
            )
        tables = []
        for v, name in enumerate(names):
            axes = " x ".join(str(names[u]) for u in self._network.family(v))
            shape = self._network.shape(v)
            table = check_distributions(
                str(name), given[name], shape, f"its axes are {axes}, values sorted"
            )
            tables.append(table.ravel())
        return np.concatenate(tables)

    # --- training ---------------------------------------------------------------------

    def _hidden(self, given: Any, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        """Return what margins are required for; by default all the targets."""
        if given is None:
            targets = np.isin(np.arange(len(self._variables)), self._targets)
            return np.broadcast_to(targets, shape)
        mask = np.asarray(given)
        if mask.shape != shape or mask.dtype != bool:
            raise DataError(
                f"hidden must be an array of bool of shape {shape}, a column for every "
                "variable"
            )
        if not mask.any():
            raise DataError("nothing is hidden: there is nothing to predict")
        return mask

    def _corpus(self, data: TrainingRows) -> BayesianNetwork:
        """Return training rows as a structure."""
        most, names = int(self.max_table), [one.name for one in self._variables]
        return make_corpus(self._network, names, *data, most, self._costs)

    def _evaluator(self, X: Any, y: Any) -> Evaluate:
        """Make the function that scores weights by what they cost on other data."""
        codes = self._encode(X, self._targets, "dev")
        right = self._encode_right(X, y, "dev")
        check_same_length(len(codes), len(right))
        # What training has not seen, no prediction gets right: the last row is for it.
        tables = [
            np.vstack([self._costs[v], np.full_like(self._costs[v][:1], worst)])
            for v, worst in ((v, self._costs[v].max()) for v in self._targets)
        ]

        names, missing = [one.name for one in self._variables], codes == MISSING
        most = int(self.max_table)
        corpus = make_corpus(self._network, names, codes, missing, most)
        found = codes.copy()

        def evaluate(w: FloatArray) -> float:
            best = decode(corpus, networks.with_unknown(w, self._network), self._jobs())
            found[missing] = best.codes
            costs = [
                table[right[:, j], found[:, v]]
                for j, (v, table) in enumerate(zip(self._targets, tables, strict=True))
            ]
            return 0.0 - float(np.mean(costs))

        return evaluate

    # --- new rows ---------------------------------------------------------------------

    def _encode(self, X: Any, targets: Sequence[int], where: str = "X") -> IntArray:
        """Return the codes of new rows, whose targets are missing."""
        table = discrete_table.read_table(X, where)
        names = [variable.name for variable in self._variables]
        if not table.is_named and table.n_rows:
            table = table._replace(names=self._positional(len(table.names), where))
        codes = np.full((table.n_rows, len(names)), MISSING, np.int64)
        for name, values in zip(table.names, table.columns, strict=True):
            if name not in names:
                raise discrete_table.table_error(
                    f"column {name!r} is not a variable of the model (leave it out; "
                    f"there are {listed(names)})",
                    where,
                )
            v = names.index(name)
            if v not in targets:
                unseen = self.unseen
                codes[:, v] = discrete_table.encode_column(
                    self._variables[v], values, where, unseen
                )
        return codes

    def _positional(self, count: int, where: str) -> list[Name]:
        """Return names for columns without any: all variables, or all but y."""
        names = [variable.name for variable in self._variables]
        others = [name for name in names if name not in self._names()]
        for these in (names, others):
            if len(these) == count:
                return these
        raise DataError(
            f"{where} has {count} columns without names; expected {len(others)}, all "
            f"but the targets of training, or {len(names)}, all"
        )

    def _encode_right(self, X: Any, y: Any, where: str) -> IntArray:
        """Return the right codes of the targets; `UNSEEN` for values not known."""
        table = (
            discrete_table.read_table(X, where)
            if y is None
            else discrete_table.read_target(y, self._names())
        )
        columns = []
        for v in self._targets:
            variable = self._variables[v]
            if variable.name not in table.names:
                raise discrete_table.table_error(
                    f"there is no column {variable.name!r}", where
                )
            values = table.columns[table.names.index(variable.name)]
            right = discrete_table.encode_column(variable, values, where, "unknown")
            if (right == MISSING).any():
                row = int(np.argmax(right == MISSING))
                problem = "the right value is missing"
                raise discrete_table.table_error(problem, where, variable.name, row)
            columns.append(right)
        return np.column_stack(columns)

    def _names(self) -> list[Name]:
        return [self._variables[v].name for v in self._targets]
