"""How Numba compiles kernels and the generic functions that they call."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numba
from numba import types
from numba.core import event
from numba.extending import overload

from partwise._interrupts import waiting
from partwise._jit import generics
from partwise._jit.answers import ask_by_address
from partwise._jit.cache import KernelCache
from partwise._jit.clock import start_preparing, stop_preparing
from partwise._jit.linking import INNER
from partwise._jit.sealed import Sealed

OUTER = INNER | {"no_cpython_wrapper": False}


def make_inner(body: Callable[..., Any], fastmath: frozenset[str]) -> Any:
    """Return what compiles a function into the kernels that call it."""
    return numba.njit(fastmath=set(fastmath) or False, **INNER)(body)


def make_outer(body: Callable[..., Any], fastmath: frozenset[str]) -> Any:
    """Return what compiles a function for the arguments that Python calls it with."""
    dispatcher = numba.njit(fastmath=set(fastmath) or False, **OUTER)(body)
    dispatcher._cache = KernelCache(body, fastmath)
    dispatcher._compile_for_args = _completely(dispatcher._compile_for_args)
    return dispatcher


def _completely(prepare: Callable[..., Any]) -> Callable[..., Any]:
    """Let Ctrl-C wait while machine code is made or loaded."""

    def prepare_completely(*args: Any, **named: Any) -> Any:
        with waiting():
            return prepare(*args, **named)

    return prepare_completely


def _teach(question: Any) -> None:
    """Let compiled code ask a question, also of structures behind addresses."""

    @overload(question, strict=False, jit_options=INNER)  # type: ignore[untyped-decorator]
    def choose(first: Any, *rest: Any) -> Callable[..., Any] | None:
        is_tuple = isinstance(first, types.BaseNamedTuple)
        if is_tuple and first.instance_class is not Sealed:
            body: Callable[..., Any] | None = question.body_for(first.instance_class)
            return body
        return None

    if question.number is not None:
        ask_by_address(question)


class _Announcer(event.Listener):  # type: ignore[misc]
    """Tells the clock of kernels that Numba compiles, not of the pieces inside."""

    def __init__(self) -> None:
        self._own = threading.local()

    def on_start(self, event: Any) -> None:
        told = self._own.__dict__.setdefault("told", [])
        told.append(start_preparing(event.data["dispatcher"].py_func.__name__))

    def on_end(self, event: Any) -> None:
        stop_preparing(self._own.told.pop())


event.register("numba:compile", _Announcer())

for _question in generics.GENERICS:
    _teach(_question)
generics.on_new.append(_teach)
