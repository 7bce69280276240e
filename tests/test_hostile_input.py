"""Files and inputs made to do harm: a message, no crash, little memory."""

import gzip
import io
import os
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from command_line import message, run
from corruption import Header, join, split
from partwise import (
    DataError,
    ModelFileError,
    MulticlassClassifier,
    SequenceTagger,
    load,
    model_file,
)
from partwise.data import read_csv, read_paragraphs, read_vectors
from partwise.data.files import read_text, replace_file
from partwise.foreign import read_wapiti
from partwise.pages.document import render
from places import GOLDEN

ESCAPE = "\x1b]0;owned\x07"
CONTROLS = set("\x07\x1b\x9b")


def golden(name: str) -> bytes:
    return (GOLDEN / f"{name}-1.partwise").read_bytes()


def forge(name: str, edit: Callable[[Header], None], path: Path) -> Path:
    header, body = split(golden(name))
    edit(header)
    path.write_bytes(join(header, body))
    return path


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


# --- small files, little memory ---


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_model_file_of_many_zero_weights_takes_little_memory(tmp_path: Path) -> None:
    """A parser hashes: it may have 2^28 weights, of which few are not zero."""
    trees = load(GOLDEN / "parser-1.partwise")._trees
    content = model_file.container.parse(golden("parser"), "x")
    n_labels = content.tensors["labels.offsets"].size - 1
    settings = {**content.settings, "trees": {**content.settings["trees"]}}
    settings["trees"]["hash_bits"] = 27
    n_weights = replace(trees, hash_bits=27).n_weights(n_labels)
    settings["n_weights"] = int(n_weights)
    tensors = {**content.tensors, "w.values": np.ones(1)}
    tensors["w.positions"] = np.zeros(1, np.uint32)
    path = tmp_path / "wide"
    model_file.write(path, tensors, settings, kind="model")
    before = resident()
    wide = load(path)
    assert wide.weights_.nbytes > 2**30
    assert resident() - before < 2**27


@pytest.mark.parametrize("n_labels", [20_000, 60_000])
def test_model_file_of_many_labels_makes_no_matrix_of_costs(
    n_labels: int, tmp_path: Path
) -> None:
    content = model_file.container.parse(golden("hidden_markov"), "x")
    labels = model_file.pack_strings([f"{k:05d}" for k in range(n_labels)])
    tensors = dict(content.tensors) | model_file.prefixed("labels", labels)
    settings = {**content.settings, "integer_labels": False}
    path = tmp_path / "many"
    model_file.write(path, tensors, settings, kind="model")
    begin = time.process_time()
    with pytest.raises(ModelFileError, match=f"costs of {n_labels} labels take far"):
        load(path)
    assert time.process_time() - begin < 5.0


def small_crfpp(n_labels: int, n_attributes: int) -> str:
    """Return a text model of CRF++ whose attributes share their weights."""
    labels = "".join(f"{k}\n" for k in range(n_labels))
    attributes = "".join(f"0 U00:{k}\n" for k in range(n_attributes))
    head = f"version: 100\ncost-factor: 1\nmaxid: {n_labels}\nxsize: 1\n\n"
    rest = f"\nU00:%x[0,0]\n\n{attributes}\n" + "0\n" * n_labels
    return head + labels + rest


