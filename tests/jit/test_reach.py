"""What reaches a kernel: whatever changes the machine code changes the digest."""

import types
from collections.abc import Callable
from typing import Any

import pytest

from partwise._jit.reach import Reach

START = """
import enum, math
from typing import NamedTuple
import numpy as np
from partwise._jit import kernel


class Mode(enum.IntEnum):
    SLOW = 1
    FAST = 2


class Pair(NamedTuple):
    a: float
    b: float


KIND = np.float32
squash = np.tanh
round_it = math.floor
PAIR = Pair(1.0, 2.0)
TABLE = np.array([1.0, 2.0])
NESTED = ((1, 2), 3)


@kernel
def up(x):
    return x + 1


@kernel
def down(x):
    return x - 1


def scaled(x, by=2.0, plus=3.0, *, minus=4.0):
    return x * by + plus - minus


def make(step):
    def moved(x):
        return x + step
    return moved


moved = make(1)


def main(x):
    \"\"\"Say nothing that matters.\"\"\"
    y = 10 * up(x) + down(x) + scaled(x) + moved(x) + NESTED[0][0]
    y += round_it(squash(KIND(x))) + PAIR.a + TABLE[0]
    return y if x == Mode.FAST else 0
"""


def digest(source: str) -> str:
    module = types.ModuleType("kernels_of_a_test")
    exec(source, module.__dict__)
    main: Callable[..., Any] = module.main
    return Reach(getattr(main, "py_func", main)).digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("np.float32", "np.float64"),
        ("np.tanh", "np.sin"),
        ("math.floor", "math.ceil"),
        ("FAST = 2", "FAST = 3"),
        ("    a: float\n    b: float", "    b: float\n    a: float"),
        ("Pair(1.0, 2.0)", "Pair(2.0, 1.0)"),
        ("[1.0, 2.0]", "[1.0, 3.0]"),
        ("((1, 2), 3)", "((1, 3), 3)"),
        ("by=2.0, plus=3.0", "by=3.0, plus=2.0"),
        ("minus=4.0", "minus=5.0"),
        ("make(1)", "make(2)"),
        ("x + 1", "x + 2"),
        ("10 * up(x) + down(x)", "10 * down(x) + up(x)"),
    ],
)
def test_reach_sees_every_change(old: str, new: str) -> None:
    assert old in START
    assert digest(START.replace(old, new)) != digest(START)


def test_reach_sees_two_functions_that_change_places() -> None:
    swapped = START.replace("x + 1", "x ? 1").replace("x - 1", "x + 1")
    assert digest(swapped.replace("x ? 1", "x - 1")) != digest(START)


def test_reach_sees_constants_of_one_name_that_change_places() -> None:
    source = """
import types
first, second = types.ModuleType("first"), types.ModuleType("second")
exec("SCALE = {0}\\ndef by(x):\\n    return x * SCALE", first.__dict__)
exec("SCALE = {1}\\ndef by(x):\\n    return SCALE * x", second.__dict__)
one, other = first.by, second.by
def main(x):
    return one(x) + 10 * other(x)
"""
    assert digest(source.format(1.0, 2.0)) != digest(source.format(2.0, 1.0))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Say nothing that matters.", "Say something else."),
        ("squash = np.tanh", "unused = 5\nsquash = np.tanh"),
        ("SLOW = 1", "# a comment\n    SLOW = 1"),
    ],
)
def test_reach_does_not_see_what_changes_nothing(old: str, new: str) -> None:
    assert digest(START.replace(old, new)) == digest(START)
    assert digest(START) == digest(START)
