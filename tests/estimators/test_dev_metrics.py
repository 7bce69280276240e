"""Early stopping: any metric, for taggers and classifiers, checked beforehand."""

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import f1_score, log_loss

from class_data import easy_classes
from partwise import DataError, MulticlassClassifier, SequenceTagger, metrics
from partwise.estimators.dev_metrics import TAGGING
from partwise.solvers.loop import Callback
from tagging_data import CHUNKS, TEST_CHUNKS, TEST_WORDS, WORDS, dicts

X, Y = dicts(WORDS[:20]), CHUNKS[:20]
DEV = dicts(TEST_WORDS), TEST_CHUNKS
ROWS, TARGET = easy_classes(80, n_classes=3, n_features=9)
DEV_ROWS, DEV_TARGET = easy_classes(40, n_classes=3, n_features=9, seed=1)


class Untouched(Callback):
    """Fails the test when training starts."""

    def on_start(self, *_: Any) -> None:
        raise AssertionError("training has started")


@pytest.mark.parametrize("name", TAGGING)
def test_dev_metric_of_a_tagger_is_the_score_of_the_kept_weights(name: str) -> None:
    tagger = SequenceTagger(dev_metric=name, patience=2).fit(X, Y, dev=DEV)
    kept = TAGGING[name](DEV[1], tagger.predict(DEV[0]))
    assert kept == tagger.trace_["dev_score"].max()


def test_dev_metric_names_mean_what_metrics_says() -> None:
    y, found = DEV[1], SequenceTagger(tol=0.5).fit(X, Y).predict(DEV[0])
    expected = {
        "accuracy": metrics.token_accuracy(y, found),
        "sequence_accuracy": metrics.sequence_accuracy(y, found),
        "label_f1_macro": metrics.label_scores(y, found).macro_f1,
        "chunk_f1": metrics.chunk_scores(y, found).overall.f1,
        "chunk_f1_macro": metrics.chunk_scores(y, found).macro_f1,
    }
    assert {name: measure(y, found) for name, measure in TAGGING.items()} == expected
    assert len(set(expected.values())) == len(expected)


@pytest.mark.parametrize(
    ("name", "score"),
    [
        (
            "f1_macro",
            lambda m: f1_score(DEV_TARGET, m.predict(DEV_ROWS), average="macro"),
        ),
        ("neg_log_loss", lambda m: -log_loss(DEV_TARGET, m.predict_proba(DEV_ROWS))),
        (
            lambda y, found: -np.abs(y - found).mean(),
            lambda m: -np.abs(DEV_TARGET - m.predict(DEV_ROWS)).mean(),
        ),
    ],
)
def test_dev_metric_of_a_classifier_is_any_scorer(name: Any, score: Any) -> None:
    model = MulticlassClassifier(dev_metric=name, patience=2)
    model.fit(ROWS, TARGET, dev=(DEV_ROWS, DEV_TARGET))
    assert score(model) == pytest.approx(model.trace_["dev_score"].max())


def test_dev_of_a_classifier_stops_early() -> None:
    model = MulticlassClassifier(patience=1, C=100.0, tol=1e-9)
    model.fit(ROWS, TARGET, dev=(DEV_ROWS, DEV_TARGET))
    assert "development score has not improved" in model.status_
    scores = model.trace_["dev_score"]
    assert model.n_iter_ == int(scores.argmax()) + 2


def wrong(y_true: Any, y_pred: Any) -> float:
    raise KeyError("no such label")


@pytest.mark.parametrize(
    ("metric", "error", "message"),
    [
        (wrong, KeyError, "no such label"),
        (lambda y: 1.0, TypeError, "takes 1 positional argument"),
        (lambda y, found: None, ValueError, "dev_metric returned None; it must return"),
        (lambda y, found: np.nan, ValueError, "dev_metric returned nan"),
        ("chunk_f2", ValueError, "did you mean 'chunk_f1'"),
    ],
)
def test_dev_metric_mistakes_show_before_training(
    metric: Any, error: type[Exception], message: str
) -> None:
    settings: dict[str, Any] = {"dev_metric": metric, "callbacks": [Untouched()]}
    with pytest.raises(error, match=message):
        SequenceTagger(**settings).fit(X, Y, dev=DEV)
    if callable(metric):
        with pytest.raises(error, match=message):
            MulticlassClassifier(**settings).fit(
                ROWS, TARGET, dev=(DEV_ROWS, DEV_TARGET)
            )


def test_dev_metric_of_chunks_needs_chunk_labels() -> None:
    y = [["N" if t % 2 else "V" for t in range(len(labels))] for labels in Y]
    with pytest.raises(ValueError, match="needs labels that spell chunks"):
        SequenceTagger(dev_metric="chunk_f1").fit(X, y, dev=(X, y))


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("f1_marco", "unknown dev_metric 'f1_marco'; did you mean 'f1_macro'"),
        ("roc_auc", "dev_metric='roc_auc': multi_class must be"),
    ],
)
def test_dev_metric_of_a_classifier_is_tried_before_training(
    metric: str, message: str
) -> None:
    model = MulticlassClassifier(dev_metric=metric, callbacks=[Untouched()])
    with pytest.raises(ValueError, match=message):
        model.fit(ROWS, TARGET, dev=(DEV_ROWS, DEV_TARGET))


@pytest.mark.parametrize(
    ("dev", "message"),
    [
        ((DEV_ROWS, DEV_TARGET[1:]), "X has 40 examples, but y of dev has 39"),
        ((DEV_ROWS, DEV_TARGET + 7), "dev: none of its labels occurs"),
        (DEV_ROWS, "dev must be a pair of inputs and labels"),
    ],
)
def test_dev_mistakes_of_a_classifier_raise(dev: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        MulticlassClassifier(callbacks=[Untouched()]).fit(ROWS, TARGET, dev=dev)
