"""Arrays in ``.npy`` files: written piece by piece, and mapped into memory.

An array that is mapped takes no memory of its own. Its pages are those of the file: the
system reads them when they are touched, and may take them back at any time. Nothing is
written to the file; what a program writes to such an array, it writes to a copy.

Nothing in a file is trusted. Its header must be, byte for byte, the one that an array
of the expected type and shape has, and its size that of the header and the numbers.
"""

from __future__ import annotations

import mmap
import os
import stat
import threading
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from partwise.errors import ModelFileError

HEADER = 128
"""The bytes before the numbers, whatever the array: so it can be written last."""
BLOCK = 1 << 20
"""How many bytes are read, or written, at a time."""
LOOK_AFTER = 0.01
"""Seconds between two looks at how much memory is in use."""


def header_of(dtype: DTypeLike, shape: tuple[int, ...]) -> bytes:
    """Return how a ``.npy`` file of such an array begins.

    Examples
    --------
    >>> header_of(np.int32, (5,))[10:].split(b", }")[0]
    b"{'descr': '<i4', 'fortran_order': False, 'shape': (5,)"
    """
    code = np.dtype(dtype).newbyteorder("<").str
    text = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {shape}, }}"
    size = HEADER - 10
    return (
        b"\x93NUMPY\x01\x00"
        + size.to_bytes(2, "little")
        + text.ljust(size - 1).encode()
        + b"\n"
    )


class GrowingArray:
    """An array in a file, which grows by what is appended.

    Parameters
    ----------
    path : path
        The file; it must not be there yet.
    dtype : dtype
        The type of the numbers.
    width : int, optional
        How many columns a matrix has; by default it is a vector.

    Attributes
    ----------
    length : int
        How many numbers, or rows, there are so far.
    checksum : int
        The CRC-32 of the numbers.
    """

    def __init__(self, path: Path, dtype: DTypeLike, width: int | None = None):
        self.dtype = np.dtype(dtype).newbyteorder("<")
        self.width, self.length, self.checksum = width, 0, 0
        self._file = path.open("xb")
        self._file.write(bytes(HEADER))

    @property
    def shape(self) -> tuple[int, ...]:
        """How large the array is so far."""
        return (self.length,) if self.width is None else (self.length, self.width)

    def append(self, values: Any) -> None:
        """Add numbers, or rows, at the end."""
        array = np.ascontiguousarray(values, self.dtype)
        assert array.shape[1:] == self.shape[1:]
        data = array.reshape(-1).view(np.uint8).data
        self.checksum = zlib.crc32(data, self.checksum)
        self._file.write(data)
        self.length += len(array)

    def append_ones(self, count: int) -> None:
        """Add this many ones at the end, a few at a time."""
        while count > 0:
            self.append(np.ones(min(count, BLOCK // self.dtype.itemsize)))
            count -= BLOCK // self.dtype.itemsize

    def close(self) -> None:
        """Write the header; the array is complete."""
        self._file.seek(0)
        self._file.write(header_of(self.dtype, self.shape))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file, complete or not."""
        self._file.close()


class MappedArray:
    """An array in a file that is mapped into memory, checked.

    Parameters
    ----------
    path : path
        The file.
    dtype : dtype
        What the numbers must be.
    shape : tuple of int
        How many there must be.

    Attributes
    ----------
    array : ndarray
        The numbers. They stay mapped as long as this array is in use.
    """

    array: NDArray[Any]

    def __init__(self, path: Path, dtype: DTypeLike, shape: tuple[int, ...]):
        kind = np.dtype(dtype).newbyteorder("<")
        count = int(np.prod(shape, dtype=object))  # exact: a hostile shape is large
        size = HEADER + count * kind.itemsize
        self.path = path
        try:
            file = open(path, "rb", opener=_open_at_once)
        except OSError as error:
            raise ModelFileError(f"{path}: {error.strerror}") from None
        with file:
            number = file.fileno()
            status = os.fstat(number)
            if not stat.S_ISREG(status.st_mode):
                raise ModelFileError(f"{path}: is not a file")
            if status.st_size != size:
                raise ModelFileError(
                    f"{path}: has {status.st_size} bytes, expected {size}: it was cut "
                    "short, or is another array"
                )
            if file.read(HEADER) != header_of(kind, shape):
                raise ModelFileError(f"{path}: is not the array it should be")
            self._map = _map(number, size)
        self.array = np.frombuffer(self._map, kind, count, HEADER).reshape(shape)

    @property
    def n_bytes(self) -> int:
        """How large the numbers are."""
        return self.array.nbytes

    def checksum(self) -> int:
        """Return the CRC-32 of the numbers, read without mapping them."""
        found, block = 0, memoryview(bytearray(BLOCK))
        with self.path.open("rb") as file:
            file.seek(HEADER)
            while size := file.readinto(block):
                found = zlib.crc32(block[:size], found)
        return found

    def release(self) -> None:
        """Let go of all pages; those that are touched again come from the file."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)


def _open_at_once(path: str, flags: int) -> int:
    """Open a file, and do not wait for a writer if it is a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _map(number: int, size: int) -> mmap.mmap:
    """Map a whole file. Kernels want arrays that may be written: to a copy."""
    if not hasattr(mmap, "MAP_NORESERVE"):
        return mmap.mmap(number, size, access=mmap.ACCESS_COPY)
    # No memory is set aside for copies, which nobody makes.
    flags = mmap.MAP_PRIVATE | mmap.MAP_NORESERVE
    return mmap.mmap(number, size, flags, mmap.PROT_READ | mmap.PROT_WRITE)


def resident_memory() -> int | None:
    """Return how much memory this process takes, mapped pages included, if known."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * mmap.PAGESIZE
    except (OSError, ValueError, IndexError):
        return None


@contextmanager
def keeping_below(limit: int | None, arrays: Iterable[MappedArray]) -> Iterator[None]:
    """Let go of pages of arrays whenever this process comes near a limit of memory.

    Pages come in fast: half of what is left besides them when this begins is kept for
    those that come between two looks. Where the system does not say how much memory
    there is in use, pages are let go again and again.
    """
    if limit is None:
        yield
        return
    mapped, done = list(arrays), threading.Event()
    enough = (limit + min(resident_memory() or 0, limit)) // 2

    def watch() -> None:
        while not done.wait(LOOK_AFTER):
            taken = resident_memory()
            if taken is None or taken > enough:
                for one in mapped:
                    one.release()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
