"""Tensors in less space: equal ones are stored once, and all of them compressed.

The bytes of numbers are sorted by their place in the number before zlib sees them: high
bytes are alike. Nothing is lost. What a file may ask for is bounded by its size, so no
small file can fill the memory.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.model_file.content import Content

SMALLEST = 1024
"""Tensors of fewer bytes stay as they are."""
MOST_PER_BYTE = 16
"""How many bytes a byte of a file may stand for, all in all: strings that are made of
them take ten times as much again. Pipelines need two to three."""
MOST_DIMENSIONS = 8
"""The product of millions of numbers would take for ever."""
_DTYPES = {
    name: np.dtype(name)
    for name in "float64 float32 int64 int32 uint64 uint32 uint16 uint8".split()
}

Tensors = dict[str, NDArray[Any]]


def squeeze(tensors: Mapping[str, NDArray[Any]]) -> tuple[Tensors, dict[str, Any]]:
    """Return tensors in less space, and the settings that `expand` needs.

    Examples
    --------
    >>> from partwise.model_file import Content
    >>> zeros = np.zeros(10_000)
    >>> stored, settings = squeeze({"a": zeros, "b": zeros, "c": np.arange(500)})
    >>> stored["c"].nbytes < 2000, "b" in stored, settings["b"]
    (True, False, 'a')
    >>> content = Content(stored, {"squeezed": settings}, "model", 1, "a.partwise")
    >>> bool((expand(content).tensors["c"] == np.arange(500)).all())
    True
    """
    stored: Tensors = {}
    settings: dict[str, Any] = {}
    seen: dict[tuple[str, tuple[int, ...], bytes], str] = {}
    for name, tensor in tensors.items():
        array = np.ascontiguousarray(tensor)
        if array.nbytes < SMALLEST:
            stored[name] = array
            continue
        raw = array.tobytes()
        first = seen.setdefault((str(array.dtype), array.shape, raw), name)
        if first != name:
            settings[name] = first
            continue
        packed = zlib.compress(_by_place(raw, array.itemsize))
        if len(raw) // MOST_PER_BYTE < len(packed) < len(raw):
            stored[name] = np.frombuffer(bytearray(packed), np.uint8)
            settings[name] = [str(array.dtype), list(array.shape)]
        else:
            stored[name] = array
    return stored, settings


def expand(content: Content) -> Content:
    """Return what a file holds as it was before `squeeze`; other files as they are."""
    if "squeezed" not in content.settings:
        return content
    settings = content.setting("squeezed", dict)
    tensors = dict(content.tensors)
    forms = {
        name: _form(content, name, how)
        for name, how in settings.items()
        if isinstance(how, list)
    }
    asked = sum(math.prod(shape) * dtype.itemsize for dtype, shape in forms.values())
    if asked > MOST_PER_BYTE * sum(one.nbytes for one in content.tensors.values()):
        raise content.error("its tensors ask for more than its bytes can hold")
    for name, form in forms.items():
        tensors[name] = _expanded(content, name, *form)
    for name, first in settings.items():
        if not isinstance(first, list):
            if not isinstance(first, str) or first not in tensors or name in tensors:
                raise content.error(f"tensor {name!r} is damaged")
            tensors[name] = tensors[first]
    return replace(content, tensors=tensors)


def _form(
    content: Content, name: str, how: list[Any]
) -> tuple[np.dtype[Any], list[int]]:
    """Return of what type and shape a tensor is."""
    damaged = content.error(f"tensor {name!r} is damaged")
    if len(how) != 2 or not isinstance(how[0], str) or how[0] not in _DTYPES:
        raise damaged
    shape = how[1]
    if not isinstance(shape, list) or not 1 <= len(shape) <= MOST_DIMENSIONS:
        raise damaged
    if any(type(n) is not int or n < 0 for n in shape):
        raise damaged
    return _DTYPES[how[0]], shape


def _expanded(
    content: Content, name: str, dtype: np.dtype[Any], shape: list[int]
) -> NDArray[Any]:
    packed = content.tensor(name, dtype=np.uint8)
    damaged = content.error(f"tensor {name!r} is damaged")
    size = math.prod(shape) * dtype.itemsize
    unpacker = zlib.decompressobj()
    try:
        raw = unpacker.decompress(packed.tobytes(), size + 1)
    except zlib.error:
        raise damaged from None
    if len(raw) != size or not unpacker.eof or unpacker.unused_data:
        raise damaged
    return _in_order(raw, dtype).reshape(shape)


def _by_place(raw: bytes, itemsize: int) -> bytes:
    """Return the first bytes of all numbers, then the second ones, and so on."""
    return np.frombuffer(raw, np.uint8).reshape(-1, itemsize).T.tobytes()


def _in_order(raw: bytes, dtype: np.dtype[Any]) -> NDArray[Any]:
    places = np.frombuffer(raw, np.uint8).reshape(dtype.itemsize, -1)
    return np.ascontiguousarray(places.T).reshape(-1).view(dtype)
