"""Which values a setting may have: the constraints that settings are declared with.

Only the standard library is imported, so that the command line can read settings
before anything else is loaded.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any


@dataclass(frozen=True)
class Allowed:
    """A constraint on the value of a setting.

    Attributes
    ----------
    words : str
        What a value must be, for messages.
    type_text : str
        What documentation says about its type.
    allows : callable
        Says whether a value is allowed.
    choices : tuple of str
        The names that it may be one of.
    is_metric : bool
        Whether it names a metric: messages then guess which one was meant.
    """

    words: str
    type_text: str
    allows: Callable[[Any], bool]
    choices: tuple[str, ...] = ()
    is_metric: bool = False

    def error(self, name: str, value: Any) -> ValueError:
        """Return the error for a value that is not allowed."""
        if self.is_metric:
            return unknown_metric(value, self.choices)
        return ValueError(f"{name} must be {self.words}, not {value!r}")


def number(
    at_least: float = -math.inf,
    at_most: float = math.inf,
    *,
    above: float = -math.inf,
    whole: bool = False,
) -> Allowed:
    """Allow finite numbers in an interval with its ends, except for `above`.

    Examples
    --------
    >>> number(8, 30, whole=True).words
    'an integer from 8 to 30'
    >>> number(above=0).allows(0)
    False
    """
    kind = Integral if whole else Real
    words = "an integer" if whole else "a number"
    if above == 0:
        words = "a positive number"
    elif at_most < math.inf:
        words += f" from {at_least:g} to {at_most:g}"
    elif at_least > -math.inf:
        words += f" >= {at_least:g}"

    def allows(value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, kind):
            return False
        x = float(value)
        return math.isfinite(x) and above < x and at_least <= x <= at_most

    return Allowed(words, "int" if whole else "float", allows)


def one_of(*choices: str, other: str = "") -> Allowed:
    """Allow some names and, if `other` says what, anything that is not a string.

    Examples
    --------
    >>> one_of("l2", "l1", "elasticnet").words
    "'l2', 'l1' or 'elasticnet'"
    """
    *first, last = [*map(repr, choices), *filter(None, [other])]
    listed = f"{', '.join(first)} or {last}" if first else last
    names = ", ".join(f'"{choice}"' for choice in choices)

    def allows(value: Any) -> bool:
        return value in choices if isinstance(value, str) else bool(other)

    return Allowed(listed, f"{{{names}}}", allows, choices)


def optional(*choices: str) -> Allowed:
    """Allow some names, or nothing.

    Examples
    --------
    >>> optional("l2", "l1").allows(None)
    True
    """
    named = one_of(*choices)

    def allows(value: Any) -> bool:
        return value is None or named.allows(value)

    return Allowed(f"{named.words}, or None", named.type_text, allows, choices)


def metric(*choices: str) -> Allowed:
    """Allow the names of metrics, and functions of ``(y_true, y_pred)``."""
    named = one_of(*choices)
    type_text = f"{named.type_text} or callable"

    def allows(value: Any) -> bool:
        return callable(value) or named.allows(value)

    return Allowed(named.words, type_text, allows, choices, is_metric=True)


def _is_flag(value: Any) -> bool:
    """Say whether a value is a bool, also of NumPy, which is not imported here."""
    kind = type(value)
    is_numpy = kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_")
    return isinstance(value, bool) or is_numpy


def _is_seed(value: Any) -> bool:
    """Say whether a value is anything but a negative integer."""
    return not isinstance(value, Integral) or int(value) >= 0


COUNT = number(1, whole=True)
POSITIVE = number(above=0)
NOT_NEGATIVE = number(0)
FLAG = Allowed("True or False", "bool", _is_flag)
ATTRIBUTE = Allowed(
    "the name of an attribute", "str", lambda value: isinstance(value, str)
)
SEED = Allowed(
    "an integer >= 0, a RandomState or None", "int, RandomState or None", _is_seed
)


def unknown_metric(given: Any, known: Iterable[str]) -> ValueError:
    """Return the error for a name that means no metric."""
    names = list(known)
    close = difflib.get_close_matches(str(given), names, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return ValueError(
        f"unknown dev_metric {given!r}; {hint}choose from {', '.join(names)}, or pass "
        "a function of (y_true, y_pred)"
    )
