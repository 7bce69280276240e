"""Looking into the bytes of a file, nowhere outside of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.errors import ModelFileError

WORD = 4  # bytes


class Bytes:
    """The bytes of a file, or of a part of it that begins at `start`.

    Offsets count from the start; each is checked before it is used.
    """

    def __init__(self, data: bytes, source: str, what: str, start: int = 0) -> None:
        self.data = data
        self.source = source
        self.what = what
        self.start = start
        self._bytes = np.frombuffer(data, np.uint8)

    @property
    def size(self) -> int:
        """How many bytes there are from the start."""
        return len(self.data) - self.start

    def error(self, problem: str) -> ModelFileError:
        """Return an error that names the file and the part."""
        return ModelFileError(f"{self.source}: {self.what}: {problem}")

    def part(self, start: int, what: str) -> Bytes:
        """Return what follows an offset."""
        if not 0 <= start <= self.size:
            raise self.error(
                f"{what} begin at byte {start}, but there are {self.size} bytes"
            )
        return Bytes(self.data, self.source, what, self.start + start)

    def expect(self, at: int, wanted: bytes) -> None:
        """Raise `ModelFileError` unless these bytes are there."""
        self._check(np.array([at]), len(wanted))
        found = self.data[self.start + at : self.start + at + len(wanted)]
        if found != wanted:
            raise self.error(f"expected {wanted!r} at byte {at}, found {found!r}")

    def words(self, at: int, count: int) -> NDArray[np.int64]:
        """Return `count` unsigned 32-bit numbers from an offset on."""
        if count < 0 or at < 0 or at + WORD * count > self.size:
            raise self.error(
                f"{count} numbers at byte {at} do not fit into {self.size} bytes; "
                "the file is cut short or damaged"
            )
        begin = self.start + at
        return np.frombuffer(self.data, "<u4", count, begin).astype(np.int64)

    def word_at(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the unsigned 32-bit number at each of many offsets."""
        self._check(at, WORD)
        where = self.start + at[:, None] + np.arange(WORD)
        packed: Any = np.ascontiguousarray(self._bytes[where]).view("<u4")
        return packed.ravel().astype(np.int64)  # type: ignore[no-any-return]

    def _check(self, at: NDArray[np.int64], length: int) -> None:
        wrong = (at < 0) | (at > self.size - length)
        if wrong.any():
            raise self.error(
                f"byte {int(at[wrong][0])} is asked for, but there are {self.size} "
                "bytes; the file is cut short or damaged"
            )
