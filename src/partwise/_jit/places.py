"""Where a structure is among the arguments of a kernel, and its scratch arrays."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from partwise._jit.generics import STRUCTURE

SCRATCH = "ws"
"""The name of the parameter that holds what `workspace` made."""


class Place(NamedTuple):
    """Where a value is: an argument, or a field of one."""

    argument: int
    field: str | None


class Places(NamedTuple):
    """Where a structure is among the arguments of a kernel, and its scratch arrays."""

    structures: tuple[Place, ...]
    scratch: tuple[Place, ...]


def find_places(body: Callable[..., Any], classes: tuple[Any, ...]) -> Places:
    """Find them by annotations and names, in arguments of these classes."""
    parameters = inspect.signature(body).parameters.values()
    named = {Place(k, None): (p.name, p.annotation) for k, p in enumerate(parameters)}
    # What is inside a structure, or its scratch arrays, is its own affair.
    whole = {
        k for (k, _), one in named.items() if one[1] == STRUCTURE or one[0] == SCRATCH
    }
    for k, cls in enumerate(classes):
        if hasattr(cls, "_fields") and k not in whole:
            kinds = cls.__annotations__
            named |= {Place(k, f): (f, _spelt(kinds.get(f))) for f in cls._fields}
    structures = [p for p, (_, kind) in named.items() if kind == STRUCTURE]
    scratch = [p for p, (name, _) in named.items() if name == SCRATCH]
    return Places(tuple(structures), tuple(scratch))


def _spelt(annotation: Any) -> Any:
    """Return an annotation as it was written."""
    return getattr(annotation, "__forward_arg__", annotation)
