"""The cutting plane method with one slack (Joachims, Finley and Yu, 2009).

The sum of all the losses is a convex function of the weights that lies above a plane
for every choice of one output per example; of squared ones, the root of their sum is.
Each pass adds the plane that touches it at
the weights, and the next weights minimise the objective with the planes in place of
the losses, by a small quadratic programme: its value is a lower bound on the objective
of any weights, so that every pass ends with an exact certificate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from partwise.losses import Certificate
from partwise.solvers.base import STALLED, Problem, Solver, State
from partwise.solvers.cutting_plane.plane_qp import solve_plane_qp
from partwise.solvers.cutting_plane.planes import Planes
from partwise.solvers.facts import same_length
from partwise.structures.decoding import output_pointers
from partwise.structures.interface import FloatArray, add_costs, argmax, cost

PLANES_KEPT = 100
"""About how many planes were in use at a time, where it was measured."""

LACKING = 1e-10
"""Weights lack digits if planes are so far off there, as a share of what they cost."""

EPS = float(np.finfo(float).eps)

ROOM = 1e-13
"""How much longer weights are than proposed, lest rounding leaves slack where there is
none: with a large C, that would weigh more than they do."""

FRUITLESS = 5
"""Passes in a row that improve neither bound: no more of them, or than there are
planes. Where weights cost next to nothing, many are proposed alike, and a plane cuts
off some."""


class CuttingPlaneState(State):
    """Planes, their multipliers, and the best weights so far.

    `w` are the weights of the lowest objective, `iterate` those that the planes
    propose, where the next plane will touch.
    """

    kept = (
        *("planes", "alpha", "idle", "w", "iterate", "primal", "dual", "fruitless"),
        "share",
    )
    growing = ("alpha", "idle")
    unbounded = ("primal",)
    facts = (same_length("alpha", "idle", "planes.costs"),)

    def __init__(self, problem: Problem):
        self.planes = Planes(problem)
        self.alpha = np.zeros(0)
        self.idle = np.zeros(0, np.int64)
        self.w = np.zeros(problem.n_weights)
        self.iterate = np.zeros(problem.n_weights)
        self.slack = np.zeros(problem.n_examples)
        self.primal = np.inf
        self.dual = 0.0
        self.fruitless = 0
        self.share = 0.0

    def form(self) -> tuple[Any, ...]:
        """Return the number of weights, and the sizes of the outputs."""
        return self.w.size, self.planes.ptr.tobytes()

    def continue_from(self, problem: Problem, previous: CuttingPlaneState) -> None:
        """Take over the planes of an earlier run, perhaps with another C."""
        self.check_fits(previous)
        self.planes.codes = previous.planes.codes.copy()
        self.planes.slopes = previous.planes.slopes.copy()
        self.planes.costs = np.zeros(len(previous.planes))
        self.planes.weigh_again(problem)
        self.alpha, self.idle = previous.alpha.copy(), previous.idle.copy()
        self.solve_planes(problem)
        self.w = previous.w.copy()
        self.iterate = previous.w.copy()

    def solve_planes(self, problem: Problem) -> FloatArray:
        """Find the best multipliers; return the weights that they stand for.

        The bound never falls, whatever rounding does.
        """
        planes = self.planes
        self.alpha, u = solve_plane_qp(
            planes.factor, planes.costs, self.alpha, planes.squared
        )
        w = planes.combine(problem, self.alpha)
        # From the weights themselves, free of what rounding did to the products.
        dual = float(planes.costs @ self.alpha - 0.5 * w @ w)
        if planes.squared:
            dual -= 0.25 * float(self.alpha.sum()) ** 2
        self.dual = max(self.dual, dual)
        return planes.weights_at(problem, u) if self._lacks_digits(u) else w

    def _lacks_digits(self, u: FloatArray) -> bool:
        """Say whether the multipliers cannot tell the weights, which are at `u`."""
        factor, sizes = self.planes.factor, self.planes.sizes()
        heights = factor.T @ (factor @ self.alpha - u)
        rounding = EPS * float(self.alpha @ sizes) * sizes.max()
        off = np.abs(heights).max() + rounding
        return bool(off > LACKING * np.abs(self.planes.costs).max())

    def drop_idle(self, drop_after: int) -> None:
        """Forget the planes whose multiplier has been zero for too long."""
        self.idle = np.where(self.alpha > 0.0, 0, self.idle + 1)
        order = self.planes.keep(self.idle <= drop_after)
        self.alpha, self.idle = self.alpha[order], self.idle[order]


@dataclass(frozen=True)
class CuttingPlane(Solver):
    """One-slack cutting planes for the margin losses, on any structure with argmax.

    Parameters
    ----------
    step : float
        Where the second plane touches: this share of the way from the best weights so
        far to those that the planes propose. The share doubles after every pass that
        finds better weights, and is halved after others, to no less than its square.
        With 1, the original method, early proposals are far off the mark and the
        passes many.
    drop_after : int
        A plane that has had no part in the weights for this many passes is dropped.

    See Also
    --------
    FrankWolfe : Learns from each output at once; many times faster on many examples.

    Notes
    -----
    Nothing changes during a pass, so that all of it runs in ``problem.n_jobs`` threads.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> problem = make_problem(s, get_loss("hinge"))
    >>> solution = solve(problem, CuttingPlane(), tol=1e-6)
    >>> solution.w.round(4).tolist()
    [0.5, -0.5]
    """

    step: float = 0.1
    drop_after: int = 20

    names: ClassVar[dict[str, dict[str, Any]]] = {"cutting-plane": {}}
    losses = ("hinge", "squared_hinge")
    needs = (argmax, add_costs, cost)
    only_passes = True
    at_least: ClassVar[dict[str, float]] = {"drop_after": 1}

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        if not 0.0 < self.step <= 1.0:
            raise ValueError(f"step must lie in 0..1, not be 0: {self.step!r}")

    def memory(self, problem: Problem) -> int:
        """Return about the bytes of the planes, and of vectors like the weights.

        How many planes are kept is not known in advance; this is the usual number.
        """
        n_codes = int(output_pointers(problem.structure)[-1])
        planes = PLANES_KEPT * (4 * n_codes + 8 * problem.n_examples)
        return planes + 8 * 3 * problem.n_weights

    def start(
        self, problem: Problem, rng: np.random.Generator, previous: State | None
    ) -> CuttingPlaneState:
        """Start without planes, or with those of an earlier run.

        After another solver, the first plane touches at its weights.
        """
        state = CuttingPlaneState(problem)
        state.share = self.step
        if (
            isinstance(previous, CuttingPlaneState)
            and previous.planes.squared == state.planes.squared
        ):
            state.continue_from(problem, previous)
        elif previous is not None:
            state.check_fits(previous)
            state.w, state.iterate = previous.w.copy(), previous.w.copy()
        return state

    def run_pass(
        self, problem: Problem, state: CuttingPlaneState, rng: np.random.Generator
    ) -> Iterator[float]:
        """Add the plane at the weights, and find the next weights."""
        w, planes = state.iterate, state.planes
        for fraction in planes.touch(problem, w, state.slack):
            yield 0.8 * fraction
        state.oracle_calls += problem.n_examples
        state.alpha, state.idle = np.append(state.alpha, 0.0), np.append(state.idle, 0)
        before = state.primal, state.dual
        losses = state.slack**2 if planes.squared else state.slack
        primal = float(0.5 * w @ w + problem.C @ losses)
        if primal < state.primal:
            state.primal, state.w = primal, w
        proposed = (1.0 + ROOM) * state.solve_planes(problem)
        # Steps that find better weights one after the other are too short, others long.
        better = state.primal < before[0]
        factor = 2.0 if better else 0.5
        state.share = min(max(factor * state.share, self.step**2), 1.0)
        state.iterate = state.w + state.share * (proposed - state.w)
        state.drop_idle(self.drop_after)
        improved = (state.primal, state.dual) != before
        state.fruitless = 0 if improved else state.fruitless + 1
        if state.fruitless >= max(FRUITLESS, len(planes)):
            state.halted = STALLED
        state.estimate = Certificate(state.primal, state.dual)

    def certify(self, problem: Problem, state: CuttingPlaneState) -> Certificate:
        """Return the certificate, which is known after every pass."""
        if state.primal == np.inf:  # no pass has ended yet
            state.primal = problem.primal(state.w)
        return Certificate(state.primal, state.dual)
