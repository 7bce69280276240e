"""Corpora in folders: the same model, little memory, and nothing trusted."""

import itertools
import os
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import partwise
import problems
from class_data import easy_classes
from command_line import message, run
from partwise import (
    C_path,
    DataError,
    LatticeRanker,
    ModelFileError,
    MulticlassClassifier,
    OutOfMemoryError,
    SequenceTagger,
    encode,
    encoded,
    model_file,
)
from partwise.data import drafts
from partwise.estimators.encoded_corpus import KIND
from partwise.model_file import mapped
from partwise.model_file.folder import MANIFEST
from partwise.solvers.memory import in_bytes
from tagging_data import CHUNKS, EDGE_TEMPLATE, WORDS, arrays, dicts, strings

N = 5
KNOWN = ("B-NP", "I-NP")
Y = [[label if label in KNOWN else "O" for label in one] for one in CHUNKS[:N]]
COLUMNS = [[(word,) for word in words] for words in WORDS[:N]]
FORMS: dict[str, tuple[Any, dict[str, Any]]] = {
    "template": (COLUMNS, {"template": EDGE_TEMPLATE}),
    "dicts": (dicts(WORDS[:N]), {"min_count": 2, "transition_features": ["title"]}),
    "strings": (strings(WORDS[:N]), {"hash_bits": 8}),
    "numbers": (arrays(WORDS[:N]), {}),
}
QUICK = {"tol": 0.5, "max_iter": 2}

plain = pytest.mark.skipif(not problems.PLAIN_PYTHON, reason="more to compile")
quiet = pytest.mark.filterwarnings("ignore::partwise.errors.ConvergenceWarning")


def in_pieces(X: Any, y: Any, size: int = 3) -> Callable[[], Iterator[Any]]:
    def pieces() -> Iterator[Any]:
        for begin in range(0, len(y), size):
            yield X[begin : begin + size], y[begin : begin + size]

    return pieces


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    X, settings = FORMS["dicts"]
    encode(SequenceTagger(**settings), in_pieces(X, Y), tmp_path / "folder")
    return tmp_path / "folder"


# --- the same model ---


@plain
@quiet
@pytest.mark.parametrize("form", FORMS)
def test_encoded_corpora_train_the_tagger_of_memory(form: str, tmp_path: Path) -> None:
    X, settings = FORMS[form]
    encode(SequenceTagger(**settings), in_pieces(X, Y), tmp_path / "folder")
    weight = np.arange(1.0, N + 1)
    for solver in ("lbfgs", "eg") if form == "strings" else ("lbfgs",):
        here = SequenceTagger("log_loss", solver=solver, **QUICK, **settings)
        here.fit(X, Y, weight, dev=(X, Y))
        there = SequenceTagger("log_loss", solver=solver, **QUICK)
        there.fit(encoded(tmp_path / "folder"), None, weight, dev=(X, Y))
        np.testing.assert_array_equal(there.weights_, here.weights_)
        assert there.predict(X) == here.predict(X)
        there.save(tmp_path / "model")
        assert partwise.load(tmp_path / "model").predict(X) == here.predict(X)


@plain
@quiet
def test_encoded_corpora_leave_all_but_features_to_training(folder: Path) -> None:
    X, features = FORMS["dicts"]
    for settings in (
        {"pairs": "observed", "transitions": "observed", "class_weight": "balanced"},
        {"constraints": "BIO", "start": False, "costs": lambda a, b: 2.0 * (a != b)},
        {"states": 2, "pairs": "observed"},
    ):
        settings |= QUICK | {"loss": "hinge", "solver": "cutting-plane"}
        here = SequenceTagger(**settings, **features).fit(X, Y)
        there = SequenceTagger(**settings).fit(encoded(folder))
        np.testing.assert_array_equal(there.weights_, here.weights_)


@plain
@quiet
def test_encoded_corpora_keep_values_that_later_pieces_have(tmp_path: Path) -> None:
    X = [[{"a": True}], [{"a": 1.0, "b": True}], [{"b": 0.5}], [{"a": True}]]
    y = [["N"], ["V"], ["N"], ["V"]]
    corpus = encode(SequenceTagger(), in_pieces(X, y, 1), tmp_path / "folder")
    values = corpus.folder.arrays["nodes.val"].array
    np.testing.assert_array_equal(values, [1.0, 1.0, 1.0, 0.5, 1.0])
    settings = QUICK | {"loss": "log_loss", "solver": "lbfgs"}
    there = SequenceTagger(**settings).fit(corpus)
    here = SequenceTagger(**settings).fit(X, y)
    np.testing.assert_array_equal(there.weights_, here.weights_)


