"""Which values a setting may have: the constraints that settings are declared with.

Only the standard library is imported, so that the command line can read settings
before anything else is loaded.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar


class Allowed:
    """Base class: a constraint on the value of a setting."""

    type_text: ClassVar[str]
    """What documentation says of the type, unless the setting says it itself."""

    def allows(self, value: Any) -> bool:
        """Say whether a setting may have this value."""
        raise NotImplementedError

    def error(self, name: str, value: Any) -> ValueError:
        """Return the error for a value that is not allowed."""
        return ValueError(f"{name} must be {self}, not {value!r}")


@dataclass(frozen=True)
class Number(Allowed):
    """A number in an interval, both ends included.

    Examples
    --------
    >>> print(Number(at_least=8, at_most=30, whole=True))
    an integer from 8 to 30
    >>> Number(above=0).allows(0)
    False
    """

    at_least: float = -math.inf
    at_most: float = math.inf
    above: float = -math.inf
    whole: bool = False

    @property
    def type_text(self) -> str:  # type: ignore[override]
        """What documentation says of the type."""
        return "int" if self.whole else "float"

    def allows(self, value: Any) -> bool:
        """Say whether a value is a finite number in the interval."""
        kind = Integral if self.whole else Real
        if isinstance(value, bool) or not isinstance(value, kind):
            return False
        x = float(value)
        inside = self.above < x and self.at_least <= x <= self.at_most
        return inside and math.isfinite(x)

    def __str__(self) -> str:
        """Return it in words."""
        noun = "an integer" if self.whole else "a number"
        if self.above == 0:
            return "a positive number"
        if self.at_most < math.inf:
            return f"{noun} from {self.at_least:g} to {self.at_most:g}"
        return noun if self.at_least == -math.inf else f"{noun} >= {self.at_least:g}"


@dataclass(frozen=True)
class Flag(Allowed):
    """True or False."""

    type_text: ClassVar[str] = "bool"

    def allows(self, value: Any) -> bool:
        """Say whether a value is a bool, of Python or NumPy."""
        return isinstance(value, bool) or (
            type(value).__module__ == "numpy" and type(value).__name__ in FLAG_TYPES
        )

    def __str__(self) -> str:
        """Return it in words."""
        return "True or False"


FLAG_TYPES = ("bool", "bool_")
"""What NumPy calls its bools, which this module does not import."""


@dataclass(frozen=True)
class Text(Allowed):
    """A string; `what` it means."""

    what: str
    type_text: ClassVar[str] = "str"

    def allows(self, value: Any) -> bool:
        """Say whether a value is a string."""
        return isinstance(value, str)

    def __str__(self) -> str:
        """Return it in words."""
        return self.what


@dataclass(frozen=True)
class Seed(Allowed):
    """A seed of scikit-learn's; integers must not be negative."""

    type_text: ClassVar[str] = "int, RandomState or None"

    def allows(self, value: Any) -> bool:
        """Say whether a value is no negative integer."""
        return not isinstance(value, Integral) or int(value) >= 0

    def __str__(self) -> str:
        """Return it in words."""
        return "an integer >= 0, a RandomState or None"


class OneOf(Allowed):
    """One of some names.

    Examples
    --------
    >>> print(OneOf("l2", "l1", "elasticnet"))
    'l2', 'l1' or 'elasticnet'
    """

    def __init__(self, *choices: str):
        self.choices = choices

    @property
    def type_text(self) -> str:  # type: ignore[override]
        """What documentation says of the type."""
        return "{" + ", ".join(f'"{choice}"' for choice in self.choices) + "}"

    def allows(self, value: Any) -> bool:
        """Say whether a value is one of the names."""
        return isinstance(value, str) and value in self.choices

    def __str__(self) -> str:
        """Return it in words."""
        *names, last = map(repr, self.choices)
        return f"{', '.join(names)} or {last}" if names else last


class OneOfOr(OneOf):
    """One of some names, or, as the last argument says, something that is no string."""

    def allows(self, value: Any) -> bool:
        """Say whether a value is one of the names, or no string."""
        return value in self.choices[:-1] if isinstance(value, str) else True


class Metric(OneOf):
    """The name of a metric, or a function of ``(y_true, y_pred)``."""

    @property
    def type_text(self) -> str:  # type: ignore[override]
        """What documentation says of the type."""
        return f"{super().type_text} or callable"

    def allows(self, value: Any) -> bool:
        """Say whether a value is a name that is known, or a function."""
        return callable(value) or super().allows(value)

    def error(self, name: str, value: Any) -> ValueError:
        """Return the error, which names a metric that is spelt alike."""
        return unknown_metric(value, self.choices)


def unknown_metric(metric: Any, known: Iterable[str]) -> ValueError:
    """Return the error for a name that means no metric."""
    names = list(known)
    close = difflib.get_close_matches(str(metric), names, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return ValueError(
        f"unknown dev_metric {metric!r}; {hint}choose from {', '.join(names)}, or pass "
        "a function of (y_true, y_pred)"
    )
