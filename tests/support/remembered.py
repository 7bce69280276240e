"""References that many tests compare with are computed once in a process."""

import functools
import pickle
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])


def remembered(function: Function) -> Function:
    """Let a function answer from memory when its arguments have the same content.

    What it returns is shared, so its arrays cannot be written to.
    """
    answers: dict[bytes, Any] = {}

    @functools.wraps(function)
    def ask(*args: Any) -> Any:
        key = pickle.dumps(args)
        if key not in answers:
            answers[key] = _frozen(function(*args))
        answer = answers[key]
        return list(answer) if isinstance(answer, list) else answer

    return ask  # type: ignore[return-value]


def _frozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, list | tuple):
        for item in value:
            _frozen(item)
    return value