@plain
@quiet
def test_encoded_corpora_train_classifiers(tmp_path: Path) -> None:
    rows, target = easy_classes(10, n_classes=3, n_features=3)
    named = [{f"f{n % 3}": True, "size": float(n)} for n in range(10)]
    for X, y in ((rows, target), (named, [f"c{n % 2}" for n in range(10)])):
        settings = QUICK | {"loss": "log_loss", "solver": "lbfgs"}
        here = MulticlassClassifier(**settings).fit(X, y, dev=(X, y))
        path = tmp_path / type(X).__name__
        there = MulticlassClassifier(**settings).fit(
            encode(MulticlassClassifier(), in_pieces(X, y, 7), path), dev=(X, y)
        )
        np.testing.assert_array_equal(there.weights_, here.weights_)
        np.testing.assert_array_equal(there.predict(X), here.predict(X))


@plain
@quiet
def test_encoded_corpora_have_paths(folder: Path) -> None:
    X, settings = FORMS["dicts"]
    quick = QUICK | {"loss": "log_loss", "solver": "lbfgs"}
    there = C_path(SequenceTagger(**quick), encoded(folder), None, [0.1, 1.0])
    here = C_path(SequenceTagger(**quick, **settings), X, Y, [0.1, 1.0])
    for a, b in zip(here, there, strict=True):
        np.testing.assert_array_equal(a.estimator.weights_, b.estimator.weights_)


# --- memory ---


def test_encoded_corpora_are_prepared_in_little_memory(tmp_path: Path) -> None:
    X, y = [np.ones((500, 200))], [["A", "B"] * 250]
    corpus = encode(SequenceTagger(), lambda: [(X, y)] * 4, tmp_path / "folder")
    assert corpus.n_bytes > 4 * 500 * 200 * 8
    tagger = SequenceTagger("hinge", class_weight={"A": 2.0})
    tagger._prepare(corpus)  # imports what it needs
    tracemalloc.start()
    data = tagger._prepare(corpus)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < corpus.n_bytes / 20 + mapped.BLOCK
    assert data.structure.nodes.values.shape == (2000, 200)


@pytest.mark.skipif(not os.path.exists("/proc/self/smaps"), reason="asks Linux")
def test_encoded_corpora_let_go_of_pages(tmp_path: Path) -> None:
    path = tmp_path / "numbers.npy"
    array = mapped.GrowingArray(path, np.float64)
    array.append(np.ones(200_000))
    array.close()
    one = mapped.MappedArray(path, np.float64, (200_000,))
    assert one.array.sum() == 200_000
    assert resident(path) >= 1_600_000
    with mapped.keeping_below(1, [one]):
        for _ in range(100):
            if not resident(path):
                break
            mapped.threading.Event().wait(mapped.LOOK_AFTER)
    assert resident(path) == 0
    assert one.array.sum() == 200_000
    one.array[0] = 5.0  # goes to a copy
    assert np.load(path)[0] == 1.0


