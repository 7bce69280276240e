"""What users give a classifier: rows or names, and labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from partwise.errors import DataError
from partwise.estimators import checks
from partwise.estimators.labels import Label
from partwise.estimators.partial_labels import check_sets, is_partial


def has_names(X: Any) -> tuple[bool, Any]:
    """Say whether `X` holds feature dicts or strings; return it unconsumed."""
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1:
        X = X.tolist()  # dicts that went through an array
    if hasattr(X, "shape") or hasattr(X, "__array__") or hasattr(X, "__dataframe__"):
        return False, X
    if isinstance(X, str | bytes) or not isinstance(X, Iterable):
        return False, X  # scikit-learn reports what is wrong
    first, whole = checks.peek(X)
    if isinstance(first, str):
        raise DataError("an example must be a dict or a list of strings, not a string")
    if isinstance(first, Sequence | set | frozenset):
        named = len(first) > 0 and all(isinstance(value, str) for value in first)
    else:
        named = isinstance(first, Iterable) and not hasattr(first, "shape")
    return named, whole if named else list(whole)


def label_sets(y: Any) -> list[Any] | None:
    """Return the labels if some are known in part; None if all are complete."""
    if isinstance(y, np.ndarray) and y.dtype == object and y.ndim == 1:
        y = y.tolist()
    if not isinstance(y, list | tuple) or not any(map(is_partial, y)):
        return None
    check_sets([y], "y,", "example")
    return list(y)


def label_list(y: Any) -> list[Label]:
    """Return labels as a list."""
    checks.check_listed(y, "y must be a list of labels")
    return list(y)
