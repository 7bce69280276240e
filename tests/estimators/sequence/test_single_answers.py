"""One sequence at a time, and the features that speak against a label."""

import pytest

from partwise import SequenceTagger
from partwise.metrics import label_scores

X = [[["the"], ["dog"]], [["a"], ["dog"]], [["dog"], ["barks"]]]
Y = [["D", "N"], ["D", "N"], ["N", "V"]]


@pytest.fixture(scope="module")
def tagger() -> SequenceTagger:
    return SequenceTagger(C=10.0).fit(X, Y)


def test_predict_single_is_predict_of_one(tagger: SequenceTagger) -> None:
    assert [tagger.predict_single(x) for x in X] == tagger.predict(X)


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
