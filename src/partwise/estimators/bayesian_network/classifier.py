"""The Bayesian network: any discrete variables of a table, given the others."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from partwise.errors import DataError
from partwise.estimators.bayesian_network.answers import NetworkAnswers
from partwise.estimators.bayesian_network.discrete_table import Name
from partwise.estimators.bayesian_network.persistence import fill, store
from partwise.estimators.bayesian_network.training import BayesianNetworkTraining
from partwise.estimators.checks import check_same_length
from partwise.estimators.costs import sample_weights
from partwise.estimators.labels import class_array
from partwise.solvers import Solver
from partwise.solvers.loop import Callback
from partwise.structures.bayesnet import topological_order
from partwise.structures.graph.corpus import MAX_TABLE
from partwise.structures.hidden_markov import draw_values
from partwise.structures.interface import FloatArray, IntArray


class BayesianNetworkClassifier(ClassifierMixin, BayesianNetworkTraining):  # type: ignore[misc]
    """Predict any variables of a table from the others, with probabilities.

    The distribution of every variable depends on its parents in a directed acyclic
    graph; their product is that of all of them. Inference is exact, by conditioning on
    what is observed and messages on a junction tree of what is not.

    Parameters
    ----------
    graph : networkx.DiGraph or list of (parent, child) pairs, optional
        What depends on what. By default it is learnt (`structure`).
    objective : {"margin", "likelihood"}
        How the probabilities are found: so that predictions are right, with a margin
        that grows with the cost of a mistake; or by counting (maximum likelihood).
    C : float, optional
        Weight of the margin violations against the divergence from the `reference`; by
        default one that suits costs and size of the data, small enough to stay near to
        the reference. Choose it on development data (`C_path`). Without meaning for the
        likelihood.
    reference : {"likelihood", "uniform"} or mapping, optional
        What the probabilities stay near to, unless margins need something else: the
        smoothed counts (the default), uniform distributions, or your own tables by the
        name of a variable, laid out as `probabilities_`.
    target : str, int or list of them, optional
        The column to predict, or several. With a `y` in `fit`, what it is called;
        "class" by default.
    structure : {"tan", "naive"}
        The graph that is learnt for a single class: a tree of the most informative
        dependencies below it (tree-augmented naive Bayes), or none (naive Bayes).
    missing : {"marginalise", "maximise"}
        What becomes of other values that are missing when predicting: they are summed
        over, or taken at their most probable together with the prediction.
    unseen : {"unknown", "missing", "error"}
        What becomes of values that training has not seen: they have the probability
        that the known ones leave to one, and what depends on them tells nothing; or
        they count as missing; or they are refused.
    max_table : int
        The most numbers in the tables that exact inference makes for one row, as in
        `GraphLabeler`: what is hidden together must not hang together too much.
    loss : {"hinge", "squared_hinge"}
        How a violated margin is penalised.
    costs : matrix, dict or callable, optional
        What predicting one value for another costs; 1 for every wrong one by default.
        A dict is keyed by ``(right, predicted)``, a callable takes the two. Of several
        targets, a dict of these by name.
    smoothing : float
        Added to every count, for the likelihood and the reference that is made of it.
    solver : str or Solver
        "auto", or a `RestrictedSimplicialDecomposition` with settings of your own.
    tol : float
        Training stops when the objective is proved to be within this fraction of the
        best possible.
    max_iter : int
        The most passes over the data.
    n_jobs : int, optional
        Threads; -1 for one per core.
    random_state : int, RandomState or None
        Seed.
    verbose : int
        1 shows a progress bar.
    warm_start : bool
        Go on from the last fit when the data is the same, with another `C`.
    patience : int
        With development data: stop after this many passes without a new best.
    checkpoint : path, optional
        Save the state of training there after every pass.
    resume : bool
        Go on from `checkpoint` if it exists.
    time_limit : float, optional
        Stop training after this many seconds.
    callbacks : sequence of Callback
        Watchers of the training loop.

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
    trace_ : Trace
        One row a pass.
    status_ : str
        How training ended, in a sentence.

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

    def __init__(
        self,
        graph: Any = None,
        objective: str = "margin",
        C: float | None = None,
        reference: Any = None,
        *,
        target: Any = None,
        structure: str = "tan",
        missing: str = "marginalise",
        unseen: str = "unknown",
        max_table: int = MAX_TABLE,
        loss: str = "hinge",
        costs: Any = None,
        smoothing: float = 1.0,
        solver: str | Solver = "auto",
        tol: float = 1e-3,
        max_iter: int = 2000,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
        warm_start: bool = False,
        patience: int = 100,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        time_limit: float | None = None,
        callbacks: Sequence[Callback] = (),
    ):
        self.graph = graph
        self.objective = objective
        self.C = C
        self.reference = reference
        self.target = target
        self.structure = structure
        self.missing = missing
        self.unseen = unseen
        self.max_table = max_table
        self.loss = loss
        self.costs = costs
        self.smoothing = smoothing
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.patience = patience
        self.checkpoint = checkpoint
        self.resume = resume
        self.time_limit = time_limit
        self.callbacks = callbacks

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
            A row an example, a column a variable. Values are strings or integers.
        y : column or table, optional
            What to predict, where it is not a column of X.
        sample_weight : array, optional
            A weight for every row.
        dev : (X, y), optional
            Development data: the weights of the pass that costs least on it are kept.
        hidden : array of bool of shape (n_rows, n_variables), optional
            What margins are for in every row, a column for each variable: those of
            X, then y. The targets of all rows by default.

        Returns
        -------
        BayesianNetworkClassifier
            Itself.
        """
        fitted = copy.copy(self)
        solution = fitted._learn(X, y, sample_weight, dev, hidden)
        if solution is None:
            self.__dict__ = fitted.__dict__
        else:
            self._become(fitted, solution)
        return self

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

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share of values that are predicted right.

        `y` may be left out where X has the targets.
        """
        self._check_fitted()
        right = self._encode_right(X, y, "X" if y is None else "y")
        found = self._best(X, self._targets)
        check_same_length(len(found), len(right))
        if not found.size:
            raise DataError("X has no rows: there is nothing to score")
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
        self._check_answers()
        if target is None:
            return self._targets, len(self._targets) == 1
        single = not isinstance(target, list | tuple)
        wanted = [target] if single else list(target)
        for name in wanted:
            if name not in self.variables_ or wanted.count(name) > 1:
                raise ValueError(
                    f"target must be variables of the model, once each, not {name!r}: "
                    f"{', '.join(map(repr, self.variables_[:8]))}"
                    f"{', ...' if self.variables_[8:] else ''}"
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