def small_wapiti(n_labels: int, n_observations: int) -> str:
    """Return a text model of Wapiti whose weights are all zero."""
    labels = "".join(f"5:{k:05d},\n" for k in range(n_labels))
    observed = "".join(f"6:u{k:05d},\n" for k in range(n_observations))
    return (
        f"#mdl#2#0\n#rdr#0/0/0\n#qrk#{n_labels}\n{labels}"
        f"#qrk#{n_observations}\n{observed}"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (small_crfpp(5_000, 1), "transitions between 5000 labels take far more room"),
        (small_crfpp(1_000, 5_000), "two attributes have the same weights"),
        (small_wapiti(5_000, 1), "transitions between 5000 labels take far more room"),
        (f"#mdl#2#{'9' * 5_000}\n#rdr#0/0/0\n#qrk#1\n1:A,\n#qrk#1\n1:b,\n", "expected"),
    ],
)
def test_text_models_ask_for_no_more_than_they_hold(
    text: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "model"
    path.write_text(text)
    tracemalloc.start()
    with pytest.raises(ModelFileError, match=said):
        load(path)
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()


def test_wapiti_model_of_many_zeros_takes_little_memory() -> None:
    tracemalloc.start()
    read_wapiti(small_wapiti(1_000, 5_000).encode())
    assert tracemalloc.get_traced_memory()[1] < 2**25
    tracemalloc.stop()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\3\4",
        b"\x93NUMPY\1\0\x14\0{'descr': '<f4', (((\n",
        b"\x93NUMPY\1\0\x4e\0" + b"{'descr':'<f4','fortran_order':False,"
        b"'shape':(8589934592,99),}".ljust(77) + b"\n",
    ],
)  # fmt: skip
def test_matrix_of_vectors_that_is_damaged_is_refused(
    content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "vectors.npy"
    path.write_bytes(content)
    with pytest.raises(DataError, match="is not a NumPy file"):
        read_vectors(path, words=io.StringIO("a\n"))


def test_matrix_that_promises_what_it_has_not_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npy"
    np.save(path, np.ones((2, 3), np.float32))
    path.write_bytes(
        path.read_bytes().replace(b"(2, 3), }       ", b"(2, 30000000), }")
    )
    tracemalloc.start()
    with pytest.raises(DataError, match="is not a NumPy file"):
        read_vectors(path, words=io.StringIO("a\nb\n"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1e6


def test_text_of_blank_lines_takes_no_more_time_than_its_length(
    tmp_path: Path,
) -> None:
    (tmp_path / "text").write_text("\n" * 400_000 + "word")
    begin = time.process_time()
    found = list(read_paragraphs(tmp_path / "text"))
    assert time.process_time() - begin < 2.0
    assert "".join(one.text for one in found).strip() == "word"


# --- model files ---


def test_model_file_that_is_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a regular file"):
        load(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"solver": "eg"}, "'solver' is unknown"),
        ({"C": -1.0}, "C must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"loss": "log_loss", "margin": "unit"}, "margin='unit' is for loss='hinge'"),
    ],
)
def test_model_file_with_wrong_settings_is_refused(
    params: dict[str, Any], said: str, tmp_path: Path
) -> None:
    def edit(header: Header) -> None:
        header["partwise"]["settings"]["params"] |= params

    with pytest.raises(ModelFileError, match=said):
        load(forge("tagger", edit, tmp_path / "model"))


def test_model_file_with_a_tag_twice_is_refused(tmp_path: Path) -> None:
    content = model_file.container.parse(golden("constituency"), "x")
    tensors = dict(content.tensors)
    ptr, idx = tensors["tag_ptr"].copy(), tensors["tag_idx"]
    (word,) = np.flatnonzero(np.diff(ptr) > 0)[:1]
    ptr[word + 1 :] += 1
    tensors |= {"tag_ptr": ptr, "tag_idx": np.insert(idx, ptr[word], idx[ptr[word]])}
    path = tmp_path / "model"
    model_file.write(path, tensors, content.settings, kind="model")
    with pytest.raises(ModelFileError, match="a word has a tag twice"):
        load(path)


# --- what reaches the terminal ---


def test_terminal_never_sees_escapes_of_files(tmp_path: Path) -> None:
    """Labels, features and file names are printed by inspect, evaluate and errors."""
    X = [[{f"word{ESCAPE}": "a"}, {"word": f"b{ESCAPE}"}]] * 4
    model = SequenceTagger(tol=0.9).fit(X, [[f"N{ESCAPE}", "V\x9b31m"]] * 4)
    path = tmp_path / f"m{ESCAPE}.partwise"
    model.save(path)
    for arguments in (
        ("inspect", path),
        ("inspect", path, "--json"),
        ("inspect", path, "--trace"),
    ):
        shown = run(*arguments).output
        assert not set(shown) & CONTROLS
        assert "owned" in shown
    data = tmp_path / "data"
    data.write_text(f"a\tN{ESCAPE}\nb\tV\x9b31m\n\n")
    path = tmp_path / "columns.partwise"
    run("train", "tag", data, "-m", path, "--max-iter", 3, "--quiet")
    shown = run("evaluate", path, data, "--confusion").output
    assert not set(shown) & CONTROLS
    said = message("inspect", tmp_path / f"none{ESCAPE}")
    assert not set(said) & CONTROLS
    assert "owned" in said
    for arguments in (("inspect", "a", f"b{ESCAPE}\u202e"), (f"b{ESCAPE}\u202e",)):
        said = run(*arguments, code=2).output
        assert not set(said) & {*CONTROLS, "\u202e"}
        assert "owned" in said


def test_pages_hold_no_escapes() -> None:
    """They may be written to a terminal."""
    page = render({"labels": [f"N{ESCAPE}", "V\x9b31m"]}, f"model{ESCAPE}")
    assert not set(page) & CONTROLS
    assert page.count("owned") == 2


# --- tables ---


def table(text: str) -> Any:
    return read_csv(io.StringIO(text))


def test_table_with_a_newline_in_quotes_is_one_cell() -> None:
    found = table('a,b\n"one\ntwo",2\n3,"say ""so"""\n')
    assert found.cells == [["one\ntwo", "3"], ["2", 'say "so"']]
    assert found.lines == [2, 4]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a,b\n1,2\n3,4\r5,6\n", 3),
        ("a,b\n1,2\n" + "x" * 200_000 + ",2\n", 3),
        ('a,b\n1,2\n"never closed,2\n3,4\n', 3),
        ('a,b\n"one" two,2\n', 2),
    ],
)
def test_table_that_is_damaged_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(DataError) as caught:
        table(text)
    assert caught.value.line == line


