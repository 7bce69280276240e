"""What a tagger answers: labels, sets, probabilities, k best, chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise import metrics
from partwise._notebooks import Shown
from partwise.estimators import checks
from partwise.estimators.calibration import least_share
from partwise.estimators.distribution import Given
from partwise.estimators.labels import Label, LabelCodes
from partwise.estimators.partial_labels import (
    check_complete,
    check_sets,
    wrong_labels,
)
from partwise.estimators.sequence import answers
from partwise.estimators.sequence.answers import Ranked, Span
from partwise.estimators.sequence.corpora import TaggerCorpora
from partwise.estimators.sequence.mistaken import check_labels, warn_of_other_labels
from partwise.estimators.sequence.orders import illegal_of, stuck_at
from partwise.estimators.sequence.slates import Slates
from partwise.estimators.sequence.span_marginals import Spelling, span_probabilities
from partwise.estimators.sequence.walks import transition_probabilities, walks
from partwise.structures.chain import Chain, legal_sequences
from partwise.structures.chain.known import wrong_parts
from partwise.structures.interface import CodeArray, FloatArray


class PredictsLabels(TaggerCorpora):
    """The part of taggers that predicts."""

    _slates: Slates

    def _set_labels(self, labels: LabelCodes) -> None:
        """Set the labels of outputs; what was prepared for others is forgotten."""
        super()._set_labels(labels)
        self._slates = Slates()

    def _shares(self, chain: Chain) -> list[NDArray[np.float64]]:
        """Return the probability of every label at every token, calibrated if asked."""
        found, w = self._calibration, self._scaled_weights
        shares = self._label_shares(chain, w)
        return shares if found is None else [*map(found.adjust, shares)]

    def _label_shares(self, chain: Chain, w: FloatArray) -> list[NDArray[np.float64]]:
        """Return the probability of every label, whatever the state behind it."""
        states = self._states
        shares = answers.label_probabilities(chain, w, len(states), self._jobs())
        return [states.gather(one, 1) for one in shares]

    @property
    def _scaled_weights(self) -> FloatArray:
        """The weights whose probabilities are meant."""
        found = self._calibration
        return self.weights_ if found is None else found.scale * self.weights_

    def _decode(self, chain: Chain, w: FloatArray) -> list[list[Label]]:
        return answers.best_labels(chain, w, self._states, self._jobs())

    def _given(self, X: Any, y: Any = None, *, allowed: Any = None) -> Given:
        chain = self._encode(X, allowed)
        legal = without = None
        if y is not None:
            y = checks.label_lists(y)
            checks.check_labelled(chain.ptr, y)
            flat = [label for labels in y for label in labels]
            if check_sets(y, "y, sequence", "token"):
                wrong = wrong_labels(flat, self._labels)
                without = wrong_parts(chain, self._states.spread(wrong, 1))
            else:
                codes = self._labels.encode(flat, "y")
                chain = chain._replace(labels=self._states.first[codes])
                legal = legal_sequences(chain, illegal_of(chain))
                without = self._without(chain, codes)
        decode, w = self._states.decode, self._scaled_weights
        return Given(chain, w, lambda i, y: decode(y.tolist()), legal, without)

    def _without(self, chain: Chain, codes: CodeArray) -> Any:
        """Return the parts that labels rule out, if there are states behind them."""
        states = self._states
        if states.each == 1:
            return None
        return wrong_parts(chain, states.label != codes[:, None])

    def predict(
        self, X: Any, *, allowed: Any = None, risk: float | None = None
    ) -> list[list[Label]]:
        """Return the best labels of every sequence.

        With hidden states, the labels of the best sequence of states.

        Parameters
        ----------
        X : iterable of sequences
            As in `fit`.
        allowed : list, optional
            Per sequence None or, per token, None or the labels it may have.
        risk : float, optional
            Abstain, with None for a label, where the `predict_sets` of this risk has
            other labels than the best one. For models with `calibrate`.

        Returns
        -------
        list of list of labels
        """
        self._check_fitted()
        tokens = self._tokens(X)
        alone = self._memory is None and self._slates.suit(tokens)
        if allowed is None and risk is None and alone:
            codes, score = self._slates.best(self._chain, self.weights_, tokens)
            checks.check_possible(
                score, lambda i: stuck_at(self._chain(tokens, None), i)
            )
            return [self._states.decode(codes)]
        chain = self._chain(tokens, None, allowed)
        best = self._decode(chain, self.weights_)
        if risk is None:
            return best
        sets = self._sets(chain, risk)
        return [
            [y if some == [y] else None for y, some in zip(*pair, strict=True)]
            for pair in zip(best, sets, strict=True)
        ]

    def predict_sets(
        self, X: Any, risk: float = 0.1, *, allowed: Any = None
    ) -> list[list[list[Label]]]:
        """Return a set of labels for every token that has the right one.

        At most a share `risk` of the sets lacks it, on average over tokens of new
        sequences like those of the development data (split conformal prediction). For
        models with `calibrate`.

        Returns
        -------
        list of list of list of labels
            The most probable label of a set is the first.
        """
        return self._sets(self._encode(X, allowed), risk)

    def _sets(self, chain: Chain, risk: float) -> list[list[list[Label]]]:
        least, classes = least_share(self._calibration, risk), self._labels.classes
        return [
            [
                [classes[k] for k in np.argsort(-row, kind="stable") if row[k] >= least]
                for row in rows
            ]
            for rows in self._shares(chain)
        ]

    def predict_marginals(
        self, X: Any, *, allowed: Any = None
    ) -> list[NDArray[np.float64]]:
        """Return the probability of every label at every token.

        Probabilities are those of the log-linear model with these weights; they are
        calibrated only for models trained with the log loss, or with `calibrate`.

        Returns
        -------
        list of arrays of shape (n_tokens, n_classes)
            Columns are in the order of `classes_`; rows add up to one.
        """
        return self._shares(self._encode(X, allowed))

    def predict_transitions(
        self, X: Any, *, allowed: Any = None
    ) -> list[NDArray[np.float64]]:
        """Return the probability of every pair of labels at neighbouring tokens.

        Returns
        -------
        list of arrays of shape (n_tokens - 1, n_classes, n_classes)
            ``[t, a, b]``: token `t` has label `a`, and the next one label `b`.
        """
        chain, states = self._encode(X, allowed), self._states
        pairs = transition_probabilities(
            chain, self._scaled_weights, len(states), self._jobs()
        )
        return [states.gather(one, 1, 2) for one in pairs]

    def predict_span_marginals(
        self,
        X: Any,
        *,
        at_least: float = 0.001,
        scheme: str | None = None,
        allowed: Any = None,
    ) -> list[list[Span]]:
        """Return all chunks that sequences may have, with their probabilities.

        `predict_spans` has those of the best labels only; and its score is that of the
        very labels, here all ways to spell a chunk count.

        Parameters
        ----------
        X : iterable of sequences
            As in `fit`.
        at_least : float
            Chunks that are less probable are left out.
        scheme : str, optional
            How labels spell chunks; by default as the CoNLL evaluation reads them.
        allowed : list, optional
            As in `predict`.

        Returns
        -------
        list of list of Span
            ``(start, end, label, score)``, the most probable first.
        """
        chain = self._encode(X, allowed)
        spelling = Spelling(self._states.classes, scheme)
        found = walks(chain, self._scaled_weights, len(self._states), self._jobs())
        return Shown(span_probabilities(walk, spelling, at_least) for walk in found)

    def predict_kbest(
        self, X: Any, k: int = 5, *, allowed: Any = None
    ) -> list[list[Ranked]]:
        """Return the `k` best label sequences of every sequence, best first.

        Returns
        -------
        list of list of Ranked
            Each a ``(labels, score)``; fewer than `k` where fewer are possible. With
            hidden states the `k` best sequences of states are looked at, of which
            several may have the same labels: these are listed once.
        """
        chain = self._encode(X, allowed)
        return answers.best_ranked(chain, self.weights_, self._states, k, self._jobs())

    def predict_spans(
        self, X: Any, *, scheme: str | None = None, allowed: Any = None
    ) -> list[list[Span]]:
        """Return the chunks of every sequence.

        Parameters
        ----------
        X : iterable of sequences
            As in `fit`.
        scheme : str, optional
            How labels spell chunks; by default as the CoNLL evaluation reads them.
        allowed : list, optional
            As in `predict`.

        Returns
        -------
        list of list of Span
            ``(start, end, label, score)``, `end` exclusive; the score is the
            probability that exactly these tokens carry these labels.
        """
        chain = self._encode(X, allowed)
        return answers.best_spans(
            chain, self._scaled_weights, self._states, scheme, self._jobs()
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of tokens with the right label.

        `sample_weight` weighs sequences.
        """
        y = checks.label_lists(y)
        check_labels(y, "score")
        self._check_scored(y)
        predicted = self.predict(X)
        accuracy = metrics.token_accuracy(y, predicted)  # checks the lengths too
        warn_of_other_labels(y, self._labels.classes)
        if sample_weight is None:
            return accuracy
        weight = np.asarray(sample_weight, np.float64)
        checks.check_same_length(len(y), len(weight), "sample_weight")
        lengths = np.array([len(labels) for labels in y])
        right = [
            sum(a == b for a, b in zip(p, q, strict=True))
            for p, q in zip(predicted, y, strict=True)
        ]
        return float(weight @ right / (weight @ lengths))

    def _check_scored(self, y: Any) -> None:
        check_complete(y, "y")
