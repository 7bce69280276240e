"""Random choices that come out the same on every machine.

Only uniform numbers are taken from NumPy: their stream is fixed by the seed,
while the algorithms behind ``choice`` or ``zipf`` may change from one release
to the next. Weights are made by additions and divisions alone, which round
alike everywhere.
"""

from __future__ import annotations

import operator
from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Generic, TypeAlias, TypeVar

import numpy as np

T = TypeVar("T")

Seed: TypeAlias = "int | np.random.Generator | None"
Uniform: TypeAlias = Callable[[], float]


def uniforms(rng: np.random.Generator) -> Uniform:
    """Return a function that gives the next uniform number of `rng`.

    Numbers are drawn in blocks: one call of NumPy for each would cost more than
    all the rest of the generators.

    Examples
    --------
    >>> draw = uniforms(np.random.default_rng(0))
    >>> draw() == np.random.default_rng(0).random()
    True
    """

    def stream() -> Iterator[float]:
        while True:
            yield from rng.random(4096).tolist()

    return stream().__next__


class Table(Generic[T]):
    """Things to choose from, with weights.

    Parameters
    ----------
    items : sequence
        What to choose from, at least one.
    weights : sequence of float, optional
        How often each is chosen, in any unit. By default Zipf's law, the weight
        of rank `r` (from 0) being ``1 / (r + 2)``, so put frequent items first.

    Examples
    --------
    >>> Table(["often", "seldom"], [9, 1]).pick(lambda: 0.5)
    'often'
    """

    __slots__ = ("cumulative", "items")

    def __init__(
        self, items: Sequence[T], weights: Sequence[float] | None = None
    ) -> None:
        if weights is None:
            weights = [1.0 / (rank + 2) for rank in range(len(items))]
        self.items = tuple(items)
        total = sum(weights)
        # The last bound is left out: what lies above all others is the last item,
        # however the sum was rounded.
        self.cumulative = [bound / total for bound in accumulate(weights)][:-1]

    def pick(self, draw: Uniform) -> T:
        """Return one item; `draw` gives the uniform number that decides."""
        return self.items[bisect(self.cumulative, draw())]


def positive(name: str, value: int) -> int:
    """Return `value` as an int, or say that argument `name` must be positive.

    Examples
    --------
    >>> positive("n", 3)
    3
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if number < 1:
        raise ValueError(f"{name} must be at least 1, got {number}")
    return number


def probability(name: str, value: float) -> float:
    """Return `value`, or say that argument `name` must lie between 0 and 1.

    Examples
    --------
    >>> probability("noise", 0.02)
    0.02
    """
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must lie between 0 and 1, got {value!r}")
    return float(value)
