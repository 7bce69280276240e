"""The hidden Markov model: states behind a sequence of symbols."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise import metrics
from partwise.estimators.checks import check_choice, check_labelled, label_lists
from partwise.estimators.distribution import Distribution, Given, draw_outputs
from partwise.estimators.hidden_markov.persistence import fill, store
from partwise.estimators.hidden_markov.symbol_sequences import (
    encode_known,
    encode_symbols,
)
from partwise.estimators.hidden_markov.training import HiddenMarkovTraining
from partwise.estimators.labels import Label
from partwise.estimators.sequence import answers
from partwise.estimators.sequence.answers import Ranked, Span
from partwise.estimators.sequence.views import make_views
from partwise.structures import hidden_markov
from partwise.structures.chain import Chain, legal_sequences
from partwise.structures.decoding import part_marginals
from partwise.structures.hidden_markov import Probabilities
from partwise.structures.interface import FloatArray

DECODINGS = ("best", "minimum_risk")


class HiddenMarkovModel(HiddenMarkovTraining, Distribution):
    """Predict the states behind sequences of symbols, with probabilities.

    Attributes
    ----------
    classes_ : array
        The states, sorted.
    symbols_ : array
        The symbols seen in training, sorted.
    objective_, reference_, C_ : str, str or None, float
        What was trained for, near to what, and with which `C`.
    candidates_ : tuple of Candidate
        What "auto" has tried: objective, reference and `C`, what mistakes in a held-out
        sequence cost, how much less than those of the likelihood, and the standard
        error of that.
    probabilities_ : Probabilities
        Of first states, of transitions and of emissions, as arrays.
    missing_ : Probabilities
        What each distribution leaves to one, with the last axis summed up: the
        probability of something that training has not seen.
    certificate_ : Certificate or None
        Objective, lower bound and relative gap; None for the likelihood, whose
        solution is exact.

    Notes
    -----
    Trained for margins, probabilities may add up to less than one. The rest is that of
    an unknown symbol, or state. A symbol that training has not seen has that
    probability in `predict`, which may well tell states apart; where no state leaves
    anything, it tells nothing.

    "auto" leaves the likelihood only for what is cheaper by more than the standard
    error of the difference, sequence by sequence.

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

    _store, _fill = store, fill
    _views = make_views

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that inputs are sequences, and labels are needed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        dev: tuple[Any, Any] | None = None,
        hidden: Any = None,
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
            Development data. "auto" chooses by it; trained for margins, the weights
            of the pass that costs least on it are kept.
        hidden : iterable of sequences of bool, optional
            Which states margins are required for, in every sequence: True for those to
            be predicted, False for those that are given, which then help to predict
            their neighbours. All are hidden by default. The likelihood counts all
            states either way.

        Returns
        -------
        HiddenMarkovModel
            Itself.
        """
        return self._fit(X, y, sample_weight, dev=dev, hidden=hidden)

    # --- predicting ---------------------------------------------------------------

    def _encode(self, X: Any, known: Any = None) -> tuple[Chain, FloatArray]:
        """Make the chain of new sequences, and weights with one for the unknown."""
        self._check_fitted()
        K, V = len(self._labels), len(self._symbols)
        sequences = encode_symbols(X, int(self.column), self._symbols)
        sequences = encode_known(sequences, known, self._labels)
        return sequences.chain(K, V + 1), hidden_markov.with_unknown(
            self.weights_, K, V
        )

    def _given(self, X: Any, y: Any = None, *, known: Any = None) -> Given:
        chain, w = self._encode(X, known)
        legal = None
        if y is not None:
            y = label_lists(y)
            check_labelled(chain.ptr, y)
            flat = [label for labels in y for label in labels]
            chain = chain._replace(labels=self._labels.encode(flat, "y"))
            legal = legal_sequences(chain)
        decode = self._labels.decode
        return Given(chain, w, lambda i, y: decode(y.tolist()), legal)

    def sample_given(
        self, X: Any, n: int = 1, random_state: Any = None, *, known: Any = None
    ) -> list[list[list[Label]]]:
        """Draw `n` paths of states of every sequence, given its symbols.

        And given the states that are `known`, as in `predict`. `sample` draws the
        symbols as well.
        """
        given = self._given(X, known=known)
        return draw_outputs(given, n, random_state, self._jobs())

    def predict(
        self, X: Any, *, decoding: str = "best", known: Any = None
    ) -> list[list[Label]]:
        """Return the states of every sequence.

        Parameters
        ----------
        X : iterable of sequences
            As in `fit`; symbols that training has not seen are fine.
        decoding : {"best", "minimum_risk"}
            The most probable states together (Viterbi); or at every position the
            state that costs least on average, by `costs` and the probabilities of
            states. The latter trusts the probabilities, which are best by counting.
        known : iterable of sequences, optional
            The states that are known already, None where they are not.

        Returns
        -------
        list of list of states
        """
        check_choice("decoding", decoding, DECODINGS)
        if decoding == "minimum_risk":
            shares = self.predict_marginals(X, known=known)
            risks = [p @ self._costs for p in shares]
            return [self._labels.decode(r.argmin(axis=1).tolist()) for r in risks]
        chain, w = self._encode(X, known)
        return answers.best_labels(chain, w, self._labels, self._jobs())

    def predict_marginals(
        self, X: Any, *, known: Any = None
    ) -> list[NDArray[np.float64]]:
        """Return the probability of every state at every position, given the symbols.

        And given the states that are `known`, as in `predict`.

        Returns
        -------
        list of arrays of shape (n_positions, n_states)
            Columns are in the order of `classes_`; rows add up to one.
        """
        chain, w = self._encode(X, known)
        return answers.label_probabilities(chain, w, len(self._labels), self._jobs())

    def predict_kbest(
        self, X: Any, k: int = 5, *, known: Any = None
    ) -> list[list[Ranked]]:
        """Return the `k` most probable paths of states, best first.

        Among those with the states that are `known`, as in `predict`.

        Returns
        -------
        list of list of Ranked
            Each ``(labels, score)``; the score is ``ln P(states, symbols)``.
        """
        chain, w = self._encode(X, known)
        return answers.best_ranked(chain, w, self._labels, k, self._jobs())

    def predict_spans(self, X: Any, *, scheme: str | None = None) -> list[list[Span]]:
        """Return the chunks of every sequence, where states spell chunks (B-PER, ...).

        Like `SequenceTagger.predict_spans`.
        """
        chain, w = self._encode(X)
        return answers.best_spans(chain, w, self._labels, scheme, self._jobs())

    def log_likelihood(self, X: Any) -> FloatArray:
        """Return ``ln P(symbols)`` of every sequence, whatever the states are."""
        chain, w = self._encode(X)
        none = np.zeros(chain.ptr.size - 1, np.int64)
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
            if not isinstance(value, Integral) or value < 1:
                raise ValueError(f"{name} must be an integer >= 1, not {value!r}")
        uniform = check_random_state(random_state).random_sample((2, n, length))
        symbols, states = hidden_markov.draw_sequences(
            self.probabilities_, n, length, uniform
        )
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
        return hidden_markov.from_weights(w, len(self._labels), len(self._symbols))

    @property
    def missing_(self) -> Probabilities:
        """What each distribution leaves to one: the mass of the unknown."""
        left = [np.maximum(1.0 - p.sum(axis=-1), 0.0) for p in self.probabilities_]
        return Probabilities(*left)
