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

import numpy as np

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
def _bounds(
    p: MasterProblem, w: FloatArray, hw: FloatArray, lam: FloatArray, pull: FloatArray
) -> tuple[float, float]:
    """Return objective and lower bound, given ``H w`` and ``H' lam``."""
    primal = master.slack_sum(p, hw)
    for j in range(w.size):
        primal += abs(w[j])
    dual = 0.0
    for r in range(lam.size):
        dual += lam[r] * p.margin[r]
    return primal, dual / master.excess(p, lam, pull)


@kernel
def _average(mean: FloatArray, value: FloatArray, count: int) -> None:
    for j in range(mean.size):
        mean[j] += (value[j] - mean[j]) / count


@kernel
def _distance(x: FloatArray, y: FloatArray, scale: FloatArray) -> float:
    total = 0.0
    for j in range(x.size):
        total += (x[j] - y[j]) ** 2 / scale[j]
    return np.sqrt(total)


@kernel
def _restarted_steps(
    p: MasterProblem,
    tau: FloatArray,
    sigma: FloatArray,
    balance: float,
    w: FloatArray,
    lam: FloatArray,
    accuracy: float,
    most: int,
) -> tuple[float, float]:
    """Change `w` and `lam`; return how steps are balanced, and the best bound."""
    n, m = w.size, lam.size
    pull, hw, hw_new = np.zeros(n), np.zeros(m), np.zeros(m)
    master.multiply_transposed(p, lam, pull)
    master.multiply(p, w, hw)
    mean_w, mean_pull, mean_lam, mean_hw = w.copy(), pull.copy(), lam.copy(), hw.copy()
    start_w, start_lam = w.copy(), lam.copy()
    best, bound = _bounds(p, w, hw, lam, pull)
    gap_start = gap_last = best - bound
    count = 0
    for t in range(1, most + 1):
        for j in range(n):
            step = tau[j] / balance
            w[j] = master.shrink(w[j] + step * pull[j], step, p.positive)
        master.multiply(p, w, hw_new)
        for r in range(m):
            missing = p.margin[r] - 2.0 * hw_new[r] + hw[r]
            lam[r] += balance * sigma[r] * missing
            hw[r] = hw_new[r]
        for b in range(p.cap.size):
            project(lam, p, b)
        master.multiply_transposed(p, lam, pull)
        count += 1
        _average(mean_w, w, count)
        _average(mean_pull, pull, count)
        _average(mean_lam, lam, count)
        _average(mean_hw, hw, count)
        if t % LOOK_EVERY != 0:
            continue
        primal, dual = _bounds(p, w, hw, lam, pull)
        primal_mean, dual_mean = _bounds(p, mean_w, mean_hw, mean_lam, mean_pull)
        best = min(best, primal, primal_mean)
        bound = max(bound, dual, dual_mean)
        mean_is_better = primal_mean - dual_mean < primal - dual
        if best - bound <= accuracy or t + LOOK_EVERY > most:
            if mean_is_better:
                w[:] = mean_w
                lam[:] = mean_lam
            break
        gap = min(primal_mean - dual_mean, primal - dual)
        fallen = gap <= ENOUGH * gap_start
        fallen |= gap <= SOME * gap_start and gap > gap_last
        gap_last = gap
        if fallen or (count > 0.36 * t and count > 20 * LOOK_EVERY):
            if mean_is_better:
                w[:] = mean_w
                lam[:] = mean_lam
                pull[:] = mean_pull
                hw[:] = mean_hw
            moved_w = _distance(w, start_w, tau)
            moved_lam = _distance(lam, start_lam, sigma)
            if moved_w > 1e-10 and moved_lam > 1e-10:
                balance = np.sqrt(balance * moved_lam / moved_w)
            start_w[:] = w
            start_lam[:] = lam
            count, gap_start = 0, gap
    return balance, bound


def restarted_steps(
    p: MasterProblem,
    w: FloatArray,
    lam: FloatArray,
    balance: float,
    accuracy: float,
    most: int,
) -> tuple[FloatArray, FloatArray, float, float]:
    """Return weights, multipliers, how their steps are balanced, and a bound."""
    size = np.abs(p.val)
    columns = np.bincount(p.idx, size, w.size)
    rows = np.add.reduceat(size, p.ptr[:-1])
    # Steps must not differ within an example, or the projection would be another one.
    longest = np.maximum.reduceat(rows[p.order], p.group_ptr[:-1])
    sigma = np.zeros(lam.size)
    sigma[p.order] = np.repeat(1.0 / longest, np.diff(p.group_ptr))
    tau = 1.0 / np.maximum(columns, 1e-300)
    tau[columns == 0.0] = 1.0
    w, lam = w.copy(), lam.copy()
    balance, bound = _restarted_steps(p, tau, sigma, balance, w, lam, accuracy, most)
    return w, lam, float(balance), float(bound)


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
