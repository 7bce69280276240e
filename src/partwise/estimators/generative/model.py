"""What estimators of generative models share: objectives, references, counting."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from partwise.estimators.base import StructuredEstimator
from partwise.estimators.generative.reference_distributions import counted
from partwise.estimators.generative.settings import GenerativeSettings
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


class GenerativeModel(StructuredEstimator, GenerativeSettings, ABC):
    """Base class: probabilities found by counting, or trained for margins."""

    C: float | None = None
    objective: str
    reference: Any

    _suitable_C: float | None = None

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
