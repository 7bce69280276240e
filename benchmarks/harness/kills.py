"""Runs that are killed at any moment, and go on from their checkpoint."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

RunCase = Callable[..., Any]


def count_identical(run: RunCase, path: Path, passes: int, kills: int) -> int:
    """Return after how many kills a run ended with the very weights of an unbroken one.

    Parameters
    ----------
    run : callable
        Takes the path of a checkpoint and options of `solve`.
    path : path
        Where the checkpoint goes.
    passes : int
        How many passes the run makes.
    kills : int
        How many times to try; each process is killed at another moment.
    """
    begin = time.perf_counter()
    unbroken = run(path, max_iter=passes).w
    seconds = time.perf_counter() - begin
    rng = np.random.default_rng(0)
    identical = 0
    for _ in range(kills):
        path.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            run(path, max_iter=passes)
            os._exit(0)
        time.sleep(1.1 * seconds * rng.random())
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        resumed = run(path, max_iter=passes, resume=True).w
        left = [name for name in path.parent.iterdir() if name.suffix == ".part"]
        identical += np.array_equal(resumed, unbroken) and not left
    return identical
