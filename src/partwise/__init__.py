"""Partwise: structured prediction, exact and fast, with a certificate.

Names are imported when they are first used, so that ``import partwise`` is quick
and compiles nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "Certificate": "partwise.losses",
    "Constraints": "partwise.estimators.constraints",
    "DataError": "partwise.errors",
    "DualCoordinateDescent": "partwise.solvers",
    "ModelFileError": "partwise.errors",
    "MulticlassClassifier": "partwise.estimators.multiclass_classifier",
    "PairingError": "partwise.errors",
    "PartwiseError": "partwise.errors",
    "SequenceTagger": "partwise.estimators.sequence_tagger",
    "load": "partwise.estimators.persistence",
    "solve": "partwise.solvers",
}

if TYPE_CHECKING:
    from partwise.errors import (
        DataError,
        ModelFileError,
        PairingError,
        PartwiseError,
    )
    from partwise.estimators.constraints import Constraints
    from partwise.estimators.multiclass_classifier import MulticlassClassifier
    from partwise.estimators.persistence import load
    from partwise.estimators.sequence_tagger import SequenceTagger
    from partwise.losses import Certificate
    from partwise.solvers import DualCoordinateDescent, solve


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'partwise' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "Certificate",
    "Constraints",
    "DataError",
    "DualCoordinateDescent",
    "ModelFileError",
    "MulticlassClassifier",
    "PairingError",
    "PartwiseError",
    "SequenceTagger",
    "__version__",
    "load",
    "solve",
]
