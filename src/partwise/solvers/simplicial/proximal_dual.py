"""The dual function of a proximal step: value, minimiser, derivatives.

``q(v, lam) = min_x -(c + v) . x + sum_k lam_k (sum_k exp(x) - 1)
+ 1/2 sum_j gamma_j (x_j - centre_j)^2`` (paper 003, (19), with ``v = -mu``). It
separates into one equation a coordinate, ``lam exp(x) + gamma (x - a) = 0`` with
``a = centre + (c + v) / gamma``, whose solution is ``x = a - y`` with
``y = omega(a + ln(lam / gamma))`` and Wright's function, ``y + ln y = z``: Lambert's
``W(exp(z))`` without the exponential that overflows.

The multipliers are eliminated: for every `v` there is a best ``lam``, that for which
the probabilities add up to one, or zero where they add up to less.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.solvers.log_distributions import LogDistributions
from partwise.structures.interface import FloatArray, IntArray

TINY_SUM = 1e-15
"""How near to zero the logarithm of a sum of probabilities is brought."""


@kernel
def wright_omega(z: float) -> float:
    """Return the `y` with ``y + ln y = z``, for any `z`.

    Fritsch, Shafer and Crowley's iteration has order four: from these starting points
    two steps are enough, a third costs nothing.

    Examples
    --------
    >>> round(wright_omega(1.0), 12), wright_omega(-np.inf), wright_omega(1e300)
    (1.0, 0.0, 1e+300)
    """
    if z < -700.0:
        return 0.0
    if z > 1e15:
        return z  # ln z is lost in rounding
    if z < -2.0:
        y = math.exp(z)
    elif z < 2.0:
        y = 0.567 + 0.362 * z + 0.07 * z * z
        y = max(y, 0.05)
    else:
        y = z - math.log(z)
    for _ in range(3):
        r = z - y - math.log(y)
        t = (1.0 + y) * (1.0 + y + 2.0 / 3.0 * r)
        y *= 1.0 + r / (1.0 + y) * (t - 0.5 * r) / (t - r)
    return y


@kernel
def _solve_coordinate(a: float, log_ratio: float) -> tuple[float, float]:
    """Return ``x`` and ``y = (lam / gamma) exp(x)``, with ``x + y = a``."""
    y = wright_omega(a + log_ratio)
    # Of the two ways to say it, the one that subtracts nothing large.
    return (a - y if y < 1.0 else math.log(y) - log_ratio), y


@kernel
def _log_sum(a: FloatArray, members: IntArray, log_ratio: float) -> tuple[float, float]:
    """Return ``ln sum exp(x)`` and its derivative by ``ln lam``."""
    top, total, slope = -np.inf, 0.0, 0.0
    for j in members:
        x, y = _solve_coordinate(a[j], log_ratio)
        if x > top:
            shrink = math.exp(top - x)
            total *= shrink
            slope *= shrink
            top = x
        share = math.exp(x - top)
        total += share
        slope -= share * y / (1.0 + y)
    return top + math.log(total), slope / total


@kernel
def _best_log_ratio(a: FloatArray, members: IntArray, first: float) -> float:
    """Return the ``ln(lam / gamma)`` of a distribution; -inf if its sum is below one.

    Newton's method on ``ln sum exp(x)`` as a function of ``ln lam``, whose slope lies
    between -1 and 0, inside a bracket.
    """
    at_zero, _ = _log_sum(a, members, -np.inf)
    if at_zero <= 0.0:
        return -np.inf
    top = -np.inf
    for j in members:
        top = max(top, a[j])
    log_n = math.log(members.size)
    # The largest probability of a distribution is at least 1/n: that bounds lam above.
    # It is at most 1, which bounds it below, as does the tangent at lam = 0.
    high = log_n + math.log(top + log_n) + 1e-9
    if top > 0.0:
        low = math.log(top)
    else:
        total, squares = 0.0, 0.0
        for j in members:
            total += math.exp(a[j])
            squares += math.exp(2.0 * a[j])
        low = math.log(max((total - 1.0) / squares, 1e-300))
    low -= 1e-9
    ratio = first if low < first < high else 0.5 * (low + high)
    for _ in range(200):
        value, slope = _log_sum(a, members, ratio)
        if abs(value) <= TINY_SUM:
            break
        if value > 0.0:
            low = ratio
        else:
            high = ratio
        step = ratio - value / slope if slope < 0.0 else low
        new = step if low < step < high else 0.5 * (low + high)
        if new == ratio or abs(new - ratio) <= 1e-15 * abs(ratio):
            break
        ratio = new
    return ratio


@kernel
def _find_ratios(
    a: FloatArray, order: IntArray, ptr: IntArray, log_ratio: FloatArray
) -> None:
    for k in range(ptr.size - 1):
        log_ratio[k] = _best_log_ratio(a, order[ptr[k] : ptr[k + 1]], log_ratio[k])


@kernel
def _minimise(
    a: FloatArray, of: IntArray, log_ratio: FloatArray, x: FloatArray, y: FloatArray
) -> None:
    for j in range(of.size):
        x[j], y[j] = _solve_coordinate(a[j], log_ratio[of[j]])


class Minimum(NamedTuple):
    """The dual function at a point: its value, and the weights that attain it.

    Attributes
    ----------
    value : float
        The value, with the offset of the point.
    x : array
        The minimiser; ``-x`` is the derivative by `v`.
    curvature : array
        ``dx / dv``, so that the second derivative by `v` is ``-curvature``.
    tilt : array
        ``-dx / dlam``, and the mixed derivative by `v` and the multiplier.
    missing : array
        One minus the sum of the probabilities; minus it is the derivative by ``lam``.
    bend : array
        Minus the second derivative by every multiplier.
    lam : array
        The multipliers.
    """

    value: float
    x: FloatArray
    curvature: FloatArray
    tilt: FloatArray
    missing: FloatArray
    bend: FloatArray
    lam: FloatArray


class ProximalDual:
    """The dual function around one centre.

    Coordinates are the weights, and after them, where violations are penalised by
    their square, the violations; those are in no distribution.

    Parameters
    ----------
    reference : array
        `c`, zero where there is none.
    centre : array
        The centre of the proximal term.
    gamma : array
        Its weight, for every coordinate.
    groups : LogDistributions or None
        The distributions among the weights; None: there are none, and every coordinate
        is free.
    """

    def __init__(
        self,
        reference: FloatArray,
        centre: FloatArray,
        gamma: FloatArray,
        groups: LogDistributions | None,
    ):
        self.reference, self.centre = reference, centre
        self.gamma, self.groups = gamma, groups
        self.log_ratio = np.zeros(0 if groups is None else len(groups))

    def best(self, v: FloatArray, offset: float) -> Minimum:
        """Return the dual function at `v` with the best multipliers."""
        if self.groups is not None:
            a = self._start(v)
            _find_ratios(a, self.groups.order, self.groups.ptr, self.log_ratio)
        return self._at(v, offset, self.log_ratio)

    def at(self, v: FloatArray, offset: float, lam: FloatArray) -> Minimum:
        """Return the dual function at `v` with these multipliers, >= 0."""
        if self.groups is None:
            return self._at(v, offset, self.log_ratio)
        with np.errstate(divide="ignore"):
            ratio = np.log(lam) - np.log(self._weights_gamma())
        return self._at(v, offset, ratio)

    def _weights_gamma(self) -> float:
        return float(self.gamma[0])

    def _start(self, v: FloatArray) -> FloatArray:
        return np.asarray(self.centre + (self.reference + v) / self.gamma, np.float64)

    def _at(self, v: FloatArray, offset: float, log_ratio: FloatArray) -> Minimum:
        x = self._start(v)
        curvature, groups = 1.0 / self.gamma, self.groups
        if groups is None:
            none = np.zeros(0)
            tilt = missing = bend = lam = none
            taken = 0.0
        else:
            d, a = groups.of.size, x.copy()
            y = np.zeros(d)
            _minimise(a, groups.of, log_ratio, x, y)
            curvature[:d] /= 1.0 + y
            lam = self._weights_gamma() * np.exp(log_ratio)
            # Where the multiplier is zero, sums may overflow; they are not used.
            probability = np.exp(np.minimum(x[:d], 300.0))
            tilt = probability * curvature[:d]
            missing = 1.0 - groups.sums(probability)
            bend = groups.sums(probability * tilt)
            taken = float(lam @ missing)
        from_centre = x - self.centre
        value = offset - float((self.reference + v) @ x) - taken
        value += 0.5 * float(self.gamma @ (from_centre * from_centre))
        return Minimum(value, x, curvature, tilt, missing, bend, lam)
