"""Cutting planes, kept as outputs.

A plane takes one output of every example. Its vector is ``g = sum_i C_i dPhi(i, y_i)``
and its cost ``b = sum_i C_i cost(i, y_i)``: whatever the weights, all the losses add
up to at least ``b - w . g``. Squared losses lie above their tangents as well: where the
slack is `s`, the loss of an example is at least ``2 s (cost - w . dPhi) - s^2``, which
is the same with a slope of ``2 s``. The vectors are as long as the weights and dense,
the outputs are short, so the outputs are what is kept, and the products of the vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.solvers.base import Problem
from partwise.solvers.facts import shape
from partwise.solvers.keeping import Keeper
from partwise.solvers.worst_outputs import find_worst_outputs, make_worst_outputs
from partwise.structures import interface as waist
from partwise.structures.decoding import output_pointers
from partwise.structures.interface import FloatArray, IntArray, Structure
from partwise.structures.parallel import Worker
from partwise.structures.scratch import score_of
from partwise.structures.sharing import borders, filled, given, summed

Codes = NDArray[np.int32]


@kernel
def _add_planes(
    s: Structure,
    start: int,
    stop: int,
    worker: Worker,
    C: FloatArray,
    ptr: IntArray,
    codes: Codes,
    slopes: FloatArray,
    alpha: FloatArray,
    w: FloatArray,
) -> None:
    """Add ``sum_k alpha_k slope_ki C_i dPhi(i, y_ki)`` of some examples to `w`."""
    scratch, ws = worker.scratch, worker.ws
    ids, counts, mu = scratch.ids, scratch.counts, scratch.mu
    for i in range(start, stop):
        if C[i] == 0.0:
            continue
        mu[: waist.n_parts(s, i)] = 0.0
        total = 0.0
        for k in range(alpha.size):
            share = alpha[k] * slopes[k, i]
            if share != 0.0:
                total += share
                y = codes[k, ptr[i] : ptr[i + 1]]
                for j in range(waist.parts_of(s, i, y, ids, counts)):
                    mu[ids[j]] -= share * counts[j]
        waist.gold(s, i, scratch.y_gold)
        for j in range(waist.parts_of(s, i, scratch.y_gold, ids, counts)):
            mu[ids[j]] += total * counts[j]
        waist.visit(s, i, ws)
        waist.add_parts(s, i, mu, C[i], w, ws)


@kernel
def _multiply(
    s: Structure,
    start: int,
    stop: int,
    worker: Worker,
    C: FloatArray,
    ptr: IntArray,
    codes: Codes,
    slopes: FloatArray,
    vector: FloatArray,
    out: FloatArray,
) -> None:
    """Add the share of some examples in ``vector . g_k`` to ``out[k]``.

    The parts are scored once for all the planes: each of them then costs one look-up
    per part, not a walk over the features.
    """
    scratch, ws = worker.scratch, worker.ws
    theta = scratch.theta
    for i in range(start, stop):
        if C[i] == 0.0:
            continue
        waist.visit(s, i, ws)
        waist.part_scores(s, i, vector, theta, ws)
        waist.gold(s, i, scratch.y_gold)
        right = score_of(s, i, scratch.y_gold, theta, scratch)
        for k in range(out.size):
            y = codes[k, ptr[i] : ptr[i + 1]]
            away = right - score_of(s, i, y, theta, scratch)
            out[k] += C[i] * slopes[k, i] * away


@kernel
def _add_costs(
    s: Structure,
    start: int,
    stop: int,
    worker: Worker,
    C: FloatArray,
    ptr: IntArray,
    codes: Codes,
    slopes: FloatArray,
    squared: bool,
    out: FloatArray,
) -> None:
    """Add the share of some examples in ``b_k`` to ``out[k]``."""
    for i in range(start, stop):
        if C[i] == 0.0:
            continue
        for k in range(out.size):
            cost = waist.cost(s, i, codes[k, ptr[i] : ptr[i + 1]])
            out[k] += C[i] * slopes[k, i] * cost
            if squared:
                out[k] -= C[i] * (0.5 * slopes[k, i]) ** 2


@kernel
def _mark_damaged(
    s: Structure,
    start: int,
    stop: int,
    worker: Worker,
    ptr: IntArray,
    codes: Codes,
    out: FloatArray,
) -> None:
    """Mark the examples that have codes which are no output."""
    for i in range(start, stop):
        for k in range(codes.shape[0]):
            if not waist.is_output(s, i, codes[k, ptr[i] : ptr[i + 1]]):
                out[i] = 1.0


def _codes_are_outputs(planes: Planes, problem: Problem) -> None:
    """Check the outputs of all planes."""
    damaged, ptr = np.zeros(problem.n_examples), planes.ptr
    things = borders(ptr), given(planes.codes, ptr, axis=1), filled(damaged)
    problem.crew().run(_mark_damaged, *things)
    if damaged.any():
        raise ValueError(f"an output of example {damaged.argmax()} is damaged")


class Planes(Keeper):
    """The planes of a problem: outputs, costs and products of vectors.

    Attributes
    ----------
    codes : array of shape (n_planes, sum of output sizes)
        The outputs of each plane, end to end.
    slopes : array of shape (n_planes, n_examples)
        What the loss of each example gains with its slack.
    costs : array of shape (n_planes,)
        The cost `b` of each plane.
    gram : array of shape (n_planes, n_planes)
        The products of their vectors.
    """

    kept = growing = ("codes", "slopes", "costs", "gram")
    facts = (
        shape("codes", "costs", "n_codes"),
        shape("slopes", "costs", "problem.n_examples"),
        shape("gram", "costs", "costs"),
        _codes_are_outputs,
    )

    def __init__(self, problem: Problem):
        self.ptr = output_pointers(problem.structure)
        self.squared = problem.loss.name == "squared_hinge"
        self.codes: Codes = np.zeros((0, int(self.ptr[-1])), np.int32)
        self.slopes = np.zeros((0, problem.n_examples))
        self.costs = np.zeros(0)
        self.gram = np.zeros((0, 0))

    @property
    def n_codes(self) -> int:
        """How many codes the outputs of a plane take."""
        return int(self.ptr[-1])

    def __len__(self) -> int:
        """Return how many there are."""
        return self.costs.size

    def touch(
        self, problem: Problem, w: FloatArray, slack: FloatArray
    ) -> Iterator[float]:
        """Add the plane that touches the losses at `w`; write the slacks there.

        Yield the fraction done.
        """
        found = make_worst_outputs(self.ptr)
        yield from find_worst_outputs(problem, w, found, slack)
        self.codes = np.vstack([self.codes, found.codes])
        slope = 2.0 * slack if self.squared else np.ones(slack.size)
        cost = slope * found.costs - (slack**2 if self.squared else 0.0)
        self.slopes = np.vstack([self.slopes, slope])
        self.costs = np.append(self.costs, problem.C @ cost)
        self._multiply_last(problem)

    def weigh_again(self, problem: Problem) -> None:
        """Compute costs and products for other weights C_i of the examples."""
        codes, slopes, count = self.codes, self.slopes, len(self)
        self.costs, self.gram = np.zeros(count), np.zeros((0, 0))
        things = *self._shared(problem), self.squared, summed(self.costs)
        problem.crew(n_sums=count).run(_add_costs, *things)
        for n in range(1, count + 1):
            self.codes, self.slopes = codes[:n], slopes[:n]
            self._multiply_last(problem)

    def combine(self, problem: Problem, alpha: FloatArray) -> FloatArray:
        """Return ``sum_k alpha_k g_k``."""
        total = np.zeros(problem.n_weights)
        things = *self._shared(problem), alpha, summed(total)
        problem.crew(n_sums=total.size).run(_add_planes, *things)
        return total

    def _shared(self, problem: Problem) -> tuple[Any, ...]:
        """Return what passes over the planes work on, as crews share it."""
        return (
            given(problem.C),
            borders(self.ptr),
            given(self.codes, self.ptr, axis=1),
            given(self.slopes, axis=1),
        )

    def _multiply_last(self, problem: Problem) -> None:
        """Add the products of the last plane with all of them."""
        n = len(self.codes)
        last = np.zeros(n)
        last[-1] = 1.0
        vector, products = self.combine(problem, last), np.zeros(n)
        things = *self._shared(problem), vector, summed(products)
        problem.crew(n_sums=n).run(_multiply, *things)
        gram = np.zeros((n, n))
        gram[: n - 1, : n - 1] = self.gram
        gram[n - 1] = gram[:, n - 1] = products
        self.gram = gram

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Forget all but the `chosen` planes."""
        if not chosen.all():
            self.codes, self.costs = self.codes[chosen], self.costs[chosen]
            self.slopes = self.slopes[chosen]
            self.gram = self.gram[np.ix_(chosen, chosen)]
