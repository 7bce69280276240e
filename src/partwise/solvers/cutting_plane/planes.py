"""Cutting planes, kept as outputs.

A plane takes one output of every example. Its vector is ``g = sum_i C_i dPhi(i, y_i)``
and its cost ``b = sum_i C_i cost(i, y_i)``: whatever the weights, all the losses add
up to at least ``b - w . g``. Of squared losses it is the root of their sum that lies
above planes, the norm of the slacks: each has a slope ``s_i``, its share of the norm
where the plane touches, so that ``sum_i C_i s_i^2`` is one. The vectors are as long as
the weights and dense, the outputs are short, so the outputs are what is kept, and the
vectors in an orthonormal basis of themselves: as many numbers as their products, with
twice the digits. Of features of 1e8 beside some of 1 the products say nothing about the
latter.
"""

from __future__ import annotations

import math
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

WITHIN = 1e-12
"""What of a plane lies outside of the others is nothing if it is that share of what had
to be subtracted from it."""

MUCH = 0.1
"""If that share is outside, products have told it with all digits but one."""

MOST_TURNS = 4
"""Twice is enough, as they say, to take out of a vector what lies in a basis."""


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
    out: FloatArray,
) -> None:
    """Add the share of some examples in ``b_k`` to ``out[k]``."""
    for i in range(start, stop):
        if C[i] == 0.0:
            continue
        for k in range(out.size):
            cost = waist.cost(s, i, codes[k, ptr[i] : ptr[i + 1]])
            out[k] += C[i] * slopes[k, i] * cost


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
    factor : array of shape (n_planes, n_planes)
        Their vectors in an orthonormal basis, one below the other: upper triangular.
        Every plane adds a direction to the basis, and a row for it, or, where it lies
        within those before, a row of zeros.
    blur : array of shape (n_planes,)
        How far each vector may be from its place there, for rounding.
    """

    kept = growing = ("codes", "slopes", "costs", "factor", "blur")
    facts = (
        shape("codes", "costs", "n_codes"),
        shape("slopes", "costs", "problem.n_examples"),
        shape("factor", "costs", "costs"),
        shape("blur", "costs"),
        _codes_are_outputs,
    )

    def __init__(self, problem: Problem):
        self.ptr = output_pointers(problem.structure)
        self.squared = problem.loss.name == "squared_hinge"
        self.codes: Codes = np.zeros((0, int(self.ptr[-1])), np.int32)
        self.slopes = np.zeros((0, problem.n_examples))
        self.costs = np.zeros(0)
        self.factor = np.zeros((0, 0))
        self.blur = np.zeros(0)

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
        slope = slack[None] if self.squared else np.ones((1, slack.size))
        self.slopes = np.vstack([self.slopes, self._of_norm_one(problem, slope)])
        self.costs = np.append(self.costs, problem.C @ (self.slopes[-1] * found.costs))
        self._place_last(problem)

    def _of_norm_one(self, problem: Problem, slopes: FloatArray) -> FloatArray:
        """Return the slopes of squared losses as shares of their norm."""
        if not self.squared:
            return slopes
        norm = np.sqrt(slopes**2 @ problem.C)[:, None]
        # Where there is no slack, zeros are a plane as well.
        return np.divide(slopes, norm, out=np.zeros_like(slopes), where=norm > 0.0)

    def weigh_again(self, problem: Problem) -> None:
        """Compute costs and vectors for other weights C_i of the examples."""
        self.slopes = self._of_norm_one(problem, self.slopes)
        codes, slopes, count = self.codes, self.slopes, len(self)
        self.costs, self.factor = np.zeros(count), np.zeros((0, 0))
        self.blur = np.zeros(0)
        things = *self._shared(problem), summed(self.costs)
        problem.crew(n_sums=count).run(_add_costs, *things)
        for n in range(1, count + 1):
            self.codes, self.slopes = codes[:n], slopes[:n]
            self._place_last(problem)

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

    def sizes(self) -> FloatArray:
        """Return the norms of the vectors."""
        return _sizes(self.factor)

    def weights_at(self, problem: Problem, u: FloatArray) -> FloatArray:
        """Return the vector whose coordinates in the basis are `u`.

        If the planes that make it all but cancel, what is left has few digits that are
        right. So what the sum lacks is measured, and added.
        """
        total = self._sum_to(problem, u)
        for _ in range(2):
            total += self._sum_to(problem, u - self._coordinates(problem, total))
        return total

    def _sum_to(self, problem: Problem, u: FloatArray) -> FloatArray:
        """Add planes up to the vector at `u`, as far as the digits of a sum go."""
        return self.combine(problem, _shares(self.factor, u))

    def _coordinates(self, problem: Problem, vector: FloatArray) -> FloatArray:
        """Return a vector in the basis, or what of it lies in there."""
        products, u = np.zeros(len(self.codes)), np.zeros(len(self.codes))
        things = *self._shared(problem), vector, summed(products)
        problem.crew(n_sums=u.size).run(_multiply, *things)
        used, triangle = _directions(self.factor)
        if used.size:
            from scipy.linalg import solve_triangular

            u[used] = solve_triangular(triangle, products[used], trans="T")
        return u

    def _place_last(self, problem: Problem) -> None:
        """Find the vector of the last plane in the basis, and extend that."""
        n = len(self.codes)
        last, factor = np.zeros(n), np.zeros((n, n))
        last[-1] = 1.0
        factor[: n - 1, : n - 1] = self.factor
        self.factor = factor
        rest = self.combine(problem, last)
        size = before = math.sqrt(rest @ rest)
        left = 0.0  # what every turn finds within lies there
        for _ in range(MOST_TURNS):
            u = self._coordinates(problem, rest)
            factor[:, -1] += u
            outside = math.sqrt(max(before**2 - float(u @ u), 0.0))
            if outside > MUCH * before:
                left = outside
                break
            rest -= self._sum_to(problem, u)
            before = math.sqrt(rest @ rest)
            if before <= WITHIN * size:
                break
        shares = np.abs(_shares(factor, factor[:, -1]))
        blur = WITHIN * float(size + shares @ self.sizes())
        if left > blur:
            factor[-1, -1] = left
        self.blur = np.append(self.blur, blur)

    def keep(self, chosen: NDArray[np.bool_]) -> IntArray:
        """Forget all but the `chosen` planes; return the order of the others then."""
        order = np.flatnonzero(chosen)
        if not chosen.all():
            clearest, self.factor = _triangular(self.factor[:, order], self.blur[order])
            order = order[clearest]
            self.codes, self.costs = self.codes[order], self.costs[order]
            self.slopes, self.blur = self.slopes[order], self.blur[order]
        return order


def _sizes(vectors: FloatArray) -> FloatArray:
    """Return the norms of columns."""
    return np.sqrt(np.einsum("ij,ij->j", vectors, vectors))


def _directions(factor: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the planes that have added a direction, and their part of the factor."""
    used = np.flatnonzero(factor.diagonal())
    return used, factor[np.ix_(used, used)]


def _shares(factor: FloatArray, u: FloatArray) -> FloatArray:
    """Return how much of which plane makes the vector at `u`."""
    from scipy.linalg import solve_triangular

    used, triangle = _directions(factor)
    shares = np.zeros(u.size)
    if used.size:
        shares[used] = solve_triangular(triangle, u[used])
    return shares


def _triangular(vectors: FloatArray, blur: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return in which order vectors are clearest, and them in a basis of themselves.

    Each next one is that of which most lies outside of those before, in units of its
    blur: what is less than one may be nothing. A vector that was placed among long
    ones has their rounding, which would be a direction of its own without them.
    """
    from scipy.linalg import qr

    n, blur = len(blur), np.where(blur > 0.0, blur, 1.0)
    upper, order = qr(vectors / blur, mode="r", pivoting=True)
    factor = upper[:n] * (np.abs(upper.diagonal()) > 1.0)[:, None]
    return order, factor * blur[order]
