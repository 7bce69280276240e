"""Which weights a segment tagger has, and what they did."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.estimators.explanation import Explanation, show_token
from partwise.estimators.given_vectors import split_one
from partwise.estimators.labels import Label
from partwise.estimators.segments.explaining import explain_segments
from partwise.estimators.segments.predicting import PredictsSegments
from partwise.estimators.segments.weights import SegmentWeights


class ExplainsSegments(PredictsSegments):
    """Weights by name, and explanations."""

    @property
    def _weights(self) -> SegmentWeights:
        self._check_fitted()
        return SegmentWeights(
            self._input.names(),
            self._labels.classes,
            self._pairs,
            self._whole.names(),
            self._limits,
            self.lengths,
            self.start,
            vectors=self._vectors.names,
        )

    @property
    def transitions_(self) -> NDArray[np.float64]:
        """The weight of every label (row) being followed by every other (column)."""
        K, at = len(self.classes_), self._weights.size
        return self.weights_[at : at + K * K].reshape(K, K).copy()

    def top_features(
        self, n: int = 20, label: Label | None = None, *, sign: str = "any"
    ) -> list[tuple[str, Label, float]]:
        """Return the `n` features with the largest weights, in absolute value.

        Features of tokens count for all tokens of a segment; ``first`` and ``last``
        mark those of its first and its last token, ``whole`` those of all of them
        together.

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
        code = None if label is None else self._labels.code(label, "top_features")
        return self._weights.top(self.weights_, n, code, sign)

    def explain(self, x: Any) -> Explanation:
        """Say which features made each segment of one sequence win.

        For every segment, and every token outside: its label, the runner-up (what takes
        its place in the best segmentation without it), the margin between the two
        segmentations, and what each feature added to that margin.

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
        s = self._new([x] if matrix is None else ([x], [matrix]))
        words = [show_token(token) for token in x]
        return explain_segments(s, self.weights_, self._weights, self._labels, words)
