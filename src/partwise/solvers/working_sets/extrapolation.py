"""Going further in the direction of the last pass.

Coordinate steps towards an optimum far away all point the same way, pass after pass.
So each pass is followed by an attempt to go further: every dual variable changes once
more by some multiple of its change in the pass, and is cut off at zero. What does not
raise the dual is undone. The weights to use are those before: going further raises the
dual, but the objective too.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from partwise._jit import kernel
from partwise.solvers.base import Problem
from partwise.solvers.dual_weights import Weights
from partwise.solvers.facts import same_length, within
from partwise.solvers.working_sets.sets import WorkingSets
from partwise.solvers.working_sets.state import WorkingSetState
from partwise.structures.interface import FloatArray, Structure

LONGER, SHORTER = 1.1, 0.8
"""How a success, or a failure, changes the length of the next attempt."""

TOO_LITTLE = 1e-14
"""What is left of a dual variable that is less than this share of it is rounding."""

AVERAGING = (None, "weighted")
"""Which weights are shown after a pass: the last ones, or their weighted mean."""


@kernel
def extrapolate(sets: WorkingSets, before: FloatArray, momentum: float) -> None:
    """Set alpha to ``alpha + momentum (alpha - before)``, cut off at zero."""
    for i in range(sets.newest.size):
        m = sets.newest[i]
        while m >= 0:
            known = sets.alpha[m] + before[m]
            alpha = sets.alpha[m] + momentum * (sets.alpha[m] - before[m])
            sets.alpha[m] = alpha if alpha > TOO_LITTLE * known else 0.0
            m = sets.older[m]


@kernel
def carry_over(
    old: WorkingSets, new: WorkingSets, values: FloatArray, out: FloatArray
) -> None:
    """Copy a value per member from the places of `old` to those of `new`.

    `new` is `old` with more room: the same members in the same order.
    """
    for i in range(old.newest.size):
        m, to = old.newest[i], new.newest[i]
        while m >= 0:
            out[to] = values[m]
            m, to = old.older[m], new.older[to]


class ExtrapolatingState(WorkingSetState):
    """A dual point, and which way its last pass went."""

    kept = (*WorkingSetState.kept, "before", "momentum")
    growing = (*WorkingSetState.growing, "before")
    facts = (*WorkingSetState.facts, same_length("before", "sets.alpha"))
    point: ClassVar[tuple[str, ...]] = ("w", "v", "dual")
    """What belongs to the dual variables and is replaced when they are others."""

    def __init__(self, problem: Problem):
        super().__init__(problem)
        self.before = self.sets.alpha.copy()
        self.momentum = 1.0

    def make_room(self, s: Structure, n_visits: int) -> None:
        """Let the working sets grow, and what is known about their members too."""
        old = self.sets
        super().make_room(s, n_visits)
        before = np.zeros(self.sets.alpha.size)
        carry_over(old, self.sets, self.before, before)
        self.before = before

    def go_on(self, problem: Problem, scale: FloatArray) -> None:
        """Try a longer step in the direction of the pass; undo it if it is too long."""
        sets = self.sets
        alpha, mass = sets.alpha.copy(), sets.mass.copy()
        here, dual = {name: getattr(self, name) for name in self.point}, self.dual
        extrapolate(sets, self.before, self.momentum)
        self.normalise()
        self.refresh(problem, scale)
        if self.dual >= dual:
            self.momentum *= LONGER
        else:
            self.momentum *= SHORTER
            sets.alpha[:], sets.mass[:] = alpha, mass
            vars(self).update(here)
        self.before = alpha


class MovingState(ExtrapolatingState):
    """A dual point, which way its last pass went, and the weights that are shown.

    `iterate` are the weights that belong to the dual point. `w` are those to use: the
    iterate as it was at the end of the pass, or the mean of these over the passes.
    """

    kept = (*ExtrapolatingState.kept, "iterate", "n_passes")
    facts = (*ExtrapolatingState.facts, within("n_passes", 0))
    point = ("iterate", "v", "dual")

    def __init__(self, problem: Problem):
        super().__init__(problem)
        self.iterate = self.w.copy()
        self.n_passes = 0

    def refresh(self, problem: Problem, scale: FloatArray) -> None:
        """Recompute the iterate and the dual value from the dual variables."""
        shown, self.w = self.w, self.iterate
        super().refresh(problem, scale)
        self.w, self.iterate = shown, self.w

    def weights(self) -> Weights:
        """Return the iterate, as steps change it."""
        return super().weights()._replace(w=self.iterate)

    def show(self, averaging: str | None) -> None:
        """Set `w`: the iterate, or the mean in which pass k has weight k."""
        self.n_passes += 1
        if averaging is None:
            self.w[:] = self.iterate
        else:
            mean = np.zeros_like(self.w) if self.n_passes == 1 else self.w
            self.w = mean + (self.iterate - mean) * (2.0 / (self.n_passes + 1))

    def begin_at(self, problem: Problem, scale: FloatArray) -> None:
        """Take the weights of dual variables that were had from another run."""
        self.iterate = self.w
        self.before = self.sets.alpha.copy()
        self.normalise()
        self.refresh(problem, scale)
        self.w = self.iterate.copy()
