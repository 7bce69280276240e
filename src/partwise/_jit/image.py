"""How a tuple of arrays lies in memory, where machine code can find it.

The layout is Numba's own: an array is its owner, its parent, its number of items, their
size, its address, its shape and its strides. Owners and parents are left out, so that
nothing is counted; whoever makes an image keeps the tuple while it is used.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
import threading
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Key: TypeAlias = Any
"""What a tuple is made of: values with the same key have the same type in Numba."""

_SCALARS = {
    bool: "?", int: "q", float: "d", np.bool_: "?", np.int32: "i", np.int64: "q",
    np.float32: "f", np.float64: "d",
}  # fmt: skip
# What makes a format go on at a multiple of so many bytes.
_ALIGN = {1: "", 4: "0i", 8: "0q"}


class Image(NamedTuple):
    """A tuple in memory, and what it is made of."""

    memory: NDArray[np.int64]
    size: int
    key: Key

    @property
    def address(self) -> int:
        """Where it is."""
        return int(self.memory.ctypes.data)


def make_image(value: Any) -> Image:
    """Write a tuple of arrays, numbers and such tuples to memory.

    Examples
    --------
    >>> import numpy as np
    >>> image = make_image((np.zeros(3), 2.5))
    >>> image.size  # an array takes seven numbers
    64
    """
    leaves: list[Any] = []
    formats: list[str] = []
    key, _ = _collect(value, leaves, formats)
    layout = _layout("".join(formats))
    memory = np.empty(layout.size // 8 + 1, np.int64)
    try:
        layout.pack_into(memory.data, 0, *leaves)
    except struct.error:
        raise TypeError("an integer of a structure needs more than 64 bits") from None
    return Image(memory, layout.size, key)


def _collect(
    values: tuple[Any, ...], leaves: list[Any], formats: list[str]
) -> tuple[Key, int]:
    """List what is to be written, in order; return what it is made of.

    A tuple begins, and ends, at a multiple of the largest number in it, as machine code
    has it; return that, too.
    """
    # This is done for every call of a kernel, and written to be fast.
    keys: list[Any] = []
    begin, largest = len(formats), 1
    formats.append("")
    for value in values:
        kind = type(value)
        if kind is np.ndarray:
            flags, shape, item = value.flags, value.shape, value.itemsize
            if not (flags.c_contiguous and flags.aligned):
                raise TypeError("the arrays of a structure must be C-contiguous")
            size, address = value.size, _address(value)
            if len(shape) == 1:
                leaves += (0, 0, size, item, address, size, item)
                formats.append("qqqqQqq")
            else:
                leaves += (0, 0, size, item, address, *shape, *value.strides)
                formats.append("qqqqQ" + 2 * len(shape) * "q")
            keys.append((value.dtype, len(shape), flags.writeable))
            largest = 8
        elif kind in _SCALARS:
            leaves.append(value)
            own = _SCALARS[kind]
            formats.append(own)
            keys.append(kind)
            largest = max(largest, struct.calcsize(own))
        elif isinstance(value, tuple):
            key, inside = _collect(value, leaves, formats)
            keys.append(key)
            largest = max(largest, inside)
        elif isinstance(value, np.ndarray):  # of a subclass, such as a file in memory
            plain = (value.view(np.ndarray),)
            keys += _collect(plain, leaves, formats)[0][1]
            largest = 8
        else:
            raise TypeError(
                "a structure holds arrays, numbers and tuples of them, not "
                f"{kind.__name__}"
            )
    formats[begin] = _ALIGN[largest]
    formats.append(_ALIGN[largest])
    return (type(values), tuple(keys)), largest


class _Recent(threading.local):
    value: Any = None
    image: Image | None = None


SMALL = 2**16
"""The largest number of bytes that are kept alive for nothing else."""
_recent = _Recent()


def image_of(value: Any) -> Image:
    """Return an image; that of the last call if it was of the same small tuple.

    Several kernels are called one after the other to predict a sentence.
    """
    if value is _recent.value and _recent.image is not None:
        return _recent.image
    image = make_image(value)
    if _n_bytes(value) <= SMALL:
        _recent.value, _recent.image = value, image
    return image


def _n_bytes(value: Any) -> int:
    """Return how much memory the arrays of a tuple take."""
    if isinstance(value, tuple):
        return sum(map(_n_bytes, value))
    return int(getattr(value, "nbytes", 0))


# An array begins with what all objects have, then comes the address of its numbers. To
# read it there takes a tenth of the time that NumPy takes to say it.
_HEAD = object.__basicsize__


def _address(array: NDArray[Any]) -> int:
    return ctypes.c_size_t.from_address(id(array) + _HEAD).value


def _said_address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


_example = np.zeros(1)
_is_there = sys.implementation.name == "cpython"
if not (_is_there and _address(_example) == _said_address(_example)):
    _address = _said_address


@functools.cache
def _layout(formats: str) -> struct.Struct:
    return struct.Struct("@" + formats)
