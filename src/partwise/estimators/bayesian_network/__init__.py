"""Bayesian networks that predict columns of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from partwise.estimators.bayesian_network.classifier import (
        BayesianNetworkClassifier,
    )

__all__ = ["BayesianNetworkClassifier"]


def __getattr__(name: str) -> Any:
    # Late, so that the command line can read the settings without the rest.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from partwise.estimators.bayesian_network import classifier

    return getattr(classifier, name)
