"""Many attempts to do harm, in processes that may crash, hang or grow."""

from __future__ import annotations

import os
import resource
import select
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

Attempt = Callable[[int], str]
"""Makes the attempt of a number; returns what came of it, in a word."""

PATIENCE = 30.0
"""Seconds after which an attempt has hung."""
BATCH = 250
KILOBYTE = 1024


@dataclass
class Tally:
    """What came of all attempts.

    Attributes
    ----------
    outcomes : Counter
        How many were refused, went on, and so on.
    crashes, hangs : list of int
        The numbers of the attempts that ended a process, or never ended.
    uncaught : dict of int to str
        Those that raised what no user should see.
    most_bytes : int
        By how much a process grew, at most, over a batch of attempts.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    crashes: list[int] = field(default_factory=list)
    hangs: list[int] = field(default_factory=list)
    uncaught: dict[int, str] = field(default_factory=dict)
    most_bytes: int = 0

    @property
    def attempts(self) -> int:
        """How many there were."""
        ended = len(self.crashes) + len(self.hangs) + len(self.uncaught)
        return self.outcomes.total() + ended


def make_attempts(attempt: Attempt, count: int, say: Callable[[str], None]) -> Tally:
    """Make attempts 0, 1, ... in batches, each batch in a process of its own."""
    tally = Tally()
    number, shown = 0, time.monotonic()
    while number < count:
        number = _batch(attempt, number, min(number + BATCH, count), tally)
        if time.monotonic() - shown > 60.0:
            shown = time.monotonic()
            say(f"{number} of {count}: {dict(tally.outcomes)}")
    return tally


def _batch(attempt: Attempt, start: int, stop: int, tally: Tally) -> int:
    """Fork, make some attempts there; return the number to go on with."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _make(attempt, start, stop, writing)
    os.close(writing)
    number, text = start, b""
    try:
        while True:
            ready, _, _ = select.select([reading], [], [], PATIENCE)
            if not ready:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                tally.hangs.append(number)
                return number + 1
            block = os.read(reading, 1 << 16)
            if not block:
                break
            text += block
            *lines, text = text.split(b"\n")
            for line in lines:
                number = _take(line.decode(), number, tally)
    finally:
        os.close(reading)
    _, status = os.waitpid(child, 0)
    if number < stop or status != 0:
        tally.crashes.append(number)
        return number + 1
    return stop


def _take(line: str, number: int, tally: Tally) -> int:
    """Take down what a line says; return the number of the attempt under way."""
    what, _, detail = line.partition(" ")
    if what == "grown":
        tally.most_bytes = max(tally.most_bytes, int(detail))
        return number
    if what == "uncaught":
        tally.uncaught[number] = detail
    else:
        tally.outcomes[what] += 1
    return number + 1


def _make(attempt: Attempt, start: int, stop: int, writing: int) -> None:
    """Make attempts, and write a line about each."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(start, stop):
        try:
            line = attempt(number)
        except Exception as error:
            shown = " ".join(f"{type(error).__name__}: {error}".split())
            line = f"uncaught {shown[:200]}"
        os.write(writing, f"{line}\n".encode())
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    os.write(writing, f"grown {KILOBYTE * (after - before)}\n".encode())
    os._exit(0)
