"""How the time for training is divided: between steps, and within each of them.

A step may take its share of the time that is left, and what it does not need is left
for later ones. If later steps read what it predicts, half of its share is for the
step itself and the rest for the folds of the treebank; the shorter the rest, the fewer
folds there are. What remains after that goes to trying alternatives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from partwise._jit import working_time

WEIGHTS = {
    **{"tokens": 6, "words": 3, "upos": 13, "feats": 27, "xpos": 10, "lemmas": 12},
    **{"trees": 40, "entities": 13, "chunks": 13},
}
"""How the time is divided between steps."""
FOLD = 0.75
"""What folds cost: so much of the time of the step itself for every fold but one."""
LEAST = 0.5
"""A model gets at least so many seconds, however little is left."""


class TimePlan:
    """The time for training; None sets no limit.

    Examples
    --------
    >>> plan = TimePlan(90.0)
    >>> plan.begin_step("upos", ["feats", "trees"])
    >>> with plan.share(0.5):
    ...     6.0 < plan.limit() < 10.0
    True
    >>> [plan.affordable_folds(4, took) for took in (3.0, 7.0, 20.0)]
    [4, 3, 2]
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._begin = working_time()
        self._step_end = self._end = self._begin + (seconds or 0.0)

    @property
    def left(self) -> float:
        """How many seconds are left for all steps."""
        return self._begin + (self.seconds or 0.0) - working_time()

    @property
    def left_for_step(self) -> float:
        """How many seconds are left for the step at work."""
        return self._step_end - working_time()

    def begin_step(self, name: str, later: Sequence[str]) -> None:
        """Give a step its share of what is left, others being still to come."""
        weights = [WEIGHTS[one] for one in (name, *later)]
        share = max(self.left, 0.0) * weights[0] / sum(weights)
        self._step_end = self._end = working_time() + share

    @contextmanager
    def share(self, part: float) -> Iterator[None]:
        """Give a piece of work a part of what is left for the step."""
        self._end = working_time() + part * max(self.left_for_step, 0.0)
        try:
            yield
        finally:
            self._end = self._step_end

    def limit(self, part: float = 1.0) -> float | None:
        """Return how long a model may take: a part of what is left for the work."""
        if self.seconds is None:
            return None
        return max(part * (self._end - working_time()), LEAST)

    def affordable_folds(self, folds: int, took: float) -> int:
        """Return how many folds there is time for, if a step took so long; or 2."""
        if self.seconds is None:
            return folds
        most = 1 + int(self.left_for_step / (FOLD * max(took, 1e-3)))
        return max(min(folds, most), min(folds, 2))

    def can_try(self, took: float, folds: int) -> bool:
        """Say whether there is time for an alternative, and for all folds after it."""
        needed = took * (1.0 + FOLD * (folds - 1))
        return self.seconds is not None and needed <= self.left_for_step
