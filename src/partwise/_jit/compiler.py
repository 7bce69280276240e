"""How Numba compiles kernels and the generic functions that they call."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils, event
from numba.extending import intrinsic, overload

from partwise._collecting import without_collecting
from partwise._interrupts import waiting
from partwise._jit import generics
from partwise._jit.answers import ask_by_address
from partwise._jit.cache import KernelCache
from partwise._jit.clock import start_preparing, stop_preparing
from partwise._jit.fetching import prefetch
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
    """Let Ctrl-C and the collector wait while machine code is made or loaded.

    The compiler makes many objects that live on, and looking through them again and
    again takes a sixth of its time.
    """

    def prepare_completely(*args: Any, **named: Any) -> Any:
        with waiting(), without_collecting():
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


@intrinsic  # type: ignore[untyped-decorator]
def _fetch(typing_context: Any, array: Any, at: Any) -> Any:
    """Bring a number near, for reading or writing: it is only a hint to processors."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        own = context.make_array(signature.args[0])(context, builder, args[0])
        place = builder.bitcast(builder.gep(own.data, [args[1]]), cgutils.voidptr_t)
        number = ir.IntType(32)
        form = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, *[number] * 3])
        hint = builder.module.declare_intrinsic(
            "llvm.prefetch", [cgutils.voidptr_t], form
        )
        to_read, to_keep, data = number(0), number(3), number(1)
        builder.call(hint, [place, to_read, to_keep, data])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@overload(prefetch, strict=False, jit_options=INNER)  # type: ignore[untyped-decorator]
def _prefetch(array: Any, at: Any) -> Any:
    def fetch(array, at):  # type: ignore[no-untyped-def]
        _fetch(array, at)

    return fetch


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
