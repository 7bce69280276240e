"""The multiclass classifier: one label per example."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from partwise.errors import DataError
from partwise.estimators import checks, explanation
from partwise.estimators.allowed_values import unknown_metric
from partwise.estimators.attached_vectors import HasVectors
from partwise.estimators.base import TrainingData
from partwise.estimators.best_codes import kbest
from partwise.estimators.carrying import Blocks
from partwise.estimators.classifier.inputs import has_names, label_list, label_sets
from partwise.estimators.classifier.persistence import fill, store
from partwise.estimators.classifier.settings import ClassifierSettings
from partwise.estimators.classifier.shards import ShardedClassifying
from partwise.estimators.classifier.views import find_reasons, make_views
from partwise.estimators.costs import class_weights, cost_matrix
from partwise.estimators.dev_metrics import checked, rehearse
from partwise.estimators.distribution import Given, Samples
from partwise.estimators.encoded_corpus import EncodedCorpus
from partwise.estimators.explanation import (
    Choice,
    NumberedNames,
    RowWeights,
    named_once,
)
from partwise.estimators.given_vectors import split_matrix, stack_matrices
from partwise.estimators.labels import Label, LabelCodes
from partwise.estimators.partial_labels import (
    least_costs,
    one_of_each,
    possible_labels,
    wrong_labels,
)
from partwise.estimators.protocol import Classifier
from partwise.estimators.sparse_input import check_sparse
from partwise.estimators.suitable_defaults import SuitableDefaults, row_size
from partwise.estimators.vector_columns import VectorColumns
from partwise.features import Encoded, FeatureDictEncoder
from partwise.features.reading import learn_beyond
from partwise.features.word_vectors import as_word_vectors
from partwise.solvers.loop import Evaluate
from partwise.structures import interface as waist
from partwise.structures.decoding import decode, decode_kbest, part_marginals
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.multiclass import Multiclass, make_multiclass
from partwise.structures.partial import make_partial
from partwise.structures.rows import (
    Rows,
    make_dense_rows,
    make_mixed_rows,
    make_sparse_rows,
)

INTERCEPT = "(intercept)"


class MulticlassClassifier(
    ShardedClassifying,
    HasVectors,
    Classifier,
    SuitableDefaults,
    Samples,
    ClassifierSettings,
):
    """Predict one label per example, with one weight vector per class.

    Minimises ``penalty(w) + C sum_i loss_i(w)`` over all classes jointly (Crammer and
    Singer), not one class against the rest.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.

    Examples
    --------
    >>> from partwise import MulticlassClassifier
    >>> X = [{"colour": "red"}, {"colour": "green"}, {"colour": "red", "size": 2.0}]
    >>> y = ["tomato", "pea", "tomato"]
    >>> MulticlassClassifier().fit(X, y).predict([{"colour": "green"}])
    array(['pea'], dtype=object)
    """

    _store, _fill = store, fill
    _views, _reasons = make_views, find_reasons

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse matrices are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # --- training ---------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        dev: tuple[Any, Any] | None = None,
    ) -> MulticlassClassifier:
        """Learn from labelled examples.

        Parameters
        ----------
        X : array or sparse matrix (n_samples, n_features), or iterable, or pair
            Rows of numbers; or feature dicts or iterables of strings. Features of dicts
            may be arrays. A pair of these and a matrix, ``(X, matrix)``, adds a vector
            to every example. Or an encoded corpus (`encoded`), which has its labels:
            then there is no `y`.
        y : sequence of labels
            One label (str or int) per example. In a list, None where it is not known,
            a set where it is one of several.
        sample_weight : array, optional
            A weight for every example: what multiplies its loss.
        dev : (X, y), optional
            Development data, for early stopping.

        Returns
        -------
        MulticlassClassifier
            Itself.
        """
        return self._fit(X, y, sample_weight, dev=dev)

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any = None, *, dev: Any = None
    ) -> TrainingData:
        """Encode what `fit` is given; everything is checked before training starts."""
        self._check_settings()
        if isinstance(X, EncodedCorpus):
            checks.check_no_labels(y)
            return self._prepare_encoded(X, sample_weight, dev)
        X, matrix = split_matrix(X)
        tables = as_word_vectors(self.vectors)
        named, X = has_names(X)
        before = self._earlier("_encoder")
        if self._start is not None and named != (self._start._encoder is not None):
            raise DataError(
                "the model has learnt from other features (numbers instead of names, "
                "or names instead of numbers); give the same, or fit a new model"
            )
        sets = label_sets(y)
        self._encoder = None
        self._vectors = VectorColumns()
        self._row_size = None
        if not named and (matrix is not None or tables or self.scale_vectors):
            raise DataError(
                "vectors go beside feature dicts or lists of strings; rows of numbers "
                "take more columns themselves"
            )
        if named:
            if hasattr(self, "feature_names_in_"):  # of an earlier fit
                del self.feature_names_in_
            self._encoder = FeatureDictEncoder(
                self.min_count, self.hash_bits, arrays=True
            )
            X = list(X) if tables or self._start is not None else X
            encoded = self._read(self._encoder, before, X)
            self.n_features_in_ = self._encoder.n_attributes
            rows = self._rows(encoded.nodes)
            self._vectors = VectorColumns(tables, self.scale_vectors)
            vectors = self._vectors.learn(*self._vectors_given(X, matrix, encoded))
            rows = rows if vectors is None else make_mixed_rows(rows, vectors)
            target = label_list(y)
            checks.check_same_length(encoded.ptr.size - 1, len(target))
            if not target:
                raise DataError("there are no examples: X and y are empty")
        else:
            from sklearn.utils.multiclass import check_classification_targets
            from sklearn.utils.validation import column_or_1d, validate_data

            check_sparse(X, "X")
            if sets is not None:  # which scikit-learn knows nothing of
                y = np.zeros(len(sets), np.int64)
            X, target = validate_data(
                self, X, y, accept_sparse="csr", dtype=np.float64, multi_output=True
            )
            target = column_or_1d(target, warn=True)
            check_classification_targets(target)
            start = self._start
            known = self.n_features_in_ if start is None else start.n_features_in_
            if known != self.n_features_in_:
                raise DataError(
                    f"X has {self.n_features_in_} features, but the model has learnt "
                    f"from {known}; give as many, or fit a new model"
                )
            rows = self._rows(X)
            target = _whole_numbers(target)
        target = target if sets is None else sets
        labels = LabelCodes(self._all_classes(possible_labels(target)))
        if len(labels) < 2:
            raise ValueError(
                f"all examples are of one class, {labels.classes[0]!r}: nothing to "
                "learn; give examples of at least two classes"
            )
        wrong = None if sets is None else wrong_labels(sets, labels)
        gold = labels.encode(target, "y") if wrong is None else one_of_each(wrong)
        if sample_weight is not None:
            from sklearn.utils.validation import _check_sample_weight

            sample_weight = _check_sample_weight(
                sample_weight, np.zeros((len(gold), 1)), dtype=np.float64
            )
        self._set_labels(labels)
        self._costs = cost_matrix(self.costs, labels)
        if self.class_weight is not None:
            if wrong is not None:
                raise ValueError(
                    "class_weight needs complete labels; use sample_weight instead"
                )
            by_class = class_weights(self.class_weight, labels, gold, sample_weight)
            own = 1.0 if sample_weight is None else sample_weight
            sample_weight = own * by_class[gold]
        if not named:
            self._row_size = row_size(X, sample_weight)
        structure: Any = self._structure(rows, gold)
        if wrong is not None:
            costs = least_costs(wrong, self._costs)[wrong]
            structure = make_partial(structure, *_wrong_parts(wrong), costs)
        structure = self._with_costs(structure, self.costs is not None)
        evaluate = None if dev is None else self._evaluator(*checks.as_pair(dev))
        return TrainingData(structure, sample_weight, evaluate)

    def _read(
        self, encoder: FeatureDictEncoder, before: FeatureDictEncoder | None, X: Any
    ) -> Encoded:
        """Learn the features of `X` and encode it, going on from what is known."""
        start = self._start
        if start is not None and encoder.hash_bits is None:
            read = encoder.fit_encode_rows, encoder.encode_rows
            return learn_beyond(encoder, start._encoder, X, *read)
        if self._seen is not None:
            encoder.go_on_from(before)
        return encoder.fit_encode_rows(X)

    def _as_start(self) -> MulticlassClassifier:
        self._refuse_forgetting_vectors()
        return super()._as_start()

    def _blocks(self) -> Blocks:
        labels = self._labels.classes
        return {
            "features": (self.n_features_in_, labels),
            "intercept": (int(self.fit_intercept), labels),
        }

    def _evaluator(self, X: Any, y: Any) -> Evaluate:
        """Make the function that scores weights on development data."""
        known = copy.copy(self)
        known.weights_ = np.zeros(0)
        corpus = known._encode(X)
        target = np.asarray(y)
        checks.check_same_length(corpus.labels.size, len(target), "y of dev")
        if not np.isin(target, self.classes_).any():
            raise DataError("dev: none of its labels occurs in the training data")

        def model(w: FloatArray) -> MulticlassClassifier:
            known.weights_ = w
            return known

        if callable(self.dev_metric):
            measure = checked(self.dev_metric)
            rehearse(measure, target)
            return lambda w: measure(target, model(w).predict(corpus))
        scorer = _scorer(self.dev_metric)
        try:  # what a scorer cannot do, it cannot do for zero weights either
            scorer(model(np.zeros(int(waist.n_weights(corpus)))), corpus, target)
        except ValueError as error:
            raise ValueError(f"dev_metric={self.dev_metric!r}: {error}") from error
        return lambda w: float(scorer(model(w), corpus, target))

    def _rows(self, X: Any) -> Rows:
        """Turn a matrix or encoded rows into rows, with the constant feature."""
        if scipy.sparse.issparse(X):
            if not X.has_canonical_format:
                X = X.copy()  # it may be the user's own
                X.sum_duplicates()
            ptr, idx, val, width = X.indptr, X.indices, X.data, X.shape[1]
        elif isinstance(X, np.ndarray):
            ones = np.ones((len(X), int(self.fit_intercept)))
            return make_dense_rows(np.hstack([X, ones]))
        else:
            ptr, idx, val, width = X
        if not self.fit_intercept:
            return make_sparse_rows(ptr, idx, val, width)
        ends = np.asarray(ptr[1:], np.int64)
        idx = np.insert(np.asarray(idx, np.int32), ends, width)
        if len(val):
            val = np.insert(np.asarray(val, np.float64), ends, 1.0)
        ptr = np.asarray(ptr, np.int64) + np.arange(len(ptr))
        return make_sparse_rows(ptr, idx, val, width + 1)

    def _structure(self, rows: Rows, gold: CodeArray) -> Multiclass:
        return make_multiclass(rows, gold, len(self._labels), costs=self._costs)

    # --- predicting -----------------------------------------------------------------

    def _encode(self, X: Any) -> Multiclass:
        self._check_fitted()
        if isinstance(X, Multiclass):
            return X  # encoded before
        X, matrix = split_matrix(X)
        self._vectors.check_given(matrix is not None, "(X, matrix)")
        if self._encoder is not None:
            X = list(X) if self._vectors.tables else X
            encoded = self._encoder.encode_rows(X)
            count, rows = encoded.ptr.size - 1, self._rows(encoded.nodes)
            if self._vectors.blocks:
                vectors = self._vectors.encode(*self._vectors_given(X, matrix, encoded))
                rows = make_mixed_rows(rows, vectors)
        else:
            from sklearn.utils.validation import validate_data

            check_sparse(X, "X")
            X = validate_data(
                self, X, accept_sparse="csr", dtype=np.float64, reset=False
            )
            count, rows = X.shape[0], self._rows(X)
        return self._structure(rows, np.zeros(count, np.int32))

    def _vectors_given(self, X: Any, matrix: Any, encoded: Encoded) -> tuple[Any, ...]:
        """Return arrays, the matrix and the words of examples."""
        count = encoded.ptr.size - 1
        if matrix is not None:
            width = self._vectors.matrix_width
            matrix = stack_matrices([matrix], [count], width, lambda _: "the matrix")
        words = [table.words_of(X) for table in self._vectors.tables]
        return encoded.vectors, matrix, words

    def _encode_one(self, x: Any) -> Multiclass:
        self._check_fitted()
        if self._encoder is not None:
            if self._vectors.matrix_width is None:
                return self._encode([x])
            x, vector = x if isinstance(x, tuple) and len(x) == 2 else (x, [])
            return self._encode(([x], np.atleast_2d(vector)))
        if len(getattr(x, "shape", ())) == 2:
            if x.shape[0] != 1:
                raise ValueError(f"expected one example, not {x.shape[0]}")
            return self._encode(x)
        # A bare row has no names of columns, and needs none.
        from sklearn.utils import check_array

        row = check_array(np.reshape(x, (1, -1)), dtype=np.float64)
        if row.shape[1] != self.n_features_in_:
            raise ValueError(
                f"the example has {row.shape[1]} features, expected "
                f"{self.n_features_in_}"
            )
        return self._structure(self._rows(row), np.zeros(1, np.int32))

    def _given(self, X: Any, y: Any = None) -> Given:
        s, without = self._encode(X), None
        sets = label_sets(y)
        if sets is not None:
            checks.check_same_length(s.labels.size, len(sets))
            without = _wrong_parts(wrong_labels(sets, self._labels))
        elif y is not None:
            target = _whole_numbers(y) if isinstance(y, np.ndarray) else label_list(y)
            checks.check_same_length(s.labels.size, len(target))
            s = s._replace(labels=self._labels.encode(target, "y"))
        classes = self._labels.classes
        return Given(s, self.weights_, lambda i, y: classes[y[0]], without=without)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the best class of every example."""
        codes = decode(self._encode(X), self.weights_, self._jobs()).codes
        return np.asarray(self.classes_[codes])

    def _scores(self, X: Any) -> NDArray[np.float64]:
        s = self._encode(X)
        count, K = s.labels.size, s.n_classes
        found = decode_kbest(s, self.weights_, K, self._jobs())
        scores = np.zeros((count, K))
        np.put_along_axis(scores, found.codes.T.astype(np.int64), found.scores, axis=1)
        return scores

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of every class, or of the second minus the first of two."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of every class, columns as in `classes_`.

        Probabilities are those of the log-linear model with these weights; they are
        calibrated only for models trained with the log loss.
        """
        s = self._encode(X)
        wanted = np.full(s.labels.size, s.n_classes, np.int64)
        mu = part_marginals(s, self.weights_, wanted, self._jobs())[1]
        return mu.reshape(-1, s.n_classes)

    def predict_marginals(self, X: Any) -> NDArray[np.float64]:
        """Return the same as `predict_proba`: the marginals of a single label."""
        return self.predict_proba(X)

    def predict_kbest(self, X: Any, k: int = 5) -> list[list[tuple[Label, float]]]:
        """Return the `k` best classes of every example with their scores."""
        checks.check_k(k)
        found = kbest(self._encode(X), self.weights_, k, self._jobs())
        classes = self._labels.classes
        return [[(classes[y[0]], score) for y, score in best] for best in found]

    # --- understanding --------------------------------------------------------------

    @property
    def _weights(self) -> RowWeights:
        self._check_fitted()
        return named_once(self, self._name_weights)

    def _name_weights(self) -> RowWeights:
        constant = [INTERCEPT] if self.fit_intercept else []
        names: Sequence[str]
        if hasattr(self, "feature_names_in_"):
            names = [*map(str, self.feature_names_in_), *constant]
        elif self._encoder is None:
            names = NumberedNames("x", self.n_features_in_, *constant)
        elif self._encoder.hash_bits is not None:
            names = NumberedNames("#", self.n_features_in_, *constant)
        else:
            names = [*self._encoder.attribute_names(), *constant]
        return RowWeights(
            names, self._labels.classes, None, vectors=self._vectors.names
        )

    def top_features(
        self, n: int = 20, label: Label | None = None, *, sign: str = "any"
    ) -> list[tuple[str, Label, float]]:
        """Return the `n` features with the largest weights, in absolute value.

        Only those of one `label`, or of one `sign`, "positive" or "negative": what
        speaks for a class, or against it.
        """
        self._check_fitted()
        code = None if label is None else self._labels.code(label, "top_features")
        return self._weights.top(self.weights_, n, code, sign)

    def explain(self, x: Any) -> Choice:
        """Say which features made the class of one example win over the runner-up."""
        s = self._encode_one(x)
        _, codes, scores, _ = decode_kbest(s, self.weights_, 2)
        winner, loser = codes[0], codes[1]
        ws = waist.workspace(s, 1)
        total = explanation.difference(s, self.weights_, winner, loser, ws)
        return Choice(
            "",
            self._labels.classes[winner[0]],
            self._labels.classes[loser[0]],
            float(scores[0, 0] - scores[0, 1]),
            explanation.contributions(total, self._weights),
        )


def _scorer(metric: Any) -> Any:
    from sklearn.metrics import get_scorer, get_scorer_names

    if not isinstance(metric, str) or metric not in get_scorer_names():
        raise unknown_metric(metric, get_scorer_names())
    return get_scorer(metric)


def _whole_numbers(target: NDArray[Any]) -> list[Label]:
    """Return labels as Python objects, whole floats as integers."""
    if target.dtype.kind == "f":
        target = target.astype(np.int64)
    if target.dtype.kind == "b":
        raise DataError("labels must be strings or integers, not booleans")
    return list(target.tolist())


def _wrong_parts(wrong: NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """Return where the classes that an example does not have begin, and which."""
    ptr = np.concatenate([[0], np.cumsum(wrong.sum(axis=1))])
    return ptr, np.nonzero(wrong)[1]
