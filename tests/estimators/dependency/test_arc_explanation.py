"""Why a parser chose a head: contributions of features that add up to the margin."""

from typing import Any

import numpy as np
import pytest

import problems
from partwise import DependencyParser
from partwise.data import Sentence
from partwise.estimators.dependency.explanation import ArcChoice
from small_treebank import short_sentences

pytestmark = pytest.mark.skipif(
    not problems.PLAIN_PYTHON, reason="run by test_plain_python"
)

TRAIN, TEST = short_sentences(4), short_sentences(3, seed=7)


def quick(**changed: Any) -> DependencyParser:
    return DependencyParser(
        **{"solver": "perceptron", "max_iter": 3, "hash_bits": 12} | changed
    )


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("labelled", [True, False])
def test_arc_explanations_add_up(projective: bool, labelled: bool) -> None:
    parser = quick(projective=projective, labelled=labelled, suffix=2).fit(TRAIN)
    for sentence in TEST:
        choices = parser.explain(sentence)
        assert isinstance(choices, list)
        [tree] = parser.predict([sentence])
        assert tuple(choice.head for choice in choices) == tree.heads
        for word, choice in enumerate(choices, 1):
            assert isinstance(choice, ArcChoice)
            assert choice.word == word
            assert choice.runner_up != choice.head
            assert choice.margin >= 0.0
            total = sum(found.value for found in choice.contributions)
            assert total == pytest.approx(choice.margin, abs=1e-9)
            if labelled:
                assert choice.label == tree.labels[word - 1]
            else:
                assert choice.label is None


def test_arc_explanation_compares_with_the_best_tree() -> None:
    parser = quick().fit(TRAIN)
    sentence = TEST[0]
    [tree] = parser.predict([sentence])
    right = tree.heads[0]
    other = next(h for h in range(2, len(sentence) + 1) if h != right)
    choice = parser.explain(sentence, (other, 1))
    assert isinstance(choice, ArcChoice)
    assert (choice.head, choice.runner_up) == (other, right)
    assert choice.margin <= 0.0
    total = sum(found.value for found in choice.contributions)
    assert total == pytest.approx(choice.margin, abs=1e-9)


def test_arc_explanation_names_the_features_there_are() -> None:
    """Suffixes as long as they are, and tags from the column that has them."""
    forms = ["blue", "birds", "sing"]
    tree = Sentence.from_columns(
        forms=forms, xpos=["JJ", "NNS", "VBP"], heads=[2, 3, 0]
    )
    parser = quick(suffix=2, max_iter=1).fit([tree])
    parser.weights_ = np.random.default_rng(0).normal(size=parser.weights_.size)
    choice = parser.explain(tree, (3, 1))
    assert isinstance(choice, ArcChoice)
    names = [found.feature for found in choice.contributions]
    assert any("s=-ue" in name for name in names)
    assert any(name.startswith("between: NNS") for name in names)
    assert any("l=blue" in name for name in names)
    # What is empty is what there is nothing else for: morphology, case and marker.
    empty = {part for name in names for part in name.split() if "=_" in part}
    assert {part[0] for part in empty} == {"m", "c", "k"}


def test_arc_explanation_of_a_word_without_a_choice() -> None:
    alone = Sentence.from_columns(forms=["Hush"], heads=[0])
    choice = quick(max_iter=1).fit([alone]).explain(alone, 1)
    assert isinstance(choice, ArcChoice)
    assert (choice.head, choice.runner_up, choice.margin) == (0, None, np.inf)
