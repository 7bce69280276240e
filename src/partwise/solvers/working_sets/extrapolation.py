"""Going further in the direction of the last pass.

Coordinate steps towards an optimum far away all point the same way, pass after pass.
So each pass is followed by an attempt to go further: every dual variable changes once
more by some multiple of its change in the pass, is cut off at zero, and the
distribution of every example is normalised. What does not raise the dual is undone.
"""

from __future__ import annotations

from partwise._jit import kernel
from partwise.solvers.working_sets.sets import WorkingSets
from partwise.structures.interface import FloatArray

LONGER, SHORTER = 1.1, 0.8
"""How a success, or a failure, changes the length of the next attempt."""

TOO_LITTLE = 1e-14


@kernel
def extrapolate(sets: WorkingSets, before: FloatArray, momentum: float) -> None:
    """Set alpha to ``alpha + momentum (alpha - before)``, made a distribution.

    With ``momentum = 0`` it only takes the rounding out of the sums.
    """
    for i in range(sets.newest.size):
        total = 0.0
        m = sets.newest[i]
        while m >= 0:
            alpha = sets.alpha[m] + momentum * (sets.alpha[m] - before[m])
            sets.alpha[m] = alpha if alpha > TOO_LITTLE else 0.0
            total += sets.alpha[m]
            m = sets.older[m]
        m = sets.newest[i]
        while m >= 0:
            sets.alpha[m] /= total
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
