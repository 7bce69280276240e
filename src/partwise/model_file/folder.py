"""A folder of arrays that are too large for one file in memory, with a manifest.

``manifest.partwise`` is a file as models are: settings, small tensors, and for every
array of the folder its type, its shape and a checksum. The arrays themselves are
``.npy`` files (`mapped`). A folder is written under another name, and gets its own when
it is complete: it is there whole, or not at all.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from partwise._interrupts import waiting
from partwise.data import drafts
from partwise.data.files import naming
from partwise.errors import DataError, ModelFileError
from partwise.model_file.container import read, write
from partwise.model_file.content import Content
from partwise.model_file.mapped import GrowingArray, MappedArray

MANIFEST = "manifest.partwise"
_TYPES = {"i4": np.int32, "i8": np.int64, "f8": np.float64}
MOST = 2**48
"""No array has more rows, or columns, than this."""


class FolderWriter:
    """Writes the arrays of a folder, piece by piece; see `new_folder`."""

    def __init__(self, path: Path, closing: ExitStack):
        self._path, self._closing = path, closing
        self._arrays: dict[str, GrowingArray] = {}
        self._ends: dict[str, int] = {}  # of pointers

    def append(self, name: str, values: NDArray[Any]) -> None:
        """Add numbers, or rows of a matrix, to an array."""
        width = None if values.ndim == 1 else values.shape[1]
        self._array(name, values.dtype, width).append(values)

    def append_pointers(self, name: str, ptr: NDArray[np.int64]) -> None:
        """Add pointers, which go on where those before have ended."""
        array = self._array(name, np.int64)
        if name not in self._ends:
            array.append(np.zeros(1, np.int64))
            self._ends[name] = 0
        array.append(ptr[1:] + self._ends[name])
        self._ends[name] += int(ptr[-1])

    def append_values(
        self, name: str, values: NDArray[np.float64], before: int, count: int
    ) -> None:
        """Add values that may be left out where they are one.

        There have been `before` of them, `count` are added now; without any in `values`
        these are one. The array is not there as long as all are.
        """
        if values.size == 0 and name not in self._arrays:
            return
        array = self._array(name, np.float64)
        array.append_ones(before - array.length)
        if values.size:
            array.append(values)
        else:
            array.append_ones(count)

    def length(self, name: str) -> int:
        """Return how many numbers, or rows, an array has so far."""
        return self._arrays[name].length if name in self._arrays else 0

    def close(
        self,
        tensors: Mapping[str, NDArray[Any]],
        settings: Mapping[str, Any],
        kind: str,
    ) -> None:
        """Complete all arrays, and write the manifest."""
        described = {}
        for name, array in self._arrays.items():
            array.close()
            code = array.dtype.str[1:]
            described[name] = [code, list(array.shape), array.checksum]
        own = {**settings, "arrays": described}
        write(self._path / MANIFEST, tensors, own, kind)

    def _array(
        self, name: str, dtype: DTypeLike, width: int | None = None
    ) -> GrowingArray:
        if name not in self._arrays:
            array = GrowingArray(self._path / f"{name}.npy", dtype, width)
            self._arrays[name] = self._closing.enter_context(array)
        return self._arrays[name]


def check_new_folder(path: Path, overwrite: bool) -> None:
    """Raise `DataError` or `OSError` unless a folder can be written there."""
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"{path}: there is no folder {path.parent} (create it, or choose another)"
        )
    _check_free(path, overwrite)
    try:
        # Trying is the only sure test, before hours of work depend on it.
        tempfile.TemporaryDirectory(dir=_linked_to(path).parent).cleanup()
    except OSError as error:
        raise PermissionError(
            f"{path}: cannot write in {path.parent}: {error.strerror} (choose another "
            "path)"
        ) from error


def _check_free(path: Path, overwrite: bool) -> None:
    if not path.exists():
        return
    if path.is_dir() and not any(path.iterdir()):
        return
    if not (path / MANIFEST).is_file():
        raise DataError(
            f"{path} is there already, and was not written by Partwise; choose another "
            "name"
        )
    if not overwrite:
        raise DataError(
            f"{path} is there already; choose another name, or overwrite it "
            "(overwrite=True, --overwrite)"
        )


def _linked_to(path: Path) -> Path:
    """Return the folder that a symbolic link leads to; the link stays as it is."""
    return Path(os.path.realpath(path))


@contextmanager
def new_folder(path: Path, overwrite: bool = False) -> Iterator[FolderWriter]:
    """Write a folder; it takes its place at the end, if nothing went wrong."""
    check_new_folder(path, overwrite)
    goal = _linked_to(path)
    drafts.remove_orphans(goal)
    with drafts.begun_folder(goal) as draft:
        with naming(path), ExitStack() as closing:
            yield FolderWriter(draft, closing)
        with waiting():
            _replace(goal, draft)


def _replace(goal: Path, draft: Path) -> None:
    """Put a folder in the place of one that may be there, which goes afterwards."""
    if not goal.exists():
        os.replace(draft, goal)
        return
    shutil.copymode(goal, draft)
    with drafts.begun_folder(goal) as old:
        old.rmdir()
        os.replace(goal, old)
        try:
            os.replace(draft, goal)
        except BaseException:
            os.replace(old, goal)
            raise


@dataclass(frozen=True)
class Folder:
    """A folder that is open: its manifest, and its arrays, which are mapped.

    Attributes
    ----------
    path : Path
        Where it is.
    manifest : Content
        The small tensors, and the settings.
    arrays : dict of str to MappedArray
        The arrays; of their numbers nothing is known yet but how many there are.
    """

    path: Path
    manifest: Content
    arrays: Mapping[str, MappedArray]
    checksums: Mapping[str, int]

    @property
    def content(self) -> Content:
        """The arrays, to be asked for as the tensors of a model file are."""
        found = self.manifest
        tensors = {name: mapped.array for name, mapped in self.arrays.items()}
        return Content(tensors, {}, found.kind, found.format_version, str(self.path))

    @property
    def n_bytes(self) -> int:
        """How large all arrays are."""
        return sum(mapped.n_bytes for mapped in self.arrays.values())

    def check_integrity(self) -> None:
        """Raise `ModelFileError` if an array has changed since it was written."""
        for name, mapped in self.arrays.items():
            if mapped.checksum() != self.checksums[name]:
                raise ModelFileError(
                    f"{mapped.path}: damaged, its checksum does not match (copy the "
                    "folder again, or encode the data again)"
                )


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Say whether a path is a folder with a manifest."""
    return (Path(path) / MANIFEST).is_file()


