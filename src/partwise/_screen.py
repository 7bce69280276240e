"""How far work is: a line that changes on a terminal, a line now and then in a log."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

from partwise._jit.clock import Piece, listening, working_time
from partwise._work import telling
from partwise.characters import printable

EVERY = 5.0
"""Seconds between two lines of a log."""
MOMENT = 1.0
"""Work that takes fewer seconds is not worth a line."""
LEAST_KNOWN = 0.01
"""Before this share of the work is done nobody knows how long the rest takes."""


class Screen(Protocol):
    """Where the state of work is shown, on standard error.

    Names of files and labels are part of it: what terminals would act on is escaped.
    """

    def show(self, text: str, *, now: bool = False) -> None:
        """Show a text in the place of the last one; in a log it may be left out."""

    def keep(self, text: str) -> None:
        """Show a line that stays."""

    def close(self) -> None:
        """Leave nothing behind on a terminal."""


def _write(text: str) -> None:
    """Write to standard error, if anyone takes it: work goes on without."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.write(text)
            sys.stderr.flush()


def _columns() -> int:
    """Return how wide the terminal is."""
    try:
        wide = os.get_terminal_size(sys.stderr.fileno()).columns
    except (AttributeError, OSError, ValueError):  # it is not one
        wide = 0
    return wide or shutil.get_terminal_size().columns  # some do not say


class TerminalLine:
    """One line that is written over and over."""

    def __init__(self) -> None:
        self._width = 0

    def show(self, text: str, *, now: bool = False) -> None:
        """Write over the line."""
        text = printable(text)[: _columns() - 1]
        padding = " " * (self._width - len(text))
        _write(f"\r{text}{padding}")
        self._width = len(text)

    def keep(self, text: str) -> None:
        """Write a line above it."""
        self.close()
        _write(f"{printable(text)}\n")

    def close(self) -> None:
        """Clear the line."""
        if self._width:
            _write(f"\r{' ' * self._width}\r")
            self._width = 0


class LogLines:
    """A line every few seconds."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def show(self, text: str, *, now: bool = False) -> None:
        """Write a line, if it is time to."""
        if now or time.monotonic() - self._last >= EVERY:
            self.keep(text)

    def keep(self, text: str) -> None:
        """Write a line."""
        self._last = time.monotonic()
        _write(f"{printable(text)}\n")

    def close(self) -> None:
        """Leave everything as it is."""


def is_terminal() -> bool:
    """Say whether standard error is a terminal, where lines can be written over."""
    return sys.stderr is not None and sys.stderr.isatty()


def open_screen() -> Screen:
    """Return the place to show how far work is."""
    return TerminalLine() if is_terminal() else LogLines()


def no_notes(piece: Piece | None) -> None:
    """Say nothing of what is compiled."""


class CompileNotes:
    """Says that machine code is compiled, which only the first run has to wait for."""

    def __init__(self, screen: Screen):
        self._screen = screen
        self._said = False

    def __call__(self, piece: Piece | None) -> None:
        """Show which piece is compiled; nothing after it."""
        if piece is None:
            if is_terminal():
                self._screen.close()
            return
        which = f": {piece.number} of {piece.total}" if piece.total > 1 else " ..."
        self._screen.show(f"compiling for the first time{which}", now=not self._said)
        self._said = True


class WorkNotes:
    """Says how far work is, and how long it will take; nothing if it is quick.

    Parameters
    ----------
    show : callable
        Takes the text.

    Examples
    --------
    >>> notes = WorkNotes(print)
    >>> notes("reading", 0.0)
    >>> notes._begun["reading"] -= 10.0  # as if ten seconds had passed
    >>> notes("reading", 0.25)
    reading: 25% (about 30 s left)
    """

    def __init__(self, show: Callable[[str], None]):
        self._show = show
        self._begun: dict[str, float] = {}
        self._done: dict[str, float] = {}

    def __call__(self, what: str, fraction: float) -> None:
        """Show the text, if the work takes longer than a moment."""
        now = working_time()  # what is compiled meanwhile is not the work's
        if fraction < self._done.get(what, 2.0):  # it begins, perhaps once more
            self._begun[what] = now
        self._done[what] = fraction
        taken = now - self._begun[what]
        if taken >= MOMENT and LEAST_KNOWN <= fraction < 1.0:
            left = in_time(taken * (1.0 - fraction) / fraction)
            self._show(f"{what}: {fraction:.0%} (about {left} left)")


def in_time(seconds: float) -> str:
    """Return a duration as people say it.

    Examples
    --------
    >>> in_time(0.4), in_time(42), in_time(200), in_time(8000)
    ('0 s', '42 s', '3 min 20 s', '2 h 13 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


@contextmanager
def progress_notes() -> Iterator[None]:
    """Say how far work is if it takes long, and when machine code is compiled.

    Examples
    --------
    >>> with progress_notes():
    ...     pass
    """
    screen = open_screen()
    notes = WorkNotes(screen.show)

    def show(what: str, fraction: float) -> None:
        notes(what, fraction)
        if fraction >= 1.0 and is_terminal():
            screen.close()

    with listening(CompileNotes(screen)), telling(show):
        try:
            yield
        finally:
            screen.close()