def test_table_of_many_columns_is_read_in_time_that_grows_with_it() -> None:
    names = ",".join(f"c{k}" for k in range(20_000))
    begin = time.process_time()
    assert len(table(f"{names}\n{names}\n").columns) == 20_000
    assert time.process_time() - begin < 2.0


def test_gzip_of_many_members_is_read_in_time_that_grows_with_it() -> None:
    packed = gzip.compress(b"a\n") * 20_000
    begin = time.process_time()
    assert read_text(io.BytesIO(packed)) == "a\n" * 20_000
    assert time.process_time() - begin < 5.0


def test_gzip_that_unpacks_without_end_is_refused() -> None:
    bomb = gzip.compress(b"a" * 15_000_000) * 20
    before = resident()
    with pytest.raises(DataError, match=r"over 200 times .*gunzip"):
        read_text(io.BytesIO(bomb))
    assert resident() - before < 200 * 2**20


# --- features and matrices ---


def test_features_nested_too_deep_are_refused() -> None:
    deep: Any = "leaf"
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(DataError, match="too many inside each other"):
        SequenceTagger().fit([[deep]], [["N"]])
    while isinstance(deep, dict):  # not by recursion
        deep = deep.pop("a")


def broken(format: str) -> Any:
    X = scipy.sparse.csr_array(np.eye(4)).asformat(format)
    if format == "coo":
        X.col[1] = 2**20
    else:
        X.indptr[1] = 2**20
    return X


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_sparse_matrix_with_broken_arrays_is_refused(format: str) -> None:
    with pytest.raises(DataError, match="X: not a valid sparse matrix"):
        MulticlassClassifier().fit(broken(format), [0, 1, 0, 1])


def test_sparse_matrix_of_too_many_columns_is_refused() -> None:
    X = scipy.sparse.csr_array((2, 2**31))
    with pytest.raises(DataError, match="2147483648 columns are more than"):
        MulticlassClassifier().fit(X, [0, 1])


def test_prediction_is_of_one_fit_while_another_thread_fits() -> None:
    """The model changes in the middle of a call, as another thread may do it."""
    small = MulticlassClassifier(tol=0.9).fit([{"a": True}, {"b": True}], [0, 1])
    names = [{f"f{k}": True} for k in range(50)]
    large = MulticlassClassifier(tol=0.9).fit(names, list(range(50)))

    def rows() -> Any:
        yield {"f40": True}
        large.__dict__ = small.__dict__
        yield {"f41": True}

    assert set(large.predict(rows())) <= set(range(50))
    assert large.weights_ is small.weights_


# --- files that are written ---


def test_predict_does_not_overwrite_its_input(tmp_path: Path) -> None:
    data, link = tmp_path / "data", tmp_path / "link"
    data.write_text("a\n")
    os.link(data, link)
    for target in (data, link):
        said = message("predict", GOLDEN / "tagger-1.partwise", data, "-o", target)
        assert "--output and INPUT are the same file" in said
    assert data.read_text() == "a\n"


def test_file_on_a_full_disk_is_named(tmp_path: Path) -> None:
    goal = tmp_path / "model"
    with pytest.raises(OSError, match="model") as caught:
        with replace_file(goal):
            raise OSError(28, "No space left on device")
    assert caught.value.filename == str(goal)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_device_that_is_full_is_named() -> None:
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        with replace_file("/dev/full") as out:
            out.write(b"too much")


def test_draft_of_a_killed_process_is_removed_by_the_next(tmp_path: Path) -> None:
    goal = tmp_path / "model"
    child = os.fork()
    if child == 0:
        with replace_file(goal) as out:
            out.write(b"half")
            out.flush()
            os.kill(os.getpid(), 9)
    os.waitpid(child, 0)
    assert len(list(tmp_path.iterdir())) == 1
    with replace_file(goal) as out:
        out.write(b"whole")
        with replace_file(goal) as other:  # at the same time: both drafts are in use
            other.write(b"other")
    assert goal.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [goal]


def test_too_little_memory_is_said_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text").write_text("a b\n")

    def load(path: str) -> None:
        raise MemoryError("Unable to allocate 7. TiB")

    monkeypatch.setattr("partwise.load", load)
    said = message("predict", GOLDEN / "tagger-1.partwise", tmp_path / "text")
    assert said == "error: Unable to allocate 7. TiB"
