"""What a segment tagger answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise import metrics
from partwise.estimators.calibration import (
    least_share,
)
from partwise.estimators.distribution import Given
from partwise.estimators.partial_labels import check_complete
from partwise.estimators.segments import answers
from partwise.estimators.segments.corpora import SegmentCorpora
from partwise.estimators.segments.cuts import (
    RankedSegments,
    ScoredSegment,
    Segment,
    decode_segments,
    segment_lists,
)
from partwise.estimators.segments.partial import known_in_part, wrong_codes
from partwise.structures.interface import CodeArray, FloatArray
from partwise.structures.segments import Segments
from partwise.structures.segments.corpus import illegal_tokens
from partwise.structures.segments.known import wrong_parts


class PredictsSegments(SegmentCorpora):
    """Best segments, probabilities, sets and ranks."""

    def _given(
        self, X: Any, y: Any = None, *, allowed: Any = None, known: Any = None
    ) -> Given:
        self._check_fitted()
        y = None if y is None else list(y)
        s = self._encode(X, allowed, known, y)
        legal = without = None
        if y is not None:
            cuts = segment_lists(y, np.diff(s.ptr).tolist(), self.outside)
            if known_in_part(cuts):
                wrong = wrong_codes(cuts, s.ptr, self._labels, self.outside)
                without = wrong_parts(s, wrong)
        if y is not None and without is None:
            legal = np.ones(s.ptr.size - 1, bool)
            bad = illegal_tokens(s)
            legal[np.searchsorted(s.ptr, bad, side="right") - 1] = False

        def read(i: int, codes: CodeArray) -> list[Segment]:
            ptr = np.array([0, codes.size])
            return decode_segments(codes, ptr, self._labels, self.outside)[0]

        return Given(s, self._scaled_weights, read, legal, without)

    def _check_scored(self, y: Any) -> None:
        # Segments, or labels that spell them.
        labels = [
            [one[2] if isinstance(one, tuple) else one for one in cut] for cut in y
        ]
        check_complete(labels, "y", "segment")

    def _decode(self, s: Segments, w: FloatArray) -> list[list[Segment]]:
        return answers.best_segments(s, w, self._labels, self.outside, self._jobs())

    def predict(
        self,
        X: Any,
        *,
        allowed: Any = None,
        known: Any = None,
        risk: float | None = None,
    ) -> list[list[Segment]]:
        """Return the best segments of every sequence.

        Parameters
        ----------
        X : iterable of sequences
            As in `fit`.
        allowed : list, optional
            Per sequence None or, per token, None or the labels its segment may have.
        known : list, optional
            Per sequence None or segments that are known to be right.
        risk : float, optional
            Abstain: a segment is one of the `predict_sets` of this risk, and no other
            one of it overlaps with it. The label of a stretch where this is not so is
            None, as in `fit`. For models with `calibrate`.

        Returns
        -------
        list of list of Segment
            Each a ``(start, end, label)``; `end` is exclusive.
        """
        s = self._new(X, allowed, known)
        best = self._decode(s, self.weights_)
        if risk is None:
            return best
        sets = self._sets(s, risk)
        return [answers.abstaining(*pair) for pair in zip(best, sets, strict=True)]

    def predict_sets(
        self, X: Any, risk: float = 0.1, *, allowed: Any = None, known: Any = None
    ) -> list[list[ScoredSegment]]:
        """Return segments, some of which overlap, with the right ones among them.

        At most a share `risk` of right segments is missing, on average over those of
        new sequences like those of the development data (split conformal prediction).
        For models with `calibrate`.

        Returns
        -------
        list of list of ScoredSegment
        """
        return self._sets(self._new(X, allowed, known), risk)

    def _sets(self, s: Segments, risk: float) -> list[list[ScoredSegment]]:
        least = least_share(self._calibration, risk)
        w, labels = self._scaled_weights, self._labels
        return answers.likely_segments(s, w, labels, self.outside, least, self._jobs())

    def predict_marginals(
        self, X: Any, *, allowed: Any = None, known: Any = None
    ) -> list[NDArray[np.float64]]:
        """Return the probability of every label at every token.

        Probabilities are those of the log-linear model with these weights; they are
        calibrated only for models trained with the log loss, or with `calibrate`.

        Returns
        -------
        list of arrays of shape (n_tokens, n_classes)
            Columns are in the order of `classes_`; rows add up to one.
        """
        s = self._new(X, allowed, known)
        return answers.label_probabilities(s, self._scaled_weights, self._jobs())

    def predict_spans(
        self, X: Any, *, allowed: Any = None, known: Any = None
    ) -> list[list[ScoredSegment]]:
        """Return the best segments of every sequence, with their probabilities.

        Returns
        -------
        list of list of ScoredSegment
            ``(start, end, label, score)``; the score is the probability that exactly
            these tokens are a segment of this label.
        """
        s = self._new(X, allowed, known)
        return answers.scored_segments(
            s, self._scaled_weights, self._labels, self.outside, self._jobs()
        )

    def predict_kbest(
        self, X: Any, k: int = 5, *, allowed: Any = None, known: Any = None
    ) -> list[list[RankedSegments]]:
        """Return the `k` best segmentations of every sequence, best first.

        Returns
        -------
        list of list of RankedSegments
            Each a ``(segments, score)``; fewer than `k` where fewer are possible.
        """
        s = self._new(X, allowed, known)
        return answers.best_ranked(
            s, self.weights_, self._labels, self.outside, k, self._jobs()
        )

    def score(self, X: Any, y: Any) -> float:
        """Return the F1 of segments."""
        s = self._new(X)
        gold = segment_lists(y, np.diff(s.ptr).tolist(), self.outside)
        self._check_scored(gold)
        return metrics.segment_scores(gold, self._decode(s, self.weights_)).overall.f1
