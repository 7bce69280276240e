"""What every master problem of column generation shares: its data and its bounds.

The master problem is ``min |w|_1 + sum_i C_i xi_i`` over the rows found so far, LP (9)
of paper 002. Its slacks are implied: ``xi_i`` is the largest violation among the rows
of an example. So a point is only the weights, one for every column, and a dual point
the multipliers, one for every row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.solvers.keeping import Keeper
from partwise.solvers.linear_program.rows import Rows
from partwise.structures.interface import CodeArray, FloatArray, IntArray


class MasterProblem(NamedTuple):
    """The rows as kernels want them, grouped by example.

    Attributes
    ----------
    ptr, idx, val : array
        The rows of H, CSR.
    margin : array
        The right-hand side.
    order : array
        The rows, sorted by example.
    group_ptr : array
        The rows of group `b` are ``order[group_ptr[b]:group_ptr[b + 1]]``.
    cap : array
        C of the example of every group.
    positive : bool
        Whether weights must not be negative.
    """

    ptr: IntArray
    idx: CodeArray
    val: FloatArray
    margin: FloatArray
    order: IntArray
    group_ptr: IntArray
    cap: FloatArray
    positive: bool


def make_master_problem(rows: Rows, C: FloatArray, positive: bool) -> MasterProblem:
    """Group the rows by example."""
    order = np.argsort(rows.owner, kind="stable")
    owners, first = np.unique(rows.owner[order], return_index=True)
    ends = np.append(first, len(rows)).astype(np.int64)
    return MasterProblem(
        rows.ptr, rows.idx, rows.val, rows.margin, order, ends, C[owners], positive
    )


def row_sums(p: MasterProblem, values: FloatArray) -> FloatArray:
    """Add up what belongs to the entries of each row; a row without entries has zero.

    Wrong outputs that have the same features as the right one have none.
    """
    owner = np.repeat(np.arange(p.ptr.size - 1), np.diff(p.ptr))
    return np.asarray(np.bincount(owner, values, p.ptr.size - 1), np.float64)


@kernel
def row_dot(p: MasterProblem, r: int, w: FloatArray) -> float:
    """Return ``H_r . w``."""
    total = 0.0
    for k in range(p.ptr[r], p.ptr[r + 1]):
        total += p.val[k] * w[p.idx[k]]
    return total


@kernel
def multiply(p: MasterProblem, w: FloatArray, out: FloatArray) -> None:
    """Write ``H w``."""
    for r in range(out.size):
        out[r] = row_dot(p, r, w)


@kernel
def multiply_transposed(p: MasterProblem, lam: FloatArray, out: FloatArray) -> None:
    """Write ``H' lam``."""
    out[:] = 0.0
    for r in range(lam.size):
        if lam[r] != 0.0:
            for k in range(p.ptr[r], p.ptr[r + 1]):
                out[p.idx[k]] += lam[r] * p.val[k]


@kernel
def slack_sum(p: MasterProblem, hw: FloatArray) -> float:
    """Return ``sum_i C_i xi_i`` for the rows, given ``H w``."""
    total = 0.0
    for b in range(p.cap.size):
        slack = 0.0
        for k in range(p.group_ptr[b], p.group_ptr[b + 1]):
            r = p.order[k]
            slack = max(slack, p.margin[r] - hw[r])
        total += p.cap[b] * slack
    return total


@kernel
def excess(p: MasterProblem, lam: FloatArray, pull: FloatArray) -> float:
    """Return what `lam` must be divided by to be feasible, given ``H' lam``.

    Then ``H' lam <= 1`` (``|H' lam| <= 1`` for signed weights) and no group has more
    than its C: with zeros for the rows not found yet, this is a feasible point of the
    dual of the whole problem, LP (10).
    """
    top = 1.0
    for j in range(pull.size):
        top = max(top, pull[j] if p.positive else abs(pull[j]))
    for b in range(p.cap.size):
        mass = 0.0
        for k in range(p.group_ptr[b], p.group_ptr[b + 1]):
            mass += lam[p.order[k]]
        top = max(top, mass / p.cap[b])
    return top


def primal_value(p: MasterProblem, w: FloatArray) -> float:
    """Return the objective of the master problem."""
    hw = np.zeros(p.margin.size)
    multiply(p, w, hw)
    return float(np.abs(w).sum() + slack_sum(p, hw))


def dual_bound(p: MasterProblem, lam: FloatArray, n_columns: int) -> float:
    """Return the lower bound that `lam`, scaled down to be feasible, proves."""
    pull = np.zeros(n_columns)
    multiply_transposed(p, lam, pull)
    return float(lam @ p.margin) / float(excess(p, lam, pull))


@kernel
def shrink(value: float, amount: float, positive: bool) -> float:
    """Return the value moved towards zero: the proximal step of the L1 norm."""
    if value > amount:
        return value - amount
    if value < -amount and not positive:
        return value + amount
    return 0.0


@kernel
def shrink_all(values: FloatArray, amount: float, positive: bool) -> FloatArray:
    """Return all the values moved towards zero."""
    out = np.zeros(values.size)
    for j in range(values.size):
        out[j] = shrink(values[j], amount, positive)
    return out


class Task(NamedTuple):
    """The master problem of a round, and how well to solve it.

    Attributes
    ----------
    rows, C : Rows, array
        All constraints so far, and the weight of every example.
    w, lam : array
        Where the last round ended; new columns, and new rows, are at zero.
    accuracy : float
        Objective and bound should differ by no more than this.
    effort : int
        How hard to try, beyond the usual.
    """

    rows: Rows
    C: FloatArray
    w: FloatArray
    lam: FloatArray
    accuracy: float
    effort: int


class Solved(NamedTuple):
    """Where a master problem was left: weights, multipliers, the best bound seen."""

    w: FloatArray
    lam: FloatArray
    bound: float


class Master(Keeper, ABC):
    """A way to solve the master problem, again and again, as it grows.

    Besides weights and duals, what is `kept` lasts from round to round.
    """

    @abstractmethod
    def solve(self, task: Task, rng: np.random.Generator) -> Solved:
        """Return weights and multipliers, from those of the last round."""

    def forget(self, dropped: IntArray) -> None:
        """Forget rows that are no longer there."""
