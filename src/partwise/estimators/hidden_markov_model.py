"""The hidden Markov model: states behind a sequence of symbols."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from itertools import pairwise
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partwise import metrics
from partwise.errors import DataError
from partwise.estimators.base import StructuredEstimator, TrainingData
from partwise.estimators.costs import cost_matrix, sample_weights
from partwise.estimators.labels import (
    Label,
    LabelCodes,
    class_array,
    sorted_classes,
)
from partwise.estimators.sequence_checks import as_pair, check_labelled, label_lists
from partwise.estimators.symbols import sorted_symbols, symbol_lists
from partwise.solvers import Solver
from partwise.solvers.log_distributions import (
    LogDistributions,
    make_log_distributions,
    uniform_reference,
)
from partwise.solvers.loop import Callback, Evaluate
from partwise.solvers.registry import default_solver
from partwise.solvers.trace import Trace
from partwise.structures.chain import Chain
from partwise.structures.counts import gold_counts
from partwise.structures.decoding import decode, part_marginals
from partwise.structures.hidden_markov import (
    Probabilities,
    from_weights,
    make_hidden_markov,
    to_weights,
    with_unknown,
)
from partwise.structures.interface import (
    LEAST_PROBABILITY,
    FloatArray,
    IntArray,
    distribution_of,
)

OBJECTIVES = ("margin", "likelihood")
REFERENCES = ("uniform", "likelihood")


class HiddenMarkovModel(StructuredEstimator):
    """Predict the states behind sequences of symbols, with probabilities.

    Parameters
    ----------
    objective : {"margin", "likelihood"}
        How the probabilities are found: so that predicted states are right, with a
        margin that grows with the cost of a mistake; or by counting (maximum
        likelihood).
    C : float, optional
        Weight of the margin violations against the divergence from the `reference`;
        0.001 by default, which gives a hundred sequences a say beside their counts.
        Choose it on development data (`C_path`). Without meaning for the likelihood.
    reference : {"likelihood", "uniform"}, Probabilities or mapping
        What the probabilities stay near to, unless margins need something else: the
        smoothed counts, the uniform distribution, or your own, as a mapping with the
        keys "initial", "transitions" and "emissions".
    loss : {"hinge", "squared_hinge"}
        How a violated margin is penalised.
    costs : matrix, dict or callable, optional
        What predicting one state for another costs; 1 for every wrong one by default.
        A dict is keyed by ``(right, predicted)``, a callable takes the two.
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
    classes_ : array
        The states, sorted.
    symbols_ : array
        The symbols seen in training, sorted.
    probabilities_ : Probabilities
        Of first states, of transitions and of emissions, as arrays.
    missing_ : Probabilities
        What each distribution leaves to one, with the last axis summed up: the
        probability of something that training has not seen.
    certificate_ : Certificate or None
        Objective, lower bound and relative gap; None for the likelihood, whose
        solution is exact.
    trace_ : Trace
        One row a pass.
    status_ : str
        How training ended, in a sentence.

    Notes
    -----
    Trained for margins, probabilities may add up to less than one. The rest is that of
    an unknown symbol, or state. A symbol that training has not seen has that
    probability in `predict`, which may well tell states apart; where no state leaves
    anything, it tells nothing.

    Examples
    --------
    >>> from partwise import HiddenMarkovModel
    >>> X = [["walk", "shop", "clean"], ["clean", "clean", "walk"]]
    >>> y = [["sun", "sun", "rain"], ["rain", "rain", "sun"]]
    >>> model = HiddenMarkovModel(C=1.0).fit(X, y)
    >>> model.predict([["walk", "clean", "clean"]])
    [['sun', 'rain', 'rain']]
    >>> bool((model.probabilities_.transitions.sum(axis=1) < 1 + 1e-9).all())
    True
    """

    # In the benchmark `ring_tracking` never much worse than the likelihood, and often
    # better; that of the squared hinge has not been tuned.
    default_C: ClassVar[dict[str, float]] = {"hinge": 0.001, "squared_hinge": 0.0001}
    penalty = "l2"
    l1_ratio = 0.0

    classes_: NDArray[Any]
    symbols_: NDArray[Any]

    def __init__(
        self,
        objective: str = "margin",
        C: float | None = None,
        reference: Any = "likelihood",
        *,
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
        self.objective = objective
        self.C = C
        self.reference = reference
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
        """Tell scikit-learn that inputs are sequences, and labels are needed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags

    # --- training ---------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        dev: tuple[Any, Any] | None = None,
    ) -> HiddenMarkovModel:
        """Learn from sequences of symbols with their states.

        Parameters
        ----------
        X : iterable of sequences
            Per sequence, a symbol (str or int) for every position.
        y : iterable of sequences
            A state (str or int) for every position.
        sample_weight : array, optional
            A weight for every sequence.
        dev : (X, y), optional
            Development data: the weights of the pass that costs least on it are kept.

        Returns
        -------
        HiddenMarkovModel
            Itself.
        """
        fitted = copy.copy(self)
        data = fitted._prepare(X, y, sample_weight, dev=dev)
        if self.objective == "likelihood":
            fitted._count(data)
            self.__dict__ = fitted.__dict__
        else:
            self._become(fitted, fitted._train(data))
        return self

    def _check_settings(self) -> None:
        if self.objective not in OBJECTIVES:
            raise ValueError(
                f"objective must be 'margin' or 'likelihood', not {self.objective!r}"
            )
        if self.loss not in self.default_C:
            raise ValueError(
                f"loss must be 'hinge' or 'squared_hinge', not {self.loss!r}"
            )
        if isinstance(self.reference, str) and self.reference not in REFERENCES:
            raise ValueError(
                "reference must be 'uniform', 'likelihood' or distributions, not "
                f"{self.reference!r}"
            )
        if not isinstance(self.smoothing, Real) or not 0 <= self.smoothing < np.inf:
            raise ValueError(f"smoothing must be >= 0, not {self.smoothing!r}")
        super()._check_settings()

    def _penalty_name(self) -> str:
        return "divergence"

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any = None, *, dev: Any = None
    ) -> TrainingData:
        """Encode what `fit` is given; everything is checked before training starts."""
        self._check_settings()
        ptr, flat = symbol_lists(X)
        y = label_lists(y)
        check_labelled(ptr, y)
        states = [label for labels in y for label in labels]
        self._labels = LabelCodes(sorted_classes(states))
        self._symbols = LabelCodes(sorted_symbols(flat))
        if len(self._labels) < 2:
            raise DataError(
                f"all positions have the state {self._labels.classes[0]!r}: nothing to "
                "learn; give examples of at least two states"
            )
        self.classes_ = class_array(self._labels.classes)
        self.symbols_ = class_array(self._symbols.classes)
        self._costs = cost_matrix(self.costs, self._labels)
        if not self._costs.any():
            raise DataError("every mistake costs nothing: nothing to learn from")
        chain = make_hidden_markov(
            self._symbols.encode(flat, "X"),
            ptr,
            self._labels.encode(states, "y"),
            len(self._labels),
            len(self._symbols),
            costs=self._costs,
        )
        weight = sample_weights(sample_weight, len(y))
        groups = make_log_distributions(distribution_of(chain))
        reference = self._make_reference(chain, groups, weight)
        evaluate = None if dev is None else self._evaluator(*as_pair(dev))
        return TrainingData(chain, weight, evaluate, reference)

    def _make_reference(
        self, chain: Chain, groups: LogDistributions, weight: FloatArray | None
    ) -> FloatArray:
        """Return the reference distributions; for the likelihood, its solution."""
        if self.objective == "likelihood":
            return _counted(chain, groups, weight, float(self.smoothing))
        if not isinstance(self.reference, str):
            return to_weights(self._own_reference())
        if self.reference == "uniform":
            return uniform_reference(groups)
        if not self.smoothing > 0:
            raise ValueError(
                "reference='likelihood' needs smoothing > 0: nothing would keep a "
                "probability from vanishing whose count is zero"
            )
        return _counted(chain, groups, weight, float(self.smoothing))

    def _own_reference(self) -> Probabilities:
        """Return the distributions a user gave, checked."""
        given = self.reference
        K, V = len(self._labels), len(self._symbols)
        shapes = {"initial": (K,), "transitions": (K, K), "emissions": (K, V)}
        if isinstance(given, Probabilities):
            given = given._asdict()
        if not isinstance(given, Mapping) or set(given) != set(shapes):
            raise ValueError(
                "a reference of your own is a mapping with the keys 'initial', "
                "'transitions' and 'emissions'"
            )
        arrays = {}
        for name, shape in shapes.items():
            array = np.asarray(given[name], np.float64)
            if array.shape != shape:
                raise ValueError(
                    f"reference, {name}: an array of shape {array.shape} where {shape} "
                    f"is needed, for {K} states and {V} symbols"
                )
            fine = np.isfinite(array) & (array > 0.0)
            if not fine.all() or not np.allclose(array.sum(axis=-1), 1.0, atol=1e-6):
                raise ValueError(
                    f"reference, {name}: every row must be a distribution, of positive "
                    "numbers that add up to 1; smooth it where there are zeros"
                )
            arrays[name] = array
        return Probabilities(**arrays)

    def _count(self, data: TrainingData) -> None:
        """Take the counts as probabilities: there is nothing to train."""
        assert data.reference is not None
        self.weights_ = np.log(np.maximum(data.reference, LEAST_PROBABILITY))
        self.certificate_, self.trace_ = None, Trace()
        self.status_ = "counted: the likelihood has its maximum there"
        self.n_iter_ = 0
        self.C_ = self._effective_C()
        self._reason, self._warm = "", None
        self.solver_ = default_solver(self.loss, "divergence")  # had there been need

    def _evaluator(self, X: Any, y: Any) -> Evaluate:
        """Make the function that scores weights by what they cost on other data."""
        chain, y = self._encode(X), label_lists(y)
        check_labelled(chain.ptr, y)
        flat = [label for labels in y for label in labels]
        right = self._labels.encode(flat, "dev")

        def evaluate(w: FloatArray) -> float:
            found = decode(chain, self._extended(w), self._jobs()).codes
            return 0.0 - float(self._costs[right, found].mean())

        return evaluate

    # --- predicting ---------------------------------------------------------------

    def _encode(self, X: Any) -> Chain:
        """Make the chain of new sequences; unknown symbols come last."""
        ptr, flat = symbol_lists(X)
        known = self._symbols.classes
        kind = {isinstance(symbol, str) for symbol in flat}
        if kind and kind != {isinstance(known[0], str)}:
            raise DataError(
                "X: symbols of another kind than in training; the model knows "
                f"{', '.join(map(repr, known[:5]))}{', ...' if known[5:] else ''}"
            )
        code_of = {symbol: code for code, symbol in enumerate(known)}
        codes = [code_of.get(symbol, len(known)) for symbol in flat]
        K = len(self._labels)
        return make_hidden_markov(codes, ptr, None, K, len(known) + 1)

    def _extended(self, w: FloatArray) -> FloatArray:
        return with_unknown(w, len(self._labels), len(self._symbols))

    def predict(self, X: Any) -> list[list[Label]]:
        """Return the most probable states of every sequence, together.

        Parameters
        ----------
        X : iterable of sequences
            As in `fit`; symbols that training has not seen are fine.

        Returns
        -------
        list of list of states
        """
        self._check_fitted()
        best = decode(self._encode(X), self._extended(self.weights_), self._jobs())
        labels = self._labels.decode(best.codes.tolist())
        return [labels[a:b] for a, b in pairwise(best.ptr.tolist())]

    def predict_marginals(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the probability of every state at every position, given the symbols.

        Returns
        -------
        list of arrays of shape (n_positions, n_states)
            Columns are in the order of `classes_`; rows add up to one.
        """
        self._check_fitted()
        chain, K = self._encode(X), len(self._labels)
        wanted = K * np.diff(chain.ptr)
        w = self._extended(self.weights_)
        ptr, mu, _ = part_marginals(chain, w, wanted, self._jobs())
        return [mu[a:b].reshape(-1, K) for a, b in pairwise(ptr.tolist())]

    def log_likelihood(self, X: Any) -> FloatArray:
        """Return ``ln P(symbols)`` of every sequence, whatever the states are."""
        self._check_fitted()
        chain = self._encode(X)
        none = np.zeros(chain.ptr.size - 1, np.int64)
        w = self._extended(self.weights_)
        return part_marginals(chain, w, none, self._jobs())[2]

    def score(self, X: Any, y: Any) -> float:
        """Return the share of positions with the right state."""
        return metrics.token_accuracy(label_lists(y), self.predict(X))

    def sample(
        self, n: int = 1, length: int = 10, random_state: Any = None
    ) -> tuple[list[list[Label]], list[list[Label]]]:
        """Draw sequences from the model.

        What distributions leave to one is shared out: only known states and symbols
        are drawn.

        Parameters
        ----------
        n, length : int
            How many sequences, and of how many positions.
        random_state : int, RandomState or None
            Seed.

        Returns
        -------
        X, y
            Symbols and states.
        """
        from sklearn.utils import check_random_state

        self._check_fitted()
        for name, value in (("n", n), ("length", length)):
            if not isinstance(value, int | np.integer) or value < 1:
                raise ValueError(f"{name} must be an integer >= 1, not {value!r}")
        rng = check_random_state(random_state)
        initial, transitions, emissions = (_cumulate(p) for p in self.probabilities_)
        states = np.zeros((n, length), np.int64)
        symbols = np.zeros((n, length), np.int64)
        for t in range(length):
            rows = transitions[states[:, t - 1]] if t else initial[None, :]
            states[:, t] = _draw(rows, rng.random_sample(n))
            symbols[:, t] = _draw(emissions[states[:, t]], rng.random_sample(n))
        return (
            [self._symbols.decode(row) for row in symbols.tolist()],
            [self._labels.decode(row) for row in states.tolist()],
        )

    # --- understanding --------------------------------------------------------------

    @property
    def probabilities_(self) -> Probabilities:
        """The distributions, as arrays in the order of `classes_` and `symbols_`."""
        self._check_fitted()
        w = np.exp(self.weights_)
        return from_weights(w, len(self._labels), len(self._symbols))

    @property
    def missing_(self) -> Probabilities:
        """What each distribution leaves to one: the mass of the unknown."""
        left = [np.maximum(1.0 - p.sum(axis=-1), 0.0) for p in self.probabilities_]
        return Probabilities(*left)


def _counted(
    chain: Chain,
    groups: LogDistributions,
    weight: FloatArray | None,
    smoothing: float,
) -> FloatArray:
    """Return smoothed counts as distributions; uniform ones where there is nothing."""
    counts = gold_counts(chain, weight) + smoothing
    total = groups.sums(counts)[groups.of]
    uniform = uniform_reference(groups)
    return np.where(total > 0.0, counts / np.where(total > 0.0, total, 1.0), uniform)


def _cumulate(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.cumsum(probabilities, axis=-1)
    return np.asarray(sums / sums[..., -1:], np.float64)


def _draw(cumulated: NDArray[np.float64], uniform: FloatArray) -> IntArray:
    return np.asarray((uniform[:, None] >= cumulated).sum(axis=1), np.int64)
