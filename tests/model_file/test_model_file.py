import json
import os
import stat
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy
from safetensors.numpy import load_file, save_file

from corruption import corruptions, join, split
from partwise.errors import ModelFileError
from partwise.model_file import (
    FORMAT_VERSION,
    Content,
    check_writable,
    pack_sparse,
    pack_strings,
    prefixed,
    read,
    unpack_sparse,
    unpack_strings,
    write,
)
from partwise.model_file.container import MAX_HEADER, parse

LABELS = ["B-NP", "I-NP", "O", "é"]
N_ATTRIBUTES = 30


def example() -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    rng = np.random.default_rng(0)
    w = np.where(rng.random(len(LABELS) * N_ATTRIBUTES) < 0.2, 1.5, 0.0)
    tensors = {
        "ptr": np.array([0, 2, 2, 5]),
        "idx": np.array([0, 3, 1, 2, 3], np.int32),
        "matrix": rng.normal(size=(3, 2)),
        "empty": np.zeros((0, 4), np.float32),
        "scalar": np.array(7, np.uint32),
        **prefixed("labels", pack_strings(LABELS)),
        **prefixed("weights", pack_sparse(w)),
    }
    settings = {
        "C": 0.1,
        "loss": "squared_hinge",
        "n_attributes": N_ATTRIBUTES,
        "encoder": {"min_count": 2, "names": ["w", "é"]},
    }
    return tensors, settings


def load_example(content: Content) -> np.ndarray:
    """Load as a loader should: every field by name, type and size."""
    content.setting("C", float, above=0)
    content.setting("loss", str, choices=("hinge", "squared_hinge"))
    n_attributes = content.setting("n_attributes", int, at_least=0, below=1000)
    encoder = content.part("encoder")
    encoder.setting("min_count", int, at_least=1)
    encoder.setting("names", list)
    labels = content.part("labels")
    names = unpack_strings(labels.tensors, unique=True, source=labels.source)
    idx = content.tensor("idx", dtype=np.int32, at_least=0, below=len(names))
    content.pointers("ptr", end=idx.size)
    content.tensor("matrix", dtype=np.float64, ndim=2)
    content.tensor("empty", dtype=np.float32, shape=(0, 4))
    content.tensor("scalar", dtype=np.uint32, ndim=0)
    weights = content.part("weights")
    return unpack_sparse(weights.tensors, len(names) * n_attributes)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "example.partwise"
    tensors, settings = example()
    write(path, tensors, settings, kind="model")
    return path


# The container


def test_model_file_returns_what_was_written(path: Path) -> None:
    tensors, settings = example()
    content = read(path, kind="model")
    assert content.settings == settings
    assert (content.kind, content.format_version) == ("model", FORMAT_VERSION)
    assert content.tensors.keys() == tensors.keys()
    for name, tensor in tensors.items():
        found = content.tensors[name]
        assert (found.dtype, found.shape) == (tensor.dtype, tensor.shape)
        assert found.tobytes() == tensor.tobytes()
        # Kernels are compiled for writeable, aligned arrays only.
        assert found.flags.writeable
        assert found.flags.aligned
    load_example(content)


def test_model_file_is_a_safetensors_file(path: Path) -> None:
    tensors, _ = example()
    assert load_file(path).keys() == tensors.keys()


def test_model_file_same_content_gives_same_bytes(path: Path, tmp_path: Path) -> None:
    tensors, settings = example()
    backwards = dict(reversed(tensors.items()))
    write(tmp_path / "again", backwards, settings, kind="model")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    "tensor",
    [np.arange(12.0).reshape(3, 4).T, np.arange(10)[::3], np.arange(3, dtype=">i4")],
    ids=["transposed", "strided", "big-endian"],
)
def test_model_file_takes_any_memory_layout(tmp_path: Path, tensor: Any) -> None:
    write(tmp_path / "file", {"x": tensor}, {}, kind="model")
    np.testing.assert_array_equal(read(tmp_path / "file").tensors["x"], tensor)


def test_model_file_keeps_odd_settings(tmp_path: Path) -> None:
    settings = {"gap": float("inf"), "name": "\ud800\0é", "partwise": '"checksum":"'}
    write(tmp_path / "file", {}, settings, kind="model")
    assert read(tmp_path / "file").settings == settings


