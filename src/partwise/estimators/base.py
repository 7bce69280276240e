"""What all estimators share: settings, training, certificate, saving."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from partwise import model_file
from partwise.errors import DataError, PairingError
from partwise.losses import Certificate, get_loss
from partwise.solvers import DualCoordinateDescent, Solver, solve
from partwise.solvers.base import make_problem, structure_fingerprint
from partwise.solvers.loop import (
    FAILED,
    INTERRUPTED,
    MAX_ITER,
    Callback,
    Evaluate,
    Solution,
)
from partwise.solvers.progress import ProgressBar
from partwise.solvers.registry import make_solver, solvers_for
from partwise.solvers.trace import Trace
from partwise.structures.interface import FloatArray, Structure

# Ends of training that a user should hear of.
UNFINISHED = (MAX_ITER, INTERRUPTED, FAILED)


class StructuredEstimator(BaseEstimator):  # type: ignore[misc]
    """Base class: everything about training that does not depend on the structure."""

    loss: str
    C: float
    solver: str | Solver
    tol: float
    max_iter: int
    random_state: int | None
    verbose: int
    warm_start: bool
    patience: int
    checkpoint: str | Path | None
    resume: bool
    time_limit: float | None
    callbacks: Sequence[Callback]

    weights_: FloatArray
    certificate_: Certificate | None
    trace_: Trace
    status_: str
    n_iter_: int
    solver_: Solver

    def _check_settings(self) -> Solver:
        """Check all that can be checked before any data is touched."""
        for name in ("C", "tol"):
            value: Any = getattr(self, name)
            if not isinstance(value, int | float | np.number) or not (
                0 < value < math.inf
            ):
                raise ValueError(f"{name} must be a positive number, not {value!r}")
        if self.time_limit is not None and not self.time_limit > 0:
            raise ValueError(f"time_limit must be positive, not {self.time_limit!r}")
        if isinstance(self.random_state, Integral) and self.random_state < 0:
            raise ValueError(f"random_state must be >= 0, not {self.random_state!r}")
        for name in ("max_iter", "patience"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < 1:
                raise ValueError(f"{name} must be an integer >= 1, not {value!r}")
        loss = get_loss(self.loss)
        if self.checkpoint is not None:
            model_file.check_writable(self.checkpoint)
        elif self.resume:
            raise ValueError("resume=True needs a checkpoint to resume from")
        if not solvers_for(loss.name):
            raise PairingError(
                f"no solver minimises {loss.name!r} yet; use loss='squared_hinge'"
            )
        if self.solver == "auto":
            return DualCoordinateDescent()
        solver = make_solver(self.solver)
        if loss.name not in solver.losses:
            raise PairingError(
                f"{type(solver).__name__} cannot minimise {loss.name!r}; use "
                f"{' or '.join(solvers_for(loss.name))}, or solver='auto'"
            )
        return solver

    def _train(
        self,
        structure: Structure,
        solver: Solver,
        sample_weight: Any,
        evaluate: Evaluate | None = None,
    ) -> Solution:
        """Solve, and keep weights, certificate, trace and status."""
        problem = make_problem(
            structure, get_loss(self.loss), float(self.C), sample_weight
        )
        if not problem.C.any():
            raise DataError("every sample weight is zero: nothing to learn from")
        callbacks = list(self.callbacks)
        if self.verbose:
            callbacks.append(ProgressBar(self.tol))
        mark = structure_fingerprint(structure) if self.warm_start else ""
        before = getattr(self, "_warm", None) if self.warm_start else None
        solution = solve(
            problem,
            solver,
            tol=self.tol,
            max_iter=self.max_iter,
            random_state=self._seed(),
            previous=before[1] if before and before[0] == mark else None,
            evaluate=evaluate,
            patience=self.patience,
            checkpoint=self.checkpoint,
            resume=self.resume,
            time_limit=self.time_limit,
            callbacks=callbacks,
        )
        self.weights_ = solution.w
        self.certificate_ = solution.certificate
        self.trace_ = solution.trace
        self.status_ = solution.status
        self.n_iter_ = len(solution.trace)
        self.solver_ = solver
        self._warm = (mark, solution.state) if self.warm_start else None
        return solution

    def _become(self, fitted: StructuredEstimator, solution: Solution) -> None:
        """Take over what a copy of this estimator has learnt.

        Fitting happens on a copy: when it fails, the model there was is still whole.
        The warning comes last, since a filter may turn it into an exception.
        """
        self.__dict__ = fitted.__dict__
        if solution.reason in UNFINISHED:
            warnings.warn(solution.status, ConvergenceWarning, stacklevel=3)

    def _seed(self) -> int:
        """Return an integer seed from any of scikit-learn's ways to give one."""
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        from sklearn.utils import check_random_state

        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _check_fitted(self) -> None:
        if not hasattr(self, "weights_"):
            raise NotFittedError(
                f"this {type(self).__name__} is not fitted yet; call fit first"
            )

    def save(self, path: str | Path, dtype: str = "float64") -> None:
        """Save the model to one file, which `partwise.load` reads back.

        Parameters
        ----------
        path : path
            Where to; written atomically. The usual ending is ``.partwise``.
        dtype : {"float64", "float32"}
            ``"float32"`` halves the weights' size; predictions may change where two
            outputs are closer than its rounding.
        """
        from partwise.estimators.persistence import save_model

        self._check_fitted()
        save_model(self, path, dtype)


def check_same_length(n_inputs: int, n_others: int, what: str = "y") -> None:
    """Raise `DataError` unless there is something for every input."""
    if n_inputs != n_others:
        raise DataError(f"X has {n_inputs} examples, but {what} has {n_others}")
