"""Fitting a model under the eyes of a user: progress, Ctrl-C, how it ended."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from partwise.errors import PartwiseError

if TYPE_CHECKING:
    from partwise import SequenceTagger
    from partwise.solvers.loop import Solution


@dataclass(frozen=True)
class Outcome:
    """What came of fitting: the solution, and the seconds it took with encoding."""

    solution: Solution
    seconds: float

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        from partwise.solvers.loop import INTERRUPTED

        return self.solution.reason == INTERRUPTED


def fit(tagger: SequenceTagger, X: Any, y: Any, dev: Any = None) -> Outcome:
    """Fit a tagger and return how it ended; Ctrl-C keeps the weights so far.

    The estimator's warning that it did not converge is left out: commands show its
    status, which says the same.
    """
    from sklearn.exceptions import ConvergenceWarning

    from partwise.solvers.loop import FAILED, Callback

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
    return Outcome(solution, time.perf_counter() - begin)


def summary(tagger: SequenceTagger, outcome: Outcome) -> dict[str, Any]:
    """Return the numbers of a training run, by name."""
    import numpy as np

    from partwise.cli import certificates

    trace = outcome.solution.trace
    best = certificates.best_dev_pass(trace)
    return {
        "labels": len(tagger.classes_),
        "features": tagger._input.n_features,
        "weights": int(tagger.weights_.size),
        "nonzero_weights": int(np.count_nonzero(tagger.weights_)),
        "passes": len(trace),
        "seconds": outcome.seconds,
        "certificate": certificates.in_numbers(outcome.solution.certificate),
        "best_dev_score": None if best is None else trace[best - 1].dev_score,
        "best_dev_pass": best,
        "converged": outcome.solution.converged,
        "interrupted": outcome.interrupted,
        "status": outcome.solution.status,
    }
