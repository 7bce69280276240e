"""Corpora that are encoded once, into a folder: for data larger than memory.

A corpus is read twice, piece by piece: first for vocabularies and labels, then to write
its features and labels as arrays. Training maps the arrays, so that they take no memory
that the system could not take back. What is in the folder is what the estimator would
have had in memory, number for number.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from partwise.errors import DataError
from partwise.estimators.labels import LabelCodes
from partwise.estimators.settings import settings_of
from partwise.estimators.shards import LearnsFromShards
from partwise.estimators.stored_labels import pack_labels, unpack_labels
from partwise.estimators.survey import Survey
from partwise.model_file import Content
from partwise.model_file.folder import (
    Folder,
    FolderWriter,
    check_new_folder,
    new_folder,
    open_folder,
)
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
SHARDS = 16

Pieces = Callable[[], Iterable[tuple[Any, ...]]]
"""Returns the pieces of a corpus, each as `fit` takes it, every time it is called."""


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
        ptr = self.folder.content.tensor("ptr", dtype=np.int64)
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

    def values(self, name: str, **expected: Any) -> Any:
        """Return the numbers, or rows, of an array that belong to these examples."""
        whole = self.content.tensor(name, finite=False, ndim=expected.pop("ndim", 1),
                                    dtype=expected["dtype"])  # fmt: skip
        window = {name: whole[self.start : self.stop]}
        own = Content(window, {}, self.content.kind, 1, self.content.source)
        size = self.stop - self.start
        return own.tensor(name, ndim=whole.ndim, length=size, finite=False, **expected)

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


class LearnsFromFolders(LearnsFromShards):
    """Mixin: how an estimator writes a corpus to a folder, and knows it again."""

    encoding_settings: tuple[str, ...] = ()
    """The settings that say what features are; the others are free at training."""
    _labels: LabelCodes

    @abstractmethod
    def _write_piece(self, writer: FolderWriter, *data: Any) -> int:
        """Write a piece of a corpus, once things are settled; return its examples."""

    @abstractmethod
    def _store_encoding(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return tensors and settings of what is settled, besides the labels."""

    @abstractmethod
    def _weigh_classes(self, counts: IntArray) -> None:
        """Set what mistakes cost, from how often each label occurs."""

    @abstractmethod
    def _fill_encoding(self, corpus: EncodedCorpus) -> None:
        """Become settled as the estimator was that wrote the folder, labels known."""

    @abstractmethod
    def _prepare_part(self, part: CorpusPart) -> Any:
        """Return some examples of a folder as `TrainingData`, all else known."""

    def _take_encoding(self, corpus: EncodedCorpus) -> None:
        """Take over what a folder says about features and labels."""
        content, name = corpus.folder.manifest, type(self).__name__
        written_by = content.setting("estimator", str)
        if written_by != name:
            raise DataError(
                f"{corpus.path} was encoded for {written_by}, not for {name}; encode "
                "the data again, or use that estimator"
            )
        self._check_encoding_settings(content)
        are_integers = content.setting("integer_labels", bool)
        classes = unpack_labels(content, "labels", are_integers)
        self._labels = LabelCodes(classes)
        self._fill_encoding(corpus)
        counts = content.tensor(
            "label_counts", dtype=np.int64, length=len(classes), at_least=0
        )
        self._weigh_classes(counts)

    def _check_encoding_settings(self, content: Content) -> None:
        """Raise `DataError` for a setting that the folder contradicts."""
        known = content.setting("encoding", dict)
        declared = settings_of(type(self))
        for name in self.encoding_settings:
            given, there = getattr(self, name), known.get(name)
            if given not in (declared[name].default, there):
                raise DataError(
                    f"{content.source}: the data was encoded with {name}={there!r}, "
                    f"not with {given!r}; leave {name} out, or encode the data again"
                )


def encode(
    estimator: Any,
    data: Any,
    folder: str | Path,
    *,
    shards: int = SHARDS,
    overwrite: bool = False,
) -> EncodedCorpus:
    """Encode a corpus into a folder, from which estimators learn without loading it.

    Parameters
    ----------
    estimator : SequenceTagger or MulticlassClassifier
        Its settings say what features are; it is not fitted.
    data : (X, y), or callable
        What `fit` takes; or a function without arguments that returns the pieces of a
        corpus, each as `fit` takes it, one after the other. It is called twice, and no
        more than a piece is in memory at a time.
    folder : path
        Where to write. The vocabulary is in memory; ``hash_bits`` makes that small.
    shards : int
        Into how many shards a cluster cuts the corpus.
    overwrite : bool
        Whether to replace an encoded corpus that is there already.

    Returns
    -------
    EncodedCorpus
        The corpus, for `fit`.

    Examples
    --------
    >>> import tempfile
    >>> import partwise
    >>> pieces = [([[["the"], ["dog"]]], [["D", "N"]]), ([[["a"]]], [["D"]])]
    >>> folder = tempfile.mkdtemp()
    >>> corpus = partwise.encode(partwise.SequenceTagger(), lambda: pieces, folder)
    >>> corpus.n_examples
    2
    >>> partwise.SequenceTagger().fit(corpus).predict([[["the"]]])
    [['D']]
    """
    check_learns_from_folders(estimator)
    path = Path(folder)
    check_new_folder(path, overwrite)
    if type(shards) is not int or not 1 <= shards < 2**20:
        raise ValueError(f"shards must be a number from 1 on, not {shards!r}")
    pieces: Pieces = data if callable(data) else lambda: [tuple(data)]
    settled = copy.copy(estimator)
    survey = _survey_all(settled, pieces)
    settled._settle(survey)
    with new_folder(path, overwrite) as writer:
        written = 0
        for piece in pieces():
            written += settled._write_piece(writer, *piece)
        if written != survey.n_examples:
            raise DataError(
                f"there were {survey.n_examples} examples at first, and {written} when "
                "they were read again; data must be a function that returns all pieces "
                "every time, not one iterator"
            )
        tensors, settings = settled._store_encoding()
        labels, are_integers = pack_labels("labels", settled._labels)
        counts = [survey.labels[label] for label in settled._labels.classes]
        tensors["label_counts"] = np.array(counts, np.int64)
        settings |= {
            "estimator": type(estimator).__name__,
            "n_examples": written,
            "n_shards": shards,
            "integer_labels": are_integers,
        }
        writer.close(tensors | labels, settings, KIND)
    return encoded(path)


def _survey_all(estimator: Any, pieces: Pieces) -> Survey:
    """Return what all pieces say together."""
    whole: Survey | None = None
    for number, piece in enumerate(pieces()):
        try:
            found = estimator._survey(*piece)
            if whole is None:
                whole = found
            else:
                whole.go_on_with(found)
        except DataError as error:
            if number:
                raise error.located(f"piece {number}") from None
            raise
    if whole is None:
        raise DataError("there are no data: not a single piece")
    return whole


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


def check_learns_from_folders(estimator: Any) -> None:
    """Raise `TypeError` for an estimator whose corpora cannot be encoded."""
    if not isinstance(estimator, LearnsFromFolders):
        raise TypeError(
            f"{type(estimator).__name__} cannot learn from a folder; SequenceTagger "
            "and MulticlassClassifier can"
        )
