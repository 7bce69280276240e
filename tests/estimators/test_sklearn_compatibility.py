"""Scikit-learn's own checks, and its tools with our estimators."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from class_data import as_dicts, easy_classes
from partwise import MulticlassClassifier, SequenceTagger
from tagging_data import CHUNKS, WORDS, dicts, strings

# Estimators follow the protocol without inheriting from scikit-learn's base class,
# which takes a second to import; it finds that worth a warning.
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "Estimator .* does not inherit from")
    every_check = parametrize_with_checks([MulticlassClassifier()])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@every_check
def test_classifier_passes_the_checks_of_scikit_learn(
    estimator: MulticlassClassifier, check: Any
) -> None:
    if "sample_weight_equivalence" in str(check):
        # Probabilities are compared to seven digits. The checks share an estimator.
        estimator = clone(estimator).set_params(tol=1e-15, max_iter=3000)
    check(estimator)


# A tagger's X is a list of sequences. Of scikit-learn's checks, these do not
# generate a two-dimensional X of their own; the others are about such an X.
TAGGER_CHECKS = [
    "check_parameters_default_constructible",
    "check_no_attributes_set_in_init",
    "check_get_params_invariance",
    "check_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_tags_renamed",
    "check_valid_tag_types",
    "check_mixin_order",
]


@pytest.mark.parametrize("name", TAGGER_CHECKS)
def test_tagger_passes_the_checks_that_need_no_matrix(name: str) -> None:
    getattr(estimator_checks, name)("SequenceTagger", SequenceTagger())


def test_tagger_keeps_the_promises_that_other_checks_are_about() -> None:
    """State by state what the checks with a matrix ask of fit and predict."""
    X, y = dicts(WORDS[:10]), CHUNKS[:10]
    tagger = SequenceTagger()
    settings = tagger.get_params()
    assert tagger.fit(X, y) is tagger  # check_estimators_fit_returns_self
    check_is_fitted(tagger)
    assert tagger.get_params() == settings  # check_dont_overwrite_attributes
    state = {**vars(tagger)}
    tagger.predict(X)
    assert vars(tagger) == state  # check_dict_unchanged
    again = clone(tagger).fit(X, y)  # check_fit_idempotent
    np.testing.assert_array_equal(again.weights_, tagger.weights_)
    one_by_one = [tagger.predict([x])[0] for x in X]
    assert one_by_one == tagger.predict(X)  # check_methods_subset_invariance
    assert tagger.n_iter_ >= 1  # check_non_transformer_estimators_n_iter
    assert get_tags(tagger).target_tags.required


def test_classifier_works_in_cross_validation_and_grid_search() -> None:
    X, y = easy_classes(90, n_classes=3)
    scores = cross_val_score(MulticlassClassifier(tol=0.01), X, y, cv=3)
    assert scores.min() > 0.5
    search = GridSearchCV(
        MulticlassClassifier(tol=0.01), {"C": np.logspace(-4, 0, 3)}, cv=3
    ).fit(X, y)
    assert search.best_score_ >= scores.mean() - 0.1
    assert len(search.cv_results_["params"]) == 3


def test_classifier_takes_dicts_in_cross_validation() -> None:
    X, y = easy_classes(90, n_classes=3)
    named = as_dicts(X)
    both = [
        cross_val_score(MulticlassClassifier(tol=1e-5), data, y, cv=3)
        for data in (X, named)
    ]
    np.testing.assert_allclose(both[0], both[1], atol=0.04)


def test_classifier_works_at_the_end_of_a_pipeline() -> None:
    X, y = easy_classes(90, n_classes=3)
    scaled = make_pipeline(StandardScaler(), MulticlassClassifier(tol=0.01))
    assert scaled.fit(X, y).score(X, y) > 0.8
    assert scaled.predict_proba(X).shape == (90, 3)
    named = as_dicts(X)
    vectorized = make_pipeline(
        DictVectorizer(), MulticlassClassifier("hinge", C=1.0, tol=1e-6)
    )
    direct = MulticlassClassifier("hinge", C=1.0, tol=1e-6).fit(named, y)
    np.testing.assert_allclose(
        vectorized.fit(named, y).decision_function(named),
        direct.decision_function(named),
        atol=0.02,
    )


def test_tagger_works_in_cross_validation() -> None:
    X, y = dicts(WORDS[:30]), CHUNKS[:30]
    scores = cross_val_score(SequenceTagger(), X, y, cv=3)
    folds = [
        clone(SequenceTagger())
        .fit([X[i] for i in train], [y[i] for i in train])
        .score([X[i] for i in test], [y[i] for i in test])
        for train, test in KFold(3).split(X)
    ]
    assert scores.tolist() == folds


def test_tagger_works_in_grid_search() -> None:
    X, y = dicts(WORDS[:30]), CHUNKS[:30]
    search = GridSearchCV(SequenceTagger(), {"C": [1e-5, 1.0]}, cv=KFold(2)).fit(X, y)
    assert search.best_params_ == {"C": 1.0}
    assert search.predict(X) == SequenceTagger(C=1.0).fit(X, y).predict(X)


def test_tagger_works_at_the_end_of_a_pipeline() -> None:
    words, y = WORDS[:20], CHUNKS[:20]
    pipeline = make_pipeline(FunctionTransformer(strings), SequenceTagger())
    expected = SequenceTagger().fit(strings(words), y).predict(strings(words))
    assert pipeline.fit(words, y).predict(words) == expected


def test_tagger_params_are_set_by_name() -> None:
    tagger = SequenceTagger().set_params(C=2.0, pairs="observed")
    assert tagger.get_params()["C"] == 2.0
    assert clone(tagger).pairs == "observed"
    with pytest.raises(ValueError, match="Invalid parameter 'c'"):
        tagger.set_params(c=1.0)
