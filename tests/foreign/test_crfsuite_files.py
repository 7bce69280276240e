"""CRFsuite's files: the same bytes, both ways, and no damage that goes unnoticed."""

import math
import pickle
import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import partwise
import partwise.pycrfsuite as ours
from command_line import message, run
from partwise.errors import ModelFileError
from partwise.foreign import (
    make_chain_model,
    read_crfsuite_model,
    write_crfsuite_model,
)
from partwise.foreign.jenkins import hash_keys

theirs = pytest.importorskip("pycrfsuite")

Sequences = list[tuple[list[Any], list[str]]]
N_MODELS = 200


def draw_item(draw: random.Random) -> Any:
    """Return an item in one of the forms that there are."""
    names = [f"é{draw.randrange(12)}:{draw.randrange(3)}" for _ in range(3)]
    forms: list[Any] = [
        names,
        set(names),
        {"word": names[0], "x": {"y": names[1:]}, "b": draw.random() < 0.5},
        {names[0]: draw.uniform(0, 2), "n": float(draw.randrange(3))},
        {},
    ]
    return draw.choice(forms)


def draw_sequences(draw: random.Random, n: int, n_labels: int) -> Sequences:
    found = []
    for _ in range(n):
        length = draw.randint(1, 6)
        items = [draw_item(draw) for _ in range(length)]
        labels = [f"ß{draw.randrange(n_labels)}" for _ in range(length)]
        found.append((items, labels))
    return found


def train(
    module: Any, data: Sequences, path: Path, algorithm: str, **params: Any
) -> Any:
    trainer = module.Trainer(algorithm, params, verbose=False)
    for items, labels in data:
        trainer.append(items, labels)
    trainer.train(str(path))
    return trainer


def answers(module: Any, model: Path | bytes, data: Sequences) -> Iterator[Any]:
    """Yield the labels, probability and marginals of every sequence."""
    tagger = module.Tagger()
    if isinstance(model, bytes):
        tagger.open_inmemory(model)
    else:
        tagger.open(str(model))
    names = tagger.labels()
    for items, labels in data:
        best = tagger.tag(items)
        known = [label if label in names else names[0] for label in labels]
        yield (
            best,
            tagger.probability(known),
            [[tagger.marginal(name, t) for name in names] for t in range(len(items))],
        )


def assert_same_answers(model: Path | bytes, data: Sequences) -> None:
    both = (answers(module, model, data) for module in (ours, theirs))
    for mine, peer in zip(*both, strict=True):
        assert mine[0] == peer[0]
        assert mine[1] == pytest.approx(peer[1], rel=1e-9, abs=1e-12)
        np.testing.assert_allclose(mine[2], peer[2], rtol=0, atol=1e-9)


def random_model(seed: int) -> tuple[random.Random, bytes]:
    """Return the file of a model with weights that no training would find."""
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    K, A = draw.randint(1, 5), draw.randint(0, 30)
    names = sorted({f"é{draw.randrange(12)}:{draw.randrange(3)}" for _ in range(A)})
    has = rng.random((len(names), K)) < 0.5
    model = make_chain_model(
        [f"ß{k}" for k in range(K)],
        names,
        np.concatenate([[0], np.cumsum(has.sum(axis=1))]),
        np.nonzero(has)[1],
        rng.normal(size=has.sum(), scale=draw.choice([0.1, 1.0, 5.0])),
        rng.normal(size=(K, K)) * (rng.random((K, K)) < 0.6),
    )
    return draw, write_crfsuite_model(model)


def test_crfsuite_and_partwise_agree_on_random_models() -> None:
    for seed in range(N_MODELS):
        draw, model = random_model(seed)
        assert_same_answers(model, draw_sequences(draw, 1, 5))