def resident(path: Path) -> int:
    """Return how many bytes of a file are in the memory of this process."""
    total, ours = 0, False
    with open("/proc/self/smaps", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if "-" in line.split(" ")[0]:
                ours = line.rstrip().endswith(str(path))
            elif ours and line.startswith("Rss:"):
                total += int(line.split()[1]) * 1024
    return total


def test_encoded_corpora_refuse_what_does_not_fit(folder: Path) -> None:
    with pytest.raises(OutOfMemoryError, match=r"give it more than .* [MG]iB"):
        SequenceTagger("log_loss", solver="eg").fit(encoded(folder, memory=1000))


@pytest.mark.parametrize("wrong", ["", "two", "2 PB", "-1GB", 0, -1, 1.5, True, "1..2"])
def test_memory_is_an_amount(wrong: Any) -> None:
    with pytest.raises(ValueError, match="such as 2GB"):
        in_bytes(wrong)


# --- nothing is trusted ---


def forge(folder: Path, name: str, change: Callable[[np.ndarray], Any]) -> None:
    """Change the numbers of an array, and its checksum with them."""
    path = folder / f"{name}.npy"
    before = np.load(path)
    after = np.array(before)
    change(after)
    assert not np.array_equal(before, after)
    data = path.read_bytes()[: mapped.HEADER] + after.tobytes()
    path.write_bytes(data)
    content = model_file.read(folder / MANIFEST)
    described = dict(content.settings["arrays"])
    one = mapped.MappedArray(path, after.dtype, after.shape)
    described[name] = [*described[name][:2], one.checksum()]
    rewrite(folder, arrays=described)


def rewrite(folder: Path, **settings: Any) -> None:
    content = model_file.read(folder / MANIFEST)
    changed = {**content.settings, **settings}
    model_file.write(folder / MANIFEST, content.tensors, changed, KIND)


def refused(folder: Path) -> str:
    with pytest.raises(ModelFileError) as error:
        SequenceTagger("log_loss")._prepare(encoded(folder))
    return str(error.value)


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [
        *[("labels", 3, value) for value in (-1, 2**31 - 1)],
        *[("ptr", at, value) for at in (0, 2, -1) for value in (-5, 2**62)],
        *[("nodes.ptr", at, value) for at in (0, 3, -1) for value in (-5, 2**62)],
        *[("edges.ptr", at, value) for at in (0, -1) for value in (-5, 2**62)],
        *[("nodes.idx", 2, value) for value in (-1, 2**31 - 1)],
        *[("nodes.val", 2, value) for value in (np.nan, np.inf, -1e300)],
    ],
)
def test_encoded_folders_are_checked_number_by_number(
    folder: Path, name: str, at: int, value: float
) -> None:
    forge(folder, name, lambda array: array.__setitem__(at, value))
    assert str(folder) in refused(folder)


def test_encoded_folders_are_checked_for_damage(folder: Path) -> None:
    path = folder / "labels.npy"
    whole = path.read_bytes()
    path.write_bytes(whole[:-4] + bytes([whole[-4] ^ 1]) + whole[-3:])
    assert "checksum" in refused(folder)
    path.write_bytes(whole[:-1])
    assert "cut short" in refused(folder)
    path.write_bytes(whole.replace(b"<i4", b"<f4"))
    assert "not the array" in refused(folder)
    path.unlink()
    assert "labels.npy" in refused(folder)
    path.mkdir()
    assert "labels.npy: Is a directory" in refused(folder)
    path.rmdir()
    os.mkfifo(path)
    assert "not a file" in refused(folder)


@pytest.mark.parametrize(
    "arrays",
    [
        [],
        {"../labels": ["i4", [3], 0]},
        {"": ["i4", [3], 0]},
        {"labels": ["i4", [3]]},
        {"labels": ["O", [3], 0]},
        {"labels": [["i4"], [3], 0]},
        {"labels": ["i4", [-1], 0]},
        {"labels": ["i4", [2**40, 2**40], 0]},
        {"labels": ["i4", [1.5], 0]},
        {"labels": ["i4", "3", 0]},
        {},
    ],
)
def test_encoded_manifests_are_checked(folder: Path, arrays: Any) -> None:
    rewrite(folder, arrays=arrays)
    refused(folder)


WRONG = [None, -1, 2**70, "3", []]
FORGED = [
    *itertools.product(["n_examples", "n_shards", "encoding", "input"], WRONG),
    # What the encoding says of no setting is not read.
    *((name, {"kind": "code"}) for name in ("n_examples", "n_shards", "input")),
]


@pytest.mark.parametrize(("name", "value"), FORGED)
def test_encoded_settings_are_checked(folder: Path, name: str, value: Any) -> None:
    rewrite(folder, **{name: value})
    refused(folder)


# --- what goes wrong ---


def test_encoding_says_what_is_wrong(tmp_path: Path, folder: Path) -> None:
    X, _ = FORMS["dicts"]
    tagger, new = SequenceTagger(), tmp_path / "new"
    once = iter([(X, Y)])
    with pytest.raises(DataError, match="read again"):
        encode(tagger, lambda: once, new)
    with pytest.raises(DataError, match="not a single piece"):
        encode(tagger, lambda: [], new)
    with pytest.raises(DataError, match="piece 1: X has 5 examples"):
        encode(tagger, lambda: [(X, Y), (X, Y[:1])], new)
    with pytest.raises(DataError, match="sample weights"):
        encode(tagger, (X, Y, np.ones(N)), new)
    with pytest.raises(DataError, match="overwrite"):
        encode(tagger, (X, Y), folder)
    with pytest.raises(DataError, match="not written by Partwise"):
        encode(tagger, (X, Y), tmp_path, overwrite=True)
    with pytest.raises(FileNotFoundError, match="no folder"):
        encode(tagger, (X, Y), tmp_path / "a" / "b")
    with pytest.raises(TypeError, match="SequenceTagger and MulticlassClassifier"):
        encode(LatticeRanker(), (X, Y), new)
    with pytest.raises(ModelFileError, match="partwise encode"):
        encoded(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]  # no drafts
    encode(tagger, (X, Y), folder, overwrite=True)


