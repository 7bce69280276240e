"""Corpora that are encoded once, into a folder: for data larger than memory.

A corpus is read twice, piece by piece: first for vocabularies and labels, then to write
its features and labels as arrays. Training maps the arrays, so that they take no memory
that the system could not take back. What is in the folder is what the estimator would
have had in memory, number for number.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from partwise.errors import DataError
from partwise.estimators.encoded_corpus import (
    KIND,
    CorpusPart,
    EncodedCorpus,
    encoded,
)
from partwise.estimators.labels import LabelCodes
from partwise.estimators.settings import settings_of
from partwise.estimators.shards import LearnsFromShards
from partwise.estimators.stored_labels import pack_labels, unpack_labels
from partwise.estimators.survey import Survey
from partwise.model_file import Content
from partwise.model_file.folder import FolderWriter, check_new_folder, new_folder
from partwise.structures.interface import IntArray

SHARDS = 16

Pieces = Callable[[], Iterable[tuple[Any, ...]]]
"""Returns the pieces of a corpus, each as `fit` takes it, every time it is called."""


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


def check_learns_from_folders(estimator: Any) -> None:
    """Raise `TypeError` for an estimator whose corpora cannot be encoded."""
    if not isinstance(estimator, LearnsFromFolders):
        raise TypeError(
            f"{type(estimator).__name__} cannot learn from a folder; SequenceTagger "
            "and MulticlassClassifier can"
        )
