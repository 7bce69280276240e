"""How far long work is, told to whoever listens: reading, encoding, predicting.

Whatever may take longer than a moment tells between two pieces of work. Nobody listens
unless a command does, or a `fit` that is verbose.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias, TypeVar

Listener: TypeAlias = Callable[[str, float], None]
"""It is told what is being done, and which fraction of it is."""

Item = TypeVar("Item")

EVERY = 0.1
"""Seconds between two tellings of `steps`."""

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell(what: str, fraction: float) -> None:
    """Tell the listener, if there is one.

    Examples
    --------
    >>> with telling(lambda what, fraction: print(f"{what}: {fraction:.0%}")):
    ...     tell("reading", 0.25)
    reading: 25%
    """
    listener = _LISTENER.get()
    if listener is not None:
        listener(what, fraction)


@contextmanager
def telling(listener: Listener | None) -> Iterator[None]:
    """Have a function told how far work is; None for nobody."""
    before = _LISTENER.get()
    _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.set(before)


@contextmanager
def telling_only(what: str) -> Iterator[None]:
    """Have the listener told of one kind of work alone, not of the parts it has.

    Examples
    --------
    >>> with telling(lambda what, fraction: print(f"{what}: {fraction:.0%}")):
    ...     with telling_only("annotating"):
    ...         tell("encoding", 1.0)
    ...         tell("annotating", 0.5)
    annotating: 50%
    """
    listener = _LISTENER.get()

    def chosen(told: str, fraction: float) -> None:
        if listener is not None and told == what:
            listener(told, fraction)

    with telling(chosen):
        yield


def steps(items: Iterable[Item], what: str) -> Iterator[Item]:
    """Yield items, and tell how many of them are done, if their number is known.

    Examples
    --------
    >>> with telling(lambda what, fraction: print(what, fraction)):
    ...     for item in steps("ab", "counting"):
    ...         print(item)
    counting 0.0
    a
    b
    counting 1.0
    """
    total = len(items) if isinstance(items, Sized) else 0
    if not total or _LISTENER.get() is None:
        yield from items
        return
    tell(what, 0.0)
    told = time.monotonic()
    for done, item in enumerate(items):
        if time.monotonic() - told >= EVERY:
            told = time.monotonic()
            tell(what, done / total)
        yield item
    tell(what, 1.0)
