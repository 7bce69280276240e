"""Weights that are log-probabilities: groups of them, and reference distributions.

The sum of ``exp(w)`` is at most one in every group. What is missing to one is the
probability of a value that was not seen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise.structures.interface import FloatArray, IntArray


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
