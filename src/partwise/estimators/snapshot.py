"""Predicting while another thread fits the same model again."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import wraps
from typing import Any


def of_one_model(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method see one model from beginning to end.

    Fitting replaces all that was learnt at once, so a shallow copy holds what belongs
    together, labels and weights above all.

    Examples
    --------
    >>> class Model:
    ...     weights = "old"
    ...     @of_one_model
    ...     def predict(self, meanwhile):
    ...         meanwhile()
    ...         return self.weights
    >>> model = Model()
    >>> model.predict(lambda: setattr(model, "weights", "new"))
    'old'
    """

    @wraps(method)
    def call(self: Any, *args: Any, **named: Any) -> Any:
        return method(copy.copy(self), *args, **named)

    return call
