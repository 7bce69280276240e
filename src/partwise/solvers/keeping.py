"""Attributes that a checkpoint holds, named once by every class."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partwise.solvers.facts import Fact

LARGEST = 1e150
"""Larger numbers have no squares: as good as infinite."""
MOST_COUNTED = 2**62
"""Nobody counts so far, and one more than the largest number cannot be kept."""

Tensors = Mapping[str, NDArray[Any]]


class Keeper:
    """An object that can be written to arrays and read back.

    A subclass names in `kept` all that must last. Each name stands for an array, a
    number, a list of integers, a NamedTuple of these, or another `Keeper`. A dotted
    name is an array of an attribute, which is then filled in place.

    Attributes
    ----------
    kept : tuple of str
        The attributes, in the order in which they are read back.
    growing : tuple of str
        Those whose arrays may have another length than at the start.
    unbounded : tuple of str
        Those that may be infinite or NaN; all other numbers must be finite, and so
        must their squares.
    facts : tuple of Fact
        What else must hold before kernels may trust what was read; see `facts`.

    Examples
    --------
    >>> class Counter(Keeper):
    ...     kept = ("seen", "total")
    ...
    ...     def __init__(self):
    ...         self.seen, self.total = np.zeros(2), 0
    >>> one, other = Counter(), Counter()
    >>> one.seen[1], one.total = 4.0, 7
    >>> other.restore(one.tensors())
    >>> other.seen.tolist(), other.total
    ([0.0, 4.0], 7)
    """

    kept: ClassVar[tuple[str, ...]] = ()
    growing: ClassVar[tuple[str, ...]] = ()
    unbounded: ClassVar[tuple[str, ...]] = ()
    facts: ClassVar[tuple[Fact, ...]] = ()

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return all that is kept, as arrays."""
        found: dict[str, NDArray[Any]] = {}
        for name in self.kept:
            _write(name, attrgetter(name)(self), found)
        return found

    def restore(self, tensors: Tensors) -> None:
        """Take back what `tensors` returned; raise `ValueError` if it does not fit."""
        self.take_back(tensors, self.kept)

    def take_back(self, tensors: Tensors, names: tuple[str, ...]) -> None:
        """Take back only these of the kept attributes."""
        for name in names:
            now = attrgetter(name)(self)
            new = _read(name, now, tensors, name in self.growing)
            if "." in name:
                now[...] = new
            else:
                setattr(self, name, new)
        self.restored()

    def restored(self) -> None:
        """Rebuild what follows from the kept attributes; refuse invalid ones."""

    def check(self, problem: Any) -> None:
        """Raise `ValueError` if a run of `problem` cannot continue from this.

        Asked of what came from a file, which is never trusted.
        """
        for name in self.kept:
            value = attrgetter(name)(self)
            if isinstance(value, Keeper):
                value.check(problem)
            elif name not in self.unbounded:
                check_finite(name, value)
        for fact in self.facts:
            fact(self, problem)


def check_finite(name: str, value: Any) -> None:
    """Raise `ValueError` if numbers are not finite, or too large."""
    found: dict[str, NDArray[Any]] = {}
    _write(name, value, found)
    for part, array in found.items():
        # Neither are squares of such numbers, which every solver computes.
        if array.dtype.kind == "f" and not (np.abs(array) <= LARGEST).all():
            raise ValueError(f"{part!r} has values that are not finite, or too large")


def _write(name: str, value: Any, out: dict[str, NDArray[Any]]) -> None:
    if isinstance(value, Keeper):
        out |= {f"{name}.{key}": array for key, array in value.tensors().items()}
    elif isinstance(value, tuple):
        for field, part in value._asdict().items():  # type: ignore[attr-defined]
            _write(f"{name}.{field}", part, out)
    else:
        out[name] = _as_array(value)


def _read(name: str, now: Any, tensors: Tensors, grows: bool) -> Any:
    """Return what is kept as `name`, which has the form of the present value."""
    if isinstance(now, Keeper):
        prefix = f"{name}."
        below = {k: v for k, v in tensors.items() if k.startswith(prefix)}
        now.restore({k.removeprefix(prefix): v for k, v in below.items()})
        return now
    if isinstance(now, tuple):
        fields = now._asdict().items()  # type: ignore[attr-defined]
        return type(now)(
            *(_read(f"{name}.{key}", part, tensors, grows) for key, part in fields)
        )
    if name not in tensors:
        raise ValueError(f"{name!r} is missing")
    array, expected = tensors[name], _as_array(now)
    grows = grows or isinstance(now, list)
    fits = array.ndim == expected.ndim if grows else array.shape == expected.shape
    if array.dtype != expected.dtype or not fits:
        raise ValueError(
            f"{name!r} is {array.dtype} of shape {array.shape}, expected "
            f"{expected.dtype} of shape {expected.shape}"
        )
    if isinstance(now, np.ndarray):
        return array.copy()
    if isinstance(now, list):
        return array.tolist()
    number = array.item()
    if isinstance(number, int) and abs(number) >= MOST_COUNTED:
        raise ValueError(f"{name!r} is too large")
    return type(now)(number)


def _as_array(value: Any) -> NDArray[Any]:
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, list):
        return np.array(value, np.int64)
    whole = isinstance(value, (Integral, np.bool_))
    return np.array([value], np.int64 if whole else np.float64)
