"""Margin losses: the hinge and its square, on the cost-augmented argmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.losses.base import DualPoint, Loss, fill_all
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray, Structure
from partwise.structures.parallel import Worker
from partwise.structures.scratch import Scratch, score_of


@kernel
def worst_of(
    s: Structure, i: int, theta: FloatArray, scratch: Scratch, ws: Any
) -> float:
    """Find the most violated output by its augmented scores; see `most_violated`."""
    waist.gold(s, i, scratch.y_gold)
    best = waist.argmax(s, i, theta, scratch.y, ws) + waist.shortfall(s, i, ws)
    # The right output costs nothing, so its augmented score is its score.
    return max(best - score_of(s, i, scratch.y_gold, theta, scratch), 0.0)


@kernel
def most_violated(
    s: Structure, i: int, w: FloatArray, scratch: Scratch, ws: Any
) -> float:
    """Find the output that maximises ``cost - w . dPhi``; return that slack, >= 0.

    The output is left in ``scratch.y``, the right one in ``scratch.y_gold``. Where
    inference is relaxed the slack is an upper bound, and that of the output itself is
    less by the `shortfall`.
    """
    waist.part_scores(s, i, w, scratch.theta, ws)
    waist.add_costs(s, i, scratch.theta)
    return worst_of(s, i, scratch.theta, scratch, ws)


@kernel
def _fill_slacks(
    s: Structure, w: FloatArray, out: FloatArray, start: int, stop: int, worker: Worker
) -> None:
    """Write the largest violation of every example to `out`."""
    ws = worker.ws
    for i in range(start, stop):
        waist.visit(s, i, ws)
        out[i] = most_violated(s, i, w, worker.scratch, ws)


@kernel
def _fill_squares(
    s: Structure, w: FloatArray, out: FloatArray, start: int, stop: int, worker: Worker
) -> None:
    """Write the squared largest violation of every example to `out`."""
    _fill_slacks(s, w, out, start, stop, worker)
    for i in range(start, stop):
        out[i] *= out[i]


@kernel
def _mark_unproved(
    s: Structure, start: int, stop: int, worker: Worker, w: FloatArray, out: FloatArray
) -> None:
    ws = worker.ws
    for i in range(start, stop):
        waist.visit(s, i, ws)
        most_violated(s, i, w, worker.scratch, ws)
        out[i] = 1.0 if waist.shortfall(s, i, ws) > 0.0 else 0.0


def count_unproved(s: Structure, w: FloatArray, n_jobs: int = 1) -> int:
    """Return for how many examples the most violated output is not proved to be so.

    None, without looking, where inference is exact.
    """
    if not waist.shortfall.changed_by(type(waist.innermost(s))):
        return 0
    return int(fill_all(_mark_unproved, s, w, n_jobs=n_jobs).sum())


class Hinge(Loss):
    """``max_y [cost(y) - w . dPhi(y)]``: the structured support vector machine.

    The dual point lies in a simplex per example, and ``w = sum_i C_i alpha_i dPhi``.

    Examples
    --------
    >>> Hinge().name
    'hinge'
    """

    name = "hinge"
    needs = (waist.argmax, waist.add_costs, waist.cost)
    fill = staticmethod(_fill_slacks)

    def dual(
        self, w: FloatArray, C: FloatArray, point: DualPoint, l1_ratio: float = 0.0
    ) -> float:
        """Return ``sum_i C_i alpha_i cost - (1 - l1_ratio)/2 |w|^2``."""
        return float(C @ point.cost - 0.5 * (1.0 - l1_ratio) * (w @ w))

    def gaps(self, values: FloatArray, C: FloatArray, point: DualPoint) -> FloatArray:
        """Return ``C [max_y (cost - w.dPhi) - sum_y alpha (cost - w.dPhi)]``."""
        return C * (values - (point.cost - point.margin))


def _pull(C: FloatArray, mass: FloatArray) -> FloatArray:
    """Return ``a^2 / (4 C)`` per example; one of weight zero has no dual variables."""
    return np.divide(mass**2, 4 * C, out=np.zeros_like(mass), where=C > 0)


class SquaredHinge(Hinge):
    """``(max_y [cost(y) - w . dPhi(y)])^2``, with duals that are only >= 0.

    Examples
    --------
    >>> SquaredHinge().name
    'squared_hinge'
    """

    name = "squared_hinge"
    fill = staticmethod(_fill_squares)

    def dual(
        self, w: FloatArray, C: FloatArray, point: DualPoint, l1_ratio: float = 0.0
    ) -> float:
        """Return ``sum alpha cost - sum_i a_i^2/(4 C_i) - (1 - l1_ratio)/2 |w|^2``."""
        pull = _pull(C, point.mass)
        return float((point.cost - pull).sum() - 0.5 * (1.0 - l1_ratio) * (w @ w))

    def gaps(self, values: FloatArray, C: FloatArray, point: DualPoint) -> FloatArray:
        """Return ``C xi^2 + a^2/(4C) - sum_y alpha (cost - w.dPhi)``."""
        return C * values + _pull(C, point.mass) - (point.cost - point.margin)

    def mass(self, values: FloatArray, C: FloatArray) -> FloatArray:
        """Return ``a = 2 C xi``, where `xi` is the violation.

        Examples
        --------
        >>> import numpy as np
        >>> SquaredHinge().mass(np.array([4.0]), np.array([0.5])).tolist()
        [2.0]
        """
        return 2.0 * C * np.sqrt(values)
