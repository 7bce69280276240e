"""The container: safetensors bytes with a header entry and a checksum of our own.

The header's only metadata entry, ``partwise``, is the JSON of ``checksum``,
``format``, ``kind`` and ``settings``. The checksum covers the whole file, with
zeros in its own place, so nothing in a file can change unnoticed. It guards
against accidents, not against malice: whoever can write a file can also write
its checksum, hence the checks in `Content`.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save

from partwise._interrupts import waiting
from partwise.data.files import replace_file
from partwise.errors import ModelFileError
from partwise.model_file.content import Content

FORMAT_VERSION = 1

# Headers hold settings and tensor names: kilobytes. Parsed JSON takes many times
# the space of its text, so the bound is on the text.
MAX_HEADER = 8 * 2**20

_DTYPES = {
    "F64": np.float64,
    "F32": np.float32,
    "I64": np.int64,
    "I32": np.int32,
    "U64": np.uint64,
    "U32": np.uint32,
    "U16": np.uint16,
    "U8": np.uint8,
}
# Not bool: a byte of a file that is neither 0 nor 1 makes an invalid numpy bool.
_STORABLE = frozenset(np.dtype(dtype) for dtype in _DTYPES.values())

_DIGEST_SIZE = 32
_BLANK = b"0" * (2 * _DIGEST_SIZE)
# The checksum comes first in the entry. Quotes inside JSON strings are escaped,
# so no setting and no tensor name can contain these bytes.
_BEFORE_CHECKSUM = b'"partwise":"{\\"checksum\\": \\"'


def write(
    path: str | os.PathLike[str],
    tensors: Mapping[str, NDArray[Any]],
    settings: Mapping[str, Any],
    kind: str,
) -> None:
    """Write a file that `read` reads back, all of it or none of it.

    The bytes go to a temporary file in the same folder, which then takes the
    place of `path`: a crash at any moment leaves the old file or the new one.
    An existing file passes its permission bits on.

    Parameters
    ----------
    path : path
        Where to write; a symbolic link is followed.
    tensors : dict of str to ndarray
        Arrays of floats (64, 32), signed integers (64, 32) or unsigned integers
        (64, 32, 16, 8 bits).
    settings : dict
        Plain JSON: dicts with string keys, lists, strings, numbers, bools, None.
    kind : str
        What the file is, such as ``"model"`` or ``"checkpoint"``.

    Raises
    ------
    OSError
        When the file cannot be written there; see `check_writable`.
    TypeError, ValueError
        When `tensors` or `settings` hold what the format cannot.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = f"{folder.name}/tiny.partwise"
    >>> write(path, {"w": np.array([0.5, -1.0])}, {"C": 0.1}, kind="model")
    >>> content = read(path, kind="model")
    >>> content.tensor("w", dtype=np.float64, length=2)
    array([ 0.5, -1. ])
    >>> content.setting("C", float)
    0.1
    >>> folder.cleanup()
    """
    data = _serialize(tensors, settings, kind)
    check_writable(path)
    with waiting(), replace_file(path) as file:
        file.write(data)


def read(path: str | os.PathLike[str], kind: str | None = None) -> Content:
    """Read and check a file that `write` wrote.

    The file is read once, nothing in it is executed, and the memory used is
    proportional to its size, whatever the file claims.

    Parameters
    ----------
    path : path
        The file.
    kind : str, optional
        The kind that the file must have; any kind by default.

    Returns
    -------
    Content
        The tensors and settings, with methods that check them.

    Raises
    ------
    ModelFileError
        When the file is foreign, damaged, newer than this Partwise, or of
        another kind.
    FileNotFoundError
        When there is no such file.
    """
    source = os.fspath(path)
    mode = os.stat(source).st_mode
    if stat.S_ISDIR(mode):
        raise ModelFileError(f"{source}: a folder, not a model file")
    if not stat.S_ISREG(mode):  # a pipe or a device could go on for ever
        raise ModelFileError(f"{source}: not a regular file")
    with open(source, "rb") as file:
        data = file.read()
    return parse(data, source, kind)


def parse(data: bytes, source: str, kind: str | None = None) -> Content:
    """Check the bytes of a file, as `read` does for the file itself.

    Parameters
    ----------
    data : bytes
        The whole file.
    source : str
        The name that error messages give it.
    kind : str, optional
        The kind that the file must have.

    Returns
    -------
    Content
        The tensors and settings.

    Examples
    --------
    >>> parse(b"not a model", "notes.txt")
    Traceback (most recent call last):
        ...
    partwise.errors.ModelFileError: notes.txt: not a Partwise file
    """
    header = _parse_header(data, source)
    entry = _parse_entry(header, source)
    found_kind, settings = entry.get("kind"), entry.get("settings")
    if _checksum(data) != entry.get("checksum"):
        raise ModelFileError(
            f"{source}: damaged, its checksum does not match its content "
            "(copy the file again, or train again)"
        )
    if not isinstance(found_kind, str) or not isinstance(settings, dict):
        raise ModelFileError(f"{source}: the kind or the settings are missing")
    if kind is not None and found_kind != kind:
        raise ModelFileError(
            f"{source}: a file of kind {found_kind!r:.40}, expected {kind!r}"
        )
    tensors = _deserialize(data, source)
    return Content(tensors, settings, found_kind, FORMAT_VERSION, source)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Make sure that a file can be written before hours of work depend on it.

    Nothing is left behind, and an existing file is not touched.

    Parameters
    ----------
    path : path
        Where a file is going to be written.

    Raises
    ------
    OSError
        When it cannot be: FileNotFoundError for a missing folder,
        NotADirectoryError, IsADirectoryError or PermissionError.

    Examples
    --------
    >>> check_writable("no/such/folder/ner.partwise")
    Traceback (most recent call last):
        ...
    FileNotFoundError: no/such/folder/ner.partwise: there is no folder \
no/such/folder (create it, or choose another path)
    """
    name = os.fspath(path)
    target = Path(os.path.realpath(path))
    folder = Path(name).parent
    if target.is_dir():
        raise IsADirectoryError(f"{name}: a folder (give the name of a file)")
    if target.exists() and not target.is_file():
        # Replacing a device or a pipe by a file is never what was meant.
        raise OSError(f"{name}: not a regular file (choose another path)")
    if not target.parent.exists():
        raise FileNotFoundError(
            f"{name}: there is no folder {folder} (create it, or choose another path)"
        )
    if not target.parent.is_dir():
        raise NotADirectoryError(f"{name}: {folder} is not a folder")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(f"{name}: the file is read-only (choose another path)")
    try:
        # Trying is the only sure test: of quotas, read-only disks, access lists.
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        raise PermissionError(
            f"{name}: cannot write in {folder}: {error.strerror} (choose another path)"
        ) from error


