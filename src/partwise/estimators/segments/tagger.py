"""The segment tagger: sequences cut into labelled segments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from partwise import metrics
from partwise.errors import DataError
from partwise.estimators import checks
from partwise.estimators import costs as weighting
from partwise.estimators.base import TrainingData
from partwise.estimators.calibration import (
    Calibration,
    best_scale,
    split_dev,
    strangeness,
)
from partwise.estimators.carrying import Blocks
from partwise.estimators.dev_metrics import checked, rehearse
from partwise.estimators.given_vectors import split_vectors
from partwise.estimators.labels import Label, LabelCodes
from partwise.estimators.partial_labels import check_complete
from partwise.estimators.segments import answers
from partwise.estimators.segments.corpora import as_lists
from partwise.estimators.segments.cuts import (
    Segment,
    encode_segments,
    find_limits,
    segment_lists,
)
from partwise.estimators.segments.interpreting import ExplainsSegments
from partwise.estimators.segments.partial import (
    known_in_part,
    one_completion,
    possible_segments,
    wrong_codes,
)
from partwise.estimators.segments.persistence import fill, store
from partwise.estimators.segments.views import make_views
from partwise.estimators.segments.whole import (
    choose_views,
    learn_whole,
    listed_gazetteers,
)
from partwise.estimators.sequence.constraints import make_masks
from partwise.estimators.sequence.inputs import (
    choose_input,
    learn_tokens,
)
from partwise.estimators.sequence.vectors import learn_vectors
from partwise.features.word_vectors import as_word_vectors
from partwise.solvers.loop import Evaluate
from partwise.structures import rows as feature_rows
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.partial import PartialOutputs
from partwise.structures.rows import Pairs, SparseRows
from partwise.structures.segments import Segments, illegal_segment
from partwise.structures.segments.corpus import ROLES
from partwise.structures.segments.known import farthest, know_codes


class SegmentTagger(ExplainsSegments):
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
        X = as_lists(X)
        tokens, self._vectors = learn_vectors(
            learn_tokens(self, source, X), X, matrices, tables, self.scale_vectors
        )
        cuts = segment_lists(y, np.diff(tokens.ptr).tolist(), self.outside)
        if not tokens.ptr[-1]:
            raise DataError("all sequences are empty: there is nothing to learn from")
        self._input = source
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
        self._whole = learn_whole(
            X, tokens.ptr, cuts, views, gazetteers, self.whole_min_count
        )
        if start is not None:
            self._whole = self._whole.beyond(start._whole)
        self._masks = make_masks(self.constraints, self._labels)
        self._costs = weighting.cost_matrix(self.costs, self._labels)
        if in_part:
            cuts = one_completion(known, self._labels, self.outside)
        codes = encode_segments(cuts, tokens.ptr, self._labels, self.outside)
        self._pairs = None
        if self.pairs == "observed" and isinstance(tokens.nodes, SparseRows):
            self._pairs = _observed_pairs(tokens.nodes, codes, len(self._labels))
        token_weight = weighting.token_weights(token_weight, tokens.ptr)
        sample_weight = weighting.sample_weights(sample_weight, len(cuts))
        by_class = self._class_weights(codes, tokens.ptr, sample_weight, known)
        costs = by_class[:, None] * self._costs
        structure: Any = self._segments(
            X, tokens, codes, token_weight=token_weight, costs=costs
        )
        self._check_costs(structure)
        if in_part:
            structure = self._known(structure, known)
        else:
            self._check_gold(structure)
        calibrate = None
        if self.calibrate is not None:
            dev, held_out = split_dev(dev, self.calibrate)
            calibrate = self._calibrator(dev, held_out)
        evaluate = None if dev is None else self._evaluator(*checks.as_pair(dev))
        given = (self.costs, self.class_weight, token_weight)
        wanted = any(one is not None for one in given) or self.segment_cost > 0.0
        structure = self._with_costs(structure, wanted)
        return TrainingData(structure, sample_weight, evaluate, calibrate=calibrate)

    def _class_weights(
        self,
        codes: CodeArray,
        ptr: IntArray,
        sample_weight: FloatArray | None,
        cuts: list[list[Segment]],
    ) -> FloatArray:
        """Return what multiplies the cost of the tokens of each label."""
        per_token = np.ones(codes.size)
        if sample_weight is not None:
            per_token = np.repeat(sample_weight, np.diff(ptr))
        if known_in_part(cuts):  # count what is known
            wrong = wrong_codes(cuts, ptr, self._labels, self.outside)
            per_token = per_token * (wrong.sum(axis=1) == wrong.shape[1] - 1)
        gold = codes % len(self._labels)
        return weighting.class_weights(self.class_weight, self._labels, gold, per_token)

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

    def _evaluator(self, X: Any, y: Any) -> Evaluate:
        """Make the function that scores weights on development data."""
        s = self._encode(X)
        lengths = np.diff(s.ptr)
        cuts = segment_lists(y, lengths.tolist(), self.outside)
        check_complete([[one.label for one in cut] for cut in cuts], "dev", "segment")
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
            return Calibration(scale, np.zeros(0), np.zeros(0), strangeness(right))

        return calibrate

    def _possible(self, X: Any, y: Any) -> Segments:
        """Return the sequences whose segments are possible ones, with these as gold."""
        X = as_lists(X)
        given = self._encode(X)
        cuts = segment_lists(y, np.diff(given.ptr).tolist(), self.outside)
        limits = dict(zip(self._labels.classes, self._limits.tolist(), strict=True))
        inside = [sum(one.end - one.start for one in cut) for cut in cuts]
        possible = [
            i
            for i, cut in enumerate(cuts)
            if all(one.end - one.start <= limits.get(one.label, 0) for one in cut)
            and (self.outside in limits or inside[i] == given.ptr[i + 1] - given.ptr[i])
        ]
        if not possible:
            raise DataError("dev: no sequence has only labels of the training data")
        some, tokens = self._tokens([X[i] for i in possible])
        chosen = [cuts[i] for i in possible]
        codes = encode_segments(chosen, tokens.ptr, self._labels, self.outside)
        return self._segments(some, tokens, codes)


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
