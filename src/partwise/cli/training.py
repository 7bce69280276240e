"""Fitting a model under the eyes of a user: progress, Ctrl-C, how it ended."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from partwise.errors import PartwiseError

if TYPE_CHECKING:
    from partwise import SequenceTagger
    from partwise.estimators.path import Path
    from partwise.solvers.loop import Solution


@dataclass(frozen=True)
class Outcome:
    """What came of fitting: the solution, and the seconds it took with encoding."""

    solution: Solution
    seconds: float
    interrupted: bool = False
    """Whether Ctrl-C ended it."""


def fit(tagger: SequenceTagger, X: Any, y: Any, dev: Any = None) -> Outcome:
    """Fit a tagger and return how it ended; Ctrl-C keeps the weights so far.

    The estimator's warning that it did not converge is left out: commands show its
    status, which says the same.
    """
    from sklearn.exceptions import ConvergenceWarning

    from partwise.solvers.loop import FAILED, INTERRUPTED, Callback

    ended: list[Solution] = []

    class Watch(Callback):
        def on_end(self, solution: Solution) -> None:
            ended.append(solution)

    tagger.set_params(callbacks=(Watch(),))
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tagger.fit(X, y, dev=dev)
    (solution,) = ended
    if solution.reason == FAILED:
        raise PartwiseError(solution.status)
    seconds = time.perf_counter() - begin
    return Outcome(solution, seconds, solution.reason == INTERRUPTED)


def fit_path(
    tagger: SequenceTagger, X: Any, y: Any, Cs: list[float], dev: Any
) -> tuple[Path, Outcome]:
    """Fit a tagger for every C; return all, and how the best one ended."""
    from sklearn.exceptions import ConvergenceWarning

    from partwise import C_path

    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = C_path(tagger, X, y, Cs, dev=dev)
    return path, Outcome(
        path.best.solution, time.perf_counter() - begin, path.interrupted
    )


def path_numbers(path: Path) -> list[dict[str, Any]]:
    """Return the numbers of every C, by name."""
    return [
        {
            "C": point.C,
            "passes": len(point.trace),
            "seconds": point.seconds,
            "gap": None
            if point.certificate is None
            else point.certificate.relative_gap,
            "dev_score": point.dev_score,
        }
        for point in path
    ]


def summary(tagger: SequenceTagger, outcome: Outcome) -> dict[str, Any]:
    """Return the numbers of a training run, by name."""
    import numpy as np

    from partwise.cli import certificates
    from partwise.solvers.automatic import name_of

    trace = outcome.solution.trace
    best = certificates.best_dev_pass(trace)
    return {
        "labels": len(tagger.classes_),
        "features": tagger._input.n_features,
        "weights": int(tagger.weights_.size),
        "nonzero_weights": int(np.count_nonzero(tagger.weights_)),
        "C": tagger.C_,
        "solver": name_of(tagger.solver_),
        "solver_reason": tagger._reason or None,
        "passes": len(trace),
        "seconds": outcome.seconds,
        "certificate": certificates.in_numbers(outcome.solution.certificate),
        "best_dev_score": None if best is None else trace[best - 1].dev_score,
        "best_dev_pass": best,
        "converged": outcome.solution.converged,
        "interrupted": outcome.interrupted,
        "status": outcome.solution.status,
    }
