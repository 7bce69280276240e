"""Tuples in memory lie as machine code expects them, whatever is in them."""

import itertools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import drivers
from partwise._jit import generic, image, kernel
from partwise.structures.interface import Structure


class Mixed(NamedTuple):
    parts: Any


@generic
def sum_of(s: "Structure", weight: "float") -> float:
    raise NotImplementedError("only of what is mixed")


@sum_of.implement(Mixed)
def _(s, weight):
    return weight * (
        s.parts[0] + 10 * s.parts[1] + 100 * s.parts[2] + 1000 * s.parts[3][0]
    )


@kernel
def ask(s: "Structure", weight):
    return sum_of(s, weight)


NUMBERS = (True, 2, 3.0, np.int32(4), np.float32(5.0), np.bool_(True), np.int64(6))


@pytest.mark.skipif(not drivers.IS_COMPILED, reason="nothing is compiled here")
@pytest.mark.parametrize("inner", [True, np.int32(7), 8.0])
def test_image_is_read_as_it_was_written(inner: Any) -> None:
    for a, b, c in itertools.islice(itertools.permutations(NUMBERS, 3), 0, None, 29):
        s = Mixed((a, b, c, (inner, True), False))
        expected = float(a) + 10 * float(b) + 100 * float(c) + 1000 * float(inner)
        assert ask(s, 1.0) == expected


def test_image_has_room_at_the_end_of_tuples() -> None:
    assert image.make_image((1, True)).size == 16
    assert image.make_image(((1, True), True)).size == 24
    assert image.make_image((True, (True, 2), True)).size == 32
    assert image.make_image((True, False)).size == 2
    assert image.make_image((True, np.int32(1))).size == 8


def test_image_of_the_last_small_tuple_is_made_once() -> None:
    small, large = (np.zeros(3),), (np.zeros(image.SMALL),)
    assert image.image_of(small) is image.image_of(small)
    assert image.image_of(large) is not image.image_of(large)
    assert image.image_of((np.zeros(3),)) is not image.image_of(small)


def test_image_knows_where_arrays_are(tmp_path: Path) -> None:
    path = tmp_path / "numbers.npy"
    np.save(path, np.arange(4.0))
    for array in (np.arange(3), np.zeros((2, 2)), np.load(path, mmap_mode="r")):
        found = image.make_image((array,)).memory[4]
        assert found == array.__array_interface__["data"][0]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.zeros((3, 3)).T[:2], "C-contiguous"),
        (2**64, "more than 64 bits"),
        ("text", "not str"),
        ([1, 2], "not list"),
    ],
)
def test_image_refuses_what_machine_code_cannot_read(value: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        image.make_image((value,))
