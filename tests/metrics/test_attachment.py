"""Attachment scores: what counts, and by hand what comes out."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.data.tree_files import read_trees
from partwise.data.treebank import Sentence
from partwise.errors import DataError
from partwise.metrics import Scores
from partwise.metrics.attachment import attachment_scores, is_punctuation

RIGHT = Sentence.from_columns(
    forms=["Big", "dogs", "bark", ".", "$"],
    upos=["ADJ", "NOUN", "VERB", "PUNCT", "SYM"],
    heads=[2, 3, 0, 3, 3],
    labels=["amod", "nsubj", "root", "punct", "dep"],
)
# Two heads wrong (one of them punctuation), one label wrong on a right head.
GUESS = RIGHT.with_tree([3, 3, 0, 2, 3], ["amod", "obj", "root", "punct", "dep"])
HUSH = Sentence.from_columns(forms=["Hush"], heads=[0], labels=["root"])


def unlabelled(sentence: Sentence) -> Sentence:
    return sentence.with_tree(sentence.heads or ())


def test_attachment_scores_are_what_one_counts_by_hand() -> None:
    scores = attachment_scores([RIGHT, HUSH], [GUESS, HUSH])
    assert (scores.n_words, scores.n_sentences) == (6, 2)
    assert scores.uas == 4 / 6
    assert scores.las == 3 / 6
    assert scores.complete == scores.complete_labelled == 0.5
    assert scores.by_length == {"1-10": (4 / 6, 3 / 6, 6)}
    assert scores.by_distance == {
        "root": (1.0, 1.0, 2),
        "1": (1 / 3, 0.0, 3),
        "2": (1.0, 1.0, 1),
    }
    assert scores.per_label == {
        "amod": Scores(0.0, 0.0, 0.0, 1),
        "dep": Scores(1.0, 1.0, 1.0, 1),
        "nsubj": Scores(0.0, 0.0, 0.0, 1),
        "obj": Scores(0.0, 0.0, 0.0, 0),
        "punct": Scores(0.0, 0.0, 0.0, 1),
        "root": Scores(1.0, 1.0, 1.0, 2),
    }


def test_attachment_punctuation_can_be_left_out() -> None:
    scores = attachment_scores([RIGHT], [GUESS], punctuation=False)
    assert (scores.uas, scores.las, scores.n_words) == (3 / 4, 2 / 4, 4)
    assert "punct" not in scores.per_label
    # A sentence of punctuation alone is then none.
    dots = Sentence.from_columns(forms=["..."], heads=[0])
    assert attachment_scores([dots], [dots], punctuation=False).n_sentences == 0
    assert attachment_scores([dots], [dots]).complete == 1.0


@pytest.mark.parametrize(
    ("form", "upos", "expected"),
    [
        (".", "PUNCT", True),
        (".", "SYM", False),
        ("x", "PUNCT", True),
        (".", "_", True),
        (",", ",", True),
        ("``", "``", True),
        ("''", "''", True),
        ("»…", "_", True),
        ("$", "$", False),
        ("a.", "NN", False),
        ("", "_", False),
    ],
)
def test_attachment_punctuation_is_told_by_tag_or_else_by_form(
    form: str, upos: str, expected: bool
) -> None:
    assert is_punctuation(form, upos) is expected


def test_attachment_labelled_and_right_sentences_differ() -> None:
    relabelled = RIGHT.with_tree(RIGHT.heads or (), ["x"] * 5)
    scores = attachment_scores([RIGHT], [relabelled])
    assert (scores.uas, scores.las) == (1.0, 0.0)
    assert (scores.complete, scores.complete_labelled) == (1.0, 0.0)


def test_attachment_label_precision_and_recall_are_told_apart() -> None:
    guess = RIGHT.with_tree(RIGHT.heads or (), ["amod", "amod", "root", "x", "dep"])
    scores = attachment_scores([RIGHT], [guess])
    assert scores.per_label["amod"] == Scores(0.5, 1.0, 2 / 3, 1)


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [(RIGHT, unlabelled(GUESS)), (unlabelled(RIGHT), GUESS)],
)
def test_attachment_without_labels_has_no_las(gold, predicted) -> None:
    scores = attachment_scores([gold], [predicted])
    assert scores.uas == 3 / 5
    assert scores.las is scores.complete_labelled is None
    assert scores.by_length == {"1-10": (3 / 5, None, 5)}
    assert scores.per_label == {}


def test_attachment_subtypes_can_be_ignored() -> None:
    right = HUSH.with_tree([0], ["acl:relcl"])
    guess = HUSH.with_tree([0], ["acl"])
    assert attachment_scores([right], [guess]).las == 0.0
    assert attachment_scores([right], [guess], subtypes=False).las == 1.0


@pytest.mark.parametrize(
    ("n", "group"),
    [
        (1, "1-10"),
        (10, "1-10"),
        (11, "11-20"),
        (20, "11-20"),
        (21, "21-40"),
        (40, "21-40"),
        (41, "41+"),
        (400, "41+"),
    ],
)
def test_attachment_lengths_fall_into_groups(n: int, group: str) -> None:
    chain = Sentence.from_columns(forms=["w"] * n, heads=range(n))
    assert list(attachment_scores([chain], [chain]).by_length) == [group]


def test_attachment_distances_fall_into_groups() -> None:
    star = Sentence.from_columns(forms=["w"] * 9, heads=[0] + [1] * 8)
    groups = attachment_scores([star], [star]).by_distance
    counts = {name: scores.n_words for name, scores in groups.items()}
    assert counts == {"root": 1, "1": 1, "2": 1, "3-6": 4, "7+": 2}


@given(st.data(), st.booleans())
def test_attachment_groups_add_up(data: st.DataObject, punctuation: bool) -> None:
    def sentence(forms: list[str]) -> Sentence:
        n = len(forms)
        heads = [
            data.draw(st.sampled_from([h for h in range(n + 1) if h != m]))
            for m in range(1, n + 1)
        ]
        labels = [data.draw(st.sampled_from("ab")) for _ in forms]
        return Sentence.from_columns(forms=forms, heads=heads, labels=labels)

    corpus = data.draw(st.lists(st.lists(st.sampled_from("x."), max_size=12)))
    gold = [sentence(forms) for forms in corpus]
    guess = [sentence(forms) for forms in corpus]
    scores = attachment_scores(gold, guess, punctuation=punctuation)
    for groups in (scores.by_length, scores.by_distance):
        assert sum(group.n_words for group in groups.values()) == scores.n_words
        right = sum(group.uas * group.n_words for group in groups.values())
        assert right == pytest.approx(scores.uas * scores.n_words)
    assert scores.uas >= (scores.las or 0.0)
    assert scores.complete >= (scores.complete_labelled or 0.0)
    perfect = attachment_scores(gold, gold, punctuation=punctuation)
    assert perfect.uas == perfect.complete == float(scores.n_words > 0)


def test_attachment_of_nothing_is_zero() -> None:
    scores = attachment_scores([], [])
    assert (scores.uas, scores.las, scores.n_words) == (0.0, None, 0)


def test_attachment_scores_become_json() -> None:
    plain = json.loads(json.dumps(attachment_scores([RIGHT], [GUESS]).to_dict()))
    assert plain["uas"] == 3 / 5
    assert plain["by_length"]["1-10"] == {"uas": 3 / 5, "las": 2 / 5, "n_words": 5}
    assert plain["per_label"]["root"]["support"] == 1


def test_attachment_sentences_must_have_the_same_words() -> None:
    other = Sentence.from_columns(forms=["Hush!"], heads=[0])
    treeless = Sentence.from_columns(forms=["Hush"])
    with pytest.raises(DataError, match=r"sentence 1: word 1 is 'Hush' in gold, but"):
        attachment_scores([RIGHT, HUSH], [GUESS, other])
    with pytest.raises(DataError, match=r"sentence 0 has 5 words in gold, but 1 in"):
        attachment_scores([RIGHT], [HUSH])
    with pytest.raises(DataError, match=r"gold has 1 .* 2: sentence 1 is the first"):
        attachment_scores([HUSH], [HUSH, HUSH])
    with pytest.raises(DataError, match="sentence 0 has no heads in predicted"):
        attachment_scores([HUSH], [treeless])
    with pytest.raises(DataError, match="sentence 0 has no heads in gold"):
        attachment_scores([treeless], [HUSH])
    (read,) = read_trees(io.StringIO("\nHush\tUH\t0\n"))
    with pytest.raises(DataError, match=r"sentence 0 \(<input>:2\): word 1"):
        attachment_scores([read], [other])
