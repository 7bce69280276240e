"""The segment tagger: sequences cut into labelled segments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise import metrics
from partwise.errors import DataError
from partwise.estimators import checks
from partwise.estimators import costs as weighting
from partwise.estimators.attached_vectors import HasVectors
from partwise.estimators.base import StructuredEstimator, TrainingData
from partwise.estimators.calibration import (
    Calibration,
    best_scale,
    least_share,
    split_dev,
)
from partwise.estimators.carrying import Blocks
from partwise.estimators.dev_metrics import checked, rehearse
from partwise.estimators.distribution import Given, Samples
from partwise.estimators.explanation import Explanation, show_token
from partwise.estimators.given_vectors import split_one, split_vectors
from partwise.estimators.labels import Label, LabelCodes
from partwise.estimators.segments import answers
from partwise.estimators.segments.cuts import (
    RankedSegments,
    ScoredSegment,
    Segment,
    decode_segments,
    encode_segments,
    find_limits,
    forbidden_codes,
    segment_lists,
)
from partwise.estimators.segments.explaining import explain_segments
from partwise.estimators.segments.partial import (
    known_in_part,
    one_completion,
    possible_segments,
    wrong_codes,
)
from partwise.estimators.segments.persistence import fill, store
from partwise.estimators.segments.settings import SegmentTaggerSettings
from partwise.estimators.segments.views import make_views
from partwise.estimators.segments.weights import SegmentWeights
from partwise.estimators.segments.whole import (
    WholeSegments,
    choose_views,
    learn_whole,
    listed_gazetteers,
)
from partwise.estimators.sequence.constraints import Masks, make_masks
from partwise.estimators.sequence.inputs import (
    Input,
    TemplateInput,
    Tokens,
    as_columns,
    choose_input,
    learn_tokens,
)
from partwise.estimators.sequence.vectors import add_vectors, learn_vectors
from partwise.features.word_vectors import as_word_vectors
from partwise.solvers.loop import Evaluate
from partwise.structures import rows as feature_rows
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.partial import PartialOutputs
from partwise.structures.rows import Pairs, SparseRows
from partwise.structures.segments import Segments, illegal_segment, make_segments
from partwise.structures.segments.corpus import ROLES, illegal_tokens
from partwise.structures.segments.known import farthest, know_codes


class SegmentTagger(HasVectors, StructuredEstimator, Samples, SegmentTaggerSettings):
    """Cut sequences into segments, each with a label, exactly.

    A semi-Markov model: it sees segments as a whole, their length and whether all of
    their words together are known, where a `SequenceTagger` sees a token and the label
    before it.

    Attributes
    ----------
    classes_ : array
        The labels, sorted; the one of tokens outside of segments among them.
    limits_ : dict
        How many tokens a segment of each label may have.
    transitions_ : array of shape (n_classes, n_classes)
        The weight of a segment of every label (row) being followed by one of every
        other (column).

    Examples
    --------
    >>> from partwise import SegmentTagger
    >>> X = [list("thedog"), list("thecat"), list("adog")]
    >>> y = [[(0, 3, "W"), (3, 6, "W")]] * 2 + [[(0, 1, "W"), (1, 4, "W")]]
    >>> tagger = SegmentTagger(C=10.0, template="words,neighbours:1").fit(X, y)
    >>> [segment[:2] for segment in tagger.predict([list("acat")])[0]]
    [(0, 1), (1, 4)]
    """

    _store, _fill = store, fill
    _views = make_views
    least_labels = 1  # words have no types

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that inputs are sequences, and segments are needed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.dict = tags.input_tags.string = True
        tags.target_tags.required = True
        return tags

    # --- training ---------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        token_weight: Any = None,
        dev: tuple[Any, Any] | None = None,
    ) -> SegmentTagger:
        """Learn from sequences that are cut into segments.

        Parameters
        ----------
        X : iterable of sequences
            Per sequence, per token: a feature dict or an iterable of strings; or a 2-D
            array per sequence; or, with a template, words or tuples of column strings.
            Features of dicts may be arrays. A pair ``(X, matrices)``, or `WithVectors`
            for every sequence, adds a vector to every token.
        y : iterable of lists of segments
            Per sequence ``(start, end, label)`` for every segment; `end` is exclusive,
            and no two overlap. Or a label for every token that spells segments (B-PER,
            I-PER, O and the like). Where nothing is known, None: as the label of a
            stretch, or of tokens. A segment whose label is a set has one of these.
        sample_weight : array, optional
            A weight for every sequence: what multiplies its loss.
        token_weight : list, optional
            Per sequence, a number >= 0 for every token: what multiplies the cost of
            getting it wrong.
        dev : (X, y), optional
            Development data, for early stopping.

        Returns
        -------
        SegmentTagger
            Itself.
        """
        return self._fit(X, y, sample_weight, token_weight=token_weight, dev=dev)

    def _prepare(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        token_weight: Any = None,
        dev: Any = None,
    ) -> TrainingData:
        """Encode what `fit` is given; everything is checked before training starts."""
        self._check_settings()
        if self.pairs == "observed" and self.hash_bits is not None:
            raise ValueError(
                "pairs='observed' keeps a vocabulary of pairs; with hash_bits use 'all'"
            )
        if isinstance(self.constraints, str):
            raise ValueError(
                "constraints of segments are Constraints on their labels; schemes such "
                f"as {self.constraints!r} are for SequenceTagger"
            )
        settings = (self.template, self.boundaries, self.min_count, self.hash_bits, ())
        X, matrices = split_vectors(X)
        tables = as_word_vectors(self.vectors)
        source, X = choose_input(X, *settings)
        X = _kept(X)
        tokens, self._vectors = learn_vectors(
            learn_tokens(self, source, X), X, matrices, tables, self.scale_vectors
        )
        cuts = segment_lists(y, np.diff(tokens.ptr).tolist(), self.outside)
        if not tokens.ptr[-1]:
            raise DataError("all sequences are empty: there is nothing to learn from")
        self._input: Input = source
        in_part = known_in_part(cuts)
        known, cuts = cuts, possible_segments(cuts)
        inside = sum(one.end - one.start for cut in known for one in cut)
        self._learn_labels(cuts, inside < tokens.ptr[-1])
        start = self._start
        self._limits = find_limits(
            self.max_length,
            cuts,
            self._labels,
            self.outside,
            None if start is None else start.limits_,
        )
        template = getattr(getattr(source, "encoder", None), "template", None)
        views = choose_views(self.whole, template, len(getattr(X, "columns", ())))
        gazetteers = listed_gazetteers(self.gazetteers)
        self._whole: WholeSegments = learn_whole(
            X, tokens.ptr, cuts, views, gazetteers, self.whole_min_count
        )
        if start is not None:
            self._whole = self._whole.beyond(start._whole)
        self._masks: Masks = make_masks(self.constraints, self._labels)
        self._costs = weighting.cost_matrix(self.costs, self._labels)
        if in_part:
            cuts = one_completion(known, self._labels, self.outside)
        codes = encode_segments(cuts, tokens.ptr, self._labels, self.outside)
        self._pairs: Pairs | None = None
        if self.pairs == "observed" and isinstance(tokens.nodes, SparseRows):
            self._pairs = _observed_pairs(tokens.nodes, codes, len(self._labels))
        token_weight = weighting.token_weights(token_weight, tokens.ptr)
        structure: Any = self._segments(X, tokens, codes, token_weight=token_weight)
        self._check_costs(structure)
        if in_part:
            structure = self._known(structure, known)
        else:
            self._check_gold(structure)
        sample_weight = weighting.sample_weights(sample_weight, len(cuts))
        calibrate = None
        if self.calibrate is not None:
            dev, held_out = split_dev(dev, self.calibrate)
            calibrate = self._calibrator(dev, held_out)
        evaluate = None if dev is None else self._evaluator(*checks.as_pair(dev))
        given = self.costs is not None or token_weight is not None
        wanted = given or self.segment_cost > 0.0
        structure = self._with_costs(structure, wanted)
        return TrainingData(structure, sample_weight, evaluate, calibrate=calibrate)

    def _learn_labels(self, cuts: list[list[Segment]], some_outside: bool) -> None:
        """Give the labels numbers: those of segments, and `outside` if it is needed."""
        found = [one.label for cut in cuts for one in cut]
        if not found and self._start is None:
            raise DataError(
                "y has no segments: nothing to learn; give examples of some"
            )
        if some_outside:
            found.append(self.outside)
        self._set_labels(LabelCodes(self._all_classes(found)))

    def _as_start(self) -> SegmentTagger:
        if self.pairs == "observed":
            raise ValueError(
                "pairs='observed' needs all examples; with forget=True use 'all'"
            )
        self._refuse_forgetting_vectors()
        return super()._as_start()

    def _blocks(self) -> Blocks:
        labels = self._labels.classes
        lengths = [
            (label, length)
            for label, limit in self.limits_.items()
            for length in range(1, limit + 1)
        ]
        return {
            "tokens": (self._input.n_features, ROLES, labels),
            "whole": (self._whole.keys(), labels),
            "lengths": (lengths if self.lengths else 0,),
            "transitions": (labels, labels),
            "start": (int(self.start), labels),
            "end": (int(self.end), labels),
        }

    def _known(self, s: Segments, cuts: list[list[Segment]]) -> PartialOutputs:
        """Return the corpus with segments that are known in part."""
        wrong = wrong_codes(cuts, s.ptr, self._labels, self.outside)
        try:
            return know_codes(s, wrong)
        except DataError as error:
            if error.example is None:
                raise
            i = error.example
            raise DataError(
                f"sequence {i}: no segments agree with what is known, with the limits "
                f"and with the constraints at token {farthest(s, wrong, i)}; correct "
                "the segments, raise max_length or loosen the constraints"
            ) from None

    def _check_costs(self, s: Segments) -> None:
        costs = s.costs
        if self.loss != "log_loss" and not (
            (costs.labels.any() or costs.border > 0.0 or costs.segments.any())
            and (costs.token_weight.size == 0 or costs.token_weight.any())
        ):
            raise DataError("every mistake costs nothing: nothing to learn from")

    def _check_gold(self, s: Segments) -> None:
        broken = illegal_segment(s)
        if broken is not None:
            i, t = broken
            raise DataError(
                f"the constraints forbid the segments of sequence {i} at token {t}; "
                "correct the segments or loosen the constraints"
            )

    def _segments(
        self,
        X: Any,
        tokens: Tokens,
        codes: CodeArray | None = None,
        *,
        token_weight: FloatArray | None = None,
        forbidden: NDArray[np.bool_] | None = None,
    ) -> Segments:
        """Wrap encoded tokens, with everything the model knows, into a structure."""
        nodes = tokens.nodes
        if self._pairs is not None:
            nodes = feature_rows.make_pair_rows(nodes, self._pairs)
        if tokens.vectors is not None:
            nodes = feature_rows.make_mixed_rows(nodes, tokens.vectors)
        is_inside = [label != self.outside for label in self._labels.classes]
        return make_segments(
            nodes,
            tokens.ptr,
            codes,
            self._limits,
            matches=self._whole.find(X, tokens.ptr),
            lengths=self.lengths,
            start=self.start,
            end=self.end,
            costs=self._costs,
            border_cost=self.border_cost,
            segment_costs=self.segment_cost * np.array(is_inside, np.float64),
            token_weight=token_weight,
            forbidden_transitions=self._masks.transitions,
            forbidden_start=self._masks.start,
            forbidden_end=self._masks.end,
            forbidden_codes=forbidden,
        )

    def _evaluator(self, X: Any, y: Any) -> Evaluate:
        """Make the function that scores weights on development data."""
        s = self._encode(X)
        lengths = np.diff(s.ptr)
        cuts = segment_lists(y, lengths.tolist(), self.outside)
        if not {one.label for cut in cuts for one in cut} & {*self._labels.classes}:
            raise DataError("dev: none of its labels occurs in the training data")
        measure = _measure(self.dev_metric, lengths, self.outside)
        rehearse(measure, cuts)
        return lambda w: measure(cuts, self._decode(s, w))

    def _calibrator(self, dev: Any, held_out: Any) -> Callable[..., Calibration]:
        """Make the function that calibrates weights on development data."""
        asked, unseen = self._possible(*dev), self._encode(held_out[0])
        lengths = np.diff(unseen.ptr).tolist()
        cuts = segment_lists(held_out[1], lengths, self.outside)

        def calibrate(w: FloatArray) -> Calibration:
            scale = best_scale(asked, w, self._jobs())
            right = answers.shares_of(
                unseen, scale * w, cuts, self._labels, self._jobs()
            )
            return Calibration(scale, np.zeros(0), np.zeros(0), np.sort(1.0 - right))

        return calibrate

    def _possible(self, X: Any, y: Any) -> Segments:
        """Return the sequences whose segments are possible ones, with these as gold."""
        X = _kept(X)
        given = self._encode(X)
        cuts = segment_lists(y, np.diff(given.ptr).tolist(), self.outside)
        limits = dict(zip(self._labels.classes, self._limits.tolist(), strict=True))
        inside = [sum(one.end - one.start for one in cut) for cut in cuts]
        kept = [
            i
            for i, cut in enumerate(cuts)
            if all(one.end - one.start <= limits.get(one.label, 0) for one in cut)
            and (self.outside in limits or inside[i] == given.ptr[i + 1] - given.ptr[i])
        ]
        if not kept:
            raise DataError("dev: no sequence has only labels of the training data")
        some, tokens = self._tokens([X[i] for i in kept])
        chosen = [cuts[i] for i in kept]
        codes = encode_segments(chosen, tokens.ptr, self._labels, self.outside)
        return self._segments(some, tokens, codes)

    # --- predicting ---------------------------------------------------------------

    @property
    def _scaled_weights(self) -> FloatArray:
        """The weights whose probabilities are meant."""
        found = self._calibration
        return self.weights_ if found is None else found.scale * self.weights_

    def _tokens(self, X: Any) -> tuple[Any, Tokens]:
        """Return sequences that can be read again, and encoded, with their vectors."""
        X, matrices = split_vectors(X)
        X = as_columns(X) if isinstance(self._input, TemplateInput) else _kept(X)
        tokens = self._input.encode(X, self._jobs())
        return X, add_vectors(tokens, X, matrices, self._vectors)

    def _encode(
        self, X: Any, allowed: Any = None, known: Any = None, y: Any = None
    ) -> Segments:
        X, tokens = self._tokens(X)
        codes = None
        if y is not None:
            cuts = segment_lists(y, np.diff(tokens.ptr).tolist(), self.outside)
            codes = encode_segments(cuts, tokens.ptr, self._labels, self.outside)
        labels = checks.forbidden_labels(tokens.ptr, allowed, self._labels)
        forbidden = forbidden_codes(
            tokens.ptr, labels, known, self._labels, self.outside
        )
        return self._segments(X, tokens, codes, forbidden=forbidden)

    def _new(self, X: Any, allowed: Any = None, known: Any = None) -> Segments:
        self._check_fitted()
        return self._encode(X, allowed, known)

    def _given(
        self, X: Any, y: Any = None, *, allowed: Any = None, known: Any = None
    ) -> Given:
        self._check_fitted()
        s = self._encode(X, allowed, known, y)
        legal = None
        if y is not None:
            legal = np.ones(s.ptr.size - 1, bool)
            bad = illegal_tokens(s)
            legal[np.searchsorted(s.ptr, bad, side="right") - 1] = False

        def read(i: int, codes: CodeArray) -> list[Segment]:
            ptr = np.array([0, codes.size])
            return decode_segments(codes, ptr, self._labels, self.outside)[0]

        return Given(s, self._scaled_weights, read, legal)

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
            Leave out segments that overlap with others of the `predict_sets` of this
            risk, or are not among them. For models with `calibrate`.

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
        return [answers.undisputed(*pair) for pair in zip(best, sets, strict=True)]

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
        return metrics.segment_scores(gold, self._decode(s, self.weights_)).overall.f1

    # --- understanding --------------------------------------------------------------

    @property
    def limits_(self) -> dict[Label, int]:
        """How many tokens a segment of each label may have."""
        self._check_fitted()
        return dict(zip(self._labels.classes, self._limits.tolist(), strict=True))

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


def _kept(X: Any) -> Any:
    """Return inputs that can be read several times."""
    if hasattr(X, "columns") and hasattr(X, "ptr"):
        return X
    return [one if hasattr(one, "__len__") else list(one) for one in X]


def _observed_pairs(rows: SparseRows, codes: CodeArray, n_labels: int) -> Pairs:
    """List the pairs of attribute and label, in each role, that occur in training."""
    K, every = n_labels, np.arange(codes.size)
    first = np.flatnonzero(codes < K)
    last = np.append(first[1:], codes.size) - 1
    label = codes % K
    roled = np.concatenate([label, K + label[first], 2 * K + label[last]])
    stacked = feature_rows.take_rows(rows, np.concatenate([every, first, last]))
    return feature_rows.observed_pairs(stacked, roled, 3 * K)


def _measure(metric: Any, lengths: IntArray, outside: Label) -> Any:
    """Return the function of lists of segments that `metric` means."""
    if callable(metric):
        return checked(metric)
    if metric == "segment_f1":
        return lambda y, found: metrics.segment_scores(y, found).overall.f1
    if metric == "sequence_accuracy":
        return lambda y, found: float(
            np.mean([set(a) == set(b) for a, b in zip(y, found, strict=True)])
        )

    def spelled(cuts: Any) -> Any:
        return answers.spell(cuts, lengths.tolist(), outside)

    return lambda y, found: metrics.token_accuracy(spelled(y), spelled(found))
