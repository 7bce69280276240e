"""A time at which work is given up, whoever is doing it then.

The training loop sets it; whatever takes long asks between two pieces of work whether
it has passed. Ctrl-C acts in the same places: no piece should take longer than a
moment.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from partwise._jit import working_time

_DEADLINE: ContextVar[float] = ContextVar("deadline", default=math.inf)


class OutOfTime(Exception):
    """The time for some work is over, and it is not done."""


@contextmanager
def seconds_left(seconds: float | None) -> Iterator[None]:
    """Give a block of code so many seconds, compiling not counted; None sets no limit.

    Examples
    --------
    >>> with seconds_left(0.0):
    ...     check_time()
    Traceback (most recent call last):
    ...
    partwise._deadline.OutOfTime
    """
    end = math.inf if seconds is None else working_time() + seconds
    before = _DEADLINE.set(end)
    try:
        yield
    finally:
        _DEADLINE.reset(before)


def time_left() -> float:
    """Return how many seconds there are; infinite without a limit.

    Examples
    --------
    >>> time_left()
    inf
    """
    return _DEADLINE.get() - working_time()


def check_time() -> None:
    """Raise `OutOfTime` if the time of the innermost `seconds_left` is over."""
    if time_left() <= 0.0:
        raise OutOfTime
