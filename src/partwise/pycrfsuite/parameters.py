"""The parameters of CRFsuite's five algorithms: names, defaults, and descriptions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

INT_MAX = 2**31 - 1
_INTEGER = re.compile(r"\s*[+-]?\d+")
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|nan)")


@dataclass(frozen=True)
class Parameter:
    """One parameter; its kind is that of its default."""

    name: str
    default: int | float | str
    help: str

    def parse(self, text: str) -> int | float | str:
        """Read a value as C does: as far as it is a number, and zero if it is none.

        Examples
        --------
        >>> Parameter("n", 3, "").parse("2.7"), Parameter("x", 1.0, "").parse("abc")
        (2, 0.0)
        """
        if isinstance(self.default, str):
            return text
        if isinstance(self.default, float):
            found = _NUMBER.match(text)
            return float(found.group()) if found else 0.0
        found = _INTEGER.match(text)
        number = int(found.group()) if found else 0
        return (number + 2**31) % 2**32 - 2**31  # an int of C

    def show(self, value: int | float | str) -> str:
        """Write a value as CRFsuite does."""
        return f"{value:f}" if isinstance(value, float) else str(value)


_FEATURES = (
    Parameter("feature.minfreq", 0.0, "The minimum frequency of features."),
    Parameter(
        "feature.possible_states", 0, "Force to generate possible state features."
    ),
    Parameter(
        "feature.possible_transitions",
        0,
        "Force to generate possible transition features.",
    ),
)
_C2 = Parameter("c2", 1.0, "Coefficient for L2 regularization.")
_PERIOD = Parameter(
    "period", 10, "The duration of iterations to test the stopping criterion."
)
_OVER_PERIOD = (
    "improvement of the log likelihood over the last ${period} iterations is no\n"
    "greater than this threshold."
)
_PASSES = Parameter("max_iterations", 100, "The maximum number of iterations.")
_MEAN_LOSS = Parameter("epsilon", 0.0, "The stopping criterion (the mean loss).")

ALGORITHMS: dict[str, tuple[Parameter, ...]] = {
    "lbfgs": (
        *_FEATURES,
        Parameter("c1", 0.0, "Coefficient for L1 regularization."),
        _C2,
        Parameter(
            "max_iterations",
            INT_MAX,
            "The maximum number of iterations for L-BFGS optimization.",
        ),
        Parameter(
            "num_memories",
            6,
            "The number of limited memories for approximating the inverse hessian "
            "matrix.",
        ),
        Parameter(
            "epsilon", 1e-5, "Epsilon for testing the convergence of the objective."
        ),
        _PERIOD,
        Parameter(
            "delta",
            1e-5,
            "The threshold for the stopping criterion; an L-BFGS iteration stops when "
            f"the\n{_OVER_PERIOD}",
        ),
        Parameter(
            "linesearch",
            "MoreThuente",
            "The line search algorithm used in L-BFGS updates:\n"
            "{   'MoreThuente': More and Thuente's method,\n"
            "    'Backtracking': Backtracking method with regular Wolfe condition,\n"
            "    'StrongBacktracking': Backtracking method with strong Wolfe "
            "condition\n}\n",
        ),
        Parameter(
            "max_linesearch",
            20,
            "The maximum number of trials for the line search algorithm.",
        ),
    ),
    "l2sgd": (
        *_FEATURES,
        _C2,
        Parameter(
            "max_iterations",
            1000,
            "The maximum number of iterations (epochs) for SGD optimization.",
        ),
        _PERIOD,
        Parameter(
            "delta",
            1e-6,
            "The threshold for the stopping criterion; an optimization process stops "
            f"when\nthe {_OVER_PERIOD}",
        ),
        Parameter(
            "calibration.eta",
            0.1,
            "The initial value of learning rate (eta) used for calibration.",
        ),
        Parameter(
            "calibration.rate",
            2.0,
            "The rate of increase/decrease of learning rate for calibration.",
        ),
        Parameter(
            "calibration.samples",
            1000,
            "The number of instances used for calibration.",
        ),
        Parameter(
            "calibration.candidates", 10, "The number of candidates of learning rate."
        ),
        Parameter(
            "calibration.max_trials",
            20,
            "The maximum number of trials of learning rates for calibration.",
        ),
    ),
    "averaged-perceptron": (
        *_FEATURES,
        _PASSES,
        Parameter(
            "epsilon",
            0.0,
            "The stopping criterion (the ratio of incorrect label predictions).",
        ),
    ),
    "passive-aggressive": (
        *_FEATURES,
        Parameter(
            "type",
            1,
            "The strategy for updating feature weights: {\n"
            "    0: PA without slack variables,\n"
            "    1: PA type I,\n"
            "    2: PA type II\n}.\n",
        ),
        Parameter("c", 1.0, "The aggressiveness parameter."),
        Parameter(
            "error_sensitive",
            1,
            "Consider the number of incorrect labels to the cost function.",
        ),
        Parameter(
            "averaging",
            1,
            "Compute the average of feature weights (similarly to Averaged "
            "Perceptron).",
        ),
        _PASSES,
        _MEAN_LOSS,
    ),
    "arow": (
        *_FEATURES,
        Parameter("variance", 1.0, "The initial variance of every feature weight."),
        Parameter("gamma", 1.0, "Tradeoff parameter."),
        _PASSES,
        _MEAN_LOSS,
    ),
}


class Parameters:
    """The values of the parameters of an algorithm.

    Examples
    --------
    >>> parameters = Parameters("lbfgs")
    >>> parameters.set("c2", "0.5")
    >>> parameters.get("c2"), parameters["c2"]
    ('0.500000', 0.5)
    """

    def __init__(self, algorithm: str) -> None:
        self.algorithm = algorithm
        self._known = {p.name: p for p in ALGORITHMS[algorithm]}
        self._values = {p.name: p.default for p in ALGORITHMS[algorithm]}

    def names(self) -> list[str]:
        """Return the names."""
        return list(self._known)

    def set(self, name: str, text: str) -> None:
        """Set a value from its text."""
        if name not in self._known:
            raise ValueError(f"Parameter not found: {name} = {text}")
        self._values[name] = self._known[name].parse(text)

    def get(self, name: str) -> str:
        """Return a value as CRFsuite writes it."""
        if name not in self._known:
            raise ValueError(f"Parameter not found: {name} = ")
        return self._known[name].show(self._values[name])

    def help(self, name: str) -> str:
        """Return the description."""
        if name not in self._known:
            raise ValueError(f"Parameter not found: {name}")
        return self._known[name].help

    def __getitem__(self, name: str) -> Any:
        """Return a value as it is."""
        return self._values[name]
