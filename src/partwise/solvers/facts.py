"""What kept arrays must be for a run to continue from them.

A checkpoint may be damaged, or written by someone who means harm, and kernels trust
their indices. So every class that keeps arrays declares the facts that its kernels rely
on, in the words of this file, and they are checked before a run continues.

A fact names attributes of the object; names that begin with ``problem.`` are those of
the problem. Where a size is expected, an array stands for its length.

Examples
--------
>>> from types import SimpleNamespace as Some
>>> rows = Some(ptr=np.array([0, 2, 3]), owner=np.array([0, 7]), idx=np.zeros(3))
>>> pointers("ptr", "idx")(rows, None)
>>> within("owner", 0, "problem.n_examples")(rows, Some(n_examples=5))
Traceback (most recent call last):
    ...
ValueError: 'owner' has values that are not below 5
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np

Fact: TypeAlias = Callable[[Any, Any], None]
"""Given the object and the problem, raises `ValueError` if it does not hold."""

Size: TypeAlias = int | str

SMALLEST = 1e-150
"""Squares of smaller numbers are zero: nothing can be divided by them."""


def find(name: str, keeper: Any, problem: Any) -> Any:
    """Return what a fact calls `name`."""
    owner, below = keeper, name
    if name.startswith("problem."):
        owner, below = problem, name.removeprefix("problem.")
    return attrgetter(below)(owner)


def _size(size: Size, keeper: Any, problem: Any) -> int:
    if isinstance(size, int):
        return size
    value = find(size, keeper, problem)
    return int(value.size) if isinstance(value, np.ndarray) else int(value)


def same_length(*names: str) -> Fact:
    """Say that arrays have an entry each for the same things."""

    def fact(keeper: Any, problem: Any) -> None:
        lengths = {name: len(find(name, keeper, problem)) for name in names}
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{name!r} {n}" for name, n in lengths.items())
            raise ValueError(f"arrays of one length have several: {shown}")

    return fact


def shape(name: str, *sizes: Size) -> Fact:
    """Say how large an array is."""

    def fact(keeper: Any, problem: Any) -> None:
        found = find(name, keeper, problem).shape
        expected = tuple(_size(size, keeper, problem) for size in sizes)
        if found != expected:
            raise ValueError(f"{name!r} has shape {found}, expected {expected}")

    return fact


def within(name: str, least: float, below: Size | None = None) -> Fact:
    """Say that all values are at least `least`, and less than `below`."""

    def fact(keeper: Any, problem: Any) -> None:
        values = np.asarray(find(name, keeper, problem))
        if not (values >= least).all():
            raise ValueError(f"{name!r} has values below {least}")
        if below is not None:
            limit = _size(below, keeper, problem)
            if not (values < limit).all():
                raise ValueError(f"{name!r} has values that are not below {limit}")

    return fact


def positive(name: str) -> Fact:
    """Say that all values are above zero, and so are their squares."""

    def fact(keeper: Any, problem: Any) -> None:
        if not (np.asarray(find(name, keeper, problem)) >= SMALLEST).all():
            raise ValueError(f"{name!r} has values that are not positive")

    return fact


def distinct(name: str) -> Fact:
    """Say that no value occurs twice."""

    def fact(keeper: Any, problem: Any) -> None:
        values = find(name, keeper, problem)
        if np.unique(values).size != values.size:
            raise ValueError(f"{name!r} has a value twice")

    return fact


def pointers(name: str, end: Size) -> Fact:
    """Say that an array cuts ``0 .. end`` into consecutive pieces."""

    def fact(keeper: Any, problem: Any) -> None:
        found, last = find(name, keeper, problem), _size(end, keeper, problem)
        increases = found.size and (found[1:] >= found[:-1]).all()
        if not increases or found[0] != 0 or found[-1] != last:
            raise ValueError(f"{name!r} does not lead from 0 to {last}")

    return fact
