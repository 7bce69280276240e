"""The former name of `partwise.structures.bayesian_network`, which is deprecated."""

import warnings
from typing import Any

from partwise.structures import bayesian_network

NOW = {"BayesNet": "BayesianNetwork", "make_bayesnet": "make_bayesian_network"}
"""What names have become."""


def get_renamed(module: str, name: str) -> Any:
    """Return what a former name of a module means now, and warn who asks for it."""
    new = NOW.get(name, name)
    value = getattr(bayesian_network, new)
    warnings.warn(
        f"{module}.{name} is deprecated; use {bayesian_network.__name__}.{new}",
        DeprecationWarning,
        stacklevel=3,
    )
    return value


def __getattr__(name: str) -> Any:
    if name in bayesian_network.__all__ or name in NOW:
        return get_renamed(__name__, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
