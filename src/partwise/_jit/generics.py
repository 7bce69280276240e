"""Generic functions: the class of the first argument chooses the implementation."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

STRUCTURE = "Structure"
"""How the annotation of a parameter that holds a corpus of any structure is spelt."""

GENERICS: list[Any] = []
"""All generic functions, in the order of their definition."""

on_new: list[Callable[[Any], None]] = []
"""Who is told of new ones: the compiler, once it is at work."""

_numbers = itertools.count()


class Generic(Protocol):
    """A function that dispatches on the class of its first argument."""

    __name__: str

    def __call__(self, *args: Any) -> Any:
        """Call the implementation for the class of the first argument."""

    def implement(self, cls: type) -> Callable[[Function], Function]:
        """Register the implementation for the class `cls` and its subclasses."""

    def provided_by(self, cls: type) -> bool:
        """Say whether `cls` answers this function, itself or by a default."""

    def changed_by(self, cls: type) -> bool:
        """Say whether `cls` has an answer of its own, in the place of a default."""


def generic(stub: Callable[..., Any]) -> Generic:
    """Make a function that picks its implementation by its first argument.

    Called from Python it looks the class up; inside a kernel the choice is made
    while compiling and costs nothing at run time. A stub that only raises means
    that every class has to implement the function itself; `generic_with_default`
    takes a body that serves the classes that do not.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Square(NamedTuple):
    ...     side: float
    >>> @generic
    ... def area(shape):
    ...     raise NotImplementedError("area is not implemented for this shape")
    >>> @area.implement(Square)
    ... def _square_area(shape):
    ...     return shape.side**2
    >>> area(Square(3.0))
    9.0
    >>> area.provided_by(Square), area.provided_by(int)
    (True, False)
    """
    return _make_generic(stub, None)


def generic_with_default(body: Callable[..., Any]) -> Generic:
    """Make a `generic` function whose own body serves where no other does."""
    return _make_generic(body, body)


def is_about_structures(stub: Callable[..., Any]) -> bool:
    """Say whether a question can be asked of a structure behind an address.

    What returns a structure, or scratch arrays, is only asked in Python.
    """
    signature = inspect.signature(stub)
    first = next(iter(signature.parameters.values()), None)
    in_machine_code = signature.return_annotation not in (STRUCTURE, "Any")
    return first is not None and first.annotation == STRUCTURE and in_machine_code


def _make_generic(
    stub: Callable[..., Any], default: Callable[..., Any] | None
) -> Generic:
    table: dict[type, Callable[..., Any]] = {}
    chosen: dict[type, Callable[..., Any]] = {}  # what was looked up, by exact class

    @functools.wraps(stub)
    def ask(*args: Any, **named: Any) -> Any:
        cls = type(args[0])
        try:
            body = chosen[cls]
        except KeyError:
            body = chosen[cls] = body_for(cls) or stub
        return body(*args, **named)

    def implement(cls: type) -> Callable[[Function], Function]:
        def register(body: Function) -> Function:
            # Machine code is linked by names. Bodies are often called "_", and of two
            # alike that different programs compiled and cached, one would serve for
            # both; so they are called by what they answer.
            body.__name__ = f"{stub.__name__}_of_{cls.__name__}"
            body.__qualname__ = body.__name__
            table[cls] = body
            chosen.clear()
            return body

        return register

    def body_for(cls: type) -> Callable[..., Any] | None:
        return next((table[c] for c in cls.__mro__ if c in table), default)

    question: Any = ask
    question.implement = implement
    question.provided_by = lambda cls: body_for(cls) is not None
    question.changed_by = lambda cls: body_for(cls) is not default
    question.number = next(_numbers) if is_about_structures(stub) else None
    question.stub = stub
    question.asking = lambda: question  # code that asks it, and nothing else
    question.body_for = body_for
    GENERICS.append(question)
    for tell in on_new:
        tell(question)
    return question  # type: ignore[no-any-return]
