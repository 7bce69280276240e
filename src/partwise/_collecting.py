"""Making many objects without the collector of cycles looking through all of them.

Python looks for cycles whenever a program has made many objects: again and again
through everything that a program has. Where none of the new objects are part of a
cycle, that takes a quarter of the time for nothing.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_taken = threading.Lock()


@contextmanager
def without_collecting() -> Iterator[None]:
    """Look for no cycles inside.

    Only the first of several threads decides, and only until it leaves: where there is
    always one inside, as in a server, cycles are still found.

    Examples
    --------
    >>> with without_collecting():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    if not _taken.acquire(blocking=False):
        yield
        return
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
        _taken.release()
