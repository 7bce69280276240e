import copy
import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from class_data import as_dicts, easy_classes
from partwise import DataError, MulticlassClassifier
from tagging_data import InterruptAfter, NoTraining

X, Y = easy_classes(120)
TEST_X, TEST_Y = easy_classes(60, seed=1)


@pytest.fixture(scope="module")
def model() -> MulticlassClassifier:
    return MulticlassClassifier().fit(X, Y)


def crammer_singer(
    X: np.ndarray, y: np.ndarray, C: np.ndarray, costs: np.ndarray
) -> float:
    """Minimise 1/2 |w|^2 + sum_i C_i xi_i^2 under the margin constraints."""
    (n, d), K = X.shape, len(costs)

    def split(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return z[: d * K].reshape(d, K), z[d * K :]

    def objective(z: np.ndarray) -> float:
        return float(z[: d * K] @ z[: d * K] / 2 + C @ z[d * K :] ** 2)

    def gradient(z: np.ndarray) -> np.ndarray:
        return np.concatenate([z[: d * K], 2 * C * z[d * K :]])

    def slack(z: np.ndarray) -> np.ndarray:
        w, xi = split(z)
        scores = X @ w
        margin = scores[np.arange(n), y][:, None] - scores - costs[y]
        return (margin + xi[:, None])[costs[y] > 0]

    start = np.concatenate([np.zeros(d * K), np.full(n, costs.max())])
    result = minimize(
        objective,
        start,
        jac=gradient,
        constraints={"type": "ineq", "fun": slack},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-10},
    )
    assert result.success
    return float(result.fun)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("costs", [None, [[0, 3, 1], [1, 0, 1], [0.5, 1, 0]]])
def test_classifier_optimum_agrees_with_scipy(fit_intercept: bool, costs: Any) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(15, 2)), np.arange(15) % 3
    weight = rng.uniform(0.5, 2.0, size=15)
    model = MulticlassClassifier(
        "squared_hinge",
        C=0.7,
        tol=1e-6,
        fit_intercept=fit_intercept,
        costs=costs,
        max_iter=5000,
    ).fit(x, y, sample_weight=weight)
    matrix = np.ones((3, 3)) - np.eye(3) if costs is None else np.array(costs)
    full = np.hstack([x, np.ones((15, 1))]) if fit_intercept else x
    best = crammer_singer(full, y, 0.7 * weight, matrix)
    assert model.certificate_.primal == pytest.approx(best, rel=1e-5)
    assert model.certificate_.dual <= best * (1 + 1e-6)


def test_classifier_learns(model: MulticlassClassifier) -> None:
    assert model.score(TEST_X, TEST_Y) > 0.7
    assert model.certificate_.relative_gap <= model.tol
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.n_features_in_ == 30


def test_classifier_sparse_dense_and_dicts_agree() -> None:
    settings = {"loss": "squared_hinge", "C": 1.0, "tol": 1e-6, "max_iter": 5000}
    dense = MulticlassClassifier(**settings).fit(X, Y)
    csr = MulticlassClassifier(**settings).fit(sparse.csr_matrix(X), Y)
    named = MulticlassClassifier(**settings).fit(as_dicts(X), Y)
    scores = dense.decision_function(TEST_X)
    for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix):
        np.testing.assert_allclose(
            csr.decision_function(kind(TEST_X)), scores, atol=0.02
        )
    np.testing.assert_allclose(
        named.decision_function(as_dicts(TEST_X)), scores, atol=0.02
    )


def test_classifier_leaves_the_users_matrix_alone() -> None:
    data, row, column = [1.0, 2.0, 4.0, 8.0], [0, 0, 1, 2], [1, 1, 0, 1]
    ptr = np.cumsum([0, *np.bincount(row)])
    doubled = sparse.csr_matrix((data, column, ptr), shape=(3, 2))
    model = MulticlassClassifier().fit(doubled, [0, 1, 0])
    assert doubled.data.tolist() == data
    plain = MulticlassClassifier().fit(doubled.toarray(), [0, 1, 0])
    np.testing.assert_allclose(
        model.decision_function(doubled), plain.decision_function(doubled.toarray())
    )
    assert doubled.data.tolist() == data


def test_classifier_intercept_makes_a_constant_learnable() -> None:
    x, y = np.zeros((5, 1)), [0, 1, 1, 1, 1]
    assert MulticlassClassifier().fit(x, y).predict([[0.0]]) == [1]
    without = MulticlassClassifier(fit_intercept=False).fit(x, y)
    assert without.decision_function([[0.0]]) == [0.0]


@pytest.mark.parametrize(
    "inputs",
    [
        [["red"], ["green"], ["red", "big"]],
        [{"red"}, {"green"}, {"red", "big"}],
        [("red",), ("green",), ("red", "big")],
        [{"red": True}, {"green": 1}, {"red": 1.0, "big": True}],
        np.array([{"red": 1}, {"green": 1}, {"red": 1, "big": 1}], dtype=object),
    ],
    ids=["lists", "sets", "tuples", "dicts", "array of dicts"],
)
def test_classifier_takes_names_in_every_form(inputs: Any) -> None:
    model = MulticlassClassifier().fit(inputs, ["t", "p", "t"])
    assert model.predict([["green"], ["red"]]).tolist() == ["p", "t"]
    assert {name for name, _, _ in model.top_features()} >= {"red", "green"}
    streamed = MulticlassClassifier().fit(iter(inputs), iter(["t", "p", "t"]))
    np.testing.assert_array_equal(streamed.weights_, model.weights_)


