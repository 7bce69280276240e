"""The file that belongs to a model: a temporary one, unless users name one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

from partwise.estimators.persistence import convert

STORED = "model"


class FileResource:
    """Owns a model file.

    A temporary file is made when it is needed and removed with its owner. In a pickle
    its place is taken by the bytes of a Partwise model file, which is checked from end
    to end when it is read, and executes nothing.

    Parameters
    ----------
    filename : str, optional
        The file; a temporary one by default.
    keep_tempfiles : bool
        Whether temporary files stay.
    suffix, prefix : str
        How the names of temporary files end and begin.

    Attributes
    ----------
    name : str or None
        The file; None as long as there is none.
    """

    def __init__(
        self,
        filename: str | None = None,
        keep_tempfiles: bool = False,
        suffix: str = "",
        prefix: str = "",
    ) -> None:
        self.name = filename
        self.auto = filename is None
        self.keep_tempfiles = keep_tempfiles
        self.suffix = suffix
        self.prefix = prefix

    def ensure_name(self) -> None:
        """Make a temporary file if there is no file."""
        if self.name is None:
            handle, self.name = tempfile.mkstemp(self.suffix, self.prefix)
            os.close(handle)

    def cleanup(self) -> None:
        """Remove a temporary file."""
        if self.auto and not self.keep_tempfiles and self.name is not None:
            with contextlib.suppress(OSError):
                os.unlink(self.name)
            self.name = None

    def refresh(self) -> None:
        """Begin anew, with an empty file."""
        self.cleanup()
        self.ensure_name()

    def __del__(self) -> None:
        """Remove a temporary file, whatever state Python is in by now."""
        with contextlib.suppress(Exception):
            self.cleanup()

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds."""
        state = dict(self.__dict__)
        if self.auto and self.name is not None:
            state["name"] = None
            state[STORED] = converted(Path(self.name).read_bytes(), ".partwise")
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make a temporary file of what a pickle holds."""
        stored = state.pop(STORED, None)
        self.__dict__.update(state)
        if stored is not None:
            self.ensure_name()
            Path(str(self.name)).write_bytes(converted(stored, ".crfsuite"))


def converted(data: bytes, ending: str) -> bytes:
    """Return the bytes of a model file in the format of another ending."""
    if not data:  # training failed
        return data
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "source"), Path(folder, f"target{ending}")
        source.write_bytes(data)
        convert(source, target)
        return target.read_bytes()
