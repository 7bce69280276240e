"""sklearn-crfsuite's estimator with ours inside."""

import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from partwise.errors import ModelFileError
from partwise.sklearn_crfsuite import CRF, metrics, scorers

X = [
    [{"walk": True, "w": 1.0}, {"shop": True}, {"word": "clean"}],
    [{"shop": True}, {"walk": True}],
] * 3
Y = [["sunny", "rainy", "rainy"], ["rainy", "sunny"]] * 3


@pytest.fixture(scope="module")
def fitted() -> CRF:
    return CRF(algorithm="ap", max_iterations=5).fit(X, Y)


def test_crf_predicts_what_its_tagger_tags(fitted: CRF) -> None:
    assert fitted.predict(X).tolist() == Y
    assert fitted.predict_single(X[1]) == Y[1]
    assert fitted.score(X, Y) == 1.0
    marginals = fitted.predict_marginals_single(X[0])
    assert marginals == fitted.predict_marginals(X[:1])[0]
    assert [max(m, key=m.__getitem__) for m in marginals] == Y[0]
    assert all(sum(m.values()) == pytest.approx(1.0) for m in marginals)


def test_crf_attributes_are_those_of_the_model(fitted: CRF) -> None:
    empty = CRF()
    for name in ("classes_", "attributes_", "size_", "num_attributes_", "tagger_"):
        assert getattr(empty, name) is None
        assert getattr(fitted, name) is not None
    assert fitted.classes_ == ["sunny", "rainy"]
    assert fitted.num_attributes_ == len(fitted.attributes_ or [])
    assert fitted.size_ == Path(str(fitted.modelfile.name)).stat().st_size
    assert ("walk", "sunny") in (fitted.state_features_ or {})
    assert fitted.transition_features_
    assert fitted.training_log_.iterations


def test_crf_that_is_not_fitted_says_so() -> None:
    with pytest.raises(NotFittedError):
        CRF().predict(X)
    with pytest.raises(ValueError, match="Pass both X_dev and y_dev"):
        CRF().fit(X, Y, X)


def test_crf_in_a_pickle_is_a_partwise_file(fitted: CRF, tmp_path: Path) -> None:
    state: Any = fitted.modelfile.__getstate__()
    assert state["name"] is None
    assert b"partwise" in state["model"][:400]
    joblib.dump(fitted, tmp_path / "m.joblib")
    for again in (
        pickle.loads(pickle.dumps(fitted)),
        joblib.load(tmp_path / "m.joblib"),
    ):
        assert again.predict(X).tolist() == Y
        assert again.modelfile.name != fitted.modelfile.name
        assert again.state_features_ == fitted.state_features_


def test_crf_pickle_with_a_damaged_model_is_refused(fitted: CRF) -> None:
    data = pickle.dumps(fitted)
    at = data.index(b"partwise", data.index(b"model"))
    with pytest.raises(ModelFileError, match="damaged"):
        pickle.loads(data[: at + 400] + b"XXXX" + data[at + 404 :]).predict(X)


def test_crf_removes_its_temporary_file_and_keeps_a_named_one(tmp_path: Path) -> None:
    path = tmp_path / "m.crfsuite"
    crf = CRF("ap", max_iterations=2, model_filename=str(path)).fit(X, Y)
    assert CRF(model_filename=str(path)).score(X, Y) == crf.score(X, Y)
    temporary = CRF("ap", max_iterations=2).fit(X, Y)
    name = str(temporary.modelfile.name)
    assert Path(name).exists()
    del temporary
    assert not Path(name).exists()
    del crf
    assert path.exists()


def test_crf_is_cloned_and_searched_by_scikit_learn() -> None:
    crf = CRF("ap", max_iterations=2, all_possible_transitions=True)
    assert clone(crf).get_params() == crf.get_params()
    search = GridSearchCV(
        crf, {"max_iterations": [1, 3]}, cv=2, scoring=scorers.flat_accuracy
    )
    search.fit(X, Y)
    assert search.best_score_ > 0.5


@pytest.mark.parametrize("algorithm", ["ap", "l2sgd"])
def test_crf_says_what_it_does(algorithm: str, capsys: Any) -> None:
    CRF(algorithm, max_iterations=2, verbose=True).fit(X, Y, X, Y)
    text = capsys.readouterr().out
    assert "Iter 1 " in text
    assert "Acc(item/seq)=" in text
    assert "Label  Precision  Recall" in text
    assert text.count("rainy") == 1


def test_metrics_are_those_of_scikit_learn_token_by_token() -> None:
    right, found = [["x", "z", "y"], ["x", "x"]], [["y", "z", "y"], ["x", "y"]]
    assert metrics.flat_accuracy_score(right, found) == 3 / 5
    assert metrics.flat_f1_score(right, found, average="macro") == 2 / 3
    assert metrics.flat_fbeta_score(right, found, beta=1, average="macro") == 2 / 3
    assert metrics.flat_precision_score(right, found, average="micro") == 3 / 5
    assert metrics.flat_recall_score(right, found, average="micro") == 3 / 5
    assert metrics.sequence_accuracy_score(right, found) == 0
    assert metrics.sequence_accuracy_score([], []) == 0
    assert metrics.sequence_accuracy_score([[1, 2], [3]], [[1, 2], [4]]) == 0.5
    report = metrics.flat_classification_report(right, found, output_dict=True)
    assert np.isclose(report["z"]["f1-score"], 1.0)


def test_crf_warns_of_labels_and_of_a_single_sequence(fitted: CRF) -> None:
    with pytest.warns(UserWarning, match="labels of the model, such as 'sunny'"):
        fitted.predict(Y)
    with pytest.warns(UserWarning, match="use predict_single"):
        fitted.predict(X[0])


def test_crf_hints_at_swapped_arguments_of_fit() -> None:
    with pytest.raises(TypeError, match=r"write fit\(X, y\), inputs first") as caught:
        CRF().fit(Y, X)
    assert str(caught.value) == "expected bytes, dict found"  # as the original says
