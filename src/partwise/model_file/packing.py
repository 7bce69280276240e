"""Strings and sparse weights as tensors, and back with every size checked."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from partwise.model_file.content import Content

# A model is never lost to an odd character in its data: lone surrogates pass.
_CODEC = ("utf-8", "surrogatepass")

# 32 GiB of float64: no file makes us ask for more, whatever it says.
MAX_WEIGHTS = 2**32


def prefixed(
    prefix: str, tensors: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Put tensors under a name; `Content.part` takes them out again.

    Parameters
    ----------
    prefix : str
        The name of the part.
    tensors : dict of str to ndarray
        Its tensors.

    Returns
    -------
    dict of str to ndarray
        The same arrays, called ``prefix.name``.

    Examples
    --------
    >>> sorted(prefixed("labels", pack_strings(["B", "I", "O"])))
    ['labels.bytes', 'labels.offsets']
    """
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def pack_strings(
    strings: Iterable[str], *, by_character: bool = False
) -> dict[str, NDArray[Any]]:
    """Turn strings into two tensors: their UTF-8 bytes and where each begins.

    Parameters
    ----------
    strings : iterable of str
        Any strings, lone surrogates included.
    by_character : bool, default=False
        Whether to store where each string ends, counted in characters, as in the
        vocabularies of encoders.

    Returns
    -------
    dict of str to ndarray
        ``bytes`` (uint8) and ``offsets`` (int64, one more than strings); if counted by
        characters ``text`` (uint8) and ``ends`` (int64).

    Examples
    --------
    >>> pack_strings(["to", "be"])["offsets"]
    array([0, 2, 4])
    >>> pack_strings(["to", "bé"], by_character=True)["ends"]
    array([2, 4])
    """
    strings = list(strings)
    encoded = [string.encode(*_CODEC) for string in strings]
    blob = np.frombuffer(bytearray(b"".join(encoded)), np.uint8)
    if by_character:
        return {"text": blob, "ends": np.cumsum([*map(len, strings)], dtype=np.int64)}
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(string) for string in encoded], out=offsets[1:])
    return {"bytes": blob, "offsets": offsets}


def unpack_strings(
    tensors: Mapping[str, NDArray[Any]],
    *,
    length: int | None = None,
    unique: bool = False,
    source: str = "model file",
) -> list[str]:
    """Turn the tensors of `pack_strings` back into strings.

    Parameters
    ----------
    tensors : dict of str to ndarray
        ``bytes`` and ``offsets``, or ``text`` and ``ends``.
    length : int, optional
        How many strings there must be.
    unique : bool, default=False
        Whether they must all differ, as labels and vocabularies do.
    source : str, default="model file"
        The name that error messages give the file.

    Returns
    -------
    list of str
        The strings.

    Raises
    ------
    ModelFileError
        When the tensors are not what `pack_strings` makes.

    Examples
    --------
    >>> unpack_strings(pack_strings(["to", "", "bé"]))
    ['to', '', 'bé']
    """
    content = _view(tensors, source)
    by_character = "ends" in tensors
    blob = content.tensor("text" if by_character else "bytes", dtype=np.uint8).tobytes()
    try:
        if by_character or blob.isascii():  # one decoding for all is faster
            text = blob.decode(*_CODEC)
            spans = _spans(content, len(text), length)
            strings = [text[start:stop] for start, stop in spans]
        else:
            spans = _spans(content, len(blob), length)
            strings = [blob[start:stop].decode(*_CODEC) for start, stop in spans]
    except UnicodeDecodeError as error:
        raise content.error("a string is not valid UTF-8") from error
    if unique and len(set(strings)) != len(strings):
        raise content.error("a string occurs twice")
    return strings


def _spans(content: Content, end: int, length: int | None) -> Iterator[tuple[int, int]]:
    """Return where each string begins and ends."""
    if "ends" in content.tensors:
        ends = content.tensor("ends", dtype=np.int64, length=length)
        from_0 = np.concatenate([np.zeros(1, np.int64), ends])
        bounds = _view({"ends": from_0}, content.source).pointers("ends", end=end)
    else:
        n_bounds = None if length is None else length + 1
        bounds = content.pointers("offsets", end=end, length=n_bounds)
    return itertools.pairwise(bounds.tolist())


