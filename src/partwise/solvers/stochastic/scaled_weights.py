"""Weights that shrink, and their average, at the cost of the features that change.

Every step of stochastic gradient descent shrinks all the weights and changes a few of
them; an average over the steps changes altogether. Both are kept as combinations of
two vectors, ``w = scale v`` and ``average = now v + past u``: to shrink or to average
changes three numbers, and a sparse change of `w` is one of `v` and one of `u`.

Weights are sums of gradients, and so are shrunk and averaged ones: `v` comes with an
account of what it is a sum of, and `u` as well, kept in the same way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.structures.interface import FloatArray, IntArray

SMALLEST_SCALE = 1e-4
"""Below this the average would be a small difference of large numbers."""

SCALE, NOW, PAST = 0, 1, 2

SETTLED = [1.0, 0.0, 1.0]
"""The factors where `v` is the weights and `u` the average."""


class ScaledWeights(NamedTuple):
    """Two vectors with their accounts, three factors, and the number of steps so far.

    `u` and `u_account` are empty if there is no average.
    """

    v: FloatArray
    u: FloatArray
    v_account: FloatArray
    u_account: FloatArray
    factors: FloatArray
    steps: IntArray


def make_scaled_weights(
    w: FloatArray, account: FloatArray, averaged: bool
) -> ScaledWeights:
    """Start at `w`, which is also the average so far.

    Examples
    --------
    >>> weights = make_scaled_weights(np.array([4.0, 0.0]), np.zeros(0), averaged=True)
    >>> for_v, for_u = shares_of(weights, 1.0)
    >>> weights.v[1] += for_v
    >>> weights.u[1] += for_u
    >>> end_step(weights, shrink=0.5, share=0.25)
    >>> settle(weights)
    >>> weights.v.tolist(), weights.u.tolist()
    ([2.0, 0.5], [3.5, 0.125])
    """
    none = np.zeros(0)
    return ScaledWeights(
        w.copy(),
        w.copy() if averaged else none,
        account.copy(),
        account.copy() if averaged else none,
        np.array(SETTLED),
        np.zeros(1, np.int64),
    )


@kernel
def shares_of(weights: ScaledWeights, size: float) -> tuple[float, float]:
    """Say how much to add to `v` and to `u` for a change of `w` of this size.

    The average stays as it is: what ``now v`` gains, ``past u`` loses.
    """
    factors = weights.factors
    for_v = size / factors[SCALE]
    return for_v, -for_v * factors[NOW] / factors[PAST]


@kernel
def end_step(weights: ScaledWeights, shrink: float, share: float) -> None:
    """Multiply `w` by `shrink`; mix it into the average with this share, below one."""
    factors = weights.factors
    factors[SCALE] *= shrink
    factors[NOW] = (1.0 - share) * factors[NOW] + share * factors[SCALE]
    factors[PAST] *= 1.0 - share
    weights.steps[0] += 1
    if factors[SCALE] < SMALLEST_SCALE:
        settle(weights)


@kernel
def settle(weights: ScaledWeights) -> None:
    """Let `v` be the weights and `u` the average: the only work on every entry."""
    factors = weights.factors
    _combine(weights.v, weights.u, factors)
    _combine(weights.v_account, weights.u_account, factors)
    factors[SCALE], factors[NOW], factors[PAST] = 1.0, 0.0, 1.0


@kernel
def _combine(v: FloatArray, u: FloatArray, factors: FloatArray) -> None:
    scale, now, past = factors[SCALE], factors[NOW], factors[PAST]
    if u.size and (now != 0.0 or past != 1.0):
        for j in range(v.size):
            u[j] = now * v[j] + past * u[j]
    if scale != 1.0:
        for j in range(v.size):
            v[j] *= scale
