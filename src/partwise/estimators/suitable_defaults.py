"""Loss and C of estimators that were not told them, by the kind of their features.

The benchmark `defaults` chose them, by a rule that was fixed before. Features with
names are zero or one, nearly all of them, so that a C is as good for one data set as
for another. Rows of numbers come in any unit: for them C is divided by their mean
squared length, so that it has none.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from partwise.estimators.base import StructuredEstimator
from partwise.model_file import Content
from partwise.solvers import Solver
from partwise.solvers.automatic import Choice
from partwise.solvers.base import Problem
from partwise.solvers.names import MINIMISERS, MISTAKE_DRIVEN, solver_names

OF_NAMES = ("log_loss", "squared_hinge", "hinge")
OF_NUMBERS = ("hinge", "log_loss", "squared_hinge")
"""What is minimised if nothing is said: the first that goes with other settings."""
MANY_LABELS = 100
"""Of more, tokens have a log loss that takes long, by the square of their number."""


class SuitableDefaults(StructuredEstimator):
    """Base class of estimators whose `loss` may be None.

    Attributes
    ----------
    _row_size : float or None
        Of rows of numbers: their mean squared length in training; otherwise None.
    _has_many_labels : bool
        Whether there are so many labels that margins are learnt sooner: the best
        labels are found from a look at few, all probabilities are not.
    """

    default_C: ClassVar[dict[str, float]]
    default_C_of_numbers: ClassVar[dict[str, float]]
    loss: Any
    C: Any
    rescaling: Any
    costs: Any
    _row_size: float | None = None
    _has_many_labels = False

    def _chosen_loss(self) -> str:
        """Return the loss of the settings, or the first that goes with the others."""
        if self.loss is not None:
            return str(self.loss)
        losses: tuple[str, ...]
        losses = OF_NAMES if self._row_size is None else OF_NUMBERS
        return next(filter(self._goes_with, losses), losses[0])

    def _goes_with(self, loss: str) -> bool:
        """Say whether a loss goes with solver, penalty, costs and rescaling."""
        penalty = self._penalty_name()
        wants_margins = self._has_costs() or self.rescaling == "slack"
        wants_margins |= self._only_corrects_mistakes() or self._has_many_labels
        if loss == "log_loss" and wants_margins:
            return False  # a likelihood has no costs, and says nothing of mistakes
        if penalty == "l1" and loss == "hinge":
            return False  # that would be a linear program, which is for who asks for it
        if self.solver == "auto":
            return (loss, penalty) in MINIMISERS
        if isinstance(self.solver, Solver):
            return loss in self.solver.losses and penalty in self.solver.penalties
        return self.solver in solver_names(loss, penalty)

    def _choose_solver(self, problem: Problem, on_disk: int = 0) -> Choice:
        choice = super()._choose_solver(problem, on_disk)
        if self.loss is not None or self.solver != "auto" or not self._has_many_labels:
            return choice
        why = "which learns many labels sooner than the log loss"
        return choice._replace(reason=f"{choice.reason}, {why}")

    def _only_corrects_mistakes(self) -> bool:
        """Say whether the solver minimises no loss."""
        if isinstance(self.solver, Solver):
            return not self.solver.minimises
        return self.solver in MISTAKE_DRIVEN

    def _has_costs(self) -> bool:
        """Say whether some mistakes are said to be worse than others."""
        return self.costs is not None

    def _effective_C(self) -> float:
        """Return `C`, or the one that suits the loss and the features."""
        if self.C is not None:
            return float(self.C)
        if self._row_size is None:
            return float(self.default_C[self._chosen_loss()])
        return float(self.default_C_of_numbers[self._chosen_loss()] / self._row_size)


def read_row_size(content: Content) -> float | None:
    """Return the size of rows that a model file holds; None if it holds none."""
    size = content.settings.get("row_size")
    if size is not None and not (isinstance(size, float) and 0.0 < size < np.inf):
        raise content.error("the size of rows of numbers is damaged")
    return size


def row_size(values: Any, weight: NDArray[np.float64] | None = None) -> float:
    """Return the mean squared length of rows of numbers, 1 if all are zero.

    Rows that have a weight count so often.

    Examples
    --------
    >>> X = np.array([[3.0, 4.0], [0.0, 1.0]])
    >>> row_size(X), row_size(X, np.array([3.0, 1.0]))
    (13.0, 19.0)
    """
    if scipy.sparse.issparse(values):
        squares = np.asarray(values.multiply(values).sum(axis=1)).ravel()
    else:
        squares = np.einsum("ij,ij->i", values, values)
    if weight is None:
        weight = np.ones(squares.size)
    size = float(squares @ weight) / max(float(weight.sum()), 1e-300)
    return size if 0.0 < size < np.inf else 1.0
