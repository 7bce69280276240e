"""The master problem by proximal steps, each of them by dual coordinate ascent.

``|w|_1 + rho/2 |w - c|^2 + sum_i C_i xi_i`` has one best point for every `lam`, in
closed form: ``w_j = shrink(c_j + (H' lam)_j / rho, 1 / rho)``. So its dual function is
smooth, and a step on the multipliers of one example costs no more than its rows. The
centre then moves to the best point. At a fixed point ``H' lam = 1 + rho (w - c)`` is
feasible, so the bound gets as good as the weights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise._deadline import check_time
from partwise._jit import kernel
from partwise.solvers.linear_program import master
from partwise.solvers.linear_program.master import Master, MasterProblem, Solved, Task
from partwise.structures.interface import FloatArray, IntArray

MOST_PASSES = 20
"""Passes of ascent for one centre."""

SHARE = 0.3
"""The proximal problem is solved to this share of the gap."""

FLAT = 1e-30
"""A row without entries counts as this share of the longest one: its multiplier goes
to where it ends in one step."""

LOOK_EVERY = 5
"""Passes between looks at the gap."""


class ProximalStep(NamedTuple):
    """A proximal problem: its centre, the weight of the term, and where it is now.

    `sqnorm` are the squared norms of the rows, `pull` is ``H' lam``.
    """

    p: MasterProblem
    sqnorm: FloatArray
    rho: float
    centre: FloatArray
    w: FloatArray
    pull: FloatArray
    lam: FloatArray


@kernel
def _shift(x: ProximalStep, r: int, change: float) -> None:
    """Change one multiplier, and the weights with it."""
    p, rho, pull = x.p, x.rho, x.pull
    x.lam[r] += change
    for k in range(p.ptr[r], p.ptr[r + 1]):
        j = p.idx[k]
        pull[j] += change * p.val[k]
        x.w[j] = master.shrink(x.centre[j] + pull[j] / rho, 1.0 / rho, p.positive)


@kernel
def _ascend(x: ProximalStep, groups: IntArray) -> None:
    """Improve the multipliers of every example once.

    Those of an example sum to at most C. Below that, the row that is violated most
    gains and the one that is least so loses, each by a Newton step; at it, mass moves
    from the one to the other.
    """
    p, sqnorm, rho, w, lam = x.p, x.sqnorm, x.rho, x.w, x.lam
    for b in groups:
        mass, slope_high, slope_low = 0.0, -np.inf, np.inf
        high, low = -1, -1
        for k in range(p.group_ptr[b], p.group_ptr[b + 1]):
            r = p.order[k]
            mass += lam[r]
            slope = p.margin[r] - master.row_dot(p, r, w)
            if slope > slope_high:
                high, slope_high = r, slope
            if lam[r] > 0.0 and slope < slope_low:
                low, slope_low = r, slope
        free = p.cap[b] - mass
        if slope_high > 0.0 and free <= 1e-12 * p.cap[b]:
            if low >= 0 and low != high and slope_high > slope_low:
                bend = 2.0 * (sqnorm[high] + sqnorm[low]) / rho
                step = min((slope_high - slope_low) / bend, lam[low])
                _shift(x, high, step)
                _shift(x, low, -step)
            continue
        if slope_high > 0.0:
            step = min(slope_high * rho / sqnorm[high], free)
            _shift(x, high, step)
        if low >= 0:
            slope_low = p.margin[low] - master.row_dot(p, low, w)
            if slope_low < 0.0:
                step = max(slope_low * rho / sqnorm[low], -lam[low])
                _shift(x, low, step)


def _proximal_gap(x: ProximalStep) -> float:
    """Return how far the proximal problem is from solved, where `w` is best."""
    hw = np.zeros(x.lam.size)
    master.multiply(x.p, x.w, hw)
    return float(master.slack_sum(x.p, hw) + x.pull @ x.w - x.lam @ x.p.margin)


class ProximalMaster(Master):
    """Proximal point steps; the weight of the proximal term adapts to the work."""

    kept = ("rho",)

    def __init__(self, positive: bool):
        self.positive = positive
        self.rho = 0.0

    def solve(self, task: Task, rng: np.random.Generator) -> Solved:
        """Take `effort` proximal steps, one as long as there are rows to be found."""
        rows, w = task.rows, task.w
        p = master.make_master_problem(rows, task.C, self.positive)
        sqnorm = master.row_sums(p, rows.val**2)
        sqnorm = np.maximum(sqnorm, FLAT * sqnorm.max() or 1.0)
        if self.rho == 0.0:
            # One over the size of weights that would give a typical row its margin.
            size = np.abs(rows.val).sum() / len(rows)
            self.rho = (size or 1.0) / (float(p.margin.mean()) or 1.0)
        lam, pull = task.lam.copy(), np.zeros(w.size)
        best, bound = master.primal_value(p, w), master.dual_bound(p, lam, w.size)
        master.multiply_transposed(p, lam, pull)
        for _ in range(task.effort):
            centre = w
            w = master.shrink_all(
                centre + pull / self.rho, 1.0 / self.rho, self.positive
            )
            here = ProximalStep(p, sqnorm, self.rho, centre, w, pull, lam)
            passes = self._ascend(here, SHARE * (best - bound), rng)
            best = min(best, master.primal_value(p, w))
            bound = max(bound, master.dual_bound(p, lam, w.size))
            # Hard work asks for a stronger term, easy work allows a weaker one.
            if passes >= MOST_PASSES:
                self.rho *= 1.3
            elif passes < MOST_PASSES // 2:
                self.rho *= 0.7
            if best - bound <= task.accuracy:
                break
        return Solved(w, lam, bound)

    def _ascend(
        self, here: ProximalStep, accuracy: float, rng: np.random.Generator
    ) -> int:
        """Solve the proximal problem, not too well; return how many passes it took."""
        for done in range(1, MOST_PASSES + 1):
            check_time()
            _ascend(here, rng.permutation(here.p.cap.size))
            if done % LOOK_EVERY == 0 and _proximal_gap(here) <= accuracy:
                break
        return done