@pytest.mark.parametrize(
    ("tensors", "settings", "error"),
    [
        ({"x": np.array([True])}, {}, TypeError),
        ({"x": np.array(["a"])}, {}, TypeError),
        ({"x": np.array([None])}, {}, TypeError),
        ({}, {"x": np.float32(1)}, TypeError),
        ({}, {"x": "y" * MAX_HEADER}, ValueError),
    ],
)
def test_model_file_refuses_what_it_cannot_hold(
    path: Path, tensors: Any, settings: Any, error: type[Exception]
) -> None:
    before = path.read_bytes()
    with pytest.raises(error, match=r"tensor|settings"):
        write(path, tensors, settings, kind="model")
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"{}", "not a Partwise file"),
        (b"word NNP B-NP\n" * 50, "not a Partwise file"),
        (b"\x1f\x8b\x08" + bytes(100), "not a Partwise file"),
        (b"\x80\x04\x95" + bytes(100), "not a Partwise file"),
        ((2**63).to_bytes(8, "little") + b"{}", "not a Partwise file"),
        ((5000).to_bytes(8, "little") + b"{}", "cut short"),
        ((8).to_bytes(8, "little") + b"[1, 2, 3", "not a Partwise file"),
        ((2).to_bytes(8, "little") + b"{}", "not one of Partwise"),
    ],
)
def test_model_file_explains_foreign_files(
    tmp_path: Path, data: bytes, message: str
) -> None:
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(ModelFileError, match=f"file: .*{message}"):
        read(tmp_path / "file")


def test_model_file_explains_foreign_safetensors(tmp_path: Path) -> None:
    save_file({"x": np.zeros(3)}, tmp_path / "file", metadata={"format": "np"})
    with pytest.raises(ModelFileError, match="a safetensors file, but not one of"):
        read(tmp_path / "file")


def test_model_file_explains_folders_and_missing_files(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="a folder"):
        read(tmp_path)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "missing")


def test_model_file_does_not_wait_for_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a regular file"):
        read(tmp_path / "pipe")


def test_model_file_explains_truncation_and_damage(path: Path) -> None:
    data = path.read_bytes()
    with pytest.raises(ModelFileError, match="cut short"):
        parse(data[:100], "file")
    with pytest.raises(ModelFileError, match="damaged"):
        parse(data[:-1], "file")


def test_model_file_explains_newer_versions(path: Path) -> None:
    header, body = split(path.read_bytes())
    header["partwise"] = {"checksum": "0" * 64, "format": 3}
    with pytest.raises(
        ModelFileError,
        match=r"written by a newer Partwise \(format 3; this one reads up to 1\): upg",
    ):
        parse(join(header, body), "file")


def test_model_file_checks_the_kind(path: Path) -> None:
    with pytest.raises(ModelFileError, match="kind 'model', expected 'checkpoint'"):
        read(path, kind="checkpoint")


def test_model_file_survives_deeply_nested_json(path: Path) -> None:
    header, body = split(path.read_bytes())
    text = json.dumps(header["partwise"]).replace("0.1", "[" * 10**5 + "]" * 10**5)
    del header["partwise"]
    header["__metadata__"] = {"partwise": text}
    packed = json.dumps(header).encode()
    with pytest.raises(ModelFileError):
        parse(len(packed).to_bytes(8, "little") + packed + body, "file")
    nested = b"[" * 10**6
    with pytest.raises(ModelFileError):
        parse(len(nested).to_bytes(8, "little") + nested, "file")


def test_corruption_takes_files_apart_and_together(path: Path) -> None:
    # Otherwise every forgery would be found for a reason of its own making.
    content = parse(join(*split(path.read_bytes())), "file")
    np.testing.assert_array_equal(load_example(content), load_example(read(path)))


def test_model_file_finds_every_accident(path: Path) -> None:
    for damaged in corruptions(path.read_bytes(), 3000, seed=1, forged=0.0):
        with pytest.raises(ModelFileError, match=r"^file: "):
            parse(damaged, "file", kind="model")


def test_model_file_forgeries_fail_cleanly_in_little_memory(path: Path) -> None:
    data = path.read_bytes()
    loaded = refused = 0
    tracemalloc.start()
    try:
        for damaged in corruptions(data, 3000, seed=2, forged=1.0):
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            try:
                load_example(parse(damaged, "file", kind="model"))
                loaded += 1
            except ModelFileError:
                refused += 1
            _, peak = tracemalloc.get_traced_memory()
            # Python objects for the header dominate; a believed size would not fit.
            assert peak - before < 200_000
    finally:
        tracemalloc.stop()
    # Most forgeries are refused; changed weights are still weights.
    assert refused > 2 * loaded > 0


