"""A corpus in a folder: what of it is where, mapped and checked.

Examples have a label each, or pointers (``ptr``) to the labels of their tokens. Rows of
features are sparse (``ptr``, ``idx`` and perhaps ``val``) or dense (``values``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from partwise.model_file import Content
from partwise.model_file.folder import Folder, FolderWriter, open_folder
from partwise.model_file.mapped import keeping_below
from partwise.solvers.memory import in_bytes, memory_limit
from partwise.structures.interface import IntArray
from partwise.structures.rows import (
    DenseRows,
    Rows,
    SparseRows,
    make_dense_rows,
    make_sparse_rows,
)

KIND = "encoded corpus"


class EncodedCorpus:
    """A corpus in a folder; `encoded` opens one.

    Parameters
    ----------
    folder : Folder
        The folder, open.
    memory : int, optional
        How many bytes the process may take while it learns.

    Attributes
    ----------
    n_examples : int
        How many examples there are.
    n_labels : int
        How many labels they have, a label for every token.
    n_classes : int
        How many different labels there are.
    n_bytes : int
        How large the arrays are on disk.
    """

    def __init__(self, folder: Folder, memory: int | None = None):
        self.folder, self.memory = folder, memory
        settings = folder.manifest.setting
        self.n_examples = settings("n_examples", int, at_least=1)
        self.n_shards = settings("n_shards", int, at_least=1, below=2**20)
        self.n_labels = folder.content.tensor("labels", dtype=np.int32).size
        self.n_classes = folder.manifest.tensor("label_counts", dtype=np.int64).size
        self.n_bytes = folder.n_bytes

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.folder.path

    def __repr__(self) -> str:
        """Say where it is, and how large."""
        return f"<{self.n_examples} encoded examples in {str(self.path)!r}>"

    def __iter__(self) -> Iterator[Any]:
        """Refuse: examples are not taken out of the folder one by one."""
        raise TypeError("an encoded corpus is for fit, which learns from all of it")

    @contextmanager
    def within_memory(self) -> Iterator[None]:
        """Hold to the memory that was given, as long as this lasts."""
        mapped = self.folder.arrays.values()
        with memory_limit(self.memory), keeping_below(self.memory, mapped):
            yield

    def setting(self, name: str, kind: type) -> Any:
        """Return a setting of the estimator that encoded it; None if it has none."""
        value = self.folder.manifest.setting("encoding", dict).get(name)
        if not isinstance(value, kind | None):
            raise self.folder.manifest.error(f"setting {name!r} is damaged")
        return value

    def bounds(self) -> IntArray:
        """Return where shards of about the same size begin, and the end of the last."""
        shares = np.arange(self.n_shards + 1) / self.n_shards
        if "ptr" not in self.folder.arrays:
            return np.unique((shares * self.n_examples).astype(np.int64))
        ptr = self.folder.content.tensor(
            "ptr", dtype=np.int64, length=self.n_examples + 1
        )
        cuts = np.searchsorted(ptr, (shares * int(ptr[-1])).astype(np.int64))
        cuts[0], cuts[-1] = 0, self.n_examples
        return np.unique(np.clip(cuts, 0, self.n_examples))

    def part(self, start: int = 0, stop: int | None = None) -> CorpusPart:
        """Return some of the examples, mapped; their numbers are not checked yet."""
        stop = self.n_examples if stop is None else stop
        return CorpusPart(self.folder.content, start, stop)


@dataclass(frozen=True)
class CorpusPart:
    """Some examples of a folder, whose arrays are asked for and checked by name."""

    content: Content
    start: int
    stop: int

    def pointers(self, name: str) -> tuple[IntArray, CorpusPart]:
        """Return pointers that begin at 0, and the part of all that they point to."""
        whole = self.content.tensor(name, dtype=np.int64)
        window = whole[self.start : self.stop + 1]
        if window.size != self.stop - self.start + 1:
            raise self.content.error(f"array {name!r} is too short")
        begin, end = int(window[0]), int(window[-1])
        if not 0 <= begin <= end or (window[1:] < window[:-1]).any():
            raise self.content.error(f"array {name!r} decreases")
        ptr = window - begin if begin else window
        return ptr, CorpusPart(self.content, begin, end)

    def values(self, name: str, *, ndim: int = 1, **expected: Any) -> Any:
        """Return the numbers, or rows, of an array that belong to these examples.

        They are as expected, in the words of `Content.tensor`.
        """
        found = self.content
        window = {}
        if name in found.tensors:
            window[name] = found.tensors[name][self.start : self.stop]
        own = Content(window, {}, found.kind, found.format_version, found.source)
        size = self.stop - self.start
        # Whether numbers are finite is asked where rows are made, without a copy.
        return own.tensor(name, ndim=ndim, length=size, finite=False, **expected)

    def rows(self, name: str, n_columns: int) -> Rows:
        """Return rows of features, checked."""
        try:
            if f"{name}.values" in self.content.tensors:
                key = f"{name}.values"
                values = self.values(key, dtype=np.float64, ndim=2)
                if values.shape[1] != n_columns:
                    raise ValueError(f"{values.shape[1]} columns, not {n_columns}")
                return make_dense_rows(values)
            ptr, entries = self.pointers(f"{name}.ptr")
            idx = entries.values(f"{name}.idx", dtype=np.int32)
            val = None
            if f"{name}.val" in self.content.tensors:
                val = entries.values(f"{name}.val", dtype=np.float64)
            return make_sparse_rows(ptr, idx, val, n_columns)
        except ValueError as error:
            raise self.content.error(f"the features are damaged: {error}") from None


def write_rows(writer: FolderWriter, name: str, rows: Rows) -> None:
    """Write rows of features, which `CorpusPart.rows` reads back."""
    if isinstance(rows, DenseRows):
        writer.append(f"{name}.values", rows.values)
        return
    assert isinstance(rows, SparseRows)
    before = writer.length(f"{name}.idx")
    writer.append_values(f"{name}.val", rows.val, before, rows.idx.size)
    writer.append_pointers(f"{name}.ptr", rows.ptr)
    writer.append(f"{name}.idx", rows.idx)


def encoded(folder: str | Path, memory: int | str | None = None) -> EncodedCorpus:
    """Open a corpus that was encoded into a folder, for `fit`.

    Parameters
    ----------
    folder : path
        What `encode`, or ``partwise encode``, has written. Nothing in it is trusted,
        and nothing executed.
    memory : int or str, optional
        How much memory the process may take while it learns, in bytes or such as
        ``"2GB"``. Pages of the folder are let go in time; a solver whose own variables
        would not fit is refused before it starts. By default the system decides which
        pages stay.

    Returns
    -------
    EncodedCorpus
        The corpus.
    """
    limit = None if memory is None else in_bytes(memory)
    return EncodedCorpus(open_folder(folder, KIND), limit)
