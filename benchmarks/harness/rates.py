"""What theory promises of batch EG beside what is measured (Globerson et al. 2007).

With a step `eta` that never lowers the dual (Lemma 2), the dual point after `T` passes
is within ``D[best || first] / (eta T)`` of the best one (section 4.4), in the scaling
in which the entropy has weight one: our dual divided by C.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise.solvers import ExponentiatedGradient, solve
from partwise.solvers.base import Problem
from partwise.solvers.part_duals import dual_parts
from partwise.solvers.part_duals.batch_forms import ThetaState
from partwise.solvers.part_duals.guaranteed_steps import guaranteed_steps
from partwise.solvers.registry import make_solver
from partwise.structures.interface import FloatArray


class BatchRate(NamedTuple):
    """For every pass the distance of the dual to its optimum, and its bound.

    Both are in the units of the objective. `step` is the one that theory guarantees,
    `divergence` is ``D[best || first]``. `halved` are the distances with steps that
    start at 0.5 and are halved until the dual rises: what is done in practice.
    """

    step: float
    divergence: float
    measured: list[float]
    bound: list[float]
    halved: list[float]

    @property
    def largest_share(self) -> float:
        """The largest share of the bound that the distance took."""
        shares = zip(self.measured, self.bound, strict=True)
        return max(measured / bound for measured, bound in shares)


def batch_rate(problem: Problem, passes: int, *, start: str = "gold") -> BatchRate:
    """Run batch EG with the guaranteed step, for the log loss, and compare.

    The distance is measured to an upper bound on the optimum: never too small.
    """
    best = solve(problem, make_solver("lbfgs"), tol=1e-6, max_iter=1000)
    assert best.certificate is not None
    solver = ExponentiatedGradient("batch", step="guaranteed", start_at=start)
    first = solver.start(problem, np.random.default_rng(0), None)
    assert isinstance(first, ThetaState)
    divergence = _divergence(problem, best.w, first)
    trace = solve(problem, solver, tol=1e-12, max_iter=passes).trace
    by_halves = ExponentiatedGradient("batch", step="halving", start_at=start)
    practice = solve(problem, by_halves, tol=1e-12, max_iter=passes).trace
    step, C = float(guaranteed_steps(problem, together=True)[0]), float(problem.C[0])
    return BatchRate(
        step,
        divergence,
        [best.certificate.primal - row.dual for row in trace],
        [C * divergence / (step * (t + 1)) for t in range(len(trace))],
        [best.certificate.primal - row.dual for row in practice],
    )


def _divergence(problem: Problem, w: FloatArray, first: ThetaState) -> float:
    """Return the relative entropy of the best dual point to the first one.

    Of two Gibbs distributions: with scores `a` and `b`, it is
    ``H_b - H_a + b . (mu_b - mu_a)``.
    """
    s, begin = problem.structure, first.parts.dual
    best = begin._replace(
        theta=np.zeros_like(begin.theta),
        mu=np.zeros_like(begin.mu),
        value=np.zeros_like(begin.value),
    )
    scratch, ws = first.parts.scratch, first.parts.workspace
    dual_parts.score_parts(s, w, best.ptr, best.theta, ws)
    dual_parts.gibbs_points(s, best, 0, problem.n_examples, scratch, ws)
    entropies = float(begin.value.sum() - best.value.sum())
    return entropies + float(begin.theta @ (begin.mu - best.mu))
