"""Mistakes users make: each a clear error before any training, and nothing lost."""

import os
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy import sparse

import problems
from partwise import (
    DataError,
    DualCoordinateDescent,
    MulticlassClassifier,
    PairingError,
    SequenceTagger,
)
from partwise.data import read_columns
from tagging_data import NoTraining

pytestmark = pytest.mark.skipif(
    not problems.PLAIN_PYTHON, reason="run by test_plain_python"
)

X = [[{"w": "a"}, {"w": "b"}], [{"w": "c"}]]
Y = [["P", "Q"], ["P"]]
ROWS, LABELS = [{"w": "a"}, {"w": "b"}], ["P", "Q"]
NAN, INF = float("nan"), float("inf")


def untrained(**settings: Any) -> SequenceTagger:
    return SequenceTagger(callbacks=[NoTraining()], **settings)


def untrained_classifier(**settings: Any) -> MulticlassClassifier:
    return MulticlassClassifier(callbacks=[NoTraining()], **settings)


def test_bad_input_guard_sees_training() -> None:
    with pytest.raises(AssertionError, match="training started"):
        untrained().fit(X, Y)
    with pytest.raises(AssertionError, match="training started"):
        untrained_classifier().fit(ROWS, LABELS)


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ([], [], "there are no sequences"),
        ([[], []], [[], []], "all sequences are empty"),
        (X, Y[:1], "X has 2 examples, but y has 1"),
        (X, [["P"], ["P"]], "sequence 0 has 2 tokens, but 1 labels"),
        (X, [["P", "P"], ["P"]], "all tokens have the label 'P'"),
        (X, ["PQ", "P"], "y, sequence 0: expected a list of labels, not 'PQ'"),
        (X, [1, 2], "y, sequence 0: expected a list of labels, not 1"),
        (X, None, "y must be a list of sequences of labels, not NoneType"),
        ("text", Y, "X must be a list of sequences, not str"),
        (None, Y, "X must be a list of sequences, not NoneType"),
        (X[0], Y, "sequence 0 must be a list of tokens"),
        ([["a", "b"]], [["P", "Q"]], "sequence 0, token 0: features must be a"),
        ([[{"w": NAN}, {}]], [["P", "Q"]], "sequence 0, token 0: feature 'w' has the"),
        ([[{}, {"w": INF}]], [["P", "Q"]], "sequence 0, token 1: feature 'w' has the"),
        ([[{"a": {"b": NAN}}, {}]], [["P", "Q"]], "feature 'a:b' has the value nan"),
        ([[{"w": object()}, {}]], [["P", "Q"]], "feature 'w' is of type object"),
        ([[{1: "x"}, {}]], [["P", "Q"]], "feature name 1 is of type int"),
        ([[[1.0], [NAN]]], [["P", "Q"]], "sequence 0, token 1: column 0 is nan"),
        ([np.array([[INF], [1]])], [["P", "Q"]], "token 0: column 0 is inf"),
        (
            [np.eye(2), np.eye(3)],
            [["P"] * 2, ["Q"] * 3],
            "sequence 1: it has 3 columns",
        ),
        ([np.ones(3)], [["P"] * 3], "sequence 0: it has 1 dimensions"),
        (
            [np.eye(2), [{"w": 1}]],
            [["P", "Q"], ["P"]],
            "sequence 1: it is not a matrix",
        ),
    ],
)
def test_bad_data_is_explained_before_training(
    inputs: Any, outputs: Any, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        untrained().fit(inputs, outputs)


@pytest.mark.parametrize(
    "label", [1.5, True, b"P", ("P",), ["P"], NAN, np.True_, 2**70], ids=repr
)
def test_bad_labels_are_explained_before_training(label: Any) -> None:
    other = 1 if type(label) is int else "Q"
    with pytest.raises(DataError, match="labels must"):
        untrained().fit(X, [[other, label], [other]])
    with pytest.raises(DataError, match="labels must"):
        untrained_classifier().fit(ROWS, [other, label])


@pytest.mark.parametrize("label", [True, 1.0])
def test_bad_labels_do_not_hide_behind_equal_ones(label: Any) -> None:
    with pytest.raises(DataError, match="labels must be strings or integers"):
        untrained().fit(X, [[1, label], [2]])


def test_bad_mixture_of_labels_is_explained() -> None:
    with pytest.raises(DataError, match="all strings or all integers"):
        untrained().fit(X, [["P", 1], ["P"]])


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ([{}], [], "X has 1 examples, but y has 0"),
        (ROWS, LABELS[:1], "X has 2 examples, but y has 1"),
        (ROWS, ["P", "P"], "all examples are of one class, 'P'"),
        (ROWS, "PQ", "y must be a list of labels, not str"),
        ([{"w": NAN}, {}], LABELS, "example 0: feature 'w' has the value nan"),
        (["a", "b"], LABELS, "an example must be a dict or a list of strings"),
        (np.zeros((0, 3)), [], "Found array with 0 sample"),
        (np.eye(2), LABELS[:1], "inconsistent numbers of samples"),
        ([[NAN], [1.0]], LABELS, "Input X contains NaN"),
        ([[INF], [1.0]], LABELS, "Input X contains infinity"),
        (sparse.csr_matrix([[NAN], [1.0]]), LABELS, "Input X contains NaN"),
    ],
)
def test_bad_classifier_data_is_explained_before_training(
    inputs: Any, outputs: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        untrained_classifier().fit(inputs, outputs)


SETTINGS = [
    ({"C": 0}, "C must be a positive number, not 0"),
    ({"C": -1.0}, "C must be a positive number, not -1.0"),
    ({"C": NAN}, "C must be a positive number, not nan"),
    ({"C": INF}, "C must be a positive number, not inf"),
    ({"C": "1"}, "C must be a positive number, not '1'"),
    ({"tol": 0.0}, "tol must be a positive number, not 0.0"),
    ({"tol": -1e-3}, "tol must be a positive number"),
    ({"max_iter": 0}, "max_iter must be an integer >= 1, not 0"),
    ({"max_iter": 1.5}, "max_iter must be an integer >= 1, not 1.5"),
    ({"patience": 0}, "patience must be an integer >= 1, not 0"),
    ({"solver": "dcd-svm"}, "unknown solver 'dcd-svm'; did you mean 'dcd-ssvm'"),
    ({"solver": "newton"}, "unknown solver 'newton'"),
    ({"penalty": "l3"}, "penalty must be 'l2', 'l1' or 'elasticnet', not 'l3'"),
    (
        {"loss": "squared_hinge", "penalty": "l1", "solver": "dcd"},
        "dcd cannot minimise 'squared_hinge' with penalty='l1': use proximal",
    ),
    ({"l1_ratio": 1.5}, "l1_ratio must be a number from 0 to 1, not 1.5"),
    ({"l1_ratio": NAN}, "l1_ratio must be a number from 0 to 1, not nan"),
    ({"l1_ratio": None}, "l1_ratio must be a number from 0 to 1, not None"),
    ({"n_jobs": 0}, "n_jobs must be an integer >= 1, or -1 for every core, not 0"),
    ({"n_jobs": 1.5}, "n_jobs must be an integer >= 1"),
    (
        {"solver": "lbfgs", "loss": "log_loss", "penalty": "elasticnet"},
        "lbfgs cannot minimise 'log_loss' with penalty='elasticnet': use eg, eg-",
    ),
    ({"loss": "huber"}, "huber"),
    ({"resume": True}, "resume=True needs a checkpoint"),
    ({"min_count": 0}, "min_count must be an integer >= 1"),
    ({"hash_bits": 99}, "hash_bits must be None or an integer from 1 to"),
]


@pytest.mark.parametrize(("settings", "message"), SETTINGS, ids=lambda x: str(x)[:30])
def test_bad_settings_are_explained_before_training(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        untrained(**settings).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        untrained_classifier(**settings).fit(ROWS, LABELS)


class OnlyHinge(DualCoordinateDescent):
    """A solver from outside that minimises another loss."""

    names: ClassVar[dict[str, dict[str, Any]]] = {}
    losses = ("hinge",)


def test_bad_solver_for_the_loss_is_explained() -> None:
    message = "cannot minimise 'squared_hinge': set loss='hinge', or use cpd, cutting"
    with pytest.raises(PairingError, match=message):
        untrained(loss="squared_hinge", solver=OnlyHinge()).fit(X, Y)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"pairs": "some"}, ValueError, "pairs must be 'all' or 'observed'"),
        ({"pairs": "observed", "hash_bits": 4}, ValueError, "with hash_bits use 'all'"),
        ({"transition_features": "w"}, TypeError, r"not one string \(write \['w'\]\)"),
        ({"dev_metric": "f2"}, ValueError, "unknown dev_metric 'f2'"),
        ({"template": 5}, TypeError, "template must be a text, a path"),
        ({"template": "U:%x[0;0]"}, DataError, r"template:1: '%x\[0;0\]' needs a row"),
        ({"template": "U:%x[0,7]"}, DataError, "names column 7, but the data has 1"),
        ({"template": "no/such/file"}, DataError, "'no/such/file' is neither a file"),
        ({"template": ""}, DataError, "'' is neither a file nor the text"),
        (
            {"template": "U:%x[0,0]", "transition_features": ["w"]},
            ValueError,
            "write lines that start with B",
        ),
        ({"template": "U:%x[0,0]", "boundaries": "x"}, ValueError, "boundaries must"),
    ],
)
def test_bad_tagger_settings_are_explained_before_training(
    settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    inputs: Any = [[("a",), ("b",)], [("c",)]] if "template" in settings else X
    with pytest.raises(error, match=message):
        untrained(**settings).fit(inputs, Y, dev=(inputs, Y))


@pytest.mark.parametrize(
    "settings", [{"hash_bits": 4}, {"min_count": 2}, {"transition_features": ["w"]}]
)
def test_bad_settings_for_dense_features_are_not_ignored(settings: Any) -> None:
    with pytest.raises(ValueError, match="these features are dense"):
        untrained(**settings).fit([np.eye(2)], [["P", "Q"]])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "sample weights"),
        ([1.0, -1.0], "sample weights must be finite and not negative"),
        ([1.0, NAN], "sample weights must be finite|contains NaN"),
        ([0.0, 0.0], "every sample weight is zero"),
    ],
)
def test_bad_sample_weights_are_explained_before_training(
    weights: list[float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        untrained().fit(X, Y, sample_weight=weights)


def test_bad_costs_of_a_classifier_are_explained() -> None:
    with pytest.raises(
        DataError, match="costs: 'X' is not a label of the training data"
    ):
        untrained_classifier(costs={("P", "X"): 2.0}).fit(ROWS, LABELS)


def test_columns_without_a_template_are_explained(tmp_path: Path) -> None:
    path = tmp_path / "data.conll"
    path.write_text("a P\nb Q\n")
    with pytest.raises(DataError, match="pass template='default'"):
        untrained().fit(read_columns(path), [["P", "Q"]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a N P\nb N Q\n\nc Q\n", r"data.conll:4: .*3 columns.*2"),
        (b"a N P\nb \xff Q\n", r"data.conll:2: .*UTF-8"),
    ],
)
def test_bad_column_files_name_the_line(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "data.conll"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_columns(path)


def test_bad_column_index_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "data.conll"
    path.write_text("a P\nb Q\n")
    with pytest.raises(DataError, match="column 5"):
        read_columns(path).column_sequences(5)


@pytest.mark.parametrize("name", ["no/such/folder/run", ".", "file/run"])
def test_bad_checkpoint_path_is_found_before_training(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "file").write_text("")
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(OSError, match="folder"):
        untrained(checkpoint=tmp_path / name).fit(X, Y)
    assert sorted(os.listdir(tmp_path)) == before


def test_bad_model_path_does_not_lose_the_model(tmp_path: Path) -> None:
    tagger = SequenceTagger().fit(X, Y)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        tagger.save(tmp_path / "nowhere" / "x.partwise")
    with pytest.raises(ValueError, match="dtype must be 'float64' or 'float32'"):
        tagger.save(tmp_path / "x.partwise", dtype="int8")
    assert os.listdir(tmp_path) == []
    tagger.save(tmp_path / "x.partwise")
    assert os.listdir(tmp_path) == ["x.partwise"]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ("text", "X must be a list of sequences"),
        (3, "X must be a list of sequences"),
        ([{"w": "a"}], "sequence 0 must be a list of tokens"),
        ([["w"]], "features must be a dict"),
        ([[{"w": NAN}]], "has the value nan"),
    ],
)
def test_bad_input_to_predict_is_explained(inputs: Any, message: str) -> None:
    tagger = SequenceTagger().fit(X, Y)
    with pytest.raises(DataError, match=message):
        tagger.predict(inputs)


def test_bad_dense_input_to_predict_is_explained() -> None:
    tagger = SequenceTagger().fit([np.eye(2)], [["P", "Q"]])
    for bad in ([np.eye(3)], [[[NAN, 1.0]]], 3, [np.ones(2)], [["a"]]):
        with pytest.raises(DataError):
            tagger.predict(bad)
    with pytest.raises(DataError, match="0: it has 2 tokens, but no feature columns"):
        tagger.predict([np.zeros((2, 0))])


@pytest.mark.parametrize("k", [0, -1, 1.5, 10**12])
def test_bad_numbers_of_best_outputs_are_explained(k: Any) -> None:
    tagger = SequenceTagger().fit([np.eye(2)], [["P", "Q"]])
    with pytest.raises(ValueError, match="k must be an integer from 1 to"):
        tagger.predict_kbest([np.eye(2)], k=k)


def test_scores_that_overflow_in_prediction_are_explained() -> None:
    tagger = SequenceTagger().fit([np.eye(2)], [["P", "Q"]])
    tagger.weights_[:] = 1e308
    for ask in (tagger.predict, tagger.predict_marginals, tagger.predict_kbest):
        with np.errstate(all="ignore"), pytest.raises(DataError, match="overflows"):
            ask([[[10.0, 10.0]]])


def test_a_token_without_any_allowed_label_is_explained() -> None:
    tagger = SequenceTagger().fit(X, Y)
    allowed: list[Any] = [None] * len(X)
    allowed[0] = [[] for _ in X[0]]
    with pytest.raises(DataError, match="sequence 0, token 0: no label at all"):
        tagger.predict(X, allowed=allowed)


@pytest.mark.parametrize("dev", [3, "text", (X,), (X, Y, X)])
def test_bad_development_data_is_explained(dev: Any) -> None:
    with pytest.raises(DataError, match=r"dev must be a pair .* dev=\(X, y\)"):
        untrained().fit(X, Y, dev=dev)
