"""Weights that are log-probabilities: groups of them, and the penalty that fits.

The penalty of a generative model is how far it is from reference distributions `c`:
``-c . w``, which is the Kullback-Leibler divergence but for the entropy of `c`, a
constant. It holds where ``sum(exp(w))`` is at most one in every group. What is missing
to one is the probability of a value that was not seen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise.structures.interface import FloatArray, IntArray

SLACK = 1e-9
"""How far a sum of probabilities may be above one, by rounding."""


class LogDistributions(NamedTuple):
    """Which weights are the logarithms of one distribution.

    Distribution `k` is the weights ``order[ptr[k]:ptr[k + 1]]``; ``of[j]`` is the
    distribution of weight `j`.
    """

    of: IntArray
    order: IntArray
    ptr: IntArray

    def __len__(self) -> int:
        """Return how many distributions there are."""
        return self.ptr.size - 1

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sum of `values` over every distribution."""
        return np.asarray(np.bincount(self.of, values, len(self)), np.float64)

    def normalise(self, w: FloatArray) -> FloatArray:
        """Return the weights with sums of probabilities above one brought to one."""
        top = np.full(len(self), -np.inf)
        np.maximum.at(top, self.of, w)
        total = top + np.log(self.sums(np.exp(w - top[self.of])))
        return np.asarray(w - np.maximum(total, 0.0)[self.of], np.float64)


def make_log_distributions(of: IntArray) -> LogDistributions:
    """Sort weights by the distribution that they belong to.

    Examples
    --------
    >>> both = make_log_distributions(np.array([0, 1, 0]))
    >>> len(both), both.sums(np.array([0.5, 1.0, 0.25])).tolist()
    (2, [0.75, 1.0])
    """
    of = np.asarray(of, np.int64)
    if of.size == 0 or of.min() < 0:
        raise ValueError("every weight must belong to a distribution, from 0 on")
    counts = np.bincount(of)
    if not counts.all():
        raise ValueError(f"distribution {int(np.argmin(counts))} has no weights")
    ptr = np.zeros(counts.size + 1, np.int64)
    np.cumsum(counts, out=ptr[1:])
    return LogDistributions(of, np.argsort(of, kind="stable").astype(np.int64), ptr)


def uniform_reference(groups: LogDistributions) -> FloatArray:
    """Return the uniform reference distributions.

    Examples
    --------
    >>> uniform_reference(make_log_distributions(np.array([0, 1, 0]))).tolist()
    [0.5, 1.0, 0.5]
    """
    return np.asarray(1.0 / np.diff(groups.ptr)[groups.of], np.float64)


def check_reference(reference: FloatArray, groups: LogDistributions) -> FloatArray:
    """Return reference distributions as an array; raise `ValueError` if invalid.

    Every probability has to be positive: nothing would keep the model's probability
    from vanishing where the reference is zero, and there might be no minimum.
    """
    c = np.ascontiguousarray(reference, np.float64)
    if c.shape != groups.of.shape:
        raise ValueError(f"{c.size} reference probabilities for {groups.of.size}")
    if not np.isfinite(c).all() or not (c > 0.0).all():
        raise ValueError(
            "reference probabilities must be positive; smooth them, for instance by "
            "mixing in a little of the uniform distribution"
        )
    sums = groups.sums(c)
    worst = int(np.argmax(np.abs(sums - 1.0)))
    if abs(sums[worst] - 1.0) > 1e-6:
        raise ValueError(
            f"reference distribution {worst} adds up to {sums[worst]:g}, not to 1"
        )
    return c


def divergence(w: FloatArray, reference: FloatArray, groups: LogDistributions) -> float:
    """Return ``-c . w``; infinity where probabilities add up to more than one."""
    if (groups.sums(np.exp(np.minimum(w, 1.0))) > 1.0 + SLACK).any():
        return np.inf
    return float(-reference @ w)


def entropy_term(v: FloatArray, groups: LogDistributions) -> float:
    """Return ``min_w -v . w`` over distributions: ``-sum v ln(v / sum v)``.

    The dual of the penalty, with the multipliers of the sums at their best. `v` is not
    negative.
    """
    total = groups.sums(v)[groups.of]
    there = v > 0.0
    return float(-v[there] @ np.log(v[there] / total[there]))


def projected_bound(
    pull: FloatArray, offset: float, reference: FloatArray, groups: LogDistributions
) -> tuple[float, int]:
    """Estimate the minimum as the paper does, by projecting onto the dual's domain.

    The projected point need not be a dual point of the problem, so that this is no
    bound. Return the estimate and how many distributions had to be projected, which
    tells how far to trust it.
    """
    v = reference + pull
    outside = np.unique(groups.of[v < 0.0]).size
    return offset + entropy_term(np.maximum(v, 0.0), groups), outside


def scaled_bound(
    pull: FloatArray,
    offset: float,
    reference: FloatArray,
    groups: LogDistributions,
    *,
    curvature: float = 0.0,
    cone: bool = False,
) -> float:
    """Return a lower bound on the minimum, valid at every dual point.

    The dual points contain zero, so ``t`` times one of them is another; there is a `t`
    for which it lies in the domain of the dual function, ``c + t pull >= 0``. The
    bound is a concave function of `t`: the best one is looked for.

    Parameters
    ----------
    pull : array
        ``sum beta dPhi``, what the dual point does to the weights.
    offset : float
        ``sum beta cost``.
    reference, groups
        The penalty.
    curvature : float
        What the quadratic penalty of violations takes off: ``t^2 / 2`` of this.
    cone : bool
        Whether dual points may be lengthened too.
    """
    down = pull < 0.0
    inside = float(np.min(reference[down] / -pull[down], initial=np.inf))
    most = min(inside, 2.0 if cone else 1.0)

    def bound(t: float) -> float:
        v = np.maximum(reference + t * pull, 0.0)
        return t * offset - 0.5 * t * t * curvature + entropy_term(v, groups)

    # Ternary search; the point itself, or the nearest there is, is usually best.
    low, high = 0.0, most
    for _ in range(12):
        third = (high - low) / 3.0
        if bound(low + third) < bound(high - third):
            low += third
        else:
            high -= third
    return max(bound(t) for t in (0.0, min(most, 1.0), 0.5 * (low + high)))