@pytest.mark.parametrize(
    "settings",
    [{"min_count": 3}, {"hash_bits": 4}, {"template": "default"}, {"vectors": "v.txt"}],
)
def test_encoded_corpora_refuse_other_features(
    folder: Path, settings: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"encode the data again|leave out"):
        SequenceTagger(**settings).fit(encoded(folder))


def test_encoded_corpora_refuse_labels_and_other_estimators(folder: Path) -> None:
    with pytest.raises(DataError, match="leave y out"):
        SequenceTagger().fit(encoded(folder), Y)
    with pytest.raises(DataError, match="encoded for SequenceTagger"):
        MulticlassClassifier().fit(encoded(folder))
    with pytest.raises(TypeError, match="fit"):
        SequenceTagger().partial_fit(encoded(folder))


# --- the command line ---


def write_columns(path: Path) -> Path:
    lines = [
        "\n".join(f"{word} {label}" for word, label in zip(words, labels, strict=True))
        for words, labels in zip(WORDS[:N], Y, strict=True)
    ]
    path.write_text("\n\n".join(lines) + "\n")
    return path


@plain
def test_encode_and_train_write_the_model_of_train(tmp_path: Path) -> None:
    data, folder = write_columns(tmp_path / "data.txt"), tmp_path / "folder"
    said = run("encode", data, folder, "--min-count", 2).stdout
    assert f"sentences  {N}" in said
    options = ["--max-iter", 2, "--dev", data, "-q", "--loss", "log_loss"]
    options += ["--solver", "lbfgs"]
    for source, name in ((folder, "there"), (data, "here")):
        more = ["--memory", "64GB"] if source == folder else ["--min-count", 2]
        run("train", "tag", source, "-m", tmp_path / name, *options, *more)
    here, there = (partwise.load(tmp_path / name) for name in ("here", "there"))
    np.testing.assert_array_equal(there.weights_, here.weights_)


def test_encode_refuses_what_cannot_work(tmp_path: Path) -> None:
    data, model = write_columns(tmp_path / "data.txt"), tmp_path / "model"
    folder = tmp_path / "folder"
    run("encode", data, folder, "--json")
    train = ["train", "tag", "-m", model]
    assert "--overwrite" in message("encode", data, folder)
    assert "read twice" in message("encode", "-", tmp_path / "new")
    (tmp_path / "words.txt").write_text("a\nb\n")
    said = message("encode", tmp_path / "words.txt", tmp_path / "new")
    assert "words.txt: has only one column (expected a word and its label)" in said
    assert "columns or CoNLL-U" in message(
        "encode", data, tmp_path / "new", "--format", "crfsuite"
    )
    assert "encode TRAIN first" in message(*train, data, "--memory", "2GB")
    assert "such as 2GB" in message(*train, folder, "--memory", "much")
    assert "more than" in message(*train, folder, "--memory", "1MB")
    assert "leave out" in message(*train, folder, "--features", "ner")
    assert "min_count=1" in message(*train, folder, "--min-count", 3)


def test_encoding_replaces_folders_as_a_whole(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, _ = FORMS["dicts"]
    link = tmp_path / "link"
    link.symlink_to(folder)
    killed = tmp_path / ".folder.0123abcd.part"  # what a run has left
    killed.mkdir()
    (killed / "labels.npy").write_bytes(b"half")
    os.mkfifo(tmp_path / ".folder.4567abcd.part")  # opening it would wait for ever
    with drafts.begun_folder(folder) as busy:
        encode(SequenceTagger(), (X, Y), link, overwrite=True)
        assert busy.is_dir()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "link"]
    assert link.is_symlink()

    before, replace = (folder / MANIFEST).read_bytes(), os.replace

    def fail(source: Path, goal: Path) -> None:
        if goal == folder and (source / "ptr.npy").stat().st_mtime > written:
            raise OSError("no")
        replace(source, goal)

    written = (folder / "ptr.npy").stat().st_mtime
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no"):
        encode(SequenceTagger(min_count=2), (X, Y), folder, overwrite=True)
    assert (folder / MANIFEST).read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "link"]