def test_classifier_examples_without_features_are_allowed() -> None:
    model = MulticlassClassifier().fit([[], ["a"], []], ["P", "Q", "P"])
    assert model.predict([[], ["a"]]).tolist() == ["P", "Q"]


def test_classifier_min_count_and_hashing_apply_to_names() -> None:
    x, y = [["a", "rare"], ["b"], ["a"], ["b"]], ["P", "Q", "P", "Q"]
    assert MulticlassClassifier(min_count=2).fit(x, y).n_features_in_ == 2
    hashed = MulticlassClassifier(hash_bits=8).fit(x, y)
    assert hashed.n_features_in_ == 256
    assert hashed.predict(x).tolist() == y


def test_classifier_probabilities_are_the_softmax_of_scores(
    model: MulticlassClassifier,
) -> None:
    scores = model.decision_function(TEST_X)
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(TEST_X), expected)
    np.testing.assert_array_equal(
        model.predict_marginals(TEST_X), model.predict_proba(TEST_X)
    )
    w = model.weights_.reshape(31, 4)
    np.testing.assert_allclose(scores, TEST_X @ w[:-1] + w[-1], atol=1e-12)
    np.testing.assert_array_equal(model.predict(TEST_X), scores.argmax(axis=1))


def test_classifier_two_classes_have_one_decision() -> None:
    two = MulticlassClassifier().fit(X, (Y > 1).astype(int))
    decision = two.decision_function(TEST_X)
    assert decision.shape == (60,)
    np.testing.assert_array_equal(two.predict(TEST_X), (decision > 0).astype(int))


def test_classifier_kbest_is_the_ranking(model: MulticlassClassifier) -> None:
    scores = model.decision_function(TEST_X)
    for row, ranked in zip(scores, model.predict_kbest(TEST_X, 9), strict=True):
        assert [label for label, _ in ranked] == np.argsort(-row).tolist()
        np.testing.assert_allclose([s for _, s in ranked], np.sort(row)[::-1])
    assert all(len(ranked) == 2 for ranked in model.predict_kbest(TEST_X, 2))
    with pytest.raises(ValueError, match="k must be an integer from 1 to"):
        model.predict_kbest(TEST_X, 0)


def test_classifier_sample_weight_is_repetition() -> None:
    weight = np.arange(len(Y)) % 3
    settings = {"tol": 1e-6, "max_iter": 5000}
    weighted = MulticlassClassifier(**settings).fit(X, Y, sample_weight=weight)
    repeated = MulticlassClassifier(**settings).fit(
        np.repeat(X, weight, axis=0), np.repeat(Y, weight)
    )
    assert weighted.certificate_.primal == pytest.approx(
        repeated.certificate_.primal, rel=1e-5
    )


def test_classifier_warm_start_needs_fewer_passes() -> None:
    cold = MulticlassClassifier(C=1.1, tol=1e-5).fit(X, Y)
    warm = MulticlassClassifier(C=1.0, tol=1e-5, warm_start=True).fit(X, Y)
    warm.set_params(C=1.1).fit(X, Y)
    assert warm.n_iter_ < cold.n_iter_
    assert warm.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=1e-4)


def test_classifier_interrupted_keeps_the_model_so_far() -> None:
    model = MulticlassClassifier(tol=1e-12, callbacks=[InterruptAfter(2)])
    with pytest.warns(ConvergenceWarning, match="interrupted after 2 passes"):
        model.fit(X, Y)
    assert model.score(X, Y) > 0.7


def test_classifier_fit_that_fails_loses_nothing() -> None:
    model = MulticlassClassifier().fit(X, Y)
    before = model.predict(TEST_X)
    model.set_params(callbacks=[NoTraining()])
    bad: list[tuple[Any, ...]] = [
        (as_dicts(X), Y[:3]),
        (X[:, :5], Y[:-1]),
        (X[:, :5], np.zeros(len(Y), int)),
        (as_dicts(X), list(map(str, Y)), [-1.0] * len(Y)),
    ]
    for arguments in bad:
        with pytest.raises(ValueError):  # noqa: PT011 - what it says is tested elsewhere
            model.fit(*arguments)
        np.testing.assert_array_equal(model.predict(TEST_X), before)


def test_classifier_refit_forgets_the_earlier_input() -> None:
    model = MulticlassClassifier().fit(X[:, :2], Y)
    model.feature_names_in_ = np.array(["left", "right"], object)  # as of a data frame
    names = {name for name, _, _ in model.top_features()}
    assert names == {"left", "right", "(intercept)"}
    assert model.explain(X[0, :2]).contributions  # a bare row has no names to check
    model.fit(as_dicts(X), Y)
    assert not hasattr(model, "feature_names_in_")
    assert model.top_features(1)[0][0].startswith(("x", "("))


def test_classifier_copies_predict_the_same(model: MulticlassClassifier) -> None:
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(
            other.decision_function(TEST_X), model.decision_function(TEST_X)
        )


def test_classifier_explains_wrong_calls(model: MulticlassClassifier) -> None:
    with pytest.raises(NotFittedError, match="call fit first"):
        MulticlassClassifier().predict(X)
    with pytest.raises(NotFittedError, match="call fit first"):
        MulticlassClassifier().explain(X[0])
    with pytest.raises(ValueError, match="has 2 features, expected 30"):
        model.explain([1.0, 2.0])
    with pytest.raises(ValueError, match="expected one example, not 2"):
        model.explain(X[:2])
    with pytest.raises(DataError, match="7 is not a label"):
        model.top_features(label=7)
