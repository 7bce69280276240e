"""From marginals to part scores: the way back from `marginals`, for a whole corpus."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray, IntArray, Structure
from partwise.structures.scratch import Scratch, make_scratch
from partwise.structures.vectors import copy


@kernel
def part_pointers(s: Structure) -> IntArray:
    """Return where the parts of a corpus lie when put end to end.

    Examples
    --------
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> part_pointers(make_multiclass(make_dense_rows([[1.0], [2.0]]), [0, 1], 3))
    array([0, 3, 6])
    """
    ptr = np.zeros(waist.n_examples(s) + 1, np.int64)
    for i in range(ptr.size - 1):
        ptr[i + 1] = ptr[i] + waist.n_parts(s, i)
    return ptr


@kernel
def mix_with_uniform(
    s: Structure, i: int, mu: FloatArray, epsilon: float, scratch: Scratch, ws: Any
) -> None:
    """Replace a fraction `epsilon` of `mu` by the marginals of all legal outputs.

    What is legal is then possible, which a Gibbs distribution cannot do without.
    """
    count = waist.n_parts(s, i)
    scratch.theta[:count] = 0.0
    waist.marginals(s, i, scratch.theta, scratch.mu, ws)
    for r in range(count):
        mu[r] = (1.0 - epsilon) * mu[r] + epsilon * scratch.mu[r]


@kernel
def _fill_scores(
    s: Structure,
    ptr: IntArray,
    mu: FloatArray,
    epsilon: float,
    theta: FloatArray,
    scratch: Scratch,
    ws: Any,
) -> None:
    for i in range(ptr.size - 1):
        waist.visit(s, i, ws)
        # The array of the answer has room for what goes into it.
        own = theta[ptr[i] : ptr[i + 1]]
        copy(mu[ptr[i] : ptr[i + 1]], own)
        mix_with_uniform(s, i, own, epsilon, scratch, ws)
        copy(own, scratch.mu)
        waist.gibbs_scores(s, i, scratch.mu, own, ws)


def scores_from_marginals(
    s: Structure, mu: FloatArray, epsilon: float = 1e-6
) -> FloatArray:
    """Return part scores whose Gibbs distributions have about the marginals `mu`.

    Parameters
    ----------
    s : structure
        The corpus.
    mu : array
        The expected count of every part, example after example (`part_pointers`).
    epsilon : float
        How much uniform mass to mix in first, so that every legal output is possible.
        A little goes a long way: its features are those of all outputs, and their
        norm grows with C.

    Examples
    --------
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0]]), [0], 2)
    >>> theta = scores_from_marginals(s, np.array([1.0, 0.0]), epsilon=0.5)
    >>> np.exp(theta).round(6).tolist()
    [0.75, 0.25]
    """
    if not 0.0 <= epsilon <= 1.0:
        raise ValueError(f"epsilon must lie in 0..1, not {epsilon!r}")
    ptr = part_pointers(s)
    if mu.shape != (ptr[-1],):
        raise ValueError(f"{mu.size} marginals for {ptr[-1]} parts")
    theta = np.zeros(mu.size)
    _fill_scores(s, ptr, mu, epsilon, theta, make_scratch(s), waist.workspace(s, 1))
    return theta
