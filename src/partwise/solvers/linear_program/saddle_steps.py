"""The master problem by the method of Chambolle and Pock, with averages and restarts.

It looks for the same saddle point as the extragradient method (`extragradient`), but
its predictor is for the weights alone; the corrector, for the multipliers, is at
``2 w_new - w``: half the work a step (Chambolle and Pock 2011). Every row and column
has steps of its own length (Pock and Chambolle 2011). The slacks are left out, since
the best multipliers for given weights lie in a simplex per example. The average of all
points since the last restart is often far better than the last; when its gap has
fallen enough, the method starts again from there (Applegate et al. 2023).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise._deadline import check_time
from partwise._jit import kernel
from partwise.solvers.linear_program import master
from partwise.solvers.linear_program.master import Master, MasterProblem, Solved, Task
from partwise.structures.interface import FloatArray

LOOK_EVERY = 20
"""Steps between looks at the gap."""

ENOUGH, SOME = 0.2, 0.8
"""To which share the gap must fall for a restart: at once, or before it rises."""


@kernel
def project(x: FloatArray, p: MasterProblem, b: int) -> None:
    """Project the multipliers of one example to ``x >= 0, sum x <= C``."""
    mass = 0.0
    for k in range(p.group_ptr[b], p.group_ptr[b + 1]):
        r = p.order[k]
        x[r] = max(x[r], 0.0)
        mass += x[r]
    if mass <= p.cap[b]:
        return
    threshold = 0.0
    while True:  # Michelot (1986): what would be negative is left out, until none is
        total, count = 0.0, 0
        for k in range(p.group_ptr[b], p.group_ptr[b + 1]):
            value = x[p.order[k]]
            if value > threshold:
                total += value
                count += 1
        new = (total - p.cap[b]) / max(count, 1)
        if new <= threshold * (1.0 + 1e-15):
            break
        threshold = new
    for k in range(p.group_ptr[b], p.group_ptr[b + 1]):
        r = p.order[k]
        x[r] = max(x[r] - threshold, 0.0)


@kernel
def _average(mean: FloatArray, value: FloatArray, count: int) -> None:
    for j in range(mean.size):
        mean[j] += (value[j] - mean[j]) / count


class Place(NamedTuple):
    """Weights and multipliers, and their products ``H w`` and ``H' lam``."""

    w: FloatArray
    lam: FloatArray
    hw: FloatArray
    pull: FloatArray

    def go_to(self, other: Place) -> None:
        """Take over the values of another place."""
        for own, new in zip(self, other, strict=True):
            own[:] = new


@kernel
def _take_steps(
    p: MasterProblem,
    tau: FloatArray,
    sigma: FloatArray,
    here: Place,
    mean: Place,
    count: int,
    steps: int,
) -> None:
    """Take some steps from `here`; `mean` is that of all after the first `count`."""
    w, lam, hw, pull = here
    hw_new = np.zeros(hw.size)
    for t in range(1, steps + 1):
        for j in range(w.size):
            w[j] = master.shrink(w[j] + tau[j] * pull[j], tau[j], p.positive)
        master.multiply(p, w, hw_new)
        for r in range(lam.size):
            lam[r] += sigma[r] * (p.margin[r] - 2.0 * hw_new[r] + hw[r])
            hw[r] = hw_new[r]
        for b in range(p.cap.size):
            project(lam, p, b)
        master.multiply_transposed(p, lam, pull)
        _average(mean.w, w, count + t)
        _average(mean.pull, pull, count + t)
        _average(mean.lam, lam, count + t)
        _average(mean.hw, hw, count + t)


def restarted_steps(
    p: MasterProblem,
    w: FloatArray,
    lam: FloatArray,
    balance: float,
    accuracy: float,
    most: int,
) -> tuple[FloatArray, FloatArray, float, float]:
    """Return weights, multipliers, how their steps are balanced, and a bound."""
    tau, sigma = _step_lengths(p, w.size)
    here = Place(w.copy(), lam.copy(), np.zeros(lam.size), np.zeros(w.size))
    master.multiply(p, here.w, here.hw)
    master.multiply_transposed(p, here.lam, here.pull)
    mean, start = (Place(*(own.copy() for own in here)) for _ in range(2))
    best, bound = _bounds(p, here)
    gap_start = gap_last = best - bound
    count = 0
    for done in range(LOOK_EVERY, max(most, LOOK_EVERY) + 1, LOOK_EVERY):
        check_time()
        _take_steps(p, tau / balance, sigma * balance, here, mean, count, LOOK_EVERY)
        count += LOOK_EVERY
        primal, dual = _bounds(p, here)
        primal_mean, dual_mean = _bounds(p, mean)
        best, bound = min(best, primal, primal_mean), max(bound, dual, dual_mean)
        gap = min(primal_mean - dual_mean, primal - dual)
        finished = best - bound <= accuracy or done + LOOK_EVERY > most
        fallen = gap <= ENOUGH * gap_start
        fallen |= gap <= SOME * gap_start and gap > gap_last
        gap_last = gap
        if finished or fallen or (count > 0.36 * done and count > 20 * LOOK_EVERY):
            if primal_mean - dual_mean < primal - dual:
                here.go_to(mean)
            if finished:
                break
            moved_w = _distance(here.w, start.w, tau)
            moved_lam = _distance(here.lam, start.lam, sigma)
            if moved_w > 0.0 and moved_lam > 0.0:
                balance = float(np.sqrt(balance * moved_lam / moved_w))
            start.go_to(here)
            count, gap_start = 0, gap
    return here.w, here.lam, balance, bound


def _bounds(p: MasterProblem, at: Place) -> tuple[float, float]:
    """Return objective and lower bound."""
    primal = float(np.abs(at.w).sum() + master.slack_sum(p, at.hw))
    return primal, float(at.lam @ p.margin / master.excess(p, at.lam, at.pull))


def _distance(x: FloatArray, y: FloatArray, scale: FloatArray) -> float:
    return float(np.sqrt(np.sum((x - y) ** 2 / scale)))


def _step_lengths(p: MasterProblem, n: int) -> tuple[FloatArray, FloatArray]:
    """Return the lengths of steps for weights and for multipliers."""
    size = np.abs(p.val)
    columns = np.bincount(p.idx, size, n)
    rows = master.row_sums(p, size)
    # Where there are no entries, any step is short enough.
    rows = np.where(rows > 0.0, rows, rows.max() or 1.0)
    # Steps must not differ within an example, or the projection would be another one.
    longest = np.maximum.reduceat(rows[p.order], p.group_ptr[:-1])
    sigma = np.zeros(rows.size)
    sigma[p.order] = np.repeat(1.0 / longest, np.diff(p.group_ptr))
    tau = 1.0 / np.maximum(columns, 1e-300)
    tau[columns == 0.0] = 1.0
    return tau, sigma


class ChambollePock(Master):
    """Restarted steps towards the saddle point, from where the last round ended.

    Parameters
    ----------
    positive : bool
        Whether weights must not be negative.
    most : int
        Steps in a round.
    """

    kept = ("balance",)

    def __init__(self, positive: bool, most: int):
        self.positive, self.most = positive, most
        self.balance = 1.0

    def solve(self, task: Task, rng: np.random.Generator) -> Solved:
        """Step until the accuracy is reached, or `effort` times `most` times."""
        p = master.make_master_problem(task.rows, task.C, self.positive)
        w, lam, self.balance, bound = restarted_steps(
            p, task.w, task.lam, self.balance, task.accuracy, task.effort * self.most
        )
        return Solved(w, lam, bound)
