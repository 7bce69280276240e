"""Fitting a model for a user who watches: warnings, Ctrl-C, how it ended."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import typer

from partwise._jit import listening
from partwise._screen import no_notes
from partwise._work import telling
from partwise.characters import printable
from partwise.errors import ConvergenceWarning, PartwiseError

if TYPE_CHECKING:
    from partwise.estimators.base import StructuredEstimator
    from partwise.estimators.path import Path


@contextmanager
def plain_warnings(quiet: bool) -> Iterator[None]:
    """Show warnings as lines on standard error, once each, without places in the code.

    Where `quiet`, warnings, what is compiled and what takes long are not shown at all.

    The estimator's warning that it did not converge is left out: commands show its
    status, which says the same.
    """
    shown: set[str] = set()

    def show(message: Any, *place: Any, **more: Any) -> None:
        text = printable(str(message))
        if text not in shown:
            typer.echo(f"warning: {text}", err=True)
        shown.add(text)

    silence = ExitStack()
    if quiet:
        silence.enter_context(listening(no_notes))
        silence.enter_context(telling(None))
    with warnings.catch_warnings(), silence:
        warnings.simplefilter("ignore" if quiet else "always", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.showwarning = show
        yield


def fit(
    model: StructuredEstimator,
    X: Any,
    y: Any,
    dev: Any = None,
    *,
    quiet: bool = False,
    goes_on: bool = False,
    **options: Any,
) -> None:
    """Fit a model, or let it learn on; Ctrl-C keeps the weights so far."""
    from partwise.solvers.endings import FAILED

    with plain_warnings(quiet):
        if goes_on:
            model.partial_fit(X, y, dev=dev, forget=True, **options)
        else:
            model.fit(X, y, dev=dev, **options)
    if model.solution_.reason == FAILED:
        raise PartwiseError(model.solution_.status)


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


def summary(model: Any, seconds: float, compile_seconds: float) -> dict[str, Any]:
    """Return the numbers of a training run, by name.

    The `seconds` do not count those that the first run compiles.
    """
    import numpy as np

    from partwise.cli import certificates
    from partwise.solvers.automatic import name_of
    from partwise.solvers.endings import INTERRUPTED

    solution = model.solution_
    trace = solution.trace
    best = certificates.best_dev_pass(trace)
    # A parser hashes what it sees: it has weights, but no list of features.
    encoder = getattr(model, "_input", None)
    trained = _is_trained(model)
    return {
        **({"labels": len(model.classes_)} if len(model.classes_) else {}),
        **({} if encoder is None else {"features": encoder.n_features}),
        "weights": int(model.weights_.size),
        "nonzero_weights": int(np.count_nonzero(model.weights_)),
        "C": used_C(model),
        "solver": name_of(model.solver_) if trained else None,
        "solver_reason": model._reason or None,
        "passes": len(trace),
        "seconds": seconds,
        "compile_seconds": compile_seconds,
        "certificate": certificates.in_numbers(solution.certificate),
        "best_dev_score": None if best is None else trace[best - 1].dev_score,
        "best_dev_pass": best,
        "converged": solution.converged,
        "interrupted": solution.reason == INTERRUPTED,
        "status": solution.status,
    }


def used_C(model: Any) -> float | None:
    """Return the C that a model was trained with, if there was any."""
    return float(model.C_) if _is_trained(model) else None


def _is_trained(model: Any) -> bool:
    """Say whether there was training: a generative model may only be counted."""
    return bool(getattr(model, "objective_", "margin") != "likelihood")
