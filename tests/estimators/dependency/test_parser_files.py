"""Parsers in files: the same after loading, and harmless whatever the file says."""

import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import problems
from corruption import corruptions, join, split
from partwise import DependencyParser, ModelFileError, load
from partwise.data import Sentence, read_trees
from partwise.estimators.dependency.persistence import arc_features
from places import GOLDEN
from small_treebank import short_sentences

plain = pytest.mark.skipif(not problems.PLAIN_PYTHON, reason="more to compile")

pytestmark = pytest.mark.filterwarnings("ignore:stopped after")

TRAIN = short_sentences(3)
TEST = short_sentences(2, seed=7)
DATA = GOLDEN
MEGABYTE = 2**20


def quick(**settings: Any) -> DependencyParser:
    return DependencyParser(**{"hash_bits": 10, "max_iter": 2} | settings)


def answers(parser: DependencyParser, sentences: list[Sentence] = TEST) -> Any:
    """Return everything a parser says about some sentences."""
    return [
        parser.predict(sentences),
        parser.predict(sentences, decoding="minimum_risk"),
        parser.predict_kbest(sentences, 3),
        [mu.tolist() for mu in parser.predict_marginals(sentences)],
        str(parser.explain(sentences[0], 1)),
    ]


def one_label(sentences: list[Sentence]) -> list[Sentence]:
    return [s.with_tree(s.heads or (), ["dep"] * len(s)) for s in sentences]


# The same model


@plain
@pytest.mark.parametrize(
    ("settings", "n_labels"),
    [
        ({}, None),
        ({"labelled": False}, 0),
        ({}, 1),
        ({"projective": False, "single_root": False, "suffix": 2}, None),
        ({"C": 0.5, "solver": "perceptron", "random_state": 3}, None),
        ({"punctuation_weight": 0.5, "head_cost": 2.0, "crossing": "lift"}, None),
    ],
    ids=str,
)
def test_loaded_parser_is_the_same(
    settings: dict[str, Any], n_labels: int | None, tmp_path: Path
) -> None:
    train = one_label(TRAIN) if n_labels == 1 else TRAIN
    parser = quick(**settings).fit(train)
    parser.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert n_labels is None or len(loaded.classes_) == n_labels
    assert answers(loaded) == answers(parser)
    assert loaded.classes_.tolist() == parser.classes_.tolist()
    assert loaded.get_params() == parser.get_params()
    assert loaded.certificate_ == parser.certificate_
    assert loaded.status_ == parser.status_
    assert loaded.C_ == parser.C_
    assert str(loaded.trace_) == str(parser.trace_)
    # And it can be saved again to the same bytes, and trained again as it was.
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()
    np.testing.assert_array_equal(loaded.fit(train).weights_, parser.weights_)


@plain
def test_loaded_parser_float32_is_rounded_and_predicts_the_same(
    tmp_path: Path,
) -> None:
    parser = quick().fit(TRAIN)
    for dtype in ("float64", "float32"):
        parser.save(tmp_path / dtype, dtype)
    loaded = load(tmp_path / "float32")
    rounded = parser.weights_.astype(np.float32).astype(np.float64)
    np.testing.assert_array_equal(loaded.weights_, rounded)
    assert loaded.predict(TRAIN + TEST) == parser.predict(TRAIN + TEST)
    sizes = [(tmp_path / d).stat().st_size for d in ("float32", "float64")]
    assert sizes[0] < sizes[1]


@plain
def test_loaded_parser_has_what_it_learnt_with(tmp_path: Path) -> None:
    parser = quick().fit(TRAIN)
    parser.set_params(hash_bits=9, projective=False, suffix=1)
    parser.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.hash_bits == 9
    assert answers(loaded) == answers(parser)


# Harmless


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    path = tmp_path_factory.mktemp("parsers") / "m"
    found = {}
    for name, settings in (("labelled", {}), ("bare", {"labelled": False})):
        quick(**settings).fit(TRAIN[:2]).save(path)
        found[name] = path.read_bytes()
    return found


def is_accepted(path: Path, data: bytes) -> bool:
    """Load and use a file in little time and memory; say whether it was a model."""
    path.write_bytes(data)
    begin = time.process_time()
    tracemalloc.start()
    problem = ""
    try:
        load(path).predict(TEST[:1])
    except ModelFileError as error:
        problem = str(error)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * MEGABYTE
    assert time.process_time() - begin < 20
    assert not problem or str(path) in problem
    return not problem


