"""How a classifier learns from shards of a corpus, on workers or in a folder."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy

from partwise.errors import DataError
from partwise.estimators import checks
from partwise.estimators.base import TrainingData
from partwise.estimators.classifier.inputs import has_names, label_list
from partwise.estimators.costs import class_weights, cost_matrix, sample_weights
from partwise.estimators.encoded import LearnsFromFolders
from partwise.estimators.encoded_corpus import CorpusPart, EncodedCorpus, write_rows
from partwise.estimators.labels import LabelCodes, sorted_classes
from partwise.estimators.stored_labels import read_encoder
from partwise.estimators.suitable_defaults import read_row_size, row_size
from partwise.estimators.survey import Survey, frequent
from partwise.features import FeatureDictEncoder
from partwise.model_file import prefixed
from partwise.model_file.folder import FolderWriter
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.rows import Rows


class ShardedClassifying(LearnsFromFolders):
    """Mixin of classifiers: vocabularies and labels are those of all shards."""

    takes_tables = True
    encoding_settings = ("min_count", "hash_bits", "fit_intercept")
    _by_class: FloatArray
    _encoder: FeatureDictEncoder | None

    def _survey(self: Any, X: Any, y: Any, sample_weight: Any = None) -> Survey:
        """Return what a shard knows, and all have to agree on."""
        self._check_settings()
        named, X = has_names(X)
        target = label_list(y)
        survey = Survey(len(target), form="names" if named else "numbers")
        survey.count_labels(target)
        if named:
            encoder = FeatureDictEncoder(1, self.hash_bits)
            encoded = encoder.fit_encode_rows(X)
            self._refuse_vectors(encoder)
            n_rows = encoded.ptr.size - 1
            if self.hash_bits is None:
                survey.count_features(encoder, encoded)
        else:
            n_rows, width = np.shape(X)
            survey.form = f"{width} columns of numbers"
            survey.source = width
            sparse = scipy.sparse.issparse(X)
            values = X if sparse else np.asarray(X, np.float64)
            survey.count_rows(n_rows, row_size(values))
        checks.check_same_length(n_rows, len(target))
        return survey

    def _settle(self: Any, survey: Survey) -> None:
        """Set all that follows from the survey of the whole corpus."""
        self._refuse_vectors()
        self._encoder, self._row_size = None, survey.row_size
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if survey.form == "names":
            self._encoder = FeatureDictEncoder(self.min_count, self.hash_bits)
            if self.hash_bits is None:
                names = frequent(survey.nodes, self.min_count)
                self._encoder.learn_keys(names, [])
            self.n_features_in_ = self._encoder.n_attributes
        else:
            self.n_features_in_ = survey.source
        self._settle_labels(LabelCodes(sorted_classes(list(survey.labels))))
        counts = [survey.labels[label] for label in self._labels.classes]
        self._weigh_classes(np.array(counts, np.int64))

    def _settle_labels(self: Any, labels: LabelCodes) -> None:
        """Set the classes, and what mistakes between them cost."""
        if len(labels) < 2:
            raise DataError(f"all examples are of one class, {labels.classes[0]!r}")
        self._set_labels(labels)
        self._costs = cost_matrix(self.costs, labels)

    def _weigh_classes(self: Any, counts: IntArray) -> None:
        """Set what mistakes cost, from how often each label occurs."""
        codes = np.arange(counts.size, dtype=np.int32)
        self._by_class = class_weights(
            self.class_weight, self._labels, codes, counts.astype(np.float64)
        )

    def _shard_rows(self: Any, X: Any) -> Rows:
        """Encode the features of a shard."""
        if self._encoder is not None:
            rows: Rows = self._rows(self._encoder.encode_rows(X).nodes)
        else:
            sparse = scipy.sparse.issparse(X)
            rows = self._rows(X.tocsr() if sparse else np.asarray(X, np.float64))
        return rows

    def _prepare_shard(
        self: Any, X: Any, y: Any, sample_weight: Any = None
    ) -> TrainingData:
        """Encode a shard, once things are settled."""
        gold = self._labels.encode(label_list(y), "y")
        own = sample_weights(sample_weight, len(gold))
        return self._weighed(self._shard_rows(X), gold, own)  # type: ignore[no-any-return]

    def _weighed(
        self: Any, rows: Rows, gold: CodeArray, sample_weight: FloatArray | None
    ) -> TrainingData:
        """Return examples, whose classes have weights."""
        weight = (1.0 if sample_weight is None else sample_weight) * self._by_class[
            gold
        ]
        structure = self._structure(rows, gold)
        return TrainingData(self._with_costs(structure, self.costs is not None), weight)

    # --- folders ---

    def _write_piece(
        self: Any, writer: FolderWriter, X: Any, y: Any, sample_weight: Any = None
    ) -> int:
        """Write examples and their labels."""
        checks.check_no_weights(sample_weight)
        gold = self._labels.encode(label_list(y), "y")
        write_rows(writer, "rows", self._shard_rows(X))
        writer.append("labels", gold)
        return len(gold)

    def _store_encoding(self: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the encoder, and the settings that made it."""
        settings: dict[str, Any] = {
            "n_features": int(self.n_features_in_),
            "has_encoder": self._encoder is not None,
            "row_size": self._row_size,
            "encoding": {name: getattr(self, name) for name in self.encoding_settings},
        }
        if self._encoder is None:
            return {}, settings
        own, settings["encoder"] = self._encoder.to_tensors()
        return prefixed("encoder", dict(own)), settings

    def _fill_encoding(self: Any, corpus: EncodedCorpus) -> None:
        """Become settled as the classifier was that wrote the folder."""
        content = corpus.folder.manifest
        self._refuse_vectors()
        self.n_features_in_ = content.setting(
            "n_features", int, at_least=0, below=2**31
        )
        self._encoder = None
        if content.setting("has_encoder", bool):
            self._encoder = read_encoder(content.part("encoder"))
            if self.n_features_in_ != self._encoder.n_attributes:
                raise content.error(
                    "the number of features does not fit the vocabulary"
                )
        self._row_size = read_row_size(content)
        self._settle_labels(self._labels)

    def _prepare_part(
        self: Any, part: CorpusPart, sample_weight: FloatArray | None = None
    ) -> TrainingData:
        """Return some examples of a folder, all else known."""
        width = self.n_features_in_ + int(self.fit_intercept)
        rows = part.rows("rows", width)
        gold = part.values(
            "labels", dtype=np.int32, at_least=0, below=len(self._labels)
        )
        return self._weighed(rows, gold, sample_weight)  # type: ignore[no-any-return]

    def _prepare_encoded(
        self: Any, corpus: EncodedCorpus, sample_weight: Any, dev: Any
    ) -> TrainingData:
        """Return the corpus of a folder, as `_prepare` returns that of memory."""
        with corpus.within_memory():
            corpus.folder.check_integrity()
            self._take_encoding(corpus)
            own = sample_weights(sample_weight, corpus.n_examples)
            data: TrainingData = self._prepare_part(corpus.part(), own)
            evaluate = None if dev is None else self._evaluator(*checks.as_pair(dev))
        return replace(
            data,
            evaluate=evaluate,
            on_disk=corpus.n_bytes,
            within=corpus.within_memory,
        )