def open_folder(path: str | os.PathLike[str], kind: str) -> Folder:
    """Open a folder, and check everything but the numbers in its arrays."""
    folder = Path(path)
    if not is_folder(folder):
        raise ModelFileError(
            f"{folder}: is no encoded corpus (there is no {MANIFEST}); write one with "
            "partwise encode"
        )
    manifest = read(folder / MANIFEST, kind)
    arrays, checksums = {}, {}
    for name, described in manifest.setting("arrays", dict).items():
        code, shape, checksums[name] = _described(name, described, manifest)
        arrays[name] = MappedArray(folder / f"{name}.npy", _TYPES[code], shape)
    return Folder(folder, manifest, arrays, checksums)


def _described(
    name: str, described: Any, manifest: Content
) -> tuple[str, tuple[int, ...], int]:
    """Return type, shape and checksum of an array, as the manifest has them."""
    error = manifest.error(f"array {name!r:.40} is not described as it should be")
    # A name is part of a path: no file outside of the folder may be meant.
    if not name.replace("_", "").replace(".", "").isalnum() or name[0] == ".":
        raise error
    if not isinstance(described, Sequence) or len(described) != 3:
        raise error
    code, shape, checksum = described
    if type(code) is not str or code not in _TYPES or type(checksum) is not int:
        raise error
    if (
        type(shape) is not list
        or len(shape) not in (1, 2)
        or not all(type(size) is int and 0 <= size <= MOST for size in shape)
    ):
        raise error
    return code, tuple(shape), checksum
