"""Costs inside the logarithm: the log loss of this structure is the softmax-margin.

``log sum_y exp(cost(y) + w . Phi(y)) - w . Phi(gold)`` (Gimpel and Smith, NAACL 2010)
is the log loss of a log-linear model whose outputs have the base measure
``exp(cost(y))`` instead of one. So nothing changes but the two sums over all outputs,
`marginals` and `log_partition`, which add the costs to the scores they are given, and
`gibbs_scores`, which takes them off. What solvers call the entropy of a distribution,
``log Z - theta . mu``, becomes its entropy plus its expected cost: just what belongs
in the dual. No solver has to know.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.errors import PairingError
from partwise.structures import interface as waist
from partwise.structures.delegation import delegate
from partwise.structures.interface import FloatArray, Structure, largest_sizes
from partwise.structures.vectors import copy


class SoftmaxMargin(NamedTuple):
    """A corpus whose outputs weigh ``exp(cost)``; `make_softmax_margin` makes one."""

    corpus: Any


class SoftmaxMarginSpace(NamedTuple):
    """The scratch arrays of the corpus, and one for scores with costs."""

    corpus: Any
    theta: FloatArray


def make_softmax_margin(s: Structure) -> SoftmaxMargin:
    """Return the same corpus, with costs inside the sum over all outputs.

    Parameters
    ----------
    s : structure
        One with costs, marginals and log partition.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0]]), [0], 2, costs=[[0, 3], [1, 0]])
    >>> loss, w = get_loss("log_loss"), np.zeros(2)
    >>> loss.values(s, w).round(4), loss.values(make_softmax_margin(s), w).round(4)
    (array([0.6931]), array([3.0486]))
    """
    for question in (waist.add_costs, waist.marginals, waist.log_partition):
        if not question.provided_by(type(s)):
            raise PairingError(
                f"costs with the log loss need {question.__name__!r}, which "
                f"{type(s).__name__} does not provide; leave the costs out"
            )
    return SoftmaxMargin(s)


@kernel
def _with_costs(s: SoftmaxMargin, i: int, theta: FloatArray, ws: Any) -> None:
    """Write ``theta + cost`` to the scratch array."""
    n = waist.n_parts(s.corpus, i)
    copy(theta[:n], ws.theta)
    waist.add_costs(s.corpus, i, ws.theta)


@waist.marginals.implement(SoftmaxMargin)
def _(s: SoftmaxMargin, i: int, theta: FloatArray, mu: FloatArray, ws: Any) -> float:
    _with_costs(s, i, theta, ws)
    return waist.marginals(s.corpus, i, ws.theta, mu, ws.corpus)


@waist.log_partition.implement(SoftmaxMargin)
def _(s: SoftmaxMargin, i: int, theta: FloatArray, ws: Any) -> float:
    _with_costs(s, i, theta, ws)
    return waist.log_partition(s.corpus, i, ws.theta, ws.corpus)


@waist.gibbs_scores.implement(SoftmaxMargin)
def _(s: SoftmaxMargin, i: int, mu: FloatArray, theta: FloatArray, ws: Any) -> None:
    waist.gibbs_scores(s.corpus, i, mu, theta, ws.corpus)
    n = waist.n_parts(s.corpus, i)
    ws.theta[:n] = 0.0
    waist.add_costs(s.corpus, i, ws.theta)
    for r in range(n):
        theta[r] -= ws.theta[r]


@waist.workspace.implement(SoftmaxMargin)
def _(s: SoftmaxMargin, k: int) -> Any:
    return SoftmaxMarginSpace(
        waist.workspace(s.corpus, k), np.zeros(largest_sizes(s.corpus)[0])
    )


delegate(SoftmaxMargin)
