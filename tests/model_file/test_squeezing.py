"""Tensors in less space come back bit by bit, and no small file fills the memory."""

import zlib

import numpy as np
import pytest

from partwise import ModelFileError
from partwise.model_file import Content
from partwise.model_file.squeezing import MOST_PER_BYTE, expand, squeeze


def content(tensors: dict, squeezed: object) -> Content:
    return Content(tensors, {"squeezed": squeezed}, "model", 1, "a.partwise")


def test_squeezed_tensors_come_back() -> None:
    rng = np.random.default_rng(0)
    tensors = {
        "normal": rng.normal(size=2000).astype(np.float32),
        "sorted": np.sort(rng.integers(0, 10**6, 3000)).astype(np.uint32),
        "table": rng.integers(-1, 50, (500, 4)).astype(np.int32),
        "again": np.arange(4000),
        "and again": np.arange(4000),
        "odd": np.array([np.nan, -0.0, np.inf] * 200),
        "zeros": np.zeros(10**6),
        "bytes": rng.integers(0, 255, 5000).astype(np.uint8),
        "small": np.arange(3),
        "none": np.zeros((0, 4), np.int32),
    }
    stored, settings = squeeze(tensors)
    assert settings["and again"] == "again"
    assert stored["sorted"].nbytes < tensors["sorted"].nbytes / 2
    found = expand(content(stored, settings)).tensors
    assert found.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert found[name].dtype == tensor.dtype
        assert found[name].shape == tensor.shape
        assert found[name].tobytes() == tensor.tobytes()
        assert found[name].flags.writeable


def test_squeezing_leaves_other_files_as_they_are() -> None:
    plain = Content({"w": np.zeros(3)}, {}, "model", 1, "a.partwise")
    assert expand(plain) is plain


BYTES = np.frombuffer(zlib.compress(bytes(64)), np.uint8)


@pytest.mark.parametrize(
    ("squeezed", "said"),
    [
        ({"w": ["uint8", [MOST_PER_BYTE * (BYTES.size + 30) + 1]]}, "ask for more"),
        ({"w": ["uint8", [64]], "raw": ["uint8", [1000]]}, "ask for more"),
        ({"w": ["float64", [10**30]]}, "ask for more"),
        ({"w": ["uint8", [63]]}, "damaged"),
        ({"w": ["uint8", [65]]}, "damaged"),
        ({"w": ["uint8", [-64, -1]]}, "damaged"),
        ({"w": ["uint8", []]}, "damaged"),
        ({"w": ["uint8", [1] * 9]}, "damaged"),
        ({"w": ["object", [64]]}, "damaged"),
        ({"w": ["uint8"]}, "damaged"),
        ({"w": "v"}, "damaged"),
        ({"v": 3}, "damaged"),
        ({"v": "u", "u": "v"}, "damaged"),
        ({"v": ["uint8", [64]]}, "no tensor 'v'"),
        ({"raw": ["uint8", [64]]}, "damaged"),
        ([], "squeezed"),
    ],
)
def test_squeezing_refuses_what_was_never_squeezed(squeezed: object, said: str) -> None:
    tensors = {"w": BYTES, "raw": np.zeros(30, np.uint8)}
    with pytest.raises(ModelFileError, match=said):
        expand(content(tensors, squeezed))
