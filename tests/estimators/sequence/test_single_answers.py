"""One sequence at a time, and the features that speak against a label."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from partwise import SequenceTagger
from partwise.errors import DataError
from partwise.metrics import label_scores

X = [[["the"], ["dog"]], [["a"], ["dog"]], [["dog"], ["barks"]]]
Y = [["D", "N"], ["D", "N"], ["N", "V"]]


@pytest.fixture(scope="module")
def tagger() -> SequenceTagger:
    return SequenceTagger(C=10.0).fit(X, Y)


def test_predict_single_is_predict_of_one(tagger: SequenceTagger) -> None:
    assert [tagger.predict_single(x) for x in X] == tagger.predict(X)


def random_sequences(seed: int, values: bool) -> tuple[list[Any], list[list[str]]]:
    """Make sequences of 1 to 9 tokens, with names alone or with numbers."""
    rng = np.random.default_rng(seed)
    X = []
    for length in rng.integers(1, 10, 40).tolist():
        numbers = rng.integers(0, 30, (length, 3)).tolist()
        size = rng.normal(size=length).tolist() if values else [1.0] * length
        X.append([{f"f{k}": size[t] for k in numbers[t]} for t in range(length)])
    return X, [["AB"[len(token) % 2] for token in x] for x in X]


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("pairs", ["all", "observed"])
def test_predict_of_one_is_that_of_many(values: bool, pairs: str) -> None:
    X, y = random_sequences(0, values)
    unseen = [[], *random_sequences(1, values)[0], [{"f1": 1.0}], [{"nobody": 1.0}]]
    model = SequenceTagger(pairs=pairs, max_iter=3, tol=1e3).fit(X, y)
    expected = model.predict(unseen)
    assert [model.predict([x])[0] for x in unseen] == expected
    # What it keeps for the next sequence is not of this one, nor of other weights.
    again = pickle.loads(pickle.dumps(model))
    assert [again.predict([x])[0] for x in reversed(unseen)] == expected[::-1]
    model.weights_ = -model.weights_
    other = model.predict(unseen)
    assert other != expected
    assert [model.predict([x])[0] for x in unseen] == other


def test_predict_of_one_from_many_threads_is_the_same(tagger: SequenceTagger) -> None:
    many, expected = 200 * X, 200 * tagger.predict(X)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(tagger.predict_single, many)) == expected


def test_predict_of_one_says_when_no_labels_are_legal() -> None:
    train = [[["b"], ["e"]]], [["B-X", "E-X"]]
    model = SequenceTagger(constraints="IOBES", max_iter=2, tol=1e3).fit(*train)
    assert model.predict_single([["b"], ["e"]]) == ["B-X", "E-X"]
    with pytest.raises(DataError, match=r"sequence 0: .* no legal labels"):
        model.predict_single([["b"]])


def test_top_features_of_a_sign_have_it(tagger: SequenceTagger) -> None:
    everything = tagger.top_features(100)
    parts = [tagger.top_features(100, sign=s) for s in ("positive", "negative")]
    assert all(weight > 0 for *_, weight in parts[0])
    assert all(weight < 0 for *_, weight in parts[1])
    assert sorted(parts[0] + parts[1]) == sorted(everything)
    assert parts[1][0][-1] == min(weight for *_, weight in everything)
    with pytest.raises(ValueError, match="sign must be one of any, positive, negative"):
        tagger.top_features(sign="worst")


def test_weighted_f1_counts_labels_by_how_often_they_are_right() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    right, found = list("AABBBC"), list("ABBBAC")
    expected = metrics.f1_score(right, found, average="weighted")
    assert label_scores([right], [found]).weighted_f1 == pytest.approx(expected)
    assert label_scores([], []).weighted_f1 == 0.0
