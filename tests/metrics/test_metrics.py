"""Metrics: exact agreement with seqeval, and errors that name the sequence."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval import scheme as seqeval_schemes
from seqeval.metrics import (
    accuracy_score,
    f1_score,
    precision_score,
    recall_score,
)
from seqeval.metrics.sequence_labeling import (
    get_entities,
    precision_recall_fscore_support,
)

from partwise.errors import DataError
from partwise.metrics import (
    are_chunk_labels,
    chunk_f1,
    chunk_scores,
    confusion_table,
    label_scores,
    sequence_accuracy,
    spans,
    token_accuracy,
)

# seqeval warns about labels such as "BX", and reads them all the same.
pytestmark = pytest.mark.filterwarnings("ignore:.*seems not to be NE tag")

TYPES = ["", "-X", "-Y", "-X-Z", "-", "X"]


def labels_with(prefixes: str) -> st.SearchStrategy[str]:
    typed = [prefix + kind for prefix in prefixes for kind in TYPES]
    return st.sampled_from([*typed, *["O"] * 4])


def corpora(prefixes: str):
    """Pairs of label sequences that agree more often than chance would have it."""
    label = labels_with(prefixes)
    token = st.tuples(label, label) | label.map(lambda same: (same, same))
    sequence = st.lists(token, max_size=8)
    return st.lists(sequence, min_size=1, max_size=4).map(
        lambda sequences: tuple(
            [[token[side] for token in tokens] for tokens in sequences]
            for side in (0, 1)
        )
    )


@settings(max_examples=500)
@given(st.lists(labels_with("IOBES"), max_size=10))
def test_spans_are_those_of_seqeval(labels: list[str]) -> None:
    expected = [(start, end + 1, kind) for kind, start, end in get_entities(labels)]
    assert spans(labels) == expected


@pytest.mark.parametrize("name", ["IOB1", "IOB2", "IOBES", "BILOU"])
@settings(max_examples=500)
@given(data=st.data())
def test_spans_strict_are_those_of_seqeval(name: str, data: st.DataObject) -> None:
    prefixes = "IOB" if name.startswith("IOB") and name != "IOBES" else name
    labels = data.draw(st.lists(labels_with(prefixes), max_size=10))
    tokens = seqeval_schemes.Tokens(labels, getattr(seqeval_schemes, name))
    expected = [(e.start, e.end, e.tag) for e in tokens.entities]
    assert spans(labels, scheme=name) == expected


@pytest.mark.parametrize(("scheme", "letters"), [("BMEWO", "BMEW"), ("BILOU", "BILU")])
@given(st.lists(st.sampled_from(["O", "B-X", "I-X", "E-X", "S-X", "I-Y", "S-Y"])))
def test_spans_other_letters_mean_the_same(
    scheme: str, letters: str, labels: list[str]
) -> None:
    rename = str.maketrans("BIES", letters)
    renamed = [label.translate(rename) for label in labels]
    assert spans(renamed) == spans(labels)
    assert spans(renamed, scheme=scheme) == spans(labels, scheme="IOBES")


def test_spans_names_without_prefix_are_not_split_up() -> None:
    assert len(spans(["LOC", "LOC", "O", "MISC", "MISC"])) == 2


def test_spans_aliases_and_unknown_schemes() -> None:
    labels = ["B-X", "I-X", "O", "I-X"]
    assert spans(labels, "BIO") == spans(labels, "IOB2") == [(0, 2, "X")]
    with pytest.raises(ValueError, match=r"unknown scheme 'IOB3' .*IOB2"):
        spans(labels, "IOB3")


def test_spans_refuse_labels_of_another_scheme() -> None:
    with pytest.raises(DataError, match="'S-X' is not a label of IOB2"):
        spans(["S-X"], scheme="IOB2")
    with pytest.raises(DataError, match="label is empty"):
        spans(["B-X", ""])
    with pytest.raises(TypeError, match="must be strings"):
        spans([1, 2])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="sequence of labels"):
        spans("B-X")


@settings(max_examples=200)
@given(corpora("IOBES"))
def test_chunk_scores_are_those_of_seqeval(corpus) -> None:
    y_true, y_pred = corpus
    scores = chunk_scores(y_true, y_pred)
    precision = precision_score(y_true, y_pred, zero_division=0)
    recall = recall_score(y_true, y_pred, zero_division=0)
    f1 = f1_score(y_true, y_pred, zero_division=0)
    assert scores.overall[:3] == pytest.approx((precision, recall, f1), abs=1e-12)
    assert chunk_f1(y_true, y_pred) == scores.overall.f1
    per_type = precision_recall_fscore_support(y_true, y_pred, zero_division=0)
    found = np.array(list(scores.per_type.values())).reshape(-1, 4)
    np.testing.assert_allclose(found, np.transpose(per_type).reshape(-1, 4))
    if scores.per_type:
        macro = f1_score(y_true, y_pred, average="macro", zero_division=0)
        assert scores.macro_f1 == pytest.approx(macro)


@pytest.mark.parametrize("name", ["IOB1", "IOB2", "IOBES"])
@given(data=st.data())
def test_chunk_scores_strict_are_those_of_seqeval(name: str, data) -> None:
    y_true, y_pred = data.draw(corpora("IOBES" if name == "IOBES" else "IOB"))
    scores = chunk_scores(y_true, y_pred, scheme=name)
    options = {
        "mode": "strict",
        "scheme": getattr(seqeval_schemes, name),
        "zero_division": 0,
    }
    expected = [
        score(y_true, y_pred, **options)
        for score in (precision_score, recall_score, f1_score)
    ]
    assert scores.overall[:3] == pytest.approx(expected, abs=1e-12)


def test_chunk_scores_of_nothing_are_zero() -> None:
    for y in ([], [[]], [["O", "O"]]):
        assert chunk_scores(y, y).overall == (0.0, 0.0, 0.0, 0)
        assert chunk_scores(y, y).macro_f1 == 0.0


def test_chunk_scores_show_and_serialise() -> None:
    y_true = [["B-PER", "I-PER", "O", "B-LOC"], ["B-LOC"]]
    y_pred = [["B-PER", "I-PER", "B-LOC", "O"], ["B-LOC"]]
    scores = chunk_scores(y_true, y_pred)
    assert str(scores).splitlines()[-1].split() == [
        *("overall", "0.6667", "0.6667", "0.6667", "3")
    ]
    plain = json.loads(json.dumps(scores.to_dict()))
    assert plain["per_type"]["PER"] == {
        "precision": 1.0,
        "recall": 1.0,
        "f1": 1.0,
        "support": 1,
    }
    assert plain["macro_f1"] == 0.75


@given(corpora("IOB"))
def test_accuracies_agree_with_counting(corpus) -> None:
    y_true, y_pred = corpus
    if any(y_true):
        expected = accuracy_score(y_true, y_pred)
        assert token_accuracy(y_true, y_pred) == pytest.approx(expected)
        assert label_scores(y_true, y_pred).accuracy == pytest.approx(expected)
    whole = np.mean([a == b for a, b in zip(y_true, y_pred, strict=True)])
    assert sequence_accuracy(y_true, y_pred) == pytest.approx(whole)


def test_accuracies_of_nothing_are_zero() -> None:
    assert token_accuracy([], []) == 0.0
    assert token_accuracy([[]], [[]]) == 0.0
    assert sequence_accuracy([], []) == 0.0
    assert label_scores([], []).accuracy == 0.0


def test_accuracy_takes_arrays_and_generators() -> None:
    y = (np.array(labels) for labels in ([1, 2], [3]))
    assert token_accuracy(y, [[1, 2], [4]]) == pytest.approx(2 / 3)


def test_confusion_table_counts_every_pair() -> None:
    table = confusion_table([["a", "b", "b"], ["c"]], [["a", "c", "c"], ["a"]])
    assert table.labels == ["a", "b", "c"]
    assert table.counts.tolist() == [[1, 0, 0], [0, 0, 2], [1, 0, 0]]
    assert table.most_confused() == [("b", "c", 2), ("c", "a", 1)]
    assert table.most_confused(1) == [("b", "c", 2)]
    assert json.dumps(table.to_dict())
    assert str(table).splitlines()[2].split() == ["b", "0", "0", "2"]
    assert confusion_table([[]], [[]]).counts.shape == (0, 0)


def test_confusion_table_orders_mixed_labels() -> None:
    assert confusion_table([[10, "a", 9]], [[10, "a", 9]]).labels == [9, 10, "a"]


def test_label_scores_by_label() -> None:
    scores = label_scores([["a", "b", "b"]], [["a", "a", "b"]])
    assert scores.per_label["a"] == (0.5, 1.0, pytest.approx(2 / 3), 1)
    assert scores.per_label["b"] == (1.0, 0.5, pytest.approx(2 / 3), 2)
    assert scores.to_dict()["per_label"]["b"]["support"] == 2
    assert str(scores).endswith("accuracy 0.6667")


METRICS = [
    token_accuracy,
    sequence_accuracy,
    chunk_scores,
    chunk_f1,
    confusion_table,
    label_scores,
]


@pytest.mark.parametrize("metric", METRICS)
def test_metrics_name_the_first_sequence_that_differs(metric) -> None:
    with pytest.raises(DataError, match="sequence 1: 1 labels in y_true, but 2"):
        metric([["O"], ["O"], ["O"]], [["O"], ["O", "O"], []])
    with pytest.raises(DataError, match="y_pred has 1: sequence 1 is the first"):
        metric([["O"], ["O"]], [["O"]])


@pytest.mark.parametrize("metric", METRICS)
def test_metrics_refuse_flat_labels(metric) -> None:
    with pytest.raises(TypeError, match=r"y_true\[0\] must be a sequence of labels"):
        metric(["B-X", "O"], ["B-X", "O"])
    with pytest.raises(TypeError, match=r"y_pred\[0\] must be a sequence"):
        metric([["O"]], [1])


def test_chunk_labels_are_recognised() -> None:
    assert are_chunk_labels(["O", "B-X", "I-X", "W-Y"])
    assert not are_chunk_labels(["O"])
    assert not are_chunk_labels(["B-X", "NN"])
    assert not are_chunk_labels([1, 2])
    assert not are_chunk_labels([""])
