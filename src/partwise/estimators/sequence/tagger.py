"""The sequence tagger: one label per token."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError
from partwise.estimators import checks
from partwise.estimators import costs as weighting
from partwise.estimators.base import TrainingData
from partwise.estimators.calibration import (
    Calibration,
    best_scale,
    fit_isotonic,
    right_shares,
    split_dev,
    strangeness,
)
from partwise.estimators.carrying import Blocks
from partwise.estimators.dev_metrics import rehearse, tagging_measure
from partwise.estimators.encoded_corpus import EncodedCorpus
from partwise.estimators.given_vectors import split_vectors
from partwise.estimators.labels import Label, LabelCodes
from partwise.estimators.partial_labels import (
    check_complete,
    check_sets,
    one_of_each,
    possible_labels,
    wrong_labels,
)
from partwise.estimators.sequence.constraints import Masks, make_masks
from partwise.estimators.sequence.encoded import EncodedTagging
from partwise.estimators.sequence.explaining import ExplainsLabels
from partwise.estimators.sequence.foreign import chain_model_of, fill_from
from partwise.estimators.sequence.inputs import (
    Input,
    Tokens,
    choose_input,
    learn_tokens,
)
from partwise.estimators.sequence.mistaken import check_labels
from partwise.estimators.sequence.persistence import fill, store
from partwise.estimators.sequence.shards import ShardedTagging
from partwise.estimators.sequence.vectors import learn_vectors, rereadable
from partwise.estimators.sequence.views import find_reasons, make_views
from partwise.estimators.suitable_defaults import MANY_LABELS, row_size
from partwise.features.word_vectors import as_word_vectors
from partwise.solvers.loop import Evaluate
from partwise.structures import rows as feature_rows
from partwise.structures.interface import CodeArray, FloatArray
from partwise.structures.rows import DenseRows, Pairs, SparseRows


def _observed_pairs(
    rows: SparseRows,
    gold: CodeArray,
    n_labels: int,
    wrong: NDArray[np.bool_] | None = None,
) -> Pairs:
    """List the pairs of attribute and label that occur, as far as labels are known."""
    if wrong is None:
        return feature_rows.observed_pairs(rows, gold, n_labels)
    token, label = np.nonzero(~wrong & wrong.any(axis=1, keepdims=True))
    some = feature_rows.take_rows(rows, token)
    return feature_rows.observed_pairs(some, label.astype(np.int32), n_labels)


def _size_of_rows(tokens: Tokens, sample_weight: FloatArray | None) -> float | None:
    """Return the mean squared length of rows of numbers; None if there are names."""
    if not isinstance(tokens.nodes, DenseRows):
        return None
    weight = sample_weight
    if weight is not None:
        weight = np.repeat(weight, np.diff(tokens.ptr))
    return row_size(tokens.nodes.values, weight)


class SequenceTagger(ShardedTagging, EncodedTagging, ExplainsLabels):
    r"""Predict a label for every token of a sequence, exactly.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    transitions_ : array of shape (n_classes, n_classes)
        The weight of every label (row) being followed by every other (column); of every
        state, where there are hidden states.
    states_ : list
        What the hidden states are called: by their labels, with a number if there are
        several.

    Examples
    --------
    >>> from partwise import SequenceTagger
    >>> X = [[{"word": "the"}, {"word": "dog"}], [{"word": "a"}, {"word": "dog"}]]
    >>> y = [["D", "N"], ["D", "N"]]
    >>> tagger = SequenceTagger(C=10.0).fit(X, y)
    >>> tagger.predict([[{"word": "a"}, {"word": "dog"}]])
    [['D', 'N']]
    >>> tagger.certificate_.relative_gap < 0.03
    True
    """

    _store, _fill = store, fill
    _views, _reasons = make_views, find_reasons
    _weighs_tokens = False
    _fill_from, _chain_model = fill_from, chain_model_of
    least_labels = 1  # models of other programs may have one

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that inputs are sequences, and labels are needed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.dict = tags.input_tags.string = True
        tags.target_tags.required = True
        return tags

    # --- training ---------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        token_weight: Any = None,
        dev: tuple[Any, Any] | None = None,
        allowed: Any = None,
    ) -> SequenceTagger:
        """Learn from labelled sequences.

        Parameters
        ----------
        X : iterable of sequences, or pair
            Per sequence, per token: a feature dict or an iterable of strings; or a 2-D
            array per sequence; or, with a template, tuples of column strings. Features
            of dicts may be arrays. A pair ``(X, matrices)``, or `WithVectors` for every
            sequence, adds a vector to every token. Or an encoded corpus (`encoded`),
            which has its labels: then there is no `y`.
        y : iterable of sequences of labels
            A label (str or int) for every token. None where it is not known, a set
            where it is one of several.
        sample_weight : array, optional
            A weight for every sequence: what multiplies its loss.
        token_weight : list, optional
            Per sequence, a number >= 0 for every token: what multiplies the cost of
            getting it wrong. At zero, its label no longer needs a margin.
        dev : (X, y), optional
            Development data, for early stopping.
        allowed : list, optional
            Per sequence None or, per token, None or the labels it may have.

        Returns
        -------
        SequenceTagger
            Itself.
        """
        return self._fit(
            X, y, sample_weight, token_weight=token_weight, dev=dev, allowed=allowed
        )

    def _prepare(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        token_weight: Any = None,
        dev: Any = None,
        allowed: Any = None,
    ) -> TrainingData:
        """Encode what `fit` is given; everything is checked before training starts."""
        self._check_settings()
        options = {"token_weight": token_weight, "dev": dev, "allowed": allowed}
        if isinstance(X, EncodedCorpus):
            checks.check_no_labels(y)
            return self._prepare_encoded(X, sample_weight, **options)
        if self.pairs == "observed" and self.hash_bits is not None:
            raise ValueError(
                "pairs='observed' keeps a vocabulary of pairs; with hash_bits use 'all'"
            )
        y = checks.label_lists(y)
        check_labels(y, "fit")
        X, matrices = split_vectors(X)
        tables = as_word_vectors(self.vectors)
        source, X = choose_input(
            X,
            self.template,
            self.boundaries,
            self.min_count,
            self.hash_bits,
            self.transition_features,
        )
        in_part = check_sets(y, "y, sequence", "token")
        X = rereadable(X, tables, source.kind)
        tokens = learn_tokens(self, source, X)
        checks.check_labelled(tokens.ptr, y)
        tokens, self._vectors = learn_vectors(
            tokens, X, matrices, tables, self.scale_vectors
        )
        flat = [label for labels in y for label in labels]
        self._set_source(source, self._all_classes(possible_labels(flat)))
        labels = self._labels
        wrong = wrong_labels(flat, labels) if in_part else None
        gold = labels.encode(flat, "y") if wrong is None else one_of_each(wrong)
        sample_weight = weighting.sample_weights(sample_weight, len(y))
        return self._assemble(tokens, y, gold, sample_weight, wrong, **options)

    def _assemble(
        self,
        tokens: Tokens,
        y: Sequence[list[Label]],
        gold: CodeArray,
        sample_weight: FloatArray | None,
        wrong: NDArray[np.bool_] | None = None,
        *,
        token_weight: Any,
        dev: Any,
        allowed: Any,
    ) -> TrainingData:
        """Return what to train on, the features and labels of sequences being known."""
        if wrong is None and self._n_states > 1:  # which state it is, is not known
            wrong = np.asarray(np.arange(len(self._labels)) != gold[:, None])
        if wrong is not None:  # a likelihood needs no convex steps
            self._has_many_labels = False
        token_weight = weighting.token_weights(token_weight, tokens.ptr)
        self._row_size = _size_of_rows(tokens, sample_weight)
        self._weighs_tokens = token_weight is not None
        by_class = self._class_weights(gold, tokens.ptr, sample_weight, wrong)
        if self.pairs == "observed" and isinstance(tokens.nodes, SparseRows):
            known = self._states.spread(wrong, 1)
            self._pairs = _observed_pairs(tokens.nodes, gold, len(self._states), known)
        if self.order > 1:
            self._memory = self._learn_memory(gold, tokens, wrong)
        chain = self._labelled(tokens, y, gold, by_class, allowed, token_weight, wrong)
        calibrate = None
        if self.calibrate is not None:
            dev, held_out = split_dev(dev, self.calibrate)
            calibrate = self._calibrator(dev, held_out)
        evaluate = None if dev is None else self._evaluator(*checks.as_pair(dev))
        given = (self.costs, self.class_weight, token_weight)
        structure = self._with_costs(chain, any(x is not None for x in given))
        return TrainingData(structure, sample_weight, evaluate, calibrate=calibrate)

    def _has_costs(self) -> bool:
        weighs = self.class_weight is not None or self._weighs_tokens
        return weighs or super()._has_costs()

    def _as_start(self) -> SequenceTagger:
        if "observed" in (self.pairs, self.transitions):
            raise ValueError(
                "pairs='observed' and transitions='observed' need all examples; with "
                "forget=True use 'all'"
            )
        if self.order > 1 or self.states > 1:
            raise ValueError(
                "forget=True needs order=1 and states=1; or leave forget out"
            )
        self._refuse_forgetting_vectors()
        return super()._as_start()

    def _blocks(self) -> Blocks:
        labels, source = self._labels.classes, self._input
        return {
            "tokens": (source.n_features, labels),
            "transitions": (labels, labels),
            "start": (int(self.start), labels),
            "end": (int(self.end), labels),
            "edges": (source.n_edge_features, labels, labels),
        }

    def _set_source(self, source: Input, classes: list[Label]) -> None:
        """Set the encoder, and all that follows from the labels."""
        labels = LabelCodes(classes)
        if len(labels) < 2:
            raise DataError(
                f"all tokens have the label {labels.classes[0]!r}: nothing to learn; "
                "give examples of at least two labels"
            )
        self._input: Input = source
        self._set_labels(labels)
        self._masks: Masks = make_masks(self.constraints, labels)
        self._costs = weighting.cost_matrix(self.costs, labels)
        self._pairs = None
        self._memory = None
        self._n_states = int(self.states)
        self._has_many_labels = len(labels) > MANY_LABELS

    def _evaluator(self, X: Any, y: Any) -> Evaluate:
        """Make the function that scores weights on development data."""
        y = checks.label_lists(y)
        check_complete(y, "dev")
        tokens = self._tokens(X)
        checks.check_labelled(tokens.ptr, y)
        if {label for labels in y for label in labels}.isdisjoint(self._labels.classes):
            raise DataError("dev: none of its labels occurs in the training data")
        chain = self._chain(tokens)
        measure = tagging_measure(self.dev_metric, self._labels.classes)
        rehearse(measure, y)
        return lambda w: measure(y, self._decode(chain, w))

    def _calibrator(self, dev: Any, held_out: Any) -> Callable[..., Calibration]:
        """Make the function that calibrates weights on development data."""
        asked, unseen = self._gold_chain(*dev), self._gold_chain(*held_out)
        K = len(self._labels)

        def calibrate(w: FloatArray) -> Calibration:
            chain, codes = asked
            parts = self._without(chain, np.maximum(codes, 0))
            scale = best_scale(chain, w, self._jobs(), parts)
            found = Calibration(scale, *np.zeros((3, 0)))
            if self.calibrate == "isotonic":
                shares = self._label_shares(chain, scale * w)
                right = np.eye(K + 1)[codes][:, :K]  # the code -1 is no label
                line = fit_isotonic(np.vstack(shares).ravel(), right.ravel())
                found = found._replace(given=line[0], meant=line[1])
            chain, codes = unseen
            shares = self._label_shares(chain, scale * w)
            right = right_shares([*map(found.adjust, shares)], codes, chain.ptr)
            return found._replace(strangeness=strangeness(right))

        return calibrate
