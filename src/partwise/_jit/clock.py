"""The time that compiling takes, kept apart from that of the work itself.

Code is compiled, or read from disk, when it is first needed: in the middle of a pass,
say. `working_time` stands still meanwhile, and whoever listens is told what is done.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple, TypeAlias


class Piece(NamedTuple):
    """What is being compiled: which of how many pieces that are known to be needed."""

    name: str
    number: int
    total: int


Listener: TypeAlias = Callable[[Piece | None], None]
"""It is told of a piece when its compilation begins, and of None when it ends."""


class _Clock:
    """How long code has been prepared, in any thread, and for which piece."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.own = threading.local()
        self.active = 0
        self.since = 0.0
        self.seconds = 0.0
        self.number = 0
        self.total = 0
        self.listeners: list[Listener] = []

    def enter(self) -> bool:
        """Stop the time of work; say whether this thread was at work until now."""
        depth = getattr(self.own, "depth", 0)
        self.own.depth = depth + 1
        if depth:
            return False
        with self.lock:
            if not self.active:
                self.since = time.perf_counter()
            self.active += 1
        return True

    def leave(self) -> None:
        """Let the time of work go on, if nothing else is compiled."""
        self.own.depth -= 1
        if self.own.depth:
            return
        with self.lock:
            self.active -= 1
            if not self.active:
                self.seconds += time.perf_counter() - self.since

    def tell(self, piece: Piece | None) -> None:
        """Tell the innermost listener; if it fails, nothing else does."""
        if self.listeners:
            with suppress(Exception):
                self.listeners[-1](piece)


_clock = _Clock()


def compile_seconds() -> float:
    """Return how many seconds of this process went into preparing machine code."""
    with _clock.lock:
        running = time.perf_counter() - _clock.since if _clock.active else 0.0
        return _clock.seconds + running


def working_time() -> float:
    """Return a time that stands still while code is compiled; only differences count.

    Examples
    --------
    >>> begin = working_time()
    >>> with preparing("nothing"):
    ...     time.sleep(0.01)
    >>> working_time() - begin < 0.01
    True
    """
    return time.perf_counter() - compile_seconds()


class Stopwatch:
    """Measures work and compilation, from its making on.

    Examples
    --------
    >>> watch = Stopwatch()
    >>> watch.seconds >= 0, watch.compile_seconds
    (True, 0.0)
    """

    def __init__(self) -> None:
        self._begin = working_time()
        self._compiled = compile_seconds()

    @property
    def seconds(self) -> float:
        """The time of work."""
        return working_time() - self._begin

    @property
    def compile_seconds(self) -> float:
        """The time to compile, or to load what was compiled before."""
        return compile_seconds() - self._compiled


def expect(count: int) -> None:
    """Note that at least so many more pieces are needed."""
    with _clock.lock:
        _clock.total = max(_clock.total, _clock.number + count)


@contextmanager
def preparing(name: str = "") -> Iterator[None]:
    """Keep the time off the clock; with a name, a piece is compiled."""
    outermost = start_preparing(name)
    try:
        yield
    finally:
        stop_preparing(bool(name) and outermost)


def start_preparing(name: str) -> bool:
    """Stop the clock; say whether this is not part of another piece."""
    outermost = _clock.enter()
    if outermost and name:
        with _clock.lock:
            _clock.number += 1
            _clock.total = max(_clock.total, _clock.number)
            piece = Piece(name, _clock.number, _clock.total)
        try:
            _clock.tell(piece)
        except BaseException:  # Ctrl-C: the clock has to go on
            _clock.leave()
            raise
    return outermost


def stop_preparing(told: bool) -> None:
    """Start the clock again; `told` if there was a piece that has ended."""
    _clock.leave()
    if told:
        _clock.tell(None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Have a function told of what is compiled; inside another, only the inner one."""
    if not _clock.listeners:
        with _clock.lock:
            _clock.number = _clock.total = 0
    _clock.listeners.append(listener)
    try:
        yield
    finally:
        _clock.listeners.remove(listener)
