"""What a pass over the examples works on: who needs which piece of it, and who adds up.

A pass is a job, ``job(s, start, stop, worker, *things)``, that does the examples
``start:stop`` of a corpus. Some of its things are the same for all examples, such as
the weights. The others are marked here, so that a crew whose members share no memory
knows what to hand out and what to collect:

- `given`, `filled`, `changed`: an array with a place for every example;
- `borders`: where the places of examples begin, where they are not one each;
- `summed`: a vector that every member adds to on its own.

The job itself gets plain arrays. Things may be tuples of things.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from partwise.structures.interface import FloatArray, IntArray


class Marked:
    """Base class of what is not the same for all examples."""


class Places(Marked):
    """An array with a place for every example, along one axis.

    Example `i` has the place `i`, or with borders ``borders[i]:borders[i + 1]``.
    """

    def __init__(
        self,
        array: Any,
        borders: IntArray | None,
        axis: int,
        *,
        is_read: bool,
        is_written: bool,
    ):
        self.array, self.borders, self.axis = array, borders, axis
        self.is_read, self.is_written = is_read, is_written

    def window(self, start: int, stop: int) -> Any:
        """Return the places of the examples ``start:stop``, not copied."""
        if self.array.shape[self.axis] == 0:  # there are none, for any example
            return self.array
        if self.borders is not None:
            start, stop = int(self.borders[start]), int(self.borders[stop])
        return self.array[(slice(None),) * self.axis + (slice(start, stop),)]


class Borders(Marked):
    """Where the places of examples begin, and the end of the last."""

    def __init__(self, ptr: IntArray):
        self.ptr = ptr


class Sum(Marked):
    """A vector that is set to the sum of what all members have added."""

    def __init__(self, total: FloatArray):
        self.total = total


def given(array: Any, borders: IntArray | None = None, axis: int = 0) -> Any:
    """Mark an array with a place for every example, to be read."""
    return Places(array, borders, axis, is_read=True, is_written=False)


def filled(array: Any, borders: IntArray | None = None, axis: int = 0) -> Any:
    """Mark an array whose places will be written; it holds zeros so far."""
    return Places(array, borders, axis, is_read=False, is_written=True)


def changed(array: Any, borders: IntArray | None = None, axis: int = 0) -> Any:
    """Mark an array whose places will be read and written."""
    return Places(array, borders, axis, is_read=True, is_written=True)


def borders(ptr: IntArray) -> Any:
    """Mark the borders of places."""
    return Borders(ptr)


def summed(total: FloatArray) -> Any:
    """Mark a vector that will be the sum over all examples."""
    return Sum(total)


def marked(things: Any) -> Iterator[Marked]:
    """Yield everything that is marked, in order.

    Examples
    --------
    >>> things = (np.zeros(2), (given(np.ones(3)), summed(np.zeros(4))))
    >>> [type(thing).__name__ for thing in marked(things)]
    ['Places', 'Sum']
    """
    if isinstance(things, Marked):
        yield things
    elif isinstance(things, tuple):
        for thing in things:
            yield from marked(thing)


def replaced(things: Any, change: Callable[[Marked], Any]) -> Any:
    """Return the same things with something else for everything that is marked."""
    if isinstance(things, Marked):
        return change(things)
    if not isinstance(things, tuple):
        return things
    parts = [replaced(thing, change) for thing in things]
    return tuple(parts) if type(things) is tuple else type(things)(*parts)


class Blank(NamedTuple):
    """The shape of an array that is nothing but zeros."""

    shape: tuple[int, ...]
    dtype: str


def piece_for(things: Any, start: int, stop: int) -> tuple[Any, ...]:
    """Return what the examples ``start:stop`` need of all that is marked, in order.

    Examples
    --------
    >>> ptr = np.array([0, 2, 3])
    >>> piece_for((given(np.arange(3), ptr), borders(ptr)), 1, 2)
    (array([2]), array([0, 1]))
    """

    def piece(thing: Marked) -> Any:
        if isinstance(thing, Borders):
            return thing.ptr[start : stop + 1] - thing.ptr[start]
        if isinstance(thing, Sum):
            return Blank(thing.total.shape, thing.total.dtype.str)
        assert isinstance(thing, Places)
        window = thing.window(start, stop)
        return window if thing.is_read else Blank(window.shape, window.dtype.str)

    return tuple(map(piece, marked(things)))


class Slot(Marked):
    """Stands for a thing of which every member has its own piece."""

    def __init__(self, number: int, is_sum: bool, is_written: bool):
        self.number, self.is_sum, self.is_written = number, is_sum, is_written


def with_slots(things: Any) -> Any:
    """Return what is the same for all, with a slot for each thing that is not."""
    count = iter(range(sum(1 for _ in marked(things))))

    def slot(thing: Marked) -> Slot:
        is_written = isinstance(thing, Places) and thing.is_written
        return Slot(next(count), isinstance(thing, Sum), is_written)

    return replaced(things, slot)


def unfolded(piece: Any) -> Any:
    """Return an array to work on: a blank's zeros, or one that may be written."""
    if isinstance(piece, Blank):
        return np.zeros(piece.shape, piece.dtype)
    return np.require(piece, requirements=["C", "A", "W"])


def collect(things: Any, start: int, stop: int, written: list[Any]) -> None:
    """Put what was written for the examples ``start:stop`` where it belongs."""
    places = [t for t in marked(things) if isinstance(t, Places) and t.is_written]
    for thing, values in zip(places, written, strict=True):
        thing.window(start, stop)[...] = values
