"""The state of restricted simplicial decomposition between passes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from partwise._jit import kernel, working_time
from partwise.losses.margin import most_violated
from partwise.solvers.base import Problem, State
from partwise.solvers.divergences import (
    Divergence,
    ReverseDivergence,
    projected_bound,
    scaled_bound,
)
from partwise.solvers.facts import positive
from partwise.solvers.log_distributions import LogDistributions
from partwise.solvers.simplicial.points import DensePoints, Points, SparsePoints
from partwise.solvers.simplicial.proximal_dual import Minimum, ProximalDual
from partwise.solvers.simplicial.reverse_dual import ReverseProximalDual
from partwise.structures import interface as waist
from partwise.structures.interface import Diff, FloatArray, IntArray, Structure
from partwise.structures.parallel import Worker
from partwise.structures.scratch import Scratch
from partwise.structures.sharing import summed

WEAKEN_BELOW, WEAKER = 0.002, 0.5
"""When the proximal term gets weaker, and by how much."""


@kernel
def _find_points(
    s: Structure,
    start: int,
    stop: int,
    C: FloatArray,
    w: FloatArray,
    row_of: IntArray,
    squared: bool,
    slack: FloatArray,
    rows: FloatArray,
    scratch: Scratch,
    diff: Diff,
    ws: Any,
) -> None:
    """Add the most violated outputs of some examples to points, offsets last.

    Example `i` belongs to the point ``row_of[i]``; none if that is negative.
    """
    last = rows.shape[1] - 1
    for i in range(start, stop):
        if row_of[i] < 0 or C[i] == 0.0:
            continue
        waist.visit(s, i, ws)
        slack[i] = most_violated(s, i, w, scratch, ws)
        row = rows[row_of[i]]
        # The multiplier of a squared violation has no limit: this is its best value.
        scale = 2.0 * C[i] * slack[i] if squared else C[i]
        row[last] += scale * waist.cost(s, i, scratch.y)
        waist.diff_add(s, i, scratch.y, scratch.y_gold, scale, row, diff, ws)
        if squared:
            row[w.size + i] += scale / np.sqrt(2.0 * C[i])


class Found:
    """What a search for directions found: slacks, and points with their offsets."""

    def __init__(self, slack: FloatArray, rows: FloatArray):
        self.slack = slack
        self.vectors, self.offset = rows[:, :-1], rows[:, -1]


class SimplicialState(State):
    """Points, the centre, the best weights and bounds so far.

    Attributes
    ----------
    w : array
        The weights of the lowest objective.
    iterate : array
        The weights that the dual point stands for.
    extended : array
        The iterate, and after it what the violations are taken to be.
    primal, dual : float
        The objective at `w`, and a lower bound on that of any weights.
    proximal_value : float
        The dual value around this centre.
    centre_primal : float
        The objective at the centre.
    n_changes : int
        How often the centre has changed.
    estimate_of_paper, outside : float, int
        What the paper takes for a lower bound, and how many distributions were
        projected for it.
    seconds : dict
        The time spent in the master problem, in finding directions, in changing the
        centre and in computing bounds.
    """

    kept = (
        "points", "w", "iterate", "extended", "dual_function.centre",
        "dual_function.gamma", "dual_function.log_ratio", "primal", "dual",
        "proximal_value", "centre_primal", "n_changes", "fruitless",
    )  # fmt: skip
    unbounded = (
        "primal", "dual", "proximal_value", "centre_primal", "dual_function.log_ratio",
    )  # fmt: skip
    facts = (positive("dual_function.gamma"),)

    def __init__(self, problem: Problem, n_sets: int):
        n = problem.n_weights
        self.problem = problem
        self.squared = problem.loss.name == "squared_hinge"
        n_columns = n + (problem.n_examples if self.squared else 0)
        self.groups: LogDistributions | None = None
        self.divergence: Divergence | None = None
        reference, centre = np.zeros(n_columns), np.zeros(n_columns)
        weight = np.ones(n_columns)
        if problem.reference is not None:
            self.divergence = problem.make_divergence()
            self.groups = self.divergence.groups
            reference[:n] = problem.reference
            centre[:n] = np.log(problem.reference)
        self.points: Points = (
            SparsePoints(n_sets, n_columns)
            if self.groups is None
            else DensePoints(n_sets, n_columns)
        )
        self.points.groups = self.groups
        is_reverse = isinstance(self.divergence, ReverseDivergence)
        make_dual = ReverseProximalDual if is_reverse else ProximalDual
        self.dual_function = make_dual(reference, centre, weight, self.groups)
        self.extended = centre.copy()
        self.iterate = centre[:n].copy()
        self.w = self.iterate
        self.primal, self.dual = np.inf, -np.inf
        self.proximal_value, self.centre_primal = -np.inf, np.inf
        self.n_changes = self.fruitless = 0
        self.estimate_of_paper, self.outside = -np.inf, 0
        self.seconds = dict.fromkeys(("master", "directions", "centre", "bounds"), 0.0)
        self._crew = problem.crew(n_sums=n_columns + 1)

    def set_iterate(self, x: FloatArray) -> None:
        """Take the weights, and the violations, that the dual point stands for."""
        n = self.problem.n_weights
        self.extended = x
        self.iterate = x[:n].copy()
        if self.groups is not None:  # they add up to one; this is for rounding
            self.iterate = self.groups.normalise(self.iterate)

    def show(self, best: Minimum) -> None:
        """Take the weights and the bound that come with a dual point."""
        self.set_iterate(best.x)
        with self.clock("bounds"):
            self.take_dual(best.value)

    @contextmanager
    def clock(self, what: str) -> Iterator[None]:
        """Count the seconds of a block of code."""
        begin = working_time()
        yield
        self.seconds[what] += working_time() - begin

    def find(self, row_of: IntArray, n_rows: int) -> Found:
        """Find the most violated outputs at the iterate, added up to points."""
        problem, points = self.problem, self.points
        shape = n_rows, points.n_columns + 1
        slack, total = np.zeros(problem.n_examples), np.zeros(n_rows * shape[1])
        C, w = problem.C, self.iterate

        def add(
            s: Structure, start: int, stop: int, worker: Worker, out: FloatArray
        ) -> None:
            _find_points(
                s, start, stop, C, w, row_of, self.squared, slack, out.reshape(shape),
                worker.scratch, waist.make_diff(s), worker.ws,
            )  # fmt: skip

        with self.clock("directions"):
            self._crew.run(add, summed(total))
        self.oracle_calls += int(np.count_nonzero((row_of >= 0) & (C > 0.0)))
        return Found(slack, total.reshape(shape))

    def take_primal(self, slack: FloatArray) -> float:
        """Return the objective at the iterate; keep its weights if it is the lowest."""
        losses = slack**2 if self.squared else slack
        primal = self.penalise(self.iterate) + float(self.problem.C @ losses)
        if primal < self.primal:
            self.primal, self.w = primal, self.iterate
        return primal

    def penalise(self, w: FloatArray) -> float:
        """Return the penalty of weights that are feasible."""
        if self.divergence is None:
            return float(0.5 * w @ w)
        return self.divergence.of_feasible(w)

    def take_dual(self, value: float) -> None:
        """Raise the lower bound if the dual point, of this dual value, allows it."""
        self.proximal_value = value
        if self.divergence is None:
            self.dual = max(self.dual, value)
            return
        n = self.problem.n_weights
        vector, offset = self.points.total()
        curvature = float(vector[n:] @ vector[n:])
        pull = vector[:n]
        bound = scaled_bound(
            pull, offset, self.divergence, curvature=curvature, cone=self.squared
        )
        self.dual = max(self.dual, bound)
        self.estimate_of_paper, self.outside = projected_bound(
            pull, offset - 0.5 * curvature, self.divergence
        )

    def bounds(self) -> tuple[float, float, float, float]:
        """Return all that can improve: bounds on both problems."""
        return self.primal, self.dual, self.proximal_value, self.centre_primal

    def proximal_gap(self) -> float:
        """Return what the dual can still gain around this centre, at most."""
        upper = self.primal if self.groups is None else self.centre_primal
        if not np.isfinite(upper):
            return np.inf  # nothing is known yet
        least = 1e-13 * abs(upper)
        if not np.isfinite(self.proximal_value):
            return max(abs(upper), least)
        return max(upper - self.proximal_value, least)

    def move_centre(self, primal: float, weaken: bool = False) -> None:
        """Go on around the iterate, where the objective is `primal`.

        With a weaker proximal term if that is wanted. Also where the lower bound is
        what keeps the gap open: then the dual point comes nearer to the domain of the
        dual function.
        """
        n = self.iterate.size
        loose = self.proximal_gap() < WEAKEN_BELOW * (self.primal - self.dual)
        if weaken or loose:
            self.dual_function.gamma[:n] *= WEAKER
        self.dual_function.centre[:n] = self.iterate
        self.centre_primal = primal
        self.n_changes += 1