@pytest.mark.parametrize("seed", range(10))
def test_crfsuite_reads_what_we_train_and_we_what_it_trains(
    tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    data = draw_sequences(draw, 10, 1 + seed % 4)
    algorithm = ("ap", "lbfgs")[seed % 2]
    for module in (ours, theirs):
        path = tmp_path / f"{module.__name__}.crfsuite"
        train(module, data, path, algorithm, max_iterations=4)
        assert_same_answers(path, data[:3] + draw_sequences(draw, 3, 2))
        content = path.read_bytes()
        assert write_crfsuite_model(read_crfsuite_model(content)) == content


def test_crfsuite_file_loads_as_a_tagger_and_converts_both_ways(tmp_path: Path) -> None:
    data = draw_sequences(random.Random(3), 8, 3)
    path, there = tmp_path / "m.crfsuite", tmp_path / "m.partwise"
    back = tmp_path / "back.crfsuite"
    train(theirs, data, path, "lbfgs")
    partwise.convert(path, there)
    partwise.convert(there, back)
    assert back.read_bytes() == path.read_bytes()
    X = [items for items, _ in data]
    expected = [best for best, *_ in answers(theirs, path, data)]
    for model in (partwise.load(path), partwise.load(there)):
        assert model.predict(X) == expected
        found = model.predict_marginals(X)
        for mine, (*_, peer) in zip(found, answers(theirs, path, data), strict=True):
            np.testing.assert_allclose(mine, peer, rtol=0, atol=1e-9)


def test_crfsuite_file_of_a_partwise_tagger_tags_the_same(tmp_path: Path) -> None:
    X = [[{"word": w, "title": w.istitle()} for w in s.split()] for s in TEXT]
    y = [["D", "N", "V"], ["N", "V", "N"]]
    tagger = partwise.SequenceTagger("log_loss", start=False, end=False).fit(X, y)
    path = tmp_path / "m.crfsuite"
    partwise.convert(tagger, path)
    peer = theirs.Tagger()
    peer.open(str(path))
    assert [peer.tag(x) for x in X] == tagger.predict(X)
    assert peer.labels() == list(tagger.classes_)


TEXT = ["the dog barks", "Ann sees Bob"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "train with start=False and end=False"),
        ({"hash_bits": 8, "start": False, "end": False}, "hashed features"),
    ],
)
def test_crfsuite_file_refuses_models_that_have_more(
    tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    X, y = [[{"a": "x"}, {"a": "y"}]], [["A", "B"]]
    tagger = partwise.SequenceTagger(**settings).fit(X, y)
    with pytest.raises(ValueError, match=message):
        partwise.convert(tagger, tmp_path / "m.crfsuite")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["m.txt", "m.JSON", "m.pkl"])
def test_convert_refuses_endings_that_promise_another_format(
    tmp_path: Path, name: str
) -> None:
    target = tmp_path / name
    with pytest.raises(ValueError, match=r"CRFsuite's format \(.crfsuite\) or in ours"):
        partwise.convert(tmp_path / "not looked at", target)
    assert not target.exists()


@pytest.mark.parametrize(
    ("name", "program"),
    [("m.crfsuite", "CRFsuite"), ("m.CRFSUITE", "CRFsuite"), ("m", "Partwise")],
)
def test_convert_command_says_whose_format_it_wrote(
    tmp_path: Path, name: str, program: str
) -> None:
    source, target = tmp_path / "source.crfsuite", tmp_path / name
    train(ours, draw_sequences(random.Random(3), 2, 2), source, "ap")
    assert f"format of {program}\n" in run("convert", source, target).output
    assert target.read_bytes().startswith(b"lCRF") == (program == "CRFsuite")


def test_convert_command_needs_the_name_of_a_file() -> None:
    assert "give its name" in message("convert", "m.crfsuite", "-")


@pytest.mark.parametrize(
    ("data", "advice"),
    [
        (pickle.dumps({"a": 1}), "crf.modelfile.name"),
        (struct.pack("<IIdI", 100, 0, 1.0, 6), "crf_learn -t"),
    ],
)
def test_model_files_that_are_known_but_not_read_say_what_to_do(
    tmp_path: Path, data: bytes, advice: str
) -> None:
    path = tmp_path / "model"
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=advice):
        partwise.load(path)


