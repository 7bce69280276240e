from typing import Any

import numpy as np
import pytest

from class_data import easy_classes
from partwise import Constraints, DataError, MulticlassClassifier, SequenceTagger
from partwise.estimators.explanation import NumberedNames
from tagging_data import ALL_FORMS, CHUNKS, FORMS, TEST_WORDS, WORDS


@pytest.mark.parametrize("form", ALL_FORMS)
def test_explain_contributions_add_up_to_the_margin(form: str) -> None:
    make, settings = FORMS[form]
    tagger = SequenceTagger(tol=0.3, max_iter=300, **settings)
    tagger.fit(make(WORDS[:6]), CHUNKS[:6])
    x = make([TEST_WORDS[0][:6]])[0]
    explanation = tagger.explain(x)
    best = tagger.predict([x])[0]
    assert [choice.label for choice in explanation] == best
    top = tagger.predict_kbest([x], 1)[0][0]
    for t, choice in enumerate(explanation):
        others = [set(tagger.classes_) - {best[s]} if s == t else None
                  for s in range(len(best))]  # fmt: skip
        runner_up = tagger.predict_kbest([x], 1, allowed=[others])[0][0]
        assert choice.runner_up == runner_up.labels[t]
        assert choice.margin == pytest.approx(top.score - runner_up.score)
        total = sum(c.value for c in choice.contributions)
        assert total == pytest.approx(choice.margin)
        sizes = [abs(c.value) for c in choice.contributions]
        assert sizes == sorted(sizes, reverse=True)


def test_explain_names_what_decided_and_prints_a_table() -> None:
    X = [[{"word": "the"}, {"word": "dog"}], [{"word": "a"}, {"word": "dog"}]]
    tagger = SequenceTagger(C=10.0).fit(X, [["D", "N"], ["D", "N"]])
    explanation = tagger.explain({"word": w} for w in ("the", "dog"))
    names = {(c.feature, c.label) for c in explanation[1].contributions}
    assert ("word=dog", "N") in names
    assert ("after D", "N") in names
    assert ("at the end", "N") in names
    assert "dog" in str(explanation).splitlines()[2]
    assert "after D → N +" in str(explanation)


def test_explain_without_alternative_has_no_runner_up() -> None:
    X, y = [[["a"], ["b"]]], [["P", "Q"]]
    rules = Constraints(start=["Q"], end=["P"])
    choices = SequenceTagger(constraints=rules).fit(X, y).explain([["a"], ["b"]])
    assert [(c.label, c.runner_up, c.margin) for c in choices] == [
        ("P", None, np.inf),
        ("Q", None, np.inf),
    ]
    assert "inf" in str(choices)


def test_top_features_are_the_largest_weights() -> None:
    X = [[{"w": "p"}, {"w": "q"}]] * 5 + [[{"w": "p"}, {"w": "r"}]]
    tagger = SequenceTagger(C=1.0).fit(X, [["P", "Q"]] * 5 + [["P", "R"]])
    top = tagger.top_features(n=100)
    sizes = [abs(weight) for _, _, weight in top]
    assert sizes == sorted(sizes, reverse=True)
    K = len(tagger.classes_)
    node_weights = tagger.weights_[: 3 * K].reshape(3, K)
    found = np.zeros((3, K))
    for name, label, weight in top:
        row = ["w=p", "w=q", "w=r"].index(name)
        found[row, tagger.classes_.tolist().index(label)] = weight
    np.testing.assert_array_equal(found, node_weights)
    assert tagger.top_features(n=2) == top[:2]
    assert tagger.top_features(n=0) == []
    only = tagger.top_features(label="R")
    assert only == [item for item in top if item[1] == "R"]
    with pytest.raises(DataError, match="'X' is not a label"):
        tagger.top_features(label="X")


def test_transitions_are_from_row_to_column() -> None:
    X, y = [[["a"], ["a"], ["a"]]], [["P", "P", "Q"]]
    tagger = SequenceTagger(C=10.0, start=False, end=False).fit(X, y)
    transitions = tagger.transitions_
    assert transitions[0, 1] > 0 > transitions[1, 0]
    transitions[:] = 0
    assert tagger.transitions_.any()  # a copy: the model cannot be broken with it


@pytest.mark.parametrize("settings", [{}, {"fit_intercept": False}])
def test_classifier_explain_adds_up_to_the_margin(settings: dict[str, Any]) -> None:
    X, y = easy_classes(100, n_features=20)
    model = MulticlassClassifier(tol=0.1, **settings).fit(X, y)
    for x in X[:5]:
        choice = model.explain(x)
        first, second = model.predict_kbest([x], 2)[0]
        assert (choice.label, choice.runner_up) == (first[0], second[0])
        assert choice.margin == pytest.approx(first[1] - second[1])
        assert sum(c.value for c in choice.contributions) == pytest.approx(
            choice.margin
        )
        names = {c.feature for c in choice.contributions}
        assert ("(intercept)" in names) == model.fit_intercept


def test_classifier_top_features_names_columns_dicts_and_hashes() -> None:
    named = MulticlassClassifier().fit([{"c": "red"}, {"c": "green"}], ["t", "p"])
    assert {name for name, _, _ in named.top_features(4)} == {"c=red", "c=green"}
    hashed = MulticlassClassifier(hash_bits=20).fit([["red"], ["green"]], ["t", "p"])
    names = {name for name, _, _ in hashed.top_features(4)}
    assert all(name.startswith("#") for name in names)
    dense = MulticlassClassifier().fit([[0.0, 1.0], [0.0, -1.0]], [3, 5])
    assert dense.top_features(1, label=3)[0][:2] == ("x1", 3)


def test_numbered_names_are_a_sequence() -> None:
    names = NumberedNames("#", 3, "end")
    assert list(names) == ["#0", "#1", "#2", "end"]
    assert names[-1] == "end"
    with pytest.raises(IndexError):
        names[4]
