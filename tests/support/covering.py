"""Of large matrices of tests, so many that every solver, structure and loss is met.

A test that is tried with all solvers on all structures is tried hundreds of times. The
daily run takes every value of every parameter, in a third of all combinations; the
thorough one takes them all.
"""

import os
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import pytest

Value = TypeVar("Value")

THOROUGH = os.environ.get("PARTWISE_THOROUGH") == "1"
LARGE = 12
"""Matrices of fewer tests are run whole."""
SHARE = 1 / 3


def a_third(values: Sequence[Value], number: int) -> Sequence[Value]:
    """Return every third value, from another one on for every number; or them all."""
    return values if THOROUGH else values[number % 3 :: 3]


def left_over(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield the tests of large matrices that only a thorough run needs."""
    matrices: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if len(_values(item)) > 1:
            matrices[item.nodeid.partition("[")[0]].append(item)
    for matrix in matrices.values():
        if len(matrix) >= LARGE:
            yield from _not_covering(matrix)


def _not_covering(matrix: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield those that show no new value of a parameter, beyond their share.

    The order is that of a hash of their names: the same in every run and on every
    machine, and it favours no parameter.
    """
    seen: set[tuple[str, int]] = set()
    taken = 0
    spare = []
    for item in sorted(matrix, key=lambda one: zlib.crc32(one.nodeid.encode())):
        new = _values(item) - seen
        seen |= new
        taken += bool(new)
        if not new:
            spare.append(item)
    yield from spare[max(0, int(SHARE * len(matrix)) - taken) :]


def _values(item: pytest.Item) -> set[tuple[str, int]]:
    """Return the parameters of a test with their values, as far as they are given."""
    callspec = getattr(item, "callspec", None)
    return (
        {(name, id(value)) for name, value in callspec.params.items()}
        if callspec
        else set()
    )
