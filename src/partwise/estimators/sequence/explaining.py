"""What a tagger has learnt, and why it says what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.estimators import explanation
from partwise.estimators.explanation import ChainWeights, Explanation
from partwise.estimators.given_vectors import split_one
from partwise.estimators.labels import Label
from partwise.estimators.sequence.orders import TupleWeights, pair_weights
from partwise.estimators.sequence.predicting import PredictsLabels


class ExplainsLabels(PredictsLabels):
    """The part of taggers that can be looked into."""

    @property
    def _weights(self) -> ChainWeights | TupleWeights:
        self._check_fitted()
        return explanation.named_once(self, self._name_weights)

    def _name_weights(self) -> ChainWeights | TupleWeights:
        if self._memory is not None:
            return TupleWeights(
                self._input.names(),
                self._labels.classes,
                self._pairs,
                self._memory,
                self.start,
                vectors=self._vectors.names,
            )
        return ChainWeights(
            self._input.names(),
            self._states.names,
            self._pairs,
            self._input.edge_names(),
            self.start,
            self.end,
            vectors=self._vectors.names,
        )

    @property
    def states_(self) -> list[Label]:
        """The names of hidden states; those of labels, if there is one each."""
        self._check_fitted()
        return list(self._states.names)

    @property
    def transitions_(self) -> NDArray[np.float64]:
        """The weight of every label (row) being followed by every other (column).

        With hidden states, that of every state, in the order of `states_`.
        """
        self._check_fitted()
        K, at = len(self._states), self._weights.transition_at
        if self._memory is not None:
            return pair_weights(self._memory, self.weights_, at, K)
        return self.weights_[at : at + K * K].reshape(K, K).copy()

    def top_features(
        self, n: int = 20, label: Label | None = None, *, sign: str = "any"
    ) -> list[tuple[str, Label, float]]:
        """Return the `n` features with the largest weights, in absolute value.

        Parameters
        ----------
        n : int
            How many.
        label : label, optional
            Only weights of this label.
        sign : {"any", "positive", "negative"}
            Only weights of this sign: what speaks for a label, or against it.

        Returns
        -------
        list of (feature, label, weight)
        """
        self._check_fitted()
        codes = None if label is None else self._states.of(label, "top_features")
        return self._weights.top(self.weights_, n, codes, sign)

    def explain(self, x: Any) -> Explanation:
        """Say which features made each label of one sequence win.

        For every token: its label, the runner-up (the other label that costs the whole
        sequence least), the margin between the two sequences, and what each feature
        added to that margin.

        Parameters
        ----------
        x : sequence
            One sequence, as in `fit`.

        Returns
        -------
        Explanation
        """
        x, matrix = split_one(x)
        x = x if hasattr(x, "__len__") else list(x)
        chain = self._encode([x] if matrix is None else ([x], [matrix]))
        words = [explanation.show_token(token) for token in x]
        return explanation.explain_sequence(
            chain, self.weights_, self._weights, words, self._states.classes
        )
