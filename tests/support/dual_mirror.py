"""The dual point of a small corpus, written down output by output.

Solvers that keep their duals part by part never list a distribution. The mirror does:
it follows every step with the distribution over all the outputs of an example, from
which weights, entropies and dual values can be had without the solver's help.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import xlogy

import problems
from log_problems import log_sum_and_shares
from partwise.solvers.base import Problem
from partwise.solvers.part_duals.dual_parts import DualParts, ascend
from partwise.solvers.part_duals.hinge_steps import ascend_hinge
from partwise.solvers.part_duals.state import DualPartsState
from partwise.structures.interface import (
    make_diff,
    n_parts,
    part_scores,
    parts_of,
    visit,
    workspace,
)
from problems import Floats


class DualMirror:
    """Every distribution of a dual point, as a vector over the listed outputs."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.outputs = problems.enumerate_outputs(problem.structure)
        self.counts = [self._count(i) for i in range(problem.n_examples)]
        self.alpha: list[Floats] = []

    def _count(self, i: int) -> Floats:
        """Return how often every part occurs in every output of example `i`."""
        s, codes = self.problem.structure, self.outputs[i].codes
        diff = make_diff(s)
        counts = np.zeros((len(codes), int(n_parts(s, i))))
        for row, y in zip(counts, codes, strict=True):
            found = parts_of(s, i, y, diff.ids, diff.counts)
            np.add.at(row, diff.ids[:found], diff.counts[:found])
        return counts

    # --- what follows from the distributions ---

    @property
    def w(self) -> Floats:
        """The weights, by enumeration."""
        total = np.zeros(self.problem.n_weights)
        for out, alpha, C in zip(self.outputs, self.alpha, self.problem.C, strict=True):
            total += C * alpha @ out.dphi
        return total

    @property
    def mu(self) -> Floats:
        """The expected count of every part, example after example."""
        pairs = zip(self.alpha, self.counts, strict=True)
        return np.concatenate([alpha @ counts for alpha, counts in pairs])

    @property
    def values(self) -> Floats:
        """The entropies, or for the hinge the expected costs."""
        if self.problem.loss.name == "hinge":
            pairs = zip(self.alpha, self.outputs, strict=True)
            return np.array([alpha @ out.cost for alpha, out in pairs])
        return np.array([-xlogy(alpha, alpha).sum() for alpha in self.alpha])

    def dual(self, values: Floats) -> float:
        """The dual value, given what the distributions are worth."""
        return float(self.problem.C @ values - 0.5 * self.w @ self.w)

    def primal(self) -> float:
        """The objective at the weights."""
        w, total = self.w, 0.0
        for out, C in zip(self.outputs, self.problem.C, strict=True):
            scores = -out.dphi @ w
            if self.problem.loss.name == "hinge":
                total += C * max(out.cost + scores)
            else:
                total += C * np.logaddexp.reduce(scores)
        return float(0.5 * w @ w + total)

    # --- following a solver ---

    def gibbs(self, i: int, theta: Floats) -> Floats:
        """The distribution of example `i` with these part scores."""
        return log_sum_and_shares(self.counts[i] @ theta)[1]

    def gibbs_of_weights(self, i: int, w: Floats) -> Floats:
        """The distribution ``p(y | x_i; w)``."""
        return log_sum_and_shares(-self.outputs[i].dphi @ w)[1]

    def _right(self, i: int) -> list[Floats]:
        """The distributions with all the mass on an output that is as good as right."""
        gold = (np.abs(self.outputs[i].dphi) < 1e-12).all(axis=1)
        return [np.eye(gold.size)[k] for k in np.flatnonzero(gold)]

    def keep_share(self, share: float) -> None:
        """Move the rest of all the mass to the right outputs."""
        for i, alpha in enumerate(self.alpha):
            self.alpha[i] = share * alpha + (1 - share) * self._right(i)[0]

    def start_at(self, dual: DualParts) -> None:
        """Start where all distributions are right outputs or Gibbs distributions."""
        self.alpha = []
        for i in range(self.problem.n_examples):
            first, last = dual.ptr[i], dual.ptr[i + 1]
            candidates = self._right(i)
            if dual.theta.size:
                candidates.append(self.gibbs(i, dual.theta[first:last]))
            self.alpha.append(self._fitting(i, candidates, dual.mu[first:last]))

    def _fitting(self, i: int, candidates: list[Floats], mu: Floats) -> Floats:
        errors = [np.abs(alpha @ self.counts[i] - mu).max() for alpha in candidates]
        assert min(errors) <= 1e-7, "not a distribution that the solver may be at"
        return candidates[int(np.argmin(errors))]

    def follow(self, state: DualPartsState, i: int, mix: bool, fixed: float) -> Any:
        """Let the solver take a step for example `i`, and take it as well.

        Log loss: to, or part of the way to, the Gibbs distribution of the step
        remembered or of one. Hinge: to that of the new scores, or to a mixture of it
        and the right output.
        """
        problem, dual = self.problem, state.dual
        first, last = dual.ptr[i], dual.ptr[i + 1]
        before, scores = dual.mu[first:last].copy(), np.zeros(last - first)
        theta = dual.theta[first:last].copy()
        ws = workspace(problem.structure, 1)
        visit(problem.structure, i, ws)
        part_scores(problem.structure, i, state.w, scores, ws)
        etas = [1.0] if mix else [fixed] if fixed else [float(dual.step[i]), 1.0]
        own = state.trial, state.scratch, state.workspace
        s, C, weights = problem.structure, problem.C[i], state.weights()
        if problem.loss.name == "hinge" and not fixed:
            result = ascend_hinge(s, i, C, weights, dual, *own)
        else:
            result = ascend(s, i, C, weights, dual, mix, fixed, *own)
        after = dual.mu[first:last]
        if problem.loss.name == "hinge":
            spread, mass = self.gibbs(i, dual.theta[first:last]), dual.mass[i]
            goals = [mass * spread + (1 - mass) * right for right in self._right(i)]
        else:
            held = theta if theta.size else scores
            goals = [self.gibbs(i, held + eta * (scores - held)) for eta in etas]
        candidates = [self.alpha[i]]
        for goal in goals:
            way = goal @ self.counts[i] - before
            length = way @ way
            share = min(max((after - before) @ way / length, 0), 1) if length else 1.0
            candidates += [goal, (1 - share) * self.alpha[i] + share * goal]
        self.alpha[i] = self._fitting(i, candidates, after)
        return result
