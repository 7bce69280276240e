"""What estimators of generative models share: objectives, references, counting."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from partwise.estimators.base import StructuredEstimator
from partwise.estimators.generative.reference_distributions import REFERENCES, counted
from partwise.solvers.log_distributions import (
    make_log_distributions,
    uniform_reference,
)
from partwise.solvers.registry import default_solver
from partwise.solvers.trace import Trace
from partwise.structures.interface import (
    LEAST_PROBABILITY,
    FloatArray,
    Structure,
    distribution_of,
)


class GenerativeModel(StructuredEstimator, ABC):
    """Base class: probabilities found by counting, or trained for margins."""

    objectives: ClassVar[tuple[str, ...]] = ("margin", "likelihood")
    # Only while there is no data to suit.
    default_C: ClassVar[dict[str, float]] = {"hinge": 1.0, "squared_hinge": 1.0}
    penalty = "l2"
    l1_ratio = 0.0

    objective: str
    reference: Any
    smoothing: float

    _suitable_C: float | None = None

    def _check_settings(self) -> None:
        if self.objective not in self.objectives:
            *names, last = map(repr, self.objectives)
            raise ValueError(
                f"objective must be {', '.join(names)} or {last}, not "
                f"{self.objective!r}"
            )
        if self.loss not in self.default_C:
            raise ValueError(
                f"loss must be 'hinge' or 'squared_hinge', not {self.loss!r}"
            )
        if isinstance(self.reference, str) and self.reference not in REFERENCES:
            raise ValueError(
                "reference must be 'uniform', 'likelihood' or distributions, not "
                f"{self.reference!r}"
            )
        smooth = self.smoothing
        if not isinstance(smooth, Real) or not 0 <= smooth < np.inf:
            raise ValueError(f"smoothing must be a number >= 0, not {smooth!r}")
        super()._check_settings()

    def _penalty_name(self) -> str:
        return "divergence"

    def _effective_C(self) -> float:
        if self.C is None and self._suitable_C is not None:
            return self._suitable_C
        return super()._effective_C()

    def _own_name(self) -> str:
        """Return what the reference of the settings is called."""
        if self.reference is None:
            return "likelihood"
        return self.reference if isinstance(self.reference, str) else "own"

    @property
    def objective_(self) -> str:
        """What was trained for: "margin" or "likelihood"."""
        return self.objective

    @property
    def reference_(self) -> str | None:
        """What margins were traded for: "likelihood", "uniform" or "own"."""
        return None if self.objective_ == "likelihood" else self._own_name()

    @abstractmethod
    def _own_reference(self) -> FloatArray:
        """Return the distributions a user gave, checked, as weights are laid out."""

    def _check_reference(self, name: str) -> None:
        """Refuse counts as a reference where one may be zero."""
        if name == "likelihood" and not self.smoothing > 0:
            raise ValueError(
                "reference='likelihood' needs smoothing > 0: nothing would keep a "
                "probability from vanishing whose count is zero"
            )

    def _make_reference(
        self, name: str, structure: Structure, weight: FloatArray | None
    ) -> FloatArray:
        """Return the distributions to stay near to."""
        if name == "own":
            return self._own_reference()
        groups = make_log_distributions(distribution_of(structure))
        if name == "uniform":
            return uniform_reference(groups)
        return counted(structure, groups, weight, float(self.smoothing))

    def _count(self, structure: Structure, weight: FloatArray | None) -> None:
        """Take the counts as probabilities: there is nothing to train."""
        counts = self._make_reference("likelihood", structure, weight)
        self.weights_ = np.log(np.maximum(counts, LEAST_PROBABILITY))
        self.certificate_, self.trace_ = None, Trace()
        self.status_ = "counted: the likelihood has its maximum there"
        self.n_iter_ = 0
        self.C_ = self._effective_C()
        self._reason, self._warm = "", None
        self.solver_ = default_solver(self.loss, "divergence")  # had there been need
