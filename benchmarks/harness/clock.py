"""Measuring time: alternating with the peer, and the median of several runs."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any


def seconds(job: Callable[[], Any]) -> float:
    """Return how long one call takes."""
    begin = time.perf_counter()
    job()
    return time.perf_counter() - begin


def median_seconds(
    jobs: Mapping[str, Callable[[], Any]], repeats: int
) -> dict[str, float]:
    """Time jobs in turn, `repeats` rounds after one that does not count.

    Taking turns spreads what else the machine does evenly over the jobs; the round
    that does not count compiles and fills caches.
    """
    taken: dict[str, list[float]] = {name: [] for name in jobs}
    for number in range(repeats + 1):
        for name, job in jobs.items():
            gc.collect()
            spent = seconds(job)
            if number:
                taken[name].append(spent)
    return {name: median(values) for name, values in taken.items()}
