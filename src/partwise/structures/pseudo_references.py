"""Good and bad outputs by a metric of your own, where the right one may be missing.

A lattice of translations seldom has the reference among its paths. What takes its place
are *pseudo-references*: the best of the outputs that there are, as a metric judges them
(Wang and Shawe-Taylor 2009, sections 2.2 and 5.2). The metric may be anything, such as
BLEU, and need not be a sum over parts, so that outputs have to be listed: those of an
n-best list, or the best ones by the scores of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from partwise.errors import DataError
from partwise.structures.decoding import decode_kbest
from partwise.structures.interface import CodeArray, FloatArray, IntArray, Structure

Metric = Callable[[int, Sequence[CodeArray]], ArrayLike]
"""Takes the number of an example and outputs of it; returns how good each is."""


class GoodAndBad(NamedTuple):
    """Which outputs of a list are good and which are bad, each the best first.

    Examples
    --------
    >>> good_and_bad([0.2, 0.9, 0.85], n_good=2, slack=0.1).good.tolist()
    [1, 2]
    """

    good: IntArray
    bad: IntArray


def good_and_bad(
    quality: ArrayLike, *, n_good: int = 1, slack: float = 0.0
) -> GoodAndBad:
    """Tell the good outputs of an n-best list from the bad ones.

    Parameters
    ----------
    quality : sequence of float
        How good each output is; more is better.
    n_good : int
        The most good outputs.
    slack : float
        How much worse than the best a good one may be.

    Returns
    -------
    GoodAndBad
        Numbers of outputs. Of equally good ones, those that come first in the list are
        preferred: what the model likes best.

    Examples
    --------
    >>> from partwise import good_and_bad
    >>> split = good_and_bad([31.0, 35.5, 12.0, 35.0], n_good=2, slack=1.0)
    >>> split.good, split.bad
    (array([1, 3]), array([0, 2]))
    """
    values = np.asarray(quality, np.float64)
    if values.ndim != 1 or not values.size:
        raise DataError("quality must be a list of numbers, one for every output")
    if not np.isfinite(values).all():
        raise DataError("quality must be finite numbers")
    if n_good < 1:
        raise ValueError(f"n_good must be at least 1, not {n_good!r}")
    if not 0.0 <= slack < np.inf:
        raise ValueError(f"slack must be finite and not negative, not {slack!r}")
    order = np.argsort(-values, kind="stable")
    n = int((values[order[:n_good]] >= values[order[0]] - slack).sum())
    return GoodAndBad(order[:n], order[n:])


class PseudoReferences(NamedTuple):
    """The outputs of an example that were compared, and which of them are good.

    Attributes
    ----------
    outputs : list of arrays
        The best outputs by the scores of the model, in codes, the best first.
    quality : array
        How good the metric finds each of them.
    good, bad : arrays
        Their numbers, those of the best quality first.
    """

    outputs: list[CodeArray]
    quality: FloatArray
    good: IntArray
    bad: IntArray

    @property
    def good_outputs(self) -> list[CodeArray]:
        """The good outputs, as `with_good_outputs` takes them."""
        return [self.outputs[j] for j in self.good]


def find_pseudo_references(
    s: Structure,
    w: FloatArray,
    metric: Metric,
    *,
    k: int = 50,
    n_good: int = 1,
    slack: float = 0.0,
    n_jobs: int = 1,
) -> list[PseudoReferences]:
    """Find good outputs of every example among its `k` best.

    Parameters
    ----------
    s : structure
        Any with k-best outputs, such as one that `make_lattice` makes.
    w : array
        Weights: outputs are compared that score high with them. Those of a model that
        exists already give outputs that can be reached; a feature that is close to the
        metric, such as matched words, gives better ones.
    metric : function
        ``metric(i, outputs)`` returns how good each of some outputs of example `i` is;
        more is better.
    k : int
        How many outputs of an example are compared.
    n_good, slack
        As in `good_and_bad`.
    n_jobs : int
        Threads.

    Returns
    -------
    list of PseudoReferences
        One for every example. All other outputs of the structure are bad in training,
        listed or not. An example without any bad output cannot be learnt from.

    Examples
    --------
    Four classes stand for four translations, of which two are good:

    >>> import numpy as np
    >>> from partwise import find_pseudo_references, with_good_outputs
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0]]), [0], 4)
    >>> bleu = [31.0, 35.5, 12.0, 35.0]
    >>> def metric(i, outputs):
    ...     return [bleu[y[0]] for y in outputs]
    >>> [found] = find_pseudo_references(
    ...     s, np.arange(4.0), metric, k=4, n_good=2, slack=1.0
    ... )
    >>> [y.tolist() for y in found.good_outputs]
    [[1], [3]]
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k!r}")
    ptr, codes, _, found = decode_kbest(s, w, k, n_jobs)
    result = []
    for i in range(found.size):
        outputs = [codes[j, ptr[i] : ptr[i + 1]] for j in range(found[i])]
        if not outputs:
            raise DataError("it has no output to choose from", where=f"example {i}")
        quality = _judge(metric, i, outputs)
        split = good_and_bad(quality, n_good=n_good, slack=slack)
        result.append(PseudoReferences(outputs, quality, *split))
    return result


def _judge(metric: Metric, i: int, outputs: Sequence[Any]) -> FloatArray:
    quality = np.asarray(metric(i, outputs), np.float64)
    if quality.shape != (len(outputs),) or not np.isfinite(quality).all():
        raise DataError(
            f"the metric must return {len(outputs)} finite numbers, one for every "
            f"output, not {quality!r:.60}",
            where=f"example {i}",
        )
    return quality
