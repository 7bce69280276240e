"""Ctrl-C that comes at a bad moment: it waits, or ends only what can be ended.

Python raises `KeyboardInterrupt` between any two steps of the main thread. While
machine code is loaded that is dangerous (the compiler's callbacks lose the exception,
and call what was never loaded), and between training and saving it would lose a model.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def _handled_by(handler: Callable[[int, Any], None]) -> Iterator[Any]:
    """Let a function handle Ctrl-C; yield what did before, None if nothing is to do.

    Signals only reach the main thread, and programs may have turned Ctrl-C off.
    """
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not callable(before):
        yield None
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield before
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def waiting() -> Iterator[None]:
    """Let Ctrl-C wait until the end of a block that must not be left half done.

    Examples
    --------
    >>> try:
    ...     with waiting():
    ...         signal.raise_signal(signal.SIGINT)
    ...         print("done")
    ... except KeyboardInterrupt:
    ...     print("interrupted")
    done
    interrupted
    """
    came: list[tuple[int, Any]] = []
    with _handled_by(lambda *args: came.append(args)) as before:
        yield
    if came and before is not None:
        before(*came[0])


_around: list[Interruptible] = []


class Interruptible:
    """Work whose result must not be lost; only some of its blocks end with Ctrl-C.

    Where one is inside another, what the inner one made must not be lost either: from
    then on, the outer one can no longer be ended.

    Examples
    --------
    >>> with Interruptible() as work:
    ...     try:
    ...         with work.here():
    ...             signal.raise_signal(signal.SIGINT)
    ...     except KeyboardInterrupt:
    ...         print("training ends")
    ...     signal.raise_signal(signal.SIGINT)
    ...     print("saved")
    training ends
    saved
    """

    def __init__(self) -> None:
        self._open = False
        self._is_in_charge = False
        self._before: Callable[..., Any] = signal.default_int_handler
        self._ended = False  # by Ctrl-C
        self._noted = False  # Ctrl-C that came where it can end nothing

    def _handle(self, *came: Any) -> None:
        if not self._open:
            self._noted = True
            return
        self._open = False  # nothing is raised twice
        try:
            self._before(*came)
        except BaseException:
            self._ended = True
            raise
        self._open = True  # a handler of the program's own let the work go on

    @property
    def came(self) -> bool:
        """Whether Ctrl-C came so far, here or in what is inside."""
        return self._ended or self._noted

    @contextmanager
    def here(self) -> Iterator[None]:
        """Let Ctrl-C end this block, also one that came between blocks of others."""
        if any(other._noted for other in _around if other is not self):
            self._ended = True
            raise KeyboardInterrupt
        self._open = True
        try:
            yield
        finally:
            self._open = False

    def __enter__(self) -> Interruptible:
        """Begin."""
        self._handling = _handled_by(self._handle)
        before = self._handling.__enter__()
        self._is_in_charge = before is not None
        if self._is_in_charge:
            self._before = _around[-1]._before if _around else before
            _around.append(self)
        return self

    def __exit__(self, *error: Any) -> None:
        """End; there is a result unless there was an error."""
        if self._is_in_charge:
            _around.remove(self)
            for other in _around:
                other._open &= error[0] is not None
                other._ended |= self._ended
                other._noted |= self._noted and not self._ended
        self._handling.__exit__(*error)
        if self._noted and not self._ended and not _around and error[0] is None:
            self._finished()

    def _finished(self) -> None:
        """Do what Ctrl-C asked for, now that the result is safe."""


class Saving(Interruptible):
    """Work whose result is safe at the end: Ctrl-C that had to wait comes then."""

    def _finished(self) -> None:
        raise KeyboardInterrupt