# Where it is written


def test_check_writable_leaves_no_trace(tmp_path: Path) -> None:
    check_writable(tmp_path / "new")
    assert os.listdir(tmp_path) == []
    (tmp_path / "old").write_text("old")
    check_writable(tmp_path / "old")
    assert (tmp_path / "old").read_text() == "old"


def test_check_writable_explains_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileNotFoundError, match="no folder"):
        check_writable(tmp_path / "missing" / "model")
    with pytest.raises(NotADirectoryError, match="not a folder"):
        check_writable(tmp_path / "file" / "model")
    with pytest.raises(IsADirectoryError, match="a folder"):
        check_writable(tmp_path)
    with pytest.raises(OSError, match="not a regular file"):
        check_writable("/dev/null")

    def refuse(**_: Any) -> None:
        raise OSError(30, "Read-only file system")

    # The superuser may write anywhere, so a refusal has to be played.
    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    with pytest.raises(PermissionError, match=r"cannot write in .* Read-only"):
        check_writable(tmp_path / "model")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_check_writable_respects_permissions(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "file").chmod(0o444)
    with pytest.raises(PermissionError, match="read-only"):
        check_writable(tmp_path / "file")
    tmp_path.chmod(0o555)
    with pytest.raises(PermissionError, match="cannot write"):
        check_writable(tmp_path / "new")


def test_write_keeps_permission_bits(tmp_path: Path) -> None:
    path = tmp_path / "model"
    (tmp_path / "other").write_text("")
    write(path, {}, {}, kind="model")
    expected = (tmp_path / "other").stat().st_mode
    assert path.stat().st_mode == expected
    path.chmod(0o640)
    write(path, {}, {}, kind="model")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_write_follows_links(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write(tmp_path / "link", {}, {"a": 1}, kind="model")
    assert (tmp_path / "link").is_symlink()
    assert read(tmp_path / "target").settings == {"a": 1}


def test_write_that_fails_leaves_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = path.read_bytes()

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        write(path, {"x": np.zeros(1000)}, {}, kind="model")
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


# The checked view


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("missing", {"dtype": np.int32}, "no tensor 'missing'"),
        ("idx", {"dtype": np.int64}, "'idx' holds int32, expected int64"),
        ("idx", {"dtype": np.int32, "ndim": 2}, r"shape \(5,\), expected 2 dim"),
        ("idx", {"dtype": np.int32, "length": 4}, "length 4"),
        ("idx", {"dtype": np.int32, "shape": (5, 1)}, r"expected shape \(5, 1\)"),
        ("idx", {"dtype": np.int32, "at_least": 1}, "values below 1"),
        ("idx", {"dtype": np.int32, "below": 3}, "not below 3"),
        ("scalar", {"dtype": np.uint32, "length": 1}, "length 1"),
        ("nan", {"dtype": np.float64}, "not finite"),
    ],
)
def test_content_tensor_names_file_and_field(
    name: str, arguments: dict[str, Any], message: str
) -> None:
    tensors = {**example()[0], "nan": np.array([1.0, np.nan])}
    content = Content(tensors, {}, "model", 1, "a.partwise")
    with pytest.raises(ModelFileError, match=f"^a.partwise: .*{message}"):
        content.tensor(name, **arguments)


@pytest.mark.parametrize(
    "pointers",
    [[], [0], [0, 4], [1, 5], [0, 6], [0, 5, 4, 5], [0, 2**62, -(2**62), 5], [5]],
)
def test_content_pointers_refuse_anything_but_cuts(pointers: list[int]) -> None:
    tensors = {"ptr": np.array(pointers, np.int64)}
    content = Content(tensors, {}, "model", 1, "a.partwise")
    with pytest.raises(ModelFileError, match="'ptr' does not lead from 0 to 5"):
        content.pointers("ptr", end=5)


@pytest.mark.parametrize(
    ("value", "kind", "arguments", "message"),
    [
        ("1", int, {}, "'1', expected a value of type int"),
        (True, int, {}, "type int"),
        (1, bool, {}, "type bool"),
        (1.0, int, {}, "type int"),
        (None, dict, {}, "type dict"),
        (10**400, float, {}, "finite"),
        (float("nan"), float, {}, "finite"),
        (float("nan"), float, {"finite": False, "above": 0}, "above 0"),
        (0, float, {"above": 0}, "is 0.0, expected above 0"),
        (3, int, {"below": 3}, "below 3"),
        (3, int, {"at_least": 4}, "at least 4"),
        ("x" * 999, str, {"choices": ("a", "b")}, r"x\.\.\., expected one of 'a', 'b'"),
    ],
)
def test_content_setting_names_file_and_field(
    value: Any, kind: type, arguments: dict[str, Any], message: str
) -> None:
    content = Content({}, {"x": value}, "model", 1, "a.partwise")
    with pytest.raises(ModelFileError, match=f"^a.partwise: setting 'x' .*{message}"):
        content.setting("x", kind, **arguments)


