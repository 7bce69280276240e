"""Work without looking for cycles: it always ends with what was there before."""

import gc
from collections.abc import Iterator

import pytest

from partwise._collecting import without_collecting


@pytest.fixture(autouse=True)
def _on_afterwards() -> Iterator[None]:
    yield
    gc.enable()


def test_errors_and_blocks_within_blocks_turn_collecting_on_again() -> None:
    def fail() -> None:
        with without_collecting():
            with without_collecting():
                assert not gc.isenabled()
            assert not gc.isenabled()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert gc.isenabled()


def test_who_collects_nothing_goes_on_so() -> None:
    gc.disable()
    with without_collecting():
        pass
    assert not gc.isenabled()


def test_the_first_decides_until_it_leaves() -> None:
    first, second = without_collecting(), without_collecting()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.isenabled()
    second.__exit__(None, None, None)
    assert gc.isenabled()
