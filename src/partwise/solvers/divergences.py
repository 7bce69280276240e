"""The penalties of generative models: how far they are from reference distributions.

A penalty is a convex function of the log-probabilities, and it holds where those of
every distribution add up to at most one. What its dual needs is its least value with a
linear pull, ``min_w penalty(w) - v . w``, which is finite where ``v >= -floor``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from partwise.solvers.log_distributions import LogDistributions
from partwise.solvers.reverse_divergence import least_with_pull, reverse_divergence
from partwise.structures.interface import FloatArray

SLACK = 1e-9
"""How far a sum of probabilities may be above one, by rounding."""

INSIDE = 1.0 - 1e-9
"""How near to the border of its domain the dual of the reverse divergence is used."""


class Divergence(ABC):
    """A penalty of log-probabilities.

    Parameters
    ----------
    reference : array
        The distributions to stay near to.
    groups : LogDistributions
        Which weights are one distribution.
    """

    penalty_name: ClassVar[str]

    def __init__(self, reference: FloatArray, groups: LogDistributions):
        self.reference, self.groups = reference, groups

    @abstractmethod
    def of_feasible(self, w: FloatArray) -> float:
        """Return the penalty of weights whose probabilities are known to be right."""

    @property
    @abstractmethod
    def floor(self) -> FloatArray:
        """How far down every weight may be pulled: the domain of the dual."""

    @abstractmethod
    def least(self, v: FloatArray) -> float:
        """Return ``min_w penalty(w) - v . w`` over distributions, ``v >= -floor``."""

    def value(self, w: FloatArray) -> float:
        """Return the penalty; infinity where probabilities add up to more than one."""
        if (self.groups.sums(np.exp(np.minimum(w, 1.0))) > 1.0 + SLACK).any():
            return np.inf
        return self.of_feasible(w)


class ForwardDivergence(Divergence):
    """``-c . w``: the divergence of the model from the reference, ``KL(c || exp w)``.

    But for the entropy of `c`, which is a constant (paper 003, (2)).

    Examples
    --------
    >>> from partwise.solvers.log_distributions import make_log_distributions
    >>> half = np.array([0.5, 0.5])
    >>> forward = ForwardDivergence(half, make_log_distributions(np.array([0, 0])))
    >>> round(forward.value(np.log(half)), 4), forward.value(np.zeros(2))
    (0.6931, inf)
    """

    penalty_name = "divergence"

    def of_feasible(self, w: FloatArray) -> float:
        """Return ``-c . w``."""
        return float(-self.reference @ w)

    @property
    def floor(self) -> FloatArray:
        """The reference itself."""
        return self.reference

    def least(self, v: FloatArray) -> float:
        """Return ``-sum u ln(u / sum u)`` over distributions, with ``u = c + v``."""
        u = np.maximum(self.reference + v, 0.0)
        total = self.groups.sums(u)[self.groups.of]
        there = u > 0.0
        return float(-u[there] @ np.log(u[there] / total[there]))


class ReverseDivergence(Divergence):
    """``sum p ln(p / c) - p + c`` with ``p = exp w``: that is ``KL(exp w || c)``.

    Paper 003 names it in section 3.2. As a function of the weights it is convex where
    ``p >= c / e``; further down it is continued by its tangent, so that it is convex
    everywhere, and no probability vanishes. See `reverse_divergence`.

    Examples
    --------
    >>> from partwise.solvers.log_distributions import make_log_distributions
    >>> half = np.array([0.5, 0.5])
    >>> reverse = ReverseDivergence(half, make_log_distributions(np.array([0, 0])))
    >>> reverse.value(np.log(half)), round(reverse.value(np.log([0.9, 0.1])), 4)
    (0.0, 0.3732)
    """

    penalty_name = "reverse divergence"

    def of_feasible(self, w: FloatArray) -> float:
        """Return the sum over all weights."""
        return float(reverse_divergence(w, self.reference))

    @property
    def floor(self) -> FloatArray:
        """The slope of the tangent."""
        return np.asarray(INSIDE / np.e * self.reference, np.float64)

    def least(self, v: FloatArray) -> float:
        """Return the least value, by the multipliers of the sums."""
        order, ptr = self.groups.order, self.groups.ptr
        inside = np.maximum(v, -self.floor)
        return float(least_with_pull(inside, self.reference, order, ptr))


DIVERGENCES: dict[str, type[Divergence]] = {
    "forward": ForwardDivergence,
    "reverse": ReverseDivergence,
}


def projected_bound(
    pull: FloatArray, offset: float, penalty: Divergence
) -> tuple[float, int]:
    """Estimate the minimum as the paper does, by projecting onto the dual's domain.

    The projected point need not be a dual point of the problem, so that this is no
    bound. Return the estimate and how many distributions had to be projected, which
    tells how far to trust it.
    """
    floor = penalty.floor
    outside = np.unique(penalty.groups.of[pull < -floor]).size
    return offset + penalty.least(np.maximum(pull, -floor)), outside


def scaled_bound(
    pull: FloatArray,
    offset: float,
    penalty: Divergence,
    *,
    curvature: float = 0.0,
    cone: bool = False,
) -> float:
    """Return a lower bound on the minimum, valid at every dual point.

    The dual points contain zero, so ``t`` times one of them is another; there is a `t`
    for which it lies in the domain of the dual function, ``t pull >= -floor``. The
    bound is a concave function of `t`: the best one is looked for.

    Parameters
    ----------
    pull : array
        ``sum beta dPhi``, what the dual point does to the weights.
    offset : float
        ``sum beta cost``.
    penalty : Divergence
        The penalty.
    curvature : float
        What the quadratic penalty of violations takes off: ``t^2 / 2`` of this.
    cone : bool
        Whether dual points may be lengthened too.
    """
    down = pull < 0.0
    inside = float(np.min(penalty.floor[down] / -pull[down], initial=np.inf))
    most = min(inside, 2.0 if cone else 1.0)

    def bound(t: float) -> float:
        return t * offset - 0.5 * t * t * curvature + penalty.least(t * pull)

    # Ternary search; the point itself, or the nearest there is, is usually best.
    low, high = 0.0, most
    for _ in range(12):
        third = (high - low) / 3.0
        if bound(low + third) < bound(high - third):
            low += third
        else:
            high -= third
    return max(bound(t) for t in (0.0, min(most, 1.0), 0.5 * (low + high)))