def test_content_setting_takes_integers_as_floats() -> None:
    content = Content({}, {"C": 1}, "model", 1, "a.partwise")
    assert type(content.setting("C", float)) is float
    with pytest.raises(ModelFileError, match="no setting 'D'"):
        content.setting("D", float)


# Strings and weights


@given(st.lists(st.text(st.characters(codec=None), max_size=5)))
def test_strings_survive(strings: list[str]) -> None:
    assert unpack_strings(pack_strings(strings), length=len(strings)) == strings


@pytest.mark.parametrize(
    ("data", "offsets", "arguments", "message"),
    [
        (b"ab", [0, 1], {}, "does not lead from 0 to 2"),
        (b"ab", [0, 2], {"length": 2}, "length 3"),
        (b"abab", [0, 2, 4], {"unique": True}, "twice"),
        (b"\xff", [0, 1], {}, "not valid UTF-8"),
        ("é".encode(), [0, 1, 2], {}, "not valid UTF-8"),
    ],
)
def test_strings_refuse_what_packing_never_makes(
    data: bytes, offsets: list[int], arguments: dict[str, Any], message: str
) -> None:
    tensors = {
        "bytes": np.frombuffer(data, np.uint8),
        "offsets": np.array(offsets, np.int64),
    }
    with pytest.raises(ModelFileError, match=message):
        unpack_strings(tensors, **arguments)


weights = st_numpy.arrays(
    np.float64,
    st.integers(0, 30),
    elements=st.floats(-1e9, 1e9),
    fill=st.just(0.0),
)


@given(weights)
def test_sparse_weights_survive(w: np.ndarray) -> None:
    packed = pack_sparse(w)
    np.testing.assert_array_equal(unpack_sparse(packed, w.size), w)
    assert sum(tensor.nbytes for tensor in packed.values()) <= w.nbytes


@given(weights)
def test_sparse_weights_survive_rounded(w: np.ndarray) -> None:
    packed = pack_sparse(w, dtype=np.float32)
    assert packed["values"].dtype == np.float32
    np.testing.assert_array_equal(unpack_sparse(packed, w.size), w.astype(np.float32))


def test_sparse_weights_do_not_store_zeros() -> None:
    w = np.zeros(1000)
    w[::2] = -0.0
    w[7] = 1e-60
    assert pack_sparse(w)["values"].tolist() == [1e-60]
    assert pack_sparse(w, dtype=np.float32)["values"].tolist() == []


@pytest.mark.parametrize(
    ("w", "dtype"),
    [
        ([np.nan], np.float64),
        ([np.inf], np.float64),
        ([1e39], np.float32),
        ([[1.0]], np.float64),
        ([1.0], np.float16),
    ],
)
def test_sparse_weights_refuse_what_cannot_be_stored(w: Any, dtype: Any) -> None:
    with pytest.raises(ValueError, match="weights"):
        pack_sparse(np.array(w), dtype=dtype)


@pytest.mark.parametrize(
    ("values", "positions", "size", "message"),
    [
        ([1.0, 2.0], None, 3, "2 weights, expected 3"),
        ([1.0, 2.0], [0], 3, "length 2"),
        ([1.0, 2.0], [0, 3], 3, "not below 3"),
        ([1.0, 2.0], [1, 1], 3, "do not increase"),
        ([1.0, 2.0], [2, 1], 3, "do not increase"),
        ([np.inf, 2.0], [1, 2], 3, "not finite"),
        ([1.0, 2.0], [1, 2], 2**40, "more than the"),
    ],
)
def test_sparse_weights_refuse_what_packing_never_makes(
    values: list[float], positions: list[int] | None, size: int, message: str
) -> None:
    tensors: dict[str, np.ndarray] = {"values": np.array(values)}
    if positions is not None:
        tensors["positions"] = np.array(positions, np.uint32)
    with pytest.raises(ModelFileError, match=message):
        unpack_sparse(tensors, size)
