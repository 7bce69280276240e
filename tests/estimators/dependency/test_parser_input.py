"""What a parser is given and cannot use: said before training, and what to do."""

import functools
import io
import re
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest

import problems
from partwise import DependencyParser
from partwise.data import Sentence, read_trees
from partwise.errors import DataError, OutOfMemoryError
from partwise.estimators.dependency import corpus as tree_corpus
from partwise.estimators.dependency.corpus import TreeSettings
from partwise.estimators.labels import LabelCodes
from partwise.structures.interface import make_diff, workspace
from partwise.structures.scratch import make_scratch
from partwise.trees import is_projective
from small_treebank import rows, short_sentences

pytestmark = pytest.mark.skipif(
    not problems.PLAIN_PYTHON, reason="run by test_plain_python"
)

TRAIN = short_sentences(4)
TEST = short_sentences(3, seed=7)
EMPTY = Sentence.from_columns(forms=[])
CROSSING = [3, 4, 0, 3]


def words(n: int, **columns: Any) -> Sentence:
    return Sentence.from_columns(forms=["word"] * n, **columns)


def quick(**changed: Any) -> DependencyParser:
    return DependencyParser(
        **{"solver": "perceptron", "max_iter": 3, "hash_bits": 12} | changed
    )


@pytest.fixture
def no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail if training starts."""

    def start(*_: Any) -> None:
        raise AssertionError("training began")

    monkeypatch.setattr(DependencyParser, "_train", start)


# --- trees ---


@pytest.mark.usefixtures("no_training")
@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ([], "there are no words"),
        ([EMPTY], "there are no words"),
        ([TRAIN[0], words(2)], "sentence 1 has no heads"),
        ([words(2, heads=[2, 1])], r"sentence 0: .* in a circle"),
        ([words(2, heads=[0, 0])], "2 words have the root as their head"),
        ([TRAIN[0], words(2, heads=[0, 1])], "sentence 1: the labels .*labelled=False"),
        (["dogs bark"], "number 0 is a str, not a Sentence"),
        ([{"forms": ["dogs"]}], "number 0 is a dict"),
        ("dogs", "must be a list of Sentence, not str"),
        (TRAIN[0], "must be a list of Sentence, not Sentence"),
        (3, "must be a list of Sentence, not int"),
        (None, "not NoneType"),
    ],
)
def test_parser_input_of_no_use_is_refused(sentences: Any, message: str) -> None:
    with pytest.raises(DataError, match=re.compile(message)):
        quick().fit(sentences)


@pytest.mark.usefixtures("no_training")
def test_parser_input_error_says_where_it_was_read() -> None:
    text = rows([0]) + rows([2, 1])
    with pytest.raises(DataError, match=r":3: words 1 \"a\", 2 \"b\" .* circle"):
        quick().fit(list(read_trees(io.StringIO(text))))


def test_parser_input_of_several_roots_may_be_allowed() -> None:
    two = words(2, heads=[0, 0])
    parser = quick(single_root=False).fit([two])
    assert parser.predict([two]) == [two]
    with pytest.raises(DataError, match="single_root=False allows several roots"):
        quick().fit([two])


def test_parser_input_of_labels_is_not_needed_where_none_are_wanted() -> None:
    parser = quick(labelled=False).fit([TRAIN[0], words(2, heads=[0, 1])])
    assert parser.predict(TRAIN)[0].labels is None
    with pytest.raises(DataError, match="labels"):
        quick(labelled=True).fit([words(2, heads=[0, 1])])


# --- crossing arcs ---


@pytest.mark.usefixtures("no_training")
def test_parser_input_with_crossing_arcs_is_counted_and_refused() -> None:
    trees = [words(1, heads=[0]), words(4, heads=CROSSING), words(4, heads=CROSSING)]
    with pytest.raises(DataError, match=r"2 of 3 trees .*sentence 1, at word 2") as e:
        quick().fit(trees)
    for way_out in ("crossing='lift'", "crossing='skip'", "projective=False"):
        assert way_out in str(e.value)


def test_parser_input_with_crossing_arcs_is_for_the_nonprojective_parser() -> None:
    tree = words(4, heads=CROSSING)
    assert quick(projective=False, max_iter=20).fit([tree]).predict([tree]) == [tree]


def test_parser_input_with_crossing_arcs_is_lifted() -> None:
    tree = words(4, heads=CROSSING, labels=["a", "b", "c", "d"])
    with pytest.warns(UserWarning, match="1 of 2 trees have crossing arcs and were li"):
        data = quick(crossing="lift")._prepare([TRAIN[0], tree])
    lifted = data.structure.heads[len(TRAIN[0]) :].tolist()
    assert is_projective(lifted)
    assert sum(a != b for a, b in zip(lifted, CROSSING, strict=True)) == 1


def test_parser_input_with_crossing_arcs_is_skipped_with_its_weight() -> None:
    trees = [TRAIN[0], words(4, heads=CROSSING, labels=["a"] * 4), TRAIN[1]]
    with pytest.warns(UserWarning, match="1 of 3 trees have crossing arcs and were le"):
        data = quick(crossing="skip")._prepare(trees, sample_weight=[0.5, 7.0, 2.0])
    assert data.sample_weight is not None
    assert data.sample_weight.tolist() == [0.5, 2.0]
    assert np.diff(data.structure.ptr).tolist() == [len(TRAIN[0]), len(TRAIN[1])]


@pytest.mark.usefixtures("no_training")
@pytest.mark.filterwarnings("ignore:1 of 1 trees")
def test_parser_input_of_which_nothing_is_left_is_refused() -> None:
    with pytest.raises(DataError, match="no sentence is left"):
        quick(crossing="skip").fit([words(4, heads=CROSSING)])


# --- settings ---


@pytest.mark.usefixtures("no_training")
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"hash_bits": 7}, "hash_bits must be an integer from 8 to 30, not 7"),
        ({"hash_bits": 31}, "hash_bits must be"),
        ({"hash_bits": 12.0}, "hash_bits must be"),
        ({"suffix": 0}, "suffix must be an integer from 1 to 20"),
        ({"head_cost": -1.0}, "head_cost must be a number >= 0"),
        ({"label_cost": np.nan}, "label_cost must be a number >= 0"),
        ({"punctuation_weight": np.inf}, "punctuation_weight must be a number >= 0"),
        ({"head_cost": "high"}, "head_cost must be a number"),
        ({"projective": "no"}, "projective must be True or False"),
        ({"single_root": None}, "single_root must be True or False"),
        ({"labelled": "yes"}, "labelled must be True or False"),
        ({"crossing": "ignore"}, "crossing must be 'refuse', 'lift' or 'skip'"),
        ({"dev_metric": "lass"}, "unknown dev_metric 'lass'; did you mean 'las'"),
        ({"solver": "dcd-ligth"}, "did you mean 'dcd-light'"),
        ({"loss": "hingy"}, "loss must be 'squared_hinge', 'hinge' or"),
        ({"C": 0.0}, "C must be a positive number"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_parser_settings_are_checked_first(setting: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        quick(**setting).fit(TRAIN)


@pytest.mark.usefixtures("no_training")
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, np.nan, 1.0, 1.0], "finite and not negative"),
        ([1.0, -1.0, 1.0, 1.0], "finite and not negative"),
        ([1.0], "1 sample weights for 4 examples"),
    ],
)
def test_parser_sample_weights_are_checked_first(weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        quick().fit(TRAIN, sample_weight=weight)


def test_parser_sample_weights_may_not_all_be_zero() -> None:
    with pytest.raises(DataError, match="every sample weight is zero"):
        quick().fit(TRAIN, sample_weight=[0.0] * 4)


@pytest.mark.usefixtures("no_training")
@pytest.mark.parametrize(
    ("dev", "setting", "message"),
    [
        ([], {}, "dev: there are no words"),
        ([words(2)], {}, "dev: sentence 0 has no heads"),
        ("dev.conllu", {}, "dev must be a list of Sentence, not str"),
        ([words(2, heads=[0, 1])], {}, "'las' compares labels"),
        (TEST, {"labelled": False, "dev_metric": "las"}, "'las' needs labels"),
        (TEST, {"dev_metric": lambda gold, found: "good"}, "must return a number"),
    ],
)
def test_parser_development_data_is_checked_first(
    dev: Any, setting: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        quick(**setting).fit(TRAIN, dev=dev)


# --- questions ---


def test_parser_questions_that_make_no_sense() -> None:
    parser = quick().fit(TRAIN)
    with pytest.raises(ValueError, match="decoding must be one of best, minimum_risk"):
        parser.predict(TEST, decoding="beam")
    with pytest.raises(ValueError, match="metric must be one of uas, las, complete"):
        parser.score(TEST, metric="f1")
    with pytest.raises(ValueError, match="k must be an integer"):
        parser.predict_kbest(TEST, k=0)
    with pytest.raises(DataError, match="must be a list of Sentence"):
        parser.predict(TEST[0])
    with pytest.raises(DataError, match="no heads"):
        parser.score([words(2)])
    with pytest.raises(DataError, match="'las' compares labels"):
        parser.score([words(2, heads=[0, 1])], metric="las")


@pytest.mark.parametrize(
    ("arc", "message"),
    [
        (99, "words are counted from 1 to"),
        (0, "words are counted from 1 to"),
        ((1, 1), "word 1 cannot have the head 1"),
        ((-1, 1), "cannot have the head -1"),
        ((99, 1), "cannot have the head 99"),
        ("dogs", "arc must be the number of a word"),
        ((1, 2, 3), "arc must be the number of a word"),
        (1.5, "arc must be the number of a word"),
    ],
)
def test_parser_explains_only_arcs_that_there_are(arc: Any, message: str) -> None:
    parser = quick(max_iter=1).fit(TRAIN)
    with pytest.raises(ValueError, match=re.escape(message)):
        parser.explain(TEST[0], arc)


# --- length ---


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("n_labels", [0, 7])
@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("k", [1, 4])
def test_parser_memory_estimate_is_what_is_taken(
    projective: bool, n_labels: int, k: int, training: bool
) -> None:
    n = 120
    tags = [f"T{m % 11}" for m in range(n)]
    sentence = words(n, upos=tags, xpos=[f"X{m % 17}" for m in range(n)])
    settings = TreeSettings(projective, True, 8, 3)
    s = settings.structure([sentence], LabelCodes([str(j) for j in range(n_labels)]))
    taken = n_bytes(workspace(s, k)) + n_bytes(make_scratch(s))
    if training:
        taken += n_bytes(make_diff(s))
    estimate = settings.memory(sentence, n_labels, k, training)
    assert 0.95 * taken <= estimate <= 2.5 * taken


def n_bytes(arrays: Any) -> int:
    if isinstance(arrays, tuple):
        return sum(map(n_bytes, arrays))
    return int(getattr(arrays, "nbytes", 0))


@functools.cache
def very_long(n: int) -> Sentence:
    return words(n, heads=[0, *range(1, n)], labels=["root"] * n)


@pytest.mark.parametrize("n_jobs", [1, -1])
def test_parser_sentence_of_very_many_words_is_refused_at_once(n_jobs: int) -> None:
    n = 100_000
    parser = quick(n_jobs=n_jobs).fit(TRAIN)
    long = very_long(n)
    tracemalloc.start()
    began = time.process_time()
    try:
        for ask in (
            lambda: parser.predict([TEST[0], long]),
            lambda: parser.predict_kbest([TEST[0], long], 3),
            lambda: parser.fit([TRAIN[0], long]),
            lambda: parser.fit(TRAIN, dev=[TRAIN[0], long]),
        ):
            with pytest.raises(OutOfMemoryError, match=r"1 has 100,000 words.*split"):
                ask()
        assert tracemalloc.get_traced_memory()[1] < 200 * 2**20
    finally:
        tracemalloc.stop()
    assert time.process_time() - began < 20


def test_parser_refuses_what_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shorter sentence whose words are of more kinds needs more."""
    monkeypatch.setattr(tree_corpus, "available_memory", lambda: 300_000)
    parser = quick().fit(TRAIN[:1])
    alike = words(30, upos=["X"] * 30)
    diverse = words(25, upos=[f"T{m}" for m in range(25)])
    parser.predict([alike])
    with pytest.raises(OutOfMemoryError, match="sentence 1 has 25 words"):
        parser.predict([alike, diverse])
    monkeypatch.setattr(tree_corpus, "available_memory", lambda: None)
    assert len(parser.predict([diverse])) == 1
