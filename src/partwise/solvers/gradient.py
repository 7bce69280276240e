"""The log loss of a whole corpus and its gradient, in one parallel visit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.solvers.base import Problem
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray, Structure
from partwise.structures.parallel import Worker
from partwise.structures.scratch import Scratch
from partwise.structures.sharing import given, summed
from partwise.structures.vectors import dot


@kernel
def _add_examples(
    s: Structure,
    start: int,
    stop: int,
    C: FloatArray,
    w: FloatArray,
    gradient: FloatArray,
    totals: FloatArray,
    scratch: Scratch,
    ws: Any,
) -> None:
    """Add up ``C_i loss_i``, ``C_i H(p_i)`` and ``C_i (E[Phi] - Phi(gold))``.

    The totals are carried from call to call, so that their rounding does not depend
    on how a visit is cut into calls.
    """
    y, ids, counts = scratch.y_gold, scratch.ids, scratch.counts
    size = waist.block_size(s)
    for first in range(start, stop, size):
        last = min(first + size, stop)
        waist.block_scores(s, first, last, w, scratch.theta, ws)
        at = 0
        for i in range(first, last):
            n = waist.n_parts(s, i)
            theta, mu = scratch.theta[at : at + n], scratch.mu[at : at + n]
            at += n
            if C[i] == 0.0:
                mu[:] = 0.0
                continue
            log_z = waist.marginals(s, i, theta, mu, ws)
            expected = dot(mu, theta)
            # The right output is taken off the marginals: one walk over the features
            # of an example serves both sides of its gradient.
            right = 0.0
            for j in range(waist.right_parts(s, i, y, ids, counts)):
                right += counts[j] * theta[ids[j]]
                mu[ids[j]] -= counts[j]
            loss, entropy = log_z - right, log_z - expected
            # Rounding below zero is cut off, not by max(), which may swallow a NaN.
            totals[0] += 0.0 if loss < 0.0 else C[i] * loss
            totals[1] += 0.0 if entropy < 0.0 else C[i] * entropy
            for r in range(n):
                mu[r] *= C[i]
        waist.add_block(s, first, last, scratch.mu, gradient, ws)


class BatchGradient:
    """Sums of log losses, entropies and gradients over all the examples.

    Parameters
    ----------
    problem : Problem
        Structure, C and threads; the loss is the log loss, whatever the problem's.

    Attributes
    ----------
    loss, entropy : float
        ``sum_i C_i loss_i(w)`` and ``sum_i C_i H(p(.|x_i; w))`` of the last visit.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> batch = BatchGradient(make_problem(s, get_loss("log_loss")))
    >>> gradient = np.zeros(2)
    >>> for fraction in batch.visit(np.zeros(2), gradient):
    ...     pass
    >>> round(batch.loss, 4), gradient.tolist()
    (1.3863, [-1.0, 1.0])
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self.n_used = int(np.count_nonzero(problem.C))
        self.loss = self.entropy = 0.0
        self._crew = problem.crew(n_sums=problem.n_weights)

    def visit(self, w: FloatArray, gradient: FloatArray) -> Iterator[float]:
        """Compute everything at `w`; write the gradient, yield the fraction done."""
        totals = np.zeros(2)
        things = given(self.problem.C), w, summed(gradient), summed(totals)
        yield from self._crew.visit(_add, *things)
        self.loss, self.entropy = totals.tolist()


def _add(
    s: Structure,
    start: int,
    stop: int,
    worker: Worker,
    C: FloatArray,
    w: FloatArray,
    gradient: FloatArray,
    totals: FloatArray,
) -> None:
    # Scores that overflow show in the totals; no need to warn of them.
    with np.errstate(all="ignore"):
        own = worker.scratch, worker.ws
        _add_examples(s, start, stop, C, w, gradient, totals, *own)
