"""The state of solvers whose dual variables are kept part by part."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from partwise._jit import kernel
from partwise.losses import Certificate, DualPoint
from partwise.solvers.base import Problem, chunks
from partwise.solvers.dual_weights import DualState
from partwise.solvers.facts import Fact, positive, within
from partwise.solvers.part_duals import dual_parts
from partwise.solvers.part_duals.dual_parts import DualParts, Trial
from partwise.solvers.part_duals.hinge_steps import ascend_hinge_all
from partwise.structures import interface as waist
from partwise.structures.gibbs import part_pointers
from partwise.structures.interface import FloatArray, IntArray, Structure
from partwise.structures.parallel import Worker
from partwise.structures.scratch import make_scratch
from partwise.structures.sharing import summed

BYTES = 8


def dual_memory(problem: Problem, keep_theta: bool) -> int:
    """Return the bytes that the dual variables of a problem take."""
    hinge = problem.loss.name == "hinge"
    arrays = 1 + keep_theta + hinge * (1 + 2 * keep_theta)
    return int(part_pointers(problem.structure)[-1]) * arrays * BYTES


@kernel
def _fill_costs(s: Structure, ptr: IntArray, out: FloatArray) -> None:
    for i in range(ptr.size - 1):
        waist.add_costs(s, i, out[ptr[i] : ptr[i + 1]])


class DualPartsState(DualState):
    """Weights, and the dual point that they belong to.

    It starts with all the mass on the right outputs, where the weights are zero.
    """

    # Pointers and costs belong to the problem.
    kept: ClassVar[tuple[str, ...]] = (
        *DualState.kept, "dual_value", "dual.theta", "dual.mu", "dual.value",
        "dual.step", "dual.bend", "dual.gap", "dual.mass", "dual.spread", "dual.pull",
    )  # fmt: skip
    facts: ClassVar[tuple[Fact, ...]] = (positive("dual.step"), within("dual.gap", 0))

    def __init__(self, problem: Problem, keep_theta: bool, first_step: float = 1.0):
        s, n = problem.structure, problem.n_examples
        ptr = part_pointers(s)
        hinge = problem.loss.name == "hinge"
        nothing = np.zeros(0)
        super().__init__(problem)
        self.C = problem.C
        self.scratch = make_scratch(s)
        self.workspace = waist.workspace(s, 1)
        largest = max(waist.largest_sizes(s)[0], 1)
        self.trial = Trial(np.zeros(largest), np.zeros(largest), np.zeros(largest))
        self.dual = DualParts(
            ptr=ptr,
            theta=np.zeros(ptr[-1]) if keep_theta else nothing,
            mu=np.zeros(ptr[-1]),
            cost=np.zeros(ptr[-1]) if hinge else nothing,
            value=np.zeros(n),
            step=np.full(n, first_step),
            bend=np.zeros(n),
            gap=np.zeros(n),
            mass=np.ones(n) if hinge else nothing,
            spread=np.zeros(ptr[-1]) if hinge and keep_theta else nothing,
            pull=np.zeros(n) if hinge else nothing,
        )
        dual_parts.add_gold(s, ptr, 1.0, self.dual.mu, self.scratch)
        if hinge:
            _fill_costs(s, ptr, self.dual.cost)
        self.dual_value = 0.0

    @property
    def has_scores(self) -> bool:
        """Whether the part scores are those of the dual point, or nearly.

        Not where some of the mass lies on the right outputs, whatever the scores.
        """
        return self.dual.theta.size > 0 and bool((self.dual.mass == 1.0).all())

    def same_loss(self, other: DualPartsState) -> bool:
        """Say whether the dual point of `other` is one of the same loss."""
        return (self.dual.cost.size > 0) == (other.dual.cost.size > 0)

    def form(self) -> tuple[Any, ...]:
        """Return the number of weights, and the parts of every example."""
        return self.w.size, self.dual.ptr.tobytes()

    def grown(self, problem: Problem) -> DualPartsState | None:
        """Return the same dual point; new examples start at their right outputs."""
        before, s = self.dual.ptr, problem.structure
        if not np.array_equal(part_pointers(s)[: before.size], before):
            return None
        other = copy.copy(self)
        start = DualPartsState(problem, keep_theta=self.dual.theta.size > 0)
        for name in DualParts._fields:
            if name not in ("ptr", "cost"):
                known = getattr(self.dual, name)
                getattr(start.dual, name)[: known.size] = known
        other.dual, other.w = start.dual, start.w
        other.n_new = problem.n_examples - before.size + 1
        other.dual.mass[before.size - 1 :] = 0.0
        return other

    def retargeted(self, problem: Problem) -> DualPartsState | None:
        """Return the same part scores; their distributions do not know of right ones.

        For the log loss only: the hinge has mass on right outputs.
        """
        return None if self.dual.cost.size else self.grown(problem)

    def continue_from(self, problem: Problem, previous: DualPartsState) -> float:
        """Take over the dual point of an earlier run, perhaps with another C.

        Return the share of it that is kept. The gaps are not: those of another C would
        lead to the wrong examples.
        """
        self.check_fits(previous)
        self.n_new = previous.n_new
        for name in ("mu", "value", "step", "bend", "mass", "spread", "pull"):
            getattr(self.dual, name)[:] = getattr(previous.dual, name)
        if previous.has_scores:
            self.note_spread()
        if previous.dual.theta.size:
            self.dual.theta[:] = previous.dual.theta[: self.dual.theta.size]
        self.refresh(problem)
        return self._draw_back(problem) if not self.dual.cost.size else 1.0

    def note_spread(self) -> None:
        """Take the marginals for those of Gibbs distributions: all mass is spread."""
        if self.dual.spread.size:
            self.dual.spread[:] = self.dual.mu

    def _draw_back(self, problem: Problem) -> float:
        """Mix with the right outputs, for the best dual; return the share kept.

        The weights grow with C, and with a larger one they may be far too large.
        """
        share = self.best_share(problem, most=1.0)
        if share < 1.0:
            self.keep_share(problem, share)
            self.refresh(problem)
        return share

    def best_share(self, problem: Problem, most: float) -> float:
        """Return how much of the dual point is best, the rest on the right outputs.

        On the way from these the dual is at least this high.
        """
        return self.best_multiple(float(problem.C @ self.dual.value), most)

    def keep_share(self, problem: Problem, share: float) -> None:
        """Mix with the right outputs; a share above one draws mass from these."""
        self.dual.mu[:] *= share
        self.dual.value[:] *= share
        self.dual.mass[:] *= share
        s, ptr = problem.structure, self.dual.ptr
        dual_parts.add_gold(s, ptr, 1.0 - share, self.dual.mu, self.scratch)

    def rescale(self, problem: Problem) -> None:
        """Take as much of the dual point of the hinge as is best; leave `w` as it was.

        Examples one by one cannot: where all should grow, each waits for the others.
        """
        largest = float(self.dual.mass.max(initial=0.0))
        if largest > 0.0:
            self.keep_share(problem, self.best_share(problem, 1.0 / largest))
            np.minimum(self.dual.mass, 1.0, out=self.dual.mass)

    def catch_up(
        self, problem: Problem, rng: np.random.Generator, fixed: FloatArray
    ) -> Iterator[float]:
        """Let new examples leave their right outputs; then look at all gaps."""
        order = self.new_examples(problem, rng)
        yield from self.ascend(problem, order, not self.dual.cost.size, fixed)
        self.estimate = self.certify(problem)

    def ascend(
        self, problem: Problem, order: IntArray, mix: bool, fixed: FloatArray
    ) -> Iterator[float]:
        """Take a step for every example of `order`; yield the fraction done."""
        s, C, dual, weights = problem.structure, problem.C, self.dual, self.weights()
        own = self.trial, self.scratch, self.workspace
        for start, stop in chunks(order.size):
            if dual.cost.size and not fixed.size:
                self.dual_value, calls = ascend_hinge_all(
                    s, order, start, stop, C, weights, dual, self.dual_value, *own
                )
            else:
                self.dual_value, calls = dual_parts.ascend_all(
                    s, order, start, stop, C, weights, dual, mix, fixed,
                    self.dual_value, *own,
                )  # fmt: skip
            self.oracle_calls += int(calls)
            yield stop / order.size
        self.settle_weights()

    def estimated(self) -> Certificate:
        """Return the certificate as far as the per-example gaps were up to date."""
        gap = float(self.dual.gap.sum())
        return Certificate(self.dual_value + gap, self.dual_value, exact=False)

    def refresh(self, problem: Problem) -> None:
        """Recompute weights and dual value from the dual variables."""
        v = np.zeros_like(self.w)  # the old ones stay whole if Ctrl-C comes
        C, dual = problem.C, self.dual

        def add(
            s: Structure, start: int, stop: int, worker: Worker, own: FloatArray
        ) -> None:
            tools = worker.scratch, worker.ws
            dual_parts.weights_of(s, C, dual.ptr, dual.mu, start, stop, own, *tools)

        problem.crew(n_sums=v.size).run(add, summed(v))
        self.follow(v)
        value = self.dual.value
        point = DualPoint(value, value, value, value)
        self.dual_value = self.dual_at(problem, problem.C, point)

    def certify(self, problem: Problem) -> Certificate:
        """Return the exact certificate, with weights free of rounding."""
        self.refresh(problem)
        return self.certify_here(problem)

    def certify_here(self, problem: Problem) -> Certificate:
        """Return the exact certificate of weights that have just been refreshed."""
        n, dual = problem.n_examples, self.dual
        values, margins = np.zeros(n), np.zeros(n)

        def look(s: Structure, start: int, stop: int, worker: Worker) -> None:
            own = worker.scratch, worker.ws
            problem.loss.fill(s, self.w, values, start, stop, worker)
            dual_parts.margins_of(
                s, self.w, dual.ptr, dual.mu, start, stop, margins, *own
            )

        problem.crew().run(look)
        self.oracle_calls += n
        point = DualPoint(dual.value, dual.value, margins, dual.value)
        dual.gap[:] = np.maximum(problem.loss.gaps(values, problem.C, point), 0.0)
        primal = problem.penalise(self.w) + float(problem.C @ values)
        return Certificate(primal, self.dual_value)
