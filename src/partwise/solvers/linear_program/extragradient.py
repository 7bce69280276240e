"""The master problem by the extragradient method: Algorithm 2 of paper 002.

A saddle point of ``|w|_1 + C.xi + lam.(margin - M xi - H w)``, equation (12), is looked
for by steps along the gradients: a predictor, then a corrector from the same point with
the gradients at the predictor (equation 13; Korpelevich 1976). For weights that must
not be negative, `shrink` is the projection of the paper; for signed ones it is the same
for a weight that is split into two parts of different sign, one of which is zero.

A method with half the work a step and far longer steps, which the paper does not have,
is `ChambollePock`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise._deadline import check_time
from partwise._jit import kernel
from partwise.solvers.linear_program import master
from partwise.solvers.linear_program.master import Master, MasterProblem, Solved, Task
from partwise.structures.interface import FloatArray, IntArray

STEPS = ("frobenius", "spectral")

POWER_STEPS = 30
"""Steps of the power iteration for the spectral norm."""

AT_ONCE = 20
"""Steps between two looks at the clock."""


@kernel
def _spectral_norm(p: MasterProblem, n_columns: int, group_of: IntArray) -> float:
    """Return about ``|[H M]|_2``, by power iteration."""
    w, xi = np.ones(n_columns), np.ones(p.cap.size)
    rows = np.zeros(p.margin.size)
    norm = 1.0
    for _ in range(POWER_STEPS):
        master.multiply(p, w, rows)
        for r in range(rows.size):
            rows[r] += xi[group_of[r]]
        master.multiply_transposed(p, rows, w)
        xi[:] = 0.0
        for r in range(rows.size):
            xi[group_of[r]] += rows[r]
        norm = np.sqrt((w * w).sum() + (xi * xi).sum())
        w /= norm
        xi /= norm
    return np.sqrt(norm)


class SaddlePoint(NamedTuple):
    """Weights, slacks and multipliers."""

    w: FloatArray
    xi: FloatArray
    lam: FloatArray


@kernel
def _move(
    p: MasterProblem,
    group_of: IntArray,
    step: float,
    here: SaddlePoint,
    at: SaddlePoint,
    pull: FloatArray,
    out: SaddlePoint,
) -> None:
    """Step from `here` along the gradients at another point: half of (13)."""
    master.multiply_transposed(p, at.lam, pull)
    for j in range(here.w.size):
        out.w[j] = master.shrink(here.w[j] + step * pull[j], step, p.positive)
    for r in range(here.lam.size):
        missing = p.margin[r] - at.xi[group_of[r]] - master.row_dot(p, r, at.w)
        out.lam[r] = max(here.lam[r] + step * missing, 0.0)
    for b in range(here.xi.size):
        mass = 0.0
        for k in range(p.group_ptr[b], p.group_ptr[b + 1]):
            mass += at.lam[p.order[k]]
        out.xi[b] = max(here.xi[b] - step * (p.cap[b] - mass), 0.0)


@kernel
def _change(new: FloatArray, old: FloatArray) -> tuple[float, float]:
    """Return the squared norm of the change, and that of the new values."""
    change, size = 0.0, 0.0
    for j in range(new.size):
        change += (new[j] - old[j]) ** 2
        size += new[j] ** 2
    return change, size


@kernel
def _extragradient(
    p: MasterProblem,
    group_of: IntArray,
    step: float,
    here: SaddlePoint,
    change: float,
    accuracy: float,
    steps: int,
) -> bool:
    """Iterate (13); say whether both tolerances hold (Algorithm 2, lines 9 and 10)."""
    w, xi, lam = here
    pull = np.zeros(w.size)
    predicted = SaddlePoint(w.copy(), xi.copy(), lam.copy())
    new = SaddlePoint(w.copy(), xi.copy(), lam.copy())
    for _ in range(steps):
        _move(p, group_of, step, here, here, pull, predicted)
        _move(p, group_of, step, here, predicted, pull, new)
        moved_w, size_w = _change(new.w, w)
        moved_xi, size_xi = _change(new.xi, xi)
        moved_lam, size_lam = _change(new.lam, lam)
        w[:] = new.w
        xi[:] = new.xi
        lam[:] = new.lam
        gap = (xi * p.cap).sum() - (lam * p.margin).sum()
        for j in range(w.size):
            gap += abs(w[j])
        still = moved_w + moved_xi <= change**2 * (size_w + size_xi)
        if still and moved_lam <= change**2 * size_lam and gap <= accuracy:
            return True
    return False


class Extragradient(Master):
    """Steps towards the saddle point, from where the last round ended.

    Parameters
    ----------
    positive : bool
        Whether weights must not be negative.
    step : {"frobenius", "spectral"}
        The length of steps: from the Frobenius norm, as in the paper, which is timid;
        or from the spectral norm, the longest that Theorem 4.1 allows.
    change : float
        The first tolerance: the relative change in a step.
    most : int
        Steps in a round.
    """

    def __init__(self, positive: bool, step: str, change: float, most: int):
        self.positive, self.step = positive, step
        self.change, self.most = change, most

    def solve(self, task: Task, rng: np.random.Generator) -> Solved:
        """Step until the tolerances hold, or `effort` times `most` times."""
        rows, C, w, lam, accuracy, effort = task
        p = master.make_master_problem(rows, C, self.positive)
        group_of = np.zeros(len(rows), np.int64)
        group_of[p.order] = np.repeat(np.arange(p.cap.size), np.diff(p.group_ptr))
        if self.step == "frobenius":
            norm = np.sqrt(2.0 * float(rows.val @ rows.val) + 2.0 * len(rows))
        else:
            norm = 1.05 * float(_spectral_norm(p, w.size, group_of))
        bound = master.dual_bound(p, lam, w.size)
        w, lam = w.copy(), lam.copy()
        hw, xi = np.zeros(len(rows)), np.zeros(p.cap.size)
        master.multiply(p, w, hw)
        np.maximum.at(xi, group_of, p.margin - hw)  # line 5: raised to feasibility
        here, most = SaddlePoint(w, xi, lam), effort * self.most
        for done in range(0, most, AT_ONCE):
            check_time()
            steps = min(AT_ONCE, most - done)
            if _extragradient(
                p, group_of, 1.0 / norm, here, self.change, accuracy, steps
            ):
                break
        return Solved(w, lam, max(bound, master.dual_bound(p, lam, w.size)))
