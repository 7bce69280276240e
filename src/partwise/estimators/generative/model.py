"""What estimators of generative models share: objectives, references, counting."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from partwise.errors import DataError
from partwise.estimators.base import StructuredEstimator, TrainingData, untrained
from partwise.estimators.checks import as_pair
from partwise.estimators.costs import sample_weights
from partwise.estimators.generative.reference_distributions import counted
from partwise.estimators.generative.settings import GenerativeSettings
from partwise.solvers import log_distributions
from partwise.solvers.divergences import DIVERGENCES
from partwise.solvers.endings import CONVERGED
from partwise.solvers.loop import Evaluate
from partwise.solvers.registry import default_solver
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray, Structure


class GenerativeModel(StructuredEstimator, GenerativeSettings, ABC):
    """Base class: probabilities found by counting, or trained for margins."""

    C: float | None = None
    objective: str
    reference: Any

    _suitable_C: float | None = None

    def _penalty_name(self) -> str:
        return DIVERGENCES[self.divergence].penalty_name

    def _effective_C(self) -> float:
        if self.C is None and self._suitable_C is not None:
            return self._suitable_C
        return super()._effective_C()

    def _own_name(self) -> str:
        """Return what the reference of the settings is called."""
        if self.reference is None:
            return "likelihood"
        return self.reference if isinstance(self.reference, str) else "own"

    def _as_start(self) -> Self:
        raise ValueError(
            f"{type(self).__name__} needs its examples to learn on: leave forget out, "
            "or give its probabilities as the reference of a new model with "
            "objective='margin', which stays near them"
        )

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

    @abstractmethod
    def _read(
        self, X: Any, y: Any, sample_weight: Any, hidden: Any = None
    ) -> tuple[Any, FloatArray | None]:
        """Encode what `fit` is given; everything is checked before training starts."""

    @abstractmethod
    def _corpus(self, data: Any) -> Structure:
        """Return encoded data as the structure to train on."""

    @abstractmethod
    def _evaluator(self, X: Any, y: Any) -> Evaluate:
        """Make the function that scores weights by what they cost on other data."""

    def _learn(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        dev: Any = None,
        hidden: Any = None,
    ) -> None:
        """Count, or train for margins, as the settings say."""
        data, weight = self._read(X, y, sample_weight, hidden)
        if self.objective == "auto":
            self._choose(data, weight, dev)
            dev = None  # it has been used
        if self.objective_ == "margin":
            self._train(self._training_data(data, weight, dev))
            return
        if dev is not None:
            self._evaluator(*as_pair(dev))  # counts do not need it: only to check it
        self._count(self._corpus(data), weight)

    def _choose(self, data: Any, weight: FloatArray | None, dev: Any) -> None:
        """Find out which objective is best, if the model can."""
        raise NotImplementedError(f"{type(self).__name__} has no objective='auto'")

    def _prepare(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        dev: Any = None,
        hidden: Any = None,
    ) -> TrainingData:
        """Encode what `C_path` is given."""
        if self.objective != "margin":
            raise ValueError(
                f"C has no meaning for objective={self.objective!r}; a path of C needs "
                "objective='margin'"
            )
        return self._training_data(*self._read(X, y, sample_weight, hidden), dev)

    def _training_data(
        self, data: Any, weight: FloatArray | None, dev: Any
    ) -> TrainingData:
        name = self.reference_
        assert name is not None
        self._check_reference(name)
        corpus = self._corpus(data)
        evaluate = None if dev is None else self._evaluator(*as_pair(dev))
        reference = self._make_reference(name, corpus, weight)
        return TrainingData(corpus, weight, evaluate, reference)

    @staticmethod
    def _weights_of(sample_weight: Any, count: int) -> FloatArray | None:
        """Return the weights of examples, of which one at least is not zero."""
        weight = sample_weights(sample_weight, count)
        if weight is not None and not weight.any():
            raise DataError("every sample weight is zero: nothing to learn from")
        return weight

    def _check_reference(self, name: str) -> None:
        """Refuse counts as a reference if one may be zero."""
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
        groups = log_distributions.make_log_distributions(
            waist.distribution_of(structure)
        )
        if name == "uniform":
            return log_distributions.uniform_reference(groups)
        return counted(structure, groups, weight, float(self.smoothing))

    def _count(self, structure: Structure, weight: FloatArray | None) -> None:
        """Take the counts as probabilities: there is nothing to train."""
        counts = self._make_reference("likelihood", structure, weight)
        w = np.log(np.maximum(counts, waist.LEAST_PROBABILITY))
        status = "counted: this maximises the likelihood"
        solver = default_solver(
            self.loss, self._penalty_name()
        )  # the one margins would use
        self._keep(untrained(w, CONVERGED, status), solver)
