"""The output with the largest product of its cost and of how far it rises.

Slack rescaling asks for the largest ``cost(y) (unit + score(y) - score(gold))``. No
dynamic programme maximises a product, but every one of them maximises a sum: outputs
are points ``(rise, cost)`` in a plane, and the ones that are best for
``rise + lam cost`` lie on the border of their hull. No product is larger than that of
a point on the line through two such neighbours, ``value^2 / (4 lam)``. Outputs between
that line and the best one found are listed by the k best, until none is left
(Sarawagi and Gupta, ICML 2008, look at the border alone).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.interface import CodeArray, FloatArray, Structure
from partwise.structures.scratch import Scratch, make_scratch, score_of
from partwise.structures.vectors import copy

HIGHEST, DEAREST = 0, 1
"""The first two lists: by the rise alone, and by the cost alone."""

MOST_TURNS = 40
"""How many lists there are; a few are enough on most borders."""

NEARLY = 1.0 - 1e-10
"""A product this near to the bound is the largest one, but for rounding."""


class ProductSpace(NamedTuple):
    """Scratch arrays: those of any search, and the outputs listed with their scores."""

    scratch: Scratch
    ys: NDArray[np.int32]
    scores: FloatArray


class Plane(NamedTuple):
    """What turns outputs into points: part scores, that of gold, and the unit."""

    theta: FloatArray
    right: float
    unit: float


class Listed(NamedTuple):
    """What a list of outputs told.

    Attributes
    ----------
    rise, cost : float
        The point of the first output that costs anything; a cost of zero if none does.
    value : float
        No output that costs anything has a larger ``by_rise rise + by_cost cost``.
    rest : float
        The same for the outputs that are not listed; minus infinity if all are.
    product : float
        The largest product.
    """

    rise: float
    cost: float
    value: float
    rest: float
    product: float


def make_product_space(s: Structure, most: int) -> ProductSpace:
    """Make the scratch arrays to list up to `most` outputs."""
    n_codes = waist.largest_sizes(s)[1]
    listed = np.zeros((most, n_codes), np.int32)
    return ProductSpace(make_scratch(s), listed, np.zeros(most))


@kernel
def _list_outputs(
    s: Any,
    i: int,
    plane: Plane,
    by_rise: float,
    by_cost: float,
    k: int,
    best: float,
    y: CodeArray,
    space: ProductSpace,
    ws: Any,
) -> Listed:
    """Look at the `k` best outputs in a direction; write one better than `best`."""
    n, theta = waist.n_parts(s, i), space.scratch.theta
    theta[:n] = 0.0
    waist.add_costs(s, i, theta)
    for r in range(n):
        theta[r] = by_rise * plane.theta[r] + by_cost * theta[r]
    count = waist.kbest(s, i, theta, k, space.ys, space.scores, ws)
    offset = by_rise * (plane.unit - plane.right)
    rest = space.scores[count - 1] + offset if count == k else -np.inf
    first_rise, first_cost, value = 0.0, 0.0, rest
    for j in range(count):
        other = space.ys[j]
        cost = waist.cost(s, i, other)
        if cost <= 0.0:
            continue
        score = score_of(s, i, other, plane.theta, space.scratch)
        rise = plane.unit + score - plane.right
        if first_cost == 0.0:
            first_rise, first_cost = rise, cost
            value = max(by_rise * rise + by_cost * cost, rest)
        if rise * cost > best:
            best = rise * cost
            copy(other[: waist.output_size(s, i)], y)
    return Listed(first_rise, first_cost, value, rest, best)


@kernel
def _most_on_line(value: float, lam: float, rise: float, cost: float) -> float:
    """Return the largest product of a point with ``rise + lam cost <= value``.

    Its rise and its cost are at most those given.
    """
    if value <= 0.0:
        return 0.0
    at = min(max(0.5 * value, value - lam * cost), rise)
    return at * (value - at) / lam


@kernel
def largest_product(
    s: Any, i: int, plane: Plane, y: CodeArray, space: ProductSpace, ws: Any
) -> tuple[float, float]:
    """Find the output of the largest product; return it, and an upper bound.

    `y` holds gold, whose product is zero, and is left alone if no other is larger. The
    two numbers are the same where the output is proved to be the best one.
    """
    best, bound = 0.0, np.inf
    highest = dearest = 0.0
    # Two points on the border, left and right of where the product is largest.
    left_rise = left_cost = right_rise = right_cost = 0.0
    lam, k, is_border = 0.0, 2, False
    # There is one call of what lists outputs: the compiler would copy it to each.
    for turn in range(MOST_TURNS):
        by_rise = 0.0 if turn == DEAREST else 1.0
        by_cost = 1.0 if turn == DEAREST else lam
        found = _list_outputs(s, i, plane, by_rise, by_cost, k, best, y, space, ws)
        best = found.product
        if turn == HIGHEST:
            highest = found.value
            if highest <= 0.0:  # nothing that costs anything comes near
                return 0.0, 0.0
            left_rise, left_cost = highest, found.cost
        elif turn == DEAREST:
            dearest = found.cost
            right_rise, right_cost = found.rise, found.cost
            bound = highest * dearest
        elif is_border:
            most = _most_on_line(found.rest, lam, highest, dearest)
            bound = min(bound, max(best, most))
        else:
            bound = min(bound, _most_on_line(found.value, lam, highest, dearest))
            line = left_rise + lam * left_cost
            is_border = found.cost == 0.0 or found.value * NEARLY <= line
            if found.rise > lam * found.cost:
                left_rise, left_cost = found.rise, found.cost
            else:
                right_rise, right_cost = found.rise, found.cost
        if turn > HIGHEST and best >= NEARLY * bound:
            return best, best
        if turn > HIGHEST and not is_border:
            wide, high = right_cost - left_cost, left_rise - right_rise
            is_border = wide <= 0.0 or high <= 0.0
            if not is_border:
                lam = high / wide
        if is_border:
            if k == space.scores.size or lam == 0.0:
                break
            k = min(2 * k, space.scores.size)
    return best, bound
