"""How a tagger learns from shards of a corpus."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from partwise.estimators import checks
from partwise.estimators import costs as weighting
from partwise.estimators.base import TrainingData
from partwise.estimators.labels import sorted_classes
from partwise.estimators.sequence.inputs import (
    DenseInput,
    choose_input,
    describe,
    encoded_of,
)
from partwise.estimators.shards import LearnsFromShards
from partwise.estimators.suitable_defaults import row_size
from partwise.estimators.survey import Survey, frequent
from partwise.structures.interface import FloatArray, IntArray
from partwise.structures.rows import DenseRows


class ShardedTagging(LearnsFromShards):
    """Mixin of taggers: vocabularies and labels are those of all shards together."""

    _by_class: FloatArray  # what mistakes cost

    def _check_for_shards(self: Any) -> None:
        """Raise ValueError for settings that need the corpus in one piece."""
        if "observed" in (self.pairs, self.transitions):
            raise ValueError(
                "pairs='observed' and transitions='observed' need the whole corpus at "
                "once; to learn from shards use 'all'"
            )
        if self.order > 1 or self.states > 1:
            raise ValueError(
                "label tuples and hidden states need the whole corpus at once; to "
                "learn from shards use order=1 and states=1"
            )
        if self.calibrate is not None:
            raise ValueError(
                "calibrate needs development data, which is not there for shards; "
                "leave it out"
            )

    def _survey(self: Any, X: Any, y: Any, sample_weight: Any = None) -> Survey:
        """Return what a shard knows, and all have to agree on."""
        self._check_settings()
        every = 1  # what is rare here may be frequent elsewhere
        rest = self.hash_bits, self.transition_features
        chosen, X = choose_input(X, self.template, self.boundaries, every, *rest)
        source: Any = chosen
        fresh = copy.deepcopy(source)
        y = checks.label_lists(y)
        tokens = source.fit_encode(X)
        self._refuse_vectors(getattr(source, "encoder", None))
        checks.check_labelled(tokens.ptr, y)
        found = Survey(len(y), source=fresh, form=describe(source))
        found.count_labels(label for labels in y for label in labels)
        if isinstance(tokens.nodes, DenseRows):
            values = tokens.nodes.values
            found.count_rows(len(values), row_size(values))
        elif self.hash_bits is None:
            found.count_features(source.encoder, encoded_of(tokens))
        return found

    def _settle(self: Any, survey: Survey) -> None:
        """Set all that follows from the survey of the whole corpus."""
        self._refuse_vectors()
        self._row_size = survey.row_size
        source = survey.source
        if isinstance(source, DenseInput):
            source.n_columns = survey.form[1]
        else:
            source.encoder.min_count = self.min_count
            if self.hash_bits is None:
                names = survey.nodes, survey.edges
                source.encoder.learn_keys(*(frequent(n, self.min_count) for n in names))
        self._set_source(source, sorted_classes(list(survey.labels)))
        counts = [survey.labels[label] for label in self._labels.classes]
        self._weigh_classes(np.array(counts, np.int64))

    def _weigh_classes(self: Any, counts: IntArray) -> None:
        """Set what mistakes cost, from how often each label occurs."""
        codes = np.arange(counts.size, dtype=np.int32)
        self._by_class = weighting.class_weights(
            self.class_weight, self._labels, codes, counts.astype(np.float64)
        )

    def _prepare_shard(
        self: Any, X: Any, y: Any, sample_weight: Any = None
    ) -> TrainingData:
        """Encode a shard, once things are settled."""
        y, tokens = checks.label_lists(y), self._input.encode(X)
        gold = self._labels.encode((label for labels in y for label in labels), "y")
        chain = self._labelled(tokens, y, gold, self._by_class)
        given = self.costs is not None or self.class_weight is not None
        weight = weighting.sample_weights(sample_weight, len(y))
        return TrainingData(self._with_costs(chain, given), weight)
