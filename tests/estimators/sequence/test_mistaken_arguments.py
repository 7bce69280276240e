"""Labels in the place of inputs, and the other way round: said in words."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from partwise import SequenceTagger
from partwise.errors import DataError
from partwise.metrics import label_scores

WORDS = [["the", "dog", "barks"], ["Ann", "sees", "Bob"]]
Y = [["D", "N", "V"], ["N", "V", "N"]]
DICTS = [[{"word": word} for word in words] for words in WORDS]
LISTS = [[[word, "bias"] for word in words] for words in WORDS]
MATRICES = [np.eye(4)[:3], np.eye(4)[1:]]


def tagger(X: Any, y: Any = Y, **settings: Any) -> SequenceTagger:
    return SequenceTagger(solver="perceptron", max_iter=2, **settings).fit(X, y)


@pytest.mark.parametrize("X", [DICTS, LISTS, MATRICES])
def test_features_in_the_place_of_labels_are_told(X: Any) -> None:
    model = tagger(X)
    for method in (model.score, SequenceTagger().fit, SequenceTagger().partial_fit):
        with pytest.raises(DataError, match=r"not a label but features.*\(X, y\)"):
            method(Y, X)


@pytest.mark.parametrize("X", [DICTS, LISTS, MATRICES])
@pytest.mark.parametrize("y", [Y, [[0, 1, 2], [1, 2, 1]]])
def test_labels_in_the_place_of_features_are_told(X: Any, y: Any) -> None:
    model = tagger(X, y)
    answers: list[Callable[[Any], Any]] = [
        model.predict,
        model.predict_marginals,
        lambda given: model.predict_single(given[0]),
        lambda given: model.score(given, y),
    ]
    for answer in answers:
        with pytest.raises(DataError, match=r"labels of the model.*give X, not y"):
            answer(y)


def test_words_that_are_labels_and_never_were_words_are_suspicious() -> None:
    model = tagger(WORDS, template="words")
    with pytest.warns(UserWarning, match=r"'D', 'N', 'V'.*give X, not y"):
        model.predict(Y)
    with pytest.warns(UserWarning, match=r"inputs come first: score\(X, y\)"):
        model.score(WORDS, WORDS)


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        (["a", "dog", "."], ["DT", "NN", "."]),  # punctuation is its own label
        (["a", "b", "c"], ["b", "a", "c"]),  # letters become letters
        (["N", "V", "D"], ["D", "N", "V"]),
    ],
)
def test_words_that_are_labels_as_well_are_words(
    words: list[str], labels: list[str]
) -> None:
    model = tagger([words], [labels], template="words")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict([words, words[-1:], [labels[-1]]])
        model.score([words], [labels])


@pytest.mark.parametrize("X", [DICTS, LISTS])
def test_scores_of_labels_refuse_features(X: Any) -> None:
    with pytest.raises(TypeError, match=r"y_pred\[0\] must be a sequence of labels"):
        label_scores(Y, X)
    with pytest.raises(TypeError, match=r"y_true\[0\] must be a sequence of labels"):
        label_scores(X, Y)
