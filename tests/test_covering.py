"""Of large matrices of tests a third runs every day, and every value is met."""

import gc
from collections.abc import Iterator

import pytest

import covering

pytest_plugins = ["pytester"]

MATRIX = """
import pytest

@pytest.mark.parametrize("solver", ["a", "b", "c", "d", "e"])
@pytest.mark.parametrize("structure", range(8))
def test_large(solver, structure): pass

@pytest.mark.parametrize("solver", ["a", "b", "c", "d", "e"])
@pytest.mark.parametrize("structure", range(2))
def test_small(solver, structure): pass

@pytest.mark.parametrize("solver", range(40))
def test_line(solver): pass

def test_point(): pass
"""


@pytest.fixture
def nothing_to_collect() -> Iterator[None]:
    """Let no collection look through all that the suite has made: pytester asks for it.

    It takes seconds in a worker that has compiled much.
    """
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def items(nothing_to_collect: None, pytester: pytest.Pytester) -> list[pytest.Item]:
    return pytester.getitems(MATRIX)


def test_covering_leaves_a_third_of_a_matrix(items: list[pytest.Item]) -> None:
    gone = list(covering.left_over(items))
    assert {item.nodeid.partition("[")[0].partition("::")[2] for item in gone} == {
        "test_large"
    }
    assert len(gone) == 40 - 13


def test_covering_meets_every_value(items: list[pytest.Item]) -> None:
    gone = {item.nodeid for item in covering.left_over(items)}
    kept = [item for item in items if "large" in item.name and item.nodeid not in gone]
    met = [item.callspec.params for item in kept]  # type: ignore[attr-defined]
    assert {one["solver"] for one in met} == set("abcde")
    assert {one["structure"] for one in met} == set(range(8))


def test_covering_is_the_same_every_time(items: list[pytest.Item]) -> None:
    first, again = (list(covering.left_over(some)) for some in (items, items[::-1]))
    assert {one.nodeid for one in first} == {one.nodeid for one in again}


def test_covering_thirds_are_all_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(covering, "THOROUGH", False)
    thirds = [covering.a_third(range(10), number) for number in (3, 4, 5)]
    assert sorted(value for third in thirds for value in third) == list(range(10))
    monkeypatch.setattr(covering, "THOROUGH", True)
    assert list(covering.a_third(range(10), 4)) == list(range(10))
