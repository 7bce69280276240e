"""The lengths of the steps of stochastic gradient descent, and of the first one."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from typing import NamedTuple

from partwise._jit import kernel

FIRST_TRIALS = (-1, -2, -3, -4, -5)
"""Powers of two that Chang and Yih (2013) try for the first step."""

FURTHEST_TRIALS = (-40, 20)

AS_GOOD = 1.01
"""Objectives that differ by less are as good as each other."""

Trial = Callable[[float], Generator[float, None, float]]
"""Tries a first step: yields the fraction done, returns the objective reached."""


class Schedule(NamedTuple):
    """The numbers that fix the length of every step, and its share in the average.

    Attributes
    ----------
    eta_0 : float
        The length of the first step.
    decay : float
        The weight of ``1/2 |w|^2`` where the losses are averaged: ``1 / sum_i C_i``.
    power : float
        How fast steps get shorter.
    recency : float
        Step `t` counts about ``t^recency`` in the average.
    """

    eta_0: float
    decay: float
    power: float
    recency: float


@kernel
def step_size(schedule: Schedule, steps: int) -> float:
    """Return the length of the step after so many others (Bottou's schedule).

    Examples
    --------
    >>> schedule = Schedule(eta_0=0.5, decay=0.1, power=1.0, recency=0.0)
    >>> step_size(schedule, 0), step_size(schedule, 20)
    (0.5, 0.25)
    """
    slower = 1.0 + schedule.decay * schedule.eta_0 * steps
    return schedule.eta_0 / slower**schedule.power


@kernel
def share_in_average(schedule: Schedule, steps: int) -> float:
    """Return the share of the weights after so many steps, one or more.

    This is polynomial-decay averaging (Shamir and Zhang 2013, equation 8), with the
    weights at the start as its first term; a recency of zero is the plain mean.
    """
    return (schedule.recency + 1.0) / (steps + schedule.recency + 1.0)


def choose_first_step(trial: Trial) -> Generator[float, None, float]:
    """Try first steps, each twice the next; return the longest as good as any.

    Those of the paper, then longer ones while the longest is the best, and shorter
    ones while only the shortest is good.

    Examples
    --------
    >>> def trial(eta_0):
    ...     yield 1.0
    ...     return abs(eta_0 - 0.01)
    >>> search = choose_first_step(trial)
    >>> try:
    ...     while True:
    ...         fraction = next(search)
    ... except StopIteration as end:
    ...     print(end.value == 2**-7)
    True
    """
    reached: dict[int, float] = {}
    waiting = list(FIRST_TRIALS)
    while waiting:
        exponent = waiting.pop(0)
        value = yield from trial(2.0**exponent)
        reached[exponent] = value if math.isfinite(value) else math.inf
        if not waiting:
            best = min(reached, key=lambda e: (reached[e], e))
            beyond = sorted({_longest_good(reached) - 1, best + 1} - reached.keys())
            waiting = [e for e in beyond if e in range(*FURTHEST_TRIALS)]
    return 2.0 ** _longest_good(reached)


def _longest_good(reached: dict[int, float]) -> int:
    """Return the longest of the steps that are as good as the best.

    Where the start is hard to improve on, steps of no length at all look best.
    """
    least = min(reached.values())
    if least == math.inf:  # they overflow: shorter ones are the way to go
        return min(reached)
    return max(e for e, value in reached.items() if value <= AS_GOOD * least)