def stored_strings(content: Content, name: str, *, unique: bool = False) -> list[str]:
    """Return the strings that are stored under a name.

    Examples
    --------
    >>> tensors = prefixed("words", pack_strings(["to", "be"]))
    >>> stored_strings(Content(tensors, {}, "model", 1, "a.partwise"), "words")
    ['to', 'be']
    """
    part = content.part(name)
    return unpack_strings(part.tensors, unique=unique, source=part.source)


def pack_sparse(
    w: NDArray[np.floating[Any]], dtype: DTypeLike = np.float64
) -> dict[str, NDArray[Any]]:
    """Turn a weight vector into tensors without its zeros.

    Parameters
    ----------
    w : ndarray of float, 1-D
        The weights. The sign of a zero is not kept.
    dtype : dtype, default=float64
        ``float64``, or ``float32`` for a file of half the size.

    Returns
    -------
    dict of str to ndarray
        ``values``, and ``positions`` unless storing all values is smaller.

    Raises
    ------
    ValueError
        When a weight is NaN, infinite, or too large for `dtype`.

    Examples
    --------
    >>> pack_sparse(np.array([0.0, 0.0, 0.0, 0.25]))["positions"]
    array([3], dtype=uint32)
    """
    dtype = np.dtype(dtype)
    if dtype not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"weights are stored as float64 or float32, not {dtype}")
    if w.ndim != 1:
        raise ValueError(f"weights must have 1 dimension, these have {w.ndim}")
    largest = float(np.abs(w).max(initial=0.0))
    if not largest <= float(np.finfo(dtype).max):
        raise ValueError(
            f"weights as large as {largest} cannot be stored as {dtype} (NaN and "
            "infinity never, other large ones as float64)"
        )
    values = w.astype(dtype, copy=False)
    positions = np.flatnonzero(values)
    # uint32 while it can hold every position, so mostly half the size.
    position_dtype = np.dtype(np.uint32 if w.size <= 2**32 else np.int64)
    if positions.size * (position_dtype.itemsize + dtype.itemsize) >= values.nbytes:
        return {"values": values + dtype.type(0)}  # -0.0 + 0.0 is 0.0
    return {"values": values[positions], "positions": positions.astype(position_dtype)}


def unpack_sparse(
    tensors: Mapping[str, NDArray[Any]],
    size: int,
    *,
    max_size: int = MAX_WEIGHTS,
    source: str = "model file",
) -> NDArray[np.float64]:
    """Turn the tensors of `pack_sparse` back into a weight vector.

    Parameters
    ----------
    tensors : dict of str to ndarray
        ``values`` and perhaps ``positions``.
    size : int
        How many weights there are. It comes from sizes that the caller has checked
        (vocabulary times labels, say), never from the weights' own tensors.
    max_size : int, default=2**32
        More than this is refused before anything is allocated.
    source : str, default="model file"
        The name that error messages give the file.

    Returns
    -------
    ndarray of float64, shape (size,)
        The weights.

    Raises
    ------
    ModelFileError
        When the tensors are not those of `size` weights.

    Examples
    --------
    >>> unpack_sparse(pack_sparse(np.array([0.0, 0.0, 0.0, 0.25])), size=4)
    array([0.  , 0.  , 0.  , 0.25])
    """
    content = _view(tensors, source)
    values = _float_values(content)
    if size > max_size:
        raise content.error(f"{size} weights are more than the {max_size} allowed")
    if "positions" not in tensors:
        if values.size != size:
            raise content.error(f"{values.size} weights, expected {size}")
        return values.astype(np.float64, copy=False)
    position_dtype = np.uint32 if size <= 2**32 else np.int64
    positions = content.tensor(
        "positions", dtype=position_dtype, length=values.size, at_least=0, below=size
    )
    if not (positions[1:] > positions[:-1]).all():
        raise content.error("the positions of the weights do not increase")
    try:
        # Zeroed pages are not touched until a weight is: a file with few weights
        # takes little memory even when `size` is large.
        w = np.zeros(size)
    except MemoryError as error:
        raise content.error(f"{size} weights do not fit into memory") from error
    w[positions] = values
    return w


def _float_values(content: Content) -> NDArray[Any]:
    stored = content.tensors.get("values")
    single = stored is not None and stored.dtype == np.float32
    return content.tensor("values", dtype=np.float32 if single else np.float64)


def _view(tensors: Mapping[str, NDArray[Any]], source: str) -> Content:
    return Content(tensors, {}, "", 0, source)
