"""The dual function of a proximal step with the reverse divergence.

As `ProximalDual`, with ``sum c h(x - ln c)`` (see `reverse_divergence`) in the place of
``-c . x``. Coordinates still separate; their equations have no closed solution.
"""

from __future__ import annotations

import math

import numpy as np

from partwise._jit import kernel
from partwise.solvers.reverse_divergence import (
    best_multiplier,
    reverse_divergence,
    solve_coordinate,
)
from partwise.solvers.simplicial.proximal_dual import Minimum, ProximalDual
from partwise.structures.interface import FloatArray, IntArray


@kernel
def _find_multipliers(
    pull: FloatArray,
    reference: FloatArray,
    order: IntArray,
    ptr: IntArray,
    gamma: float,
    start: FloatArray,
    lam: FloatArray,
) -> None:
    for k in range(ptr.size - 1):
        members = order[ptr[k] : ptr[k + 1]]
        lam[k] = best_multiplier(pull, reference, members, gamma, start, lam[k])


@kernel
def _minimise(
    pull: FloatArray,
    reference: FloatArray,
    of: IntArray,
    gamma: float,
    start: FloatArray,
    lam: FloatArray,
    x: FloatArray,
    curvature: FloatArray,
) -> None:
    for j in range(of.size):
        c = reference[j]
        u, bend = solve_coordinate(pull[j] / c, lam[of[j]], gamma / c, start[j])
        x[j] = u + math.log(c)
        curvature[j] = 1.0 / (c * bend)


class ReverseProximalDual(ProximalDual):
    """The dual function around one centre, with the reverse divergence.

    Instead of the logarithms of multipliers over gamma, `log_ratio` holds multipliers.
    """

    def best(self, v: FloatArray, offset: float) -> Minimum:
        """Return the dual function at `v` with the best multipliers."""
        assert self.groups is not None
        _find_multipliers(
            v, self.reference, self.groups.order, self.groups.ptr,
            self._weights_gamma(), self._from_reference(), self.log_ratio,
        )  # fmt: skip
        return self._at(v, offset, self.log_ratio)

    def at(self, v: FloatArray, offset: float, lam: FloatArray) -> Minimum:
        """Return the dual function at `v` with these multipliers, >= 0."""
        return self._at(v, offset, np.ascontiguousarray(lam, np.float64))

    def _from_reference(self) -> FloatArray:
        """Return how far the centre is from the reference, in logarithms."""
        assert self.groups is not None
        d = self.groups.of.size
        return np.asarray(self.centre[:d] - np.log(self.reference[:d]), np.float64)

    def _at(self, v: FloatArray, offset: float, lam: FloatArray) -> Minimum:
        groups = self.groups
        assert groups is not None
        d = groups.of.size
        x, curvature = self.centre + v / self.gamma, 1.0 / self.gamma
        _minimise(
            v, self.reference, groups.of, self._weights_gamma(),
            self._from_reference(), lam, x, curvature,
        )  # fmt: skip
        probability = np.exp(np.minimum(x[:d], 300.0))
        tilt = probability * curvature[:d]
        missing = 1.0 - groups.sums(probability)
        bend = groups.sums(probability * tilt)
        away = x - self.centre
        value = offset - float(v @ x) - float(lam @ missing)
        value += float(reverse_divergence(x, self.reference[:d]))
        value += 0.5 * float(self.gamma @ (away * away))
        return Minimum(value, x, curvature, tilt, missing, bend, lam.copy())