def seal(data: bytes) -> bytes:
    """Put the right checksum into the bytes of a file; tests forge with it too."""
    start, stop = _checksum_span(data)
    digest = _checksum(data).encode()
    return b"".join([data[:start], digest, memoryview(data)[stop:]])


def _serialize(
    tensors: Mapping[str, NDArray[Any]], settings: Mapping[str, Any], kind: str
) -> bytes:
    plain = {}
    for name, tensor in tensors.items():
        array = np.asarray(tensor, order="C")
        if array.dtype.newbyteorder("=") not in _STORABLE:
            raise TypeError(f"tensor {name!r}: a model file cannot hold {array.dtype}")
        plain[name] = array.astype(array.dtype.newbyteorder("<"), copy=False)
    entry = {
        "checksum": _BLANK.decode(),
        "format": FORMAT_VERSION,
        "kind": kind,
        "settings": dict(settings),
    }
    try:
        text = json.dumps(entry)
    except TypeError as error:
        raise TypeError(f"settings must be plain JSON: {error}") from None
    data = save(plain, metadata={"partwise": text})
    if int.from_bytes(data[:8], "little") > MAX_HEADER:
        raise ValueError(
            f"the settings take more than {MAX_HEADER} bytes (store large ones as "
            "tensors)"
        )
    return seal(data)


def _parse_header(data: bytes, source: str) -> dict[str, Any]:
    if not data:
        raise ModelFileError(f"{source}: the file is empty")
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > MAX_HEADER or data[8:9] not in (b"{", b""):
        raise ModelFileError(f"{source}: not a Partwise file")
    if 8 + size > len(data):
        raise ModelFileError(f"{source}: not a Partwise file, or cut short")
    header = _parse_json(data[8 : 8 + size])
    if not isinstance(header, dict):
        raise ModelFileError(f"{source}: not a Partwise file, or damaged")
    return header


def _parse_entry(header: dict[str, Any], source: str) -> dict[str, Any]:
    metadata = header.get("__metadata__")
    text = metadata.get("partwise") if isinstance(metadata, dict) else None
    if text is None:
        raise ModelFileError(f"{source}: a safetensors file, but not one of Partwise")
    entry = _parse_json(text) if isinstance(text, str) else None
    if not isinstance(entry, dict):
        raise ModelFileError(f"{source}: damaged, its header cannot be read")
    version = entry.get("format")
    if type(version) is not int or version < 1:
        raise ModelFileError(f"{source}: damaged, its format version is missing")
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"{source}: written by a newer Partwise (format {version}; this one "
            f"reads up to {FORMAT_VERSION}): upgrade"
        )
    return entry


def _parse_json(text: bytes | str) -> Any:
    """Parse JSON, or return None: for text that is not, or is nested too deep."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _checksum_span(data: bytes) -> tuple[int, int]:
    header_end = 8 + min(int.from_bytes(data[:8], "little"), MAX_HEADER)
    start = data.find(_BEFORE_CHECKSUM, 8, header_end)
    if start < 0:
        return 0, 0
    start += len(_BEFORE_CHECKSUM)
    return start, start + len(_BLANK)


def _checksum(data: bytes) -> str:
    """Hash a file with zeros in place of its checksum."""
    start, stop = _checksum_span(data)
    digest = hashlib.blake2b(digest_size=_DIGEST_SIZE)
    digest.update(memoryview(data)[:start])
    digest.update(_BLANK)
    digest.update(memoryview(data)[stop:])
    return digest.hexdigest()


def _deserialize(data: bytes, source: str) -> dict[str, NDArray[Any]]:
    tensors: dict[str, NDArray[Any]] = {}
    try:
        # The library checks that the tensors tile the file exactly, and copies
        # each: the arrays are aligned and writeable, as kernels expect them.
        for name, tensor in deserialize(data):  # type: ignore[no-untyped-call]
            dtype = np.dtype(_DTYPES[tensor["dtype"]]).newbyteorder("<")
            array = np.frombuffer(tensor["data"], dtype)
            tensors[name] = np.require(array, None, ["A", "W"]).reshape(tensor["shape"])
    except SafetensorError as error:
        raise ModelFileError(f"{source}: damaged ({error})") from error
    except KeyError as error:
        raise ModelFileError(
            f"{source}: damaged, tensors of type {error} are not used here"
        ) from error
    except (ValueError, OverflowError) as error:
        raise ModelFileError(f"{source}: damaged, impossible shape") from error
    return tensors
