"""Kernels: functions compiled to machine code that releases the GIL and is cached.

A kernel is compiled when it is first called, and Numba is not imported before.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from partwise._jit.modes import is_plain_python
from partwise._jit.places import Places, find_places

Function = TypeVar("Function", bound=Callable[..., Any])

# Reassociation lets sums be vectorised. NaN and infinity keep their meaning:
# the full ``fastmath=True`` would delete every check for them.
SAFE_MATH = frozenset({"nsz", "arcp", "contract", "afn", "reassoc"})


class Kernel:
    """A compiled function.

    One with a parameter annotated ``Structure``, or a named tuple with such a field, is
    compiled once for all structures: it gets the address of a corpus, and of the code
    that answers questions about it.
    """

    def __init__(self, body: Callable[..., Any], fastmath: frozenset[str]):
        functools.update_wrapper(self, body)
        self.py_func = body
        self._fastmath = fastmath
        self._places: dict[Any, Places] = {}

    @functools.cached_property
    def dispatcher(self) -> Any:
        """What Python calls."""
        from partwise._jit.compiler import make_outer

        return make_outer(self.py_func, self._fastmath)

    @functools.cached_property
    def _inner(self) -> Any:
        """What other kernels call."""
        from partwise._jit.compiler import make_inner

        return make_inner(self.py_func, self._fastmath)

    @property
    def _numba_type_(self) -> Any:
        """What other kernels take it for."""
        return self._inner._numba_type_

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Run the machine code, which is loaded or compiled if need be."""
        if named:
            args = inspect.signature(self.py_func).bind(*args, **named).args
        return self.bound(*args)()

    def bound(self, *args: Any) -> Callable[[], Any]:
        """Return a function that runs the machine code with these arguments."""
        classes: tuple[Any, ...] = tuple(map(type, args))
        places = self._places.get(classes)
        if places is None:
            places = self._places[classes] = find_places(self.py_func, classes)
        dispatcher = self.dispatcher  # first, since that teaches Numba all questions
        if not places.structures:
            return functools.partial(dispatcher, *args)
        from partwise._jit.answers import Sealing

        sealing = Sealing(self.py_func, args, places)

        def run() -> Any:
            # Machine code reads what these hold.
            _ = args, sealing
            return dispatcher(*sealing.given)

        return run

    def __reduce__(self) -> str:
        """Travel to other processes by name: they compile, or load, their own."""
        return self.py_func.__qualname__

    def __repr__(self) -> str:
        """Show its name."""
        return f"<kernel {self.py_func.__module__}.{self.py_func.__qualname__}>"


def _make_kernel(body: Callable[..., Any], *fastmath: str) -> Any:
    return body if is_plain_python() else Kernel(body, frozenset(fastmath))


def kernel(body: Function) -> Function:
    """Compile a function to machine code that releases the GIL and is cached.

    Examples
    --------
    >>> import numpy as np
    >>> @kernel
    ... def total(values):
    ...     result = 0.0
    ...     for value in values:
    ...         result += value
    ...     return result
    >>> total(np.array([1.0, 2.0]))
    3.0
    """
    return _make_kernel(body)  # type: ignore[no-any-return]


def fused_kernel(body: Function) -> Function:
    """Compile like `kernel`, with multiplications fused into additions.

    Nothing is reordered, so that tricks with rounding keep working.
    """
    return _make_kernel(body, "contract")  # type: ignore[no-any-return]


def vector_kernel(body: Function) -> Function:
    """Compile like `kernel`, with sums reordered so that they vectorise."""
    return _make_kernel(body, *SAFE_MATH)  # type: ignore[no-any-return]


def bound(body: Callable[..., Any], *args: Any) -> Callable[[], Any]:
    """Return a function that calls a kernel with these arguments, again and again.

    What a call needs to know about structures is prepared once. The numbers in arrays
    may change between calls.

    Examples
    --------
    >>> import numpy as np
    >>> @kernel
    ... def total(values):
    ...     return values[0] + values[1]
    >>> values = np.array([1.0, 2.0])
    >>> again = bound(total, values)
    >>> values[0] = 5.0
    >>> again()
    7.0
    """
    if isinstance(body, Kernel):
        return body.bound(*args)
    return functools.partial(body, *args)
