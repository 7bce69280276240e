"""The weights that belong to a dual point, and how they follow its steps.

A dual point has a vector ``v = sum_i C_i sum_y alpha_iy dPhi(i, y)``, to which steps
add. What the weights are is up to the penalty: its conjugate ``g*`` takes the place of
``1/2 |w|^2`` in the dual, and ``w`` is the gradient of ``g*`` at ``v``.

- *L2*: the weights are ``v`` itself.
- *Elastic net*: ``w = soft(v, r) / (1 - r)``, zero wherever ``|v| <= r``, and
  ``g*(v) = (1 - r)/2 |w|^2``. A step changes only the weights of the features it
  touches, so that they are exact, and sparse, at every moment.

The class of the weights chooses between the two while a solver compiles. Each is the
penalty of a solver that never asks which one it is.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from partwise._jit import generic, kernel, vector_kernel
from partwise.losses import DualPoint
from partwise.solvers.base import Problem, State
from partwise.solvers.penalty import weights_at as weights_at
from partwise.solvers.visiting import catching_up
from partwise.structures import interface as waist
from partwise.structures.interface import (
    CodeArray,
    Diff,
    FloatArray,
    IntArray,
    Structure,
)
from partwise.structures.vectors import shrink

PENALTIES = ("l2", "elasticnet")
"""What solvers with such weights can do."""


MOST_STEPS = 20
ROUNDING = 1e-15
"""What rounding leaves uncertain, as a share of the numbers that cancel."""


class PlainWeights(NamedTuple):
    """Those of the L2 penalty: what steps add to."""

    w: FloatArray


class ShrunkWeights(NamedTuple):
    """Those of the elastic net: what is left of `v`, to which steps add.

    They are rounded like `v`, however short a step is; `haze` is what that leaves
    uncertain of ``2 g*``.
    """

    w: FloatArray
    v: FloatArray
    l1_ratio: float
    haze: float
    diff: Diff


Weights: TypeAlias = Any
"""One of the classes above."""


@generic
def part_scores(
    weights: Weights, s: Structure, i: int, theta: FloatArray, ws: Any
) -> None:
    """Write the scores of the parts of example `i`, after any steps of `add_parts`."""
    raise NotImplementedError("part_scores is required of weights")


@part_scores.implement(PlainWeights)
def _(weights: PlainWeights, s: Structure, i: int, theta: FloatArray, ws: Any) -> None:
    waist.part_scores(s, i, weights.w, theta, ws)


@part_scores.implement(ShrunkWeights)
def _(weights: ShrunkWeights, s: Structure, i: int, theta: FloatArray, ws: Any) -> None:
    w, v, l1_ratio = weights.w, weights.v, weights.l1_ratio
    waist.shrunk_scores(s, i, v, w, l1_ratio, theta, ws)


@generic
def add_parts(
    weights: Weights, s: Structure, i: int, mu: FloatArray, scale: float, ws: Any
) -> float:
    """Add ``scale * sum_r mu_r phi(i, r)`` to `v`; return the change of ``2 g*(v)``."""
    raise NotImplementedError("add_parts is required of weights")


@add_parts.implement(PlainWeights)
def _(
    weights: PlainWeights, s: Structure, i: int, mu: FloatArray, scale: float, ws: Any
) -> float:
    return waist.add_parts(s, i, mu, scale, weights.w, ws)


@add_parts.implement(ShrunkWeights)
def _(
    weights: ShrunkWeights, s: Structure, i: int, mu: FloatArray, scale: float, ws: Any
) -> float:
    w, v, l1_ratio, _, diff = weights
    change = waist.add_shrunk(s, i, mu, scale, v, w, l1_ratio, diff, ws)
    return (1.0 - l1_ratio) * change


class Margin(NamedTuple):
    """How much a right output is ahead; how many features are listed, -1: none are."""

    value: float
    listed: int


@kernel
def find_margin(
    s: Structure,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    w: FloatArray,
    diff: Diff,
    ws: Any,
) -> Margin:
    """Return ``w . (Phi(i, y_ref) - Phi(i, y))``, for `add_diff` to be asked next."""
    listed = waist.diff_entries(s, i, y, y_ref, diff, ws)
    if listed < 0:
        return Margin(waist.diff_dot(s, i, y, y_ref, w, diff, ws), listed)
    total = 0.0
    for j in range(listed):
        total += diff.val[j] * w[diff.idx[j]]
    return Margin(total, listed)


@generic
def add_diff(
    weights: Weights,
    s: Structure,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    listed: int,
    scale: float,
    diff: Diff,
    ws: Any,
) -> float:
    """Add ``scale * (Phi(i, y_ref) - Phi(i, y))`` to `v`; see `find_margin`.

    Return the change of ``2 g*(v)`` where it is not that of `steepness`, else zero.
    """
    raise NotImplementedError("add_diff is required of weights")


@add_diff.implement(PlainWeights)
def _(
    weights: PlainWeights,
    s: Structure,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    listed: int,
    scale: float,
    diff: Diff,
    ws: Any,
) -> float:
    if listed < 0:
        waist.diff_add(s, i, y, y_ref, scale, weights.w, diff, ws)
    for j in range(listed):
        weights.w[diff.idx[j]] += scale * diff.val[j]
    return 0.0


@add_diff.implement(ShrunkWeights)
def _(
    weights: ShrunkWeights,
    s: Structure,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    listed: int,
    scale: float,
    diff: Diff,
    ws: Any,
) -> float:
    w, v, l1_ratio = weights.w, weights.v, weights.l1_ratio
    waist.diff_add(s, i, y, y_ref, scale, v, diff, ws)
    change = waist.shrink_diff(s, i, y, y_ref, v, w, l1_ratio, diff, ws)
    return (1.0 - l1_ratio) * change


@generic
def steepness(weights: Weights) -> float:
    """Return how much faster ``2 g*`` may grow than ``|v|^2``.

    A step ``d`` changes it by at most ``2 w . d + steepness |d|^2``.
    """
    raise NotImplementedError("steepness is required of weights")


@steepness.implement(PlainWeights)
def _(weights: PlainWeights) -> float:
    return 1.0


@steepness.implement(ShrunkWeights)
def _(weights: ShrunkWeights) -> float:
    return 1.0 / (1.0 - weights.l1_ratio)


@generic
def saved(weights: Weights, most: float, change: float) -> float:
    """Return by how much less ``2 g*`` has changed than it might have, by `steepness`.

    `change` is what `add_diff` returned.
    """
    raise NotImplementedError("saved is required of weights")


@saved.implement(PlainWeights)
def _(weights: PlainWeights, most: float, change: float) -> float:
    return 0.0


@saved.implement(ShrunkWeights)
def _(weights: ShrunkWeights, most: float, change: float) -> float:
    return most - change


@vector_kernel
def _above(v: FloatArray, least: float) -> tuple[float, float]:
    """Return the sums of ``v^2`` and of ``|v|`` where that is more than `least`."""
    squares = sizes = 0.0
    for j in range(v.size):
        size = abs(v[j]) if abs(v[j]) > least else 0.0
        squares += size * size
        sizes += size
    return squares, sizes


def best_multiple(value: float, v: FloatArray, l1_ratio: float, most: float) -> float:
    """Return the `t`, of 0 to `most`, with the largest ``t value - g*(t v)``.

    Its slope is concave and made of straight pieces: Newton's method comes down to
    the zero from above in a few steps, with the L2 penalty in one.

    Examples
    --------
    >>> v = np.array([1.0, 0.25])
    >>> best_multiple(0.5, v, 0.0, 1.0), best_multiple(0.5, v, 0.5, 1.0)
    (0.47058823529411764, 0.75)
    """
    t = most
    for _ in range(MOST_STEPS):
        squares, sizes = map(float, _above(v, l1_ratio / t))
        rest = value * (1.0 - l1_ratio) + l1_ratio * sizes
        if not 0.0 < rest < t * squares:
            break
        t = rest / squares
    return t


@generic
def haze(weights: Weights) -> float:
    """Return what is uncertain of ``2 g*`` after a step, however short it was."""
    raise NotImplementedError("haze is required of weights")


@haze.implement(PlainWeights)
def _(weights: PlainWeights) -> float:
    return 0.0


@haze.implement(ShrunkWeights)
def _(weights: ShrunkWeights) -> float:
    return weights.haze


@generic
def least_share(weights: Weights) -> float:
    """Return the smallest share of a way that still tells how the way bends."""
    raise NotImplementedError("least_share is required of weights")


@least_share.implement(PlainWeights)
def _(weights: PlainWeights) -> float:
    return 1e-100  # not so little that its square would be zero


@least_share.implement(ShrunkWeights)
def _(weights: ShrunkWeights) -> float:
    return 1e-3


class DualState(State):
    """A state whose weights follow from the vector of its dual point.

    Attributes
    ----------
    v : array
        The vector, if it is another one than the weights; otherwise empty.
    haze : float
        What rounding leaves uncertain of the conjugate of the penalty.
    n_new : int
        How many of the last examples have joined since the run that it goes on from.
    """

    n_new: int = 0
    kept: ClassVar[tuple[str, ...]] = ("w", "v", "haze")

    def __init__(self, problem: Problem):
        shrinks = problem.l1_ratio > 0.0
        self.l1_ratio = problem.l1_ratio
        self.pull = problem.pull
        v = np.zeros(problem.n_weights) if self.pull is None else self.pull.copy()
        self.w = weights_at(v, self.l1_ratio)
        self.v = v if shrinks else np.zeros(0)
        self.haze = 0.0
        self.diff = waist.make_diff(problem.structure)

    def weights(self) -> Weights:
        """Return the weights as steps change them."""
        if not self.l1_ratio:
            return PlainWeights(self.w)
        return ShrunkWeights(self.w, self.v, self.l1_ratio, self.haze, self.diff)

    def follow(self, v: FloatArray) -> None:
        """Take the vector of the dual point, and the weights that it has."""
        if self.pull is not None:
            v = v + self.pull
        self.w = weights_at(v, self.l1_ratio)
        if self.l1_ratio:
            self.v = v
            self.haze = ROUNDING * float(self.w @ v)

    def settle_weights(self) -> None:
        """Let the weights follow the vector, if steps read them off that."""
        if self.l1_ratio:
            shrink(self.v, self.w, self.l1_ratio)

    @property
    def catches_up(self) -> bool:
        """Whether only new examples are visited as yet, to be where the others are."""
        return self.n_new > 0 and self.oracle_calls == 0

    def new_examples(self, problem: Problem, rng: np.random.Generator) -> IntArray:
        """Return visits to the examples that have joined."""
        return catching_up(problem.n_examples, self.n_new, rng)

    def best_multiple(self, value: float, most: float) -> float:
        """Return the best multiple of the dual point, if its value is this."""
        if self.pull is not None:
            return min(most, 1.0)  # a multiple of the rest of the weights is none
        v = self.v if self.l1_ratio else self.w
        return best_multiple(value, v, self.l1_ratio, most)

    def dual_at(self, problem: Problem, C: FloatArray, point: DualPoint) -> float:
        """Return the dual value at the point that the weights belong to."""
        return problem.loss.dual(self.w, C, point, self.l1_ratio) + problem.rest