# --- damage ---


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "m.crfsuite"
    train(theirs, draw_sequences(random.Random(1), 12, 3), path, "ap", max_iterations=3)
    return path.read_bytes()


def test_crfsuite_file_cut_short_anywhere_is_refused(content: bytes) -> None:
    for size in [*range(0, 60), *range(60, len(content), 97), len(content) - 1]:
        with pytest.raises(ModelFileError, match=r"model: .*"):
            read_crfsuite_model(content[:size])


def test_crfsuite_file_mutated_is_refused_or_well_formed(content: bytes) -> None:
    """Whatever is accepted can be used: every number in it has been checked."""
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(3000):
        damaged = bytearray(content)
        for _ in range(rng.integers(1, 4)):
            at = int(rng.integers(len(damaged)))
            word = int(rng.choice([0, 1, 0x7F, 0xFF, rng.integers(256)]))
            damaged[at : at + 4] = bytes([word] * 4) if rng.random() < 0.3 else b""
            damaged[at:at] = bytes([word]) * (len(content) - len(damaged))
        try:
            model = read_crfsuite_model(bytes(damaged))
        except ModelFileError:
            refused += 1
            continue
        K = len(model.labels)
        assert model.ptr[-1] == model.label.size == model.weight.size
        assert model.ptr.size == len(model.attributes) + 1
        assert model.label.size == 0 or 0 <= model.label.min() <= model.label.max() < K
        assert np.isfinite(model.weight).all()
        assert np.isfinite(model.transitions).all()
    assert 1000 < refused < 3000


@pytest.mark.parametrize("at", range(4, 48, 4))
@pytest.mark.parametrize("value", [0, 7, 2**31, 2**32 - 1])
def test_crfsuite_file_with_a_hostile_header_is_refused(
    content: bytes, at: int, value: int
) -> None:
    word = value.to_bytes(4, "little")
    if word == content[at : at + 4]:
        return
    with pytest.raises(ModelFileError):
        read_crfsuite_model(content[:at] + word + content[at + 4 :])


def test_crfsuite_file_of_huge_claims_takes_no_memory(content: bytes) -> None:
    """Counts are compared with the bytes that are there before anything is made."""
    at = int.from_bytes(content[28:32], "little") + 8  # how many weights there are
    claimed = content[:at] + (2**31).to_bytes(4, "little") + content[at + 4 :]
    with pytest.raises(ModelFileError, match="no room for 2147483648"):
        read_crfsuite_model(claimed)


def test_crfsuite_file_that_is_broken_is_refused_by_the_tagger(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "m.crfsuite"
    path.write_bytes(b"lCRFfoo" * 100)
    with pytest.raises(ValueError, match="Error opening model file"):
        ours.Tagger().open(str(path))
    with pytest.raises(ModelFileError, match=r"m\.crfsuite: header: expected b'FOMC'"):
        partwise.load(path)


def test_jenkins_hash_is_the_published_one() -> None:
    """The driver of lookup3.c prints these."""
    text = b"Four score and seven years ago"
    assert hash_keys([text]).tolist() == [0x17770551]
    keys = [bytes(range(1, n + 1)) for n in range(1, 40)]
    one_by_one = [int(hash_keys([key])[0]) for key in keys]
    assert hash_keys(keys).tolist() == one_by_one
    assert len(set(one_by_one)) == len(keys)


def test_agreement_can_fail(tmp_path: Path) -> None:
    """A weight that is off by one part in a million is seen."""
    draw, data = random_model(5)
    path = tmp_path / "m.crfsuite"
    path.write_bytes(data)
    sequences = draw_sequences(draw, 3, 3)
    before = [p for _, p, _ in answers(ours, path, sequences)]
    model = read_crfsuite_model(data)
    path.write_bytes(
        write_crfsuite_model(model._replace(weight=model.weight * 1.000001))
    )
    after = [p for _, p, _ in answers(ours, path, sequences)]
    assert not all(map(math.isclose, before, after))
