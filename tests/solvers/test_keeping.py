"""What a class names as kept is written and comes back, whatever it is made of."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from partwise.solvers.base import State
from partwise.solvers.keeping import Keeper
from partwise.solvers.registry import all_solvers


class Pair(NamedTuple):
    left: Any
    right: Any


class Inner(Keeper):
    kept = ("count", "order")

    def __init__(self) -> None:
        self.count, self.order = 0, [0]


class Outer(Keeper):
    kept = ("w", "rows", "pair", "done", "rate", "inner", "fixed.left")
    growing = ("rows",)

    def __init__(self) -> None:
        self.w, self.rows = np.zeros(2), np.zeros((0, 3), np.int32)
        self.pair = Pair(np.zeros(1), np.zeros(2, np.int64))
        self.done, self.rate = False, np.inf
        self.inner, self.fixed = Inner(), Pair(np.zeros(2), np.zeros(2))
        self.hooks = 0

    def restored(self) -> None:
        self.hooks += 1


def filled() -> Outer:
    one = Outer()
    one.w[:], one.rows = [1.5, -2.0], np.ones((4, 3), np.int32)
    one.pair = Pair(np.array([0.1]), np.array([7, 8]))
    one.done, one.rate = True, 0.1
    one.inner.count, one.inner.order = 9, [2, 0, 1]
    one.fixed.left[:] = 3.0
    one.fixed.right[:] = 4.0
    return one


def test_keeper_comes_back_as_it_was() -> None:
    one, other = filled(), Outer()
    left = other.fixed.left
    other.restore(one.tensors())
    for name, array in one.tensors().items():
        np.testing.assert_array_equal(other.tensors()[name], array, err_msg=name)
    assert (other.done, other.rate, other.inner.count) == (True, 0.1, 9)
    assert [type(x) for x in (other.done, other.rate, other.inner.count)] == [
        bool, float, int,
    ]  # fmt: skip
    assert other.inner.order == [2, 0, 1]
    assert isinstance(other.pair, Pair)
    assert other.fixed.left is left, "a dotted name is filled in place"
    assert other.fixed.right.tolist() == [0.0, 0.0], "and only that"
    assert other.hooks == 1


def test_keeper_shares_no_array_with_what_it_came_from() -> None:
    one, other = filled(), Outer()
    other.restore(one.tensors())
    for name, array in one.tensors().items():
        assert not np.shares_memory(other.tensors()[name], array), name


def test_keeper_takes_back_only_what_is_asked_for() -> None:
    other = Outer()
    other.take_back(filled().tensors(), ("rate",))
    assert other.rate == 0.1
    assert other.w.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", sorted(filled().tensors()))
def test_keeper_refuses_what_is_missing_or_of_another_type(name: str) -> None:
    tensors = filled().tensors()
    wrong = tensors | {name: tensors[name].astype(np.float32)}
    with pytest.raises(ValueError, match="float32"):
        Outer().restore(wrong)
    del tensors[name]
    with pytest.raises(ValueError, match="missing"):
        Outer().restore(tensors)


@pytest.mark.parametrize("name", ["w", "pair.left", "rate", "fixed.left"])
def test_keeper_refuses_another_length_unless_it_may_grow(name: str) -> None:
    tensors = filled().tensors()
    longer = tensors | {name: np.append(tensors[name], 1.0)}
    with pytest.raises(ValueError, match="shape"):
        Outer().restore(longer)
    Outer().restore(tensors | {"rows": np.ones((9, 3), np.int32)})


def test_states_name_all_they_keep_once() -> None:
    all_solvers()  # imports every file
    waiting, seen = [State], 0
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        if cls.__module__.startswith("partwise."):
            seen += 1
            assert not {"tensors", "restore"} & set(vars(cls)), cls
            assert len(set(cls.kept)) == len(cls.kept), cls
            assert set(cls.growing) <= set(cls.kept), cls
    assert seen > 15
