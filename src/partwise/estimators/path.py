"""The regularisation path: models for several C, each started from the last."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from partwise._jit import working_time
from partwise.estimators.base import StructuredEstimator, is_unfinished
from partwise.estimators.protocol import warn_of_convergence
from partwise.losses import Certificate
from partwise.solvers.base import State
from partwise.solvers.endings import INTERRUPTED
from partwise.solvers.loop import Solution
from partwise.solvers.trace import Trace


@dataclass(frozen=True)
class PathPoint:
    """The model for one C.

    Attributes
    ----------
    C : float
        The weight of the losses.
    dev_score : float or None
        The score of the weights that were kept, on development data if there is any.
    seconds : float
        How long training took, starting from the model for the C before.
    estimator : estimator
        A fitted model of its own; all of a path share one vocabulary.
    """

    C: float
    dev_score: float | None
    seconds: float
    estimator: Any

    @property
    def solution(self) -> Solution:
        """How training ended."""
        solution: Solution = self.estimator.solution_
        return solution

    @property
    def weights(self) -> Any:
        """The weights."""
        return self.estimator.weights_

    @property
    def certificate(self) -> Certificate | None:
        """How close to optimal the weights are."""
        return self.solution.certificate

    @property
    def trace(self) -> Trace:
        """One row per pass."""
        return self.solution.trace

    @property
    def status(self) -> str:
        """How training ended, in a sentence."""
        return self.solution.status


@dataclass(frozen=True)
class Path:
    """What `C_path` found: a sequence of `PathPoint`, the smallest C first.

    Attributes
    ----------
    points : tuple of PathPoint
        One for every C; fewer if Ctrl-C ended it.
    """

    points: tuple[PathPoint, ...]

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.points)

    def __iter__(self) -> Iterator[PathPoint]:
        """Iterate over the points."""
        return iter(self.points)

    def __getitem__(self, which: int) -> PathPoint:
        """Return a point by its number."""
        return self.points[which]

    @property
    def best(self) -> PathPoint:
        """The point that is best on development data; of equals, the smallest C."""
        if self.points[0].dev_score is None:
            raise ValueError(
                "without development data no C is best; give C_path dev=(X, y)"
            )
        return max(self.points, key=lambda point: _known(point.dev_score))

    @property
    def best_estimator(self) -> Any:
        """The model that is best on development data."""
        return self.best.estimator

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return self.points[-1].solution.reason == INTERRUPTED

    def __str__(self) -> str:
        """Show a table, one row per C."""
        lines = [f"{'C':>10} {'passes':>7} {'seconds':>8} {'gap':>8} {'dev':>8}"]
        for point in self.points:
            certificate, dev = point.certificate, point.dev_score
            gap = "" if certificate is None else f"{certificate.relative_gap:.2g}"
            score = "" if dev is None else f"{dev:.4f}"
            lines.append(
                f"{point.C:>10g} {len(point.trace):>7} {point.seconds:>8.2f} "
                f"{gap:>8} {score:>8}"
            )
        return "\n".join(lines)


def C_path(
    estimator: StructuredEstimator,
    X: Any,
    y: Any,
    Cs: Iterable[float],
    sample_weight: Any = None,
    **fit_options: Any,
) -> Path:
    """Train a model for every C, from the smallest to the largest.

    The data is encoded once, and training for a C starts where the one before ended:
    faster than fitting each one, and each model still has a certificate.

    Parameters
    ----------
    estimator : SequenceTagger or MulticlassClassifier
        The settings; it is not fitted itself.
    X, y, sample_weight
        As in its ``fit``.
    Cs : iterable of float
        The values of C.
    **fit_options
        Other arguments of ``fit``: `dev`, and for taggers `token_weight`, `allowed`.

    Returns
    -------
    Path
        A sequence of `PathPoint`, with the `best` and its `best_estimator` if there is
        development data.

    Examples
    --------
    >>> from partwise import C_path, MulticlassClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"]
    >>> path = C_path(MulticlassClassifier(), X, y, [10.0, 0.1, 1.0], dev=(X, y))
    >>> [point.C for point in path]
    [0.1, 1.0, 10.0]
    >>> path.best_estimator.predict([[5.0]])
    array(['high'], dtype=object)
    """
    values = _checked(Cs)
    if estimator.checkpoint is not None:
        raise ValueError("C_path keeps no checkpoints; leave checkpoint out")
    encoded = copy.copy(estimator)
    data = encoded._prepare(X, y, sample_weight, **fit_options)
    points: list[PathPoint] = []
    state: State | None = None
    for number, C in enumerate(values, 1):
        model = copy.copy(encoded)
        model.C = C
        begin = working_time()
        solution = model._train(data, state, f"C={C:g}, {number} of {len(values)}")
        seconds = working_time() - begin
        points.append(PathPoint(C, _kept_score(solution.trace), seconds, model))
        state = solution.state
        if solution.reason == INTERRUPTED:
            break
    for point in points:
        if is_unfinished(point.solution, point.estimator.solver_):
            warn_of_convergence(f"C={point.C:g}: {point.status}", stacklevel=2)
    return Path(tuple(points))


def _checked(Cs: Iterable[float]) -> list[float]:
    if isinstance(Cs, str | bytes | Real) or not isinstance(Cs, Iterable):
        raise ValueError(f"Cs must be a list of positive numbers, not {Cs!r}")
    values = list(Cs)
    if not values:
        raise ValueError("Cs is empty; give at least one value of C")
    for C in values:
        if not isinstance(C, Real) or not 0 < C < math.inf:
            raise ValueError(f"every C must be a positive number, not {C!r}")
    return sorted({float(C) for C in values})


def _known(score: float | None) -> float:
    return -math.inf if score is None else score


def _kept_score(trace: Trace) -> float | None:
    scores = trace["dev_score"]
    known = scores[~np.isnan(scores)] if scores.size else scores
    return float(known.max()) if known.size else None