@plain
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["labelled", "bare"])
def test_damaged_parsers_fail_cleanly(
    files: dict[str, bytes], name: str, tmp_path: Path
) -> None:
    count = 150
    accepted = sum(
        is_accepted(tmp_path / "m", damaged)
        for damaged in corruptions(files[name], count, seed=len(name))
    )
    assert 0 < accepted < count / 2


Edit = Callable[[Any, bytearray], None]


def setting(*keys: str, value: Any) -> Edit:
    def edit(header: Any, body: bytearray) -> None:
        place = header["partwise"]["settings"]
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return edit


def label_byte(value: int) -> Edit:
    def edit(header: Any, body: bytearray) -> None:
        body[header["labels.bytes"]["data_offsets"][0]] = value

    return edit


def grow(header: Any, body: bytearray) -> None:
    """Claim 2**30 weights, consistently."""
    header["partwise"]["settings"]["trees"]["hash_bits"] = 30
    header["partwise"]["settings"]["n_weights"] = 2**30


HOSTILE: dict[str, tuple[str, Edit]] = {
    "other hash_bits": ("labelled", setting("trees", "hash_bits", value=11)),
    "hash_bits too large": ("labelled", setting("trees", "hash_bits", value=64)),
    "hash_bits negative": ("labelled", setting("trees", "hash_bits", value=-1)),
    "hash_bits of text": ("labelled", setting("trees", "hash_bits", value="10")),
    "many weights": ("bare", grow),
    "no suffix": ("labelled", setting("trees", "suffix", value=0)),
    "long suffix": ("labelled", setting("trees", "suffix", value=2**40)),
    "flag of a number": ("labelled", setting("trees", "projective", value=1)),
    "flag of text": ("labelled", setting("trees", "single_root", value="yes")),
    "no trees": ("labelled", setting("trees", value=None)),
    "other features": ("labelled", setting("features", value="0" * 16)),
    "label with a tab": ("labelled", label_byte(ord("\t"))),
    "label with a line end": ("labelled", label_byte(ord("\n"))),
    "labels of integers": ("labelled", setting("integer_labels", value=True)),
    "labelled of text": ("labelled", setting("params", "labelled", value="x")),
    "labelled of a number": ("labelled", setting("params", "labelled", value=1)),
    "loss": ("labelled", setting("params", "loss", value="x")),
    "n_weights": ("labelled", setting("n_weights", value=2**62)),
    "as a tagger": ("labelled", setting("estimator", value="SequenceTagger")),
    "as a classifier": ("bare", setting("estimator", value="MulticlassClassifier")),
}


@plain
@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_parsers_are_refused(
    files: dict[str, bytes], what: str, tmp_path: Path
) -> None:
    name, edit = HOSTILE[what]
    header, body = split(files[name])
    changed = bytearray(body)
    edit(header, changed)
    assert not is_accepted(tmp_path / "m", join(header, bytes(changed)))


@plain
def test_hostile_check_accepts_an_honest_parser(
    files: dict[str, bytes], tmp_path: Path
) -> None:
    for data in files.values():
        header, body = split(data)
        assert is_accepted(tmp_path / "m", join(header, body))


@plain
def test_parser_of_other_features_says_what_to_do(
    files: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from partwise.features import arc_codes

    (tmp_path / "m").write_bytes(files["bare"])
    before = arc_features()
    monkeypatch.setattr(arc_codes, "BETWEEN_TEMPLATE", ("x", "x"))
    assert arc_features() != before
    with pytest.raises(ModelFileError, match="train it again"):
        load(tmp_path / "m")


# For ever


@plain
@pytest.mark.parametrize("name", ["parser-1", "second_order-1"])
def test_parser_files_of_every_version_still_load(name: str) -> None:
    expected = read_trees(DATA / f"{name}.conllu")
    bare = [s.with_tree([0] * len(s), s.labels) for s in expected]
    found = load(DATA / f"{name}.partwise").predict(bare)
    assert [(s.heads, s.labels) for s in found] == [
        (s.heads, s.labels) for s in expected
    ]
    assert len({label for s in found for label in s.labels}) > 3
