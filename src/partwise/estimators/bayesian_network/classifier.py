"""The Bayesian network: any discrete variables of a table, given the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.estimators.bayesian_network.answers import NetworkAnswers
from partwise.estimators.bayesian_network.discrete_table import Name, table_error
from partwise.estimators.bayesian_network.persistence import fill, store
from partwise.estimators.bayesian_network.training import BayesianNetworkTraining
from partwise.estimators.bayesian_network.views import make_views
from partwise.estimators.checks import check_same_length
from partwise.estimators.costs import sample_weights
from partwise.estimators.distribution import generator
from partwise.estimators.labels import class_array, listed
from partwise.estimators.protocol import Classifier
from partwise.estimators.settings import check_settings
from partwise.structures.bayesian_network import topological_order
from partwise.structures.hidden_markov import draw_values
from partwise.structures.interface import FloatArray, IntArray


class BayesianNetworkClassifier(Classifier, BayesianNetworkTraining):
    """Predict any variables of a table from the others, with probabilities.

    The distribution of every variable depends on its parents in a directed acyclic
    graph; their product is that of all of them. Inference is exact, by conditioning on
    what is observed and messages on a junction tree of what is not.

    Attributes
    ----------
    classes_ : array, or list of arrays
        The values of the target, sorted; of several, for each.
    variables_ : list
        The names of all variables, as the columns of the table.
    targets_ : list
        Those that are predicted.
    values_ : dict
        The values of every variable, sorted.
    parents_ : dict
        The parents of every variable.
    graph_ : networkx.DiGraph
        The same as a graph.
    probabilities_ : dict of arrays
        For every variable a table: an axis for each of its parents, and its own last.
    missing_ : dict of arrays
        What each of these distributions leaves to one: the mass of the unknown.
    certificate_ : Certificate or None
        Objective, lower bound and relative gap; None for the likelihood, whose
        solution is exact.

    See Also
    --------
    HiddenMarkovModel : For sequences.

    Examples
    --------
    >>> from partwise import BayesianNetworkClassifier
    >>> rows = [
    ...     {"rain": "yes", "hose": "off", "grass": "wet"},
    ...     {"rain": "no", "hose": "on", "grass": "wet"},
    ...     {"rain": "no", "hose": "off", "grass": "dry"},
    ... ]
    >>> graph = [("rain", "grass"), ("hose", "grass"), ("rain", "hose")]
    >>> model = BayesianNetworkClassifier(graph, target="rain", C=1.0).fit(rows)
    >>> model.predict([{"grass": "wet", "hose": "off"}, {"grass": "dry"}])
    array(['yes', 'no'], dtype=object)
    >>> model.predict([{"rain": "no", "grass": "wet"}], target="hose")
    array(['on'], dtype=object)
    """

    _store, _fill = store, fill
    _views = make_views

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what tables may hold."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = False
        return tags

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        dev: tuple[Any, Any] | None = None,
        hidden: Any = None,
    ) -> BayesianNetworkClassifier:
        """Learn from a table without missing values.

        Parameters
        ----------
        X : data frame, array or list of dicts
            One row per example, one column per variable; strings or integers.
        y : column or table, optional
            What to predict, where it is not a column of X.
        sample_weight : array, optional
            A weight for every row.
        dev : (X, y), optional
            Development data: the weights of the pass that costs least on it are kept.
        hidden : array of bool of shape (n_rows, n_variables), optional
            What margins are required for in every row, one column per variable: X's,
            then y's. The targets of all rows by default.

        Returns
        -------
        BayesianNetworkClassifier
            Itself.
        """
        return self._fit(X, y, sample_weight, dev=dev, hidden=hidden)

    # --- predicting -------------------------------------------------------------------

    def predict(self, X: Any, target: Any = None) -> NDArray[Any]:
        """Return the most probable values of the targets, together.

        Parameters
        ----------
        X : table
            As in `fit`. Columns may be left out and values may be missing (None or
            NaN): see `missing`. What is there of the targets is not looked at.
        target : name or list of names, optional
            Other variables to predict than those of training.

        Returns
        -------
        array of shape (n_rows,) or (n_rows, n_targets)
        """
        targets, single = self._asked(target)
        codes = self._best(X, targets)
        columns = [
            class_array(self._variables[v].values.classes)[codes[:, j]]
            for j, v in enumerate(targets)
        ]
        if single:
            return columns[0]
        return np.column_stack([column.astype(object) for column in columns])

    def predict_proba(self, X: Any, target: Any = None) -> Any:
        """Return the probability of every value of the target, given the row.

        Values that are missing are summed over.

        Returns
        -------
        array of shape (n_rows, n_values), or list of arrays
            Columns as in `values_`; of several targets, for each, one by one.
        """
        targets, single = self._asked(target)
        found = self._answers().marginals(self._encode(X, targets), targets)
        return found[0] if single else found

    def predict_marginals(self, X: Any, target: Any = None) -> dict[Name, FloatArray]:
        """Return `predict_proba` by the name of the target."""
        targets, _ = self._asked(target)
        found = self._answers().marginals(self._encode(X, targets), targets)
        names = [self._variables[v].name for v in targets]
        return dict(zip(names, found, strict=True))

    def log_likelihood(self, X: Any) -> FloatArray:
        """Return ``ln P`` of what is there of every row, targets included."""
        self._check_fitted()
        return self._answers().log_likelihood(self._encode(X, []))

    def log_probability(self, X: Any, y: Any = None) -> FloatArray:
        """Return ``ln P`` of the targets of every row, given the rest of it.

        `y` may be left out where X has the targets.
        """
        self._check_fitted()
        right = self._encode_right(X, y, "X" if y is None else "y")
        rest = self._encode(X, self._targets)
        check_same_length(len(rest), len(right))
        whole = rest.copy()
        whole[:, self._targets] = right
        ask = self._answers()
        return ask.log_likelihood(whole) - ask.log_likelihood(rest)

    def sample_given(
        self, X: Any, n: int = 1, random_state: Any = None
    ) -> list[list[Any]]:
        """Draw the targets of every row `n` times, given the rest of it.

        Returns
        -------
        list of lists
            For every row `n` values; of several targets, tuples. `sample` draws whole
            rows.
        """
        targets, single = self._asked(None)
        values = [self._variables[v].values.classes for v in targets]

        def read(row: IntArray) -> Any:
            both = zip(values, row.tolist(), strict=True)
            drawn = tuple(known[code] for known, code in both)
            return drawn[0] if single else drawn

        codes = self._encode(X, targets)
        drawn = self._answers().draw(codes, n, generator(random_state))
        return [[read(one[i, targets]) for one in drawn] for i in range(len(codes))]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share of values that are predicted right.

        `y` may be left out where X has the targets.
        """
        self._check_fitted()
        right = self._encode_right(X, y, "X" if y is None else "y")
        found = self._best(X, self._targets)
        check_same_length(len(found), len(right))
        if not found.size:
            raise table_error("there are no rows to score", "X")
        hits = (right == found).mean(axis=1)
        weight = sample_weights(sample_weight, len(hits))
        return float(np.average(hits, weights=weight))

    def sample(self, n: int = 1, random_state: Any = None) -> list[dict[Name, Any]]:
        """Draw rows from the model, as dicts.

        What distributions leave to one is shared out: only known values are drawn.
        """
        from sklearn.utils import check_random_state

        self._check_fitted()
        if not isinstance(n, int | np.integer) or n < 1:
            raise ValueError(f"n must be an integer >= 1, not {n!r}")
        rng = check_random_state(random_state)
        network, w = self._network, np.exp(self.weights_)
        codes = np.zeros((n, network.n_variables), np.int64)
        for v in topological_order(network.parents):
            rows = network.table(v, w)[tuple(codes[:, u] for u in network.parents[v])]
            rows = np.broadcast_to(rows, (n, network.n_values[v]))
            codes[:, v] = draw_values(rows, rng.random_sample(n))
        values = [(one.name, one.values.classes) for one in self._variables]
        return [
            {name: known[code] for (name, known), code in zip(values, row, strict=True)}
            for row in codes.tolist()
        ]

    def _asked(self, target: Any) -> tuple[list[int], bool]:
        """Return the variables to predict, and whether it is a single one."""
        self._check_fitted()
        check_settings(self, "missing", "unseen", "max_table")  # perhaps set after fit
        if target is None:
            return self._targets, len(self._targets) == 1
        single = not isinstance(target, list | tuple)
        wanted = [target] if single else list(target)
        for name in wanted:
            if name not in self.variables_ or wanted.count(name) > 1:
                raise ValueError(
                    f"target must be variables of the model, once each, not {name!r}: "
                    f"{listed(self.variables_)}"
                )
        if not wanted:
            raise ValueError("target is an empty list: there is nothing to predict")
        return [self.variables_.index(name) for name in wanted], single

    def _answers(self) -> NetworkAnswers:
        return NetworkAnswers(
            self._network,
            self.variables_,
            self.weights_,
            self._jobs(),
            int(self.max_table),
        )

    def _best(self, X: Any, targets: list[int]) -> IntArray:
        return self._answers().best(
            self._encode(X, targets), targets, sum_out=self.missing == "marginalise"
        )
