"""The tagger: a model, and the sequence it was last given."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.errors import ModelFileError
from partwise.features.vocabulary import Vocabulary, joined_vocabulary
from partwise.foreign import (
    ChainModel,
    read_crfsuite_model,
    write_crfsuite_model,
)
from partwise.foreign.crfsuite import HEADER, MAGIC, Header, read_header
from partwise.pycrfsuite import decoding
from partwise.pycrfsuite._dumpparser import ParsedDump, dump_lines, parsed_dump
from partwise.pycrfsuite.items import Items, as_text, read_items
from partwise.pycrfsuite.lookup import SentenceLookup
from partwise.pycrfsuite.records import Records, make_records
from partwise.pycrfsuite.string_lookup import StringLookup
from partwise.pycrfsuite.token_lookup import TokenLookup
from partwise.structures.chain import make_chain
from partwise.structures.decoding import part_marginals
from partwise.structures.rows import make_dense_rows


class _Opened(NamedTuple):
    """A model that is open, and what tagging needs of it."""

    model: ChainModel
    header: Header
    size: int
    vocabulary: Vocabulary
    records: Records
    sentence_lookups: tuple[StringLookup, SentenceLookup]
    token_lookup: TokenLookup
    number_of: dict[str, int]

    def read(self, xseq: Any) -> tuple[Items, NDArray[np.uint64]]:
        """Return where the records of attributes begin, and the words they are in."""
        for lookup in self.sentence_lookups:
            items = lookup.read(xseq)
            if items is not None:
                return items, lookup.records
        items = self.token_lookup.read(xseq)
        if items is None:
            items = read_items(xseq, self.vocabulary)
        starts = self.records.starts(items.numbers)
        return items._replace(numbers=starts), self.records.words


class _Marginals(NamedTuple):
    probabilities: list[list[float]]
    scores: NDArray[np.float64]
    log_z: float


NO_ITEMS = Items(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0))
NO_WORDS = np.zeros(0, np.uint64)


class Tagger:
    """Tags sequences with a model that `Trainer.train` or CRFsuite wrote.

    Examples
    --------
    >>> import tempfile
    >>> from partwise.pycrfsuite import Trainer
    >>> trainer = Trainer("ap", verbose=False)
    >>> trainer.append([["walk"], ["shop"]], ["sunny", "rainy"])
    >>> path = f"{tempfile.mkdtemp()}/weather.crfsuite"
    >>> trainer.train(path)
    >>> tagger = Tagger()
    >>> _ = tagger.open(path)
    >>> tagger.tag([["walk"]]), tagger.labels()
    (['sunny'], ['sunny', 'rainy'])
    """

    def __init__(self) -> None:
        self._opened: _Opened | None = None
        self._items, self._words = NO_ITEMS, NO_WORDS
        self._marginals: _Marginals | None = None

    def open(self, name: Any) -> Any:
        """Open a model file.

        Parameters
        ----------
        name : str or path
            The file.

        Returns
        -------
        context manager
            Closes the tagger; its value is the tagger.
        """
        self._check_model(name)
        with open(name, "rb") as file:
            self._load(file.read(), f"{os.fsdecode(name)}")
        return contextlib.closing(self)

    def open_inmemory(self, value: bytes) -> Any:
        """Open the content of a model file.

        Parameters
        ----------
        value : bytes
            All of the file.

        Returns
        -------
        context manager
            Closes the tagger; its value is the tagger.
        """
        if not isinstance(value, bytes):
            raise TypeError(
                "Argument 'value' has incorrect type (expected bytes, got "
                f"{type(value).__name__})"
            )
        self._check_inmemory_model(value)
        self._load(value, "model")
        return contextlib.closing(self)

    def _check_model(self, name: Any) -> None:
        with open(name, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise ValueError(f"Invalid model file {name!r}")
            if file.seek(0, os.SEEK_END) <= HEADER:
                raise ValueError(f"Model file {name!r} doesn't have a complete header")

    def _check_inmemory_model(self, value: bytes) -> None:
        if value[: len(MAGIC)] != MAGIC:
            raise ValueError("Invalid model")
        if len(value) < HEADER:
            raise ValueError("Invalid model: incomplete header")

    def _load(self, data: bytes, source: str) -> None:
        self.close()
        try:
            model = read_crfsuite_model(data, source)
            header = read_header(data, source)
        except ModelFileError as error:
            raise ValueError(f"Error opening model file: {error}") from None
        records = make_records(model.ptr, model.label, model.weight, len(model.labels))
        vocabulary = joined_vocabulary(model.attributes)
        self._opened = _Opened(
            model,
            header,
            len(data),
            vocabulary,
            records,
            (
                StringLookup(model.attributes, records),
                SentenceLookup(vocabulary, records),
            ),
            TokenLookup(vocabulary),
            {label: number for number, label in enumerate(model.labels)},
        )
        self._items, self._marginals = NO_ITEMS, None

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: the bytes of a model file."""
        opened = self._opened
        data = None if opened is None else write_crfsuite_model(opened.model)
        return {"model": data}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Open the model of a pickle, checked like every model."""
        self.__init__()  # type: ignore[misc]
        if state["model"] is not None:
            self.open_inmemory(state["model"])

    def close(self) -> None:
        """Close the model."""
        self._opened = None

    def _open_model(self) -> _Opened:
        if self._opened is None:
            raise ValueError("The tagger is not opened")
        return self._opened

    def labels(self) -> list[str]:
        """Return the labels of the model."""
        return list(self._open_model().model.labels)

    def set(self, xseq: Any) -> None:
        """Take a sequence, for `tag`, `probability` and `marginal`.

        Parameters
        ----------
        xseq : iterable of items, or ItemSequence
            The features of every token.
        """
        opened = self._open_model()
        self._items, self._words = opened.read(xseq)
        self._marginals = None

    def tag(self, xseq: Any = None) -> list[str]:
        """Return the best labels of a sequence, or of the one that was last given.

        Parameters
        ----------
        xseq : iterable of items, or ItemSequence, optional
            The features of every token.
        """
        if xseq is not None:
            self.set(xseq)
        opened = self._open_model()
        labels, (ptr, starts, values) = opened.model.labels, self._items
        if ptr.size == 1:
            return []
        path = decoding.tag_path(
            ptr, starts, values, self._words, opened.model.transitions
        )
        return [labels[number] for number in path.tolist()]

    def probability(self, yseq: Any) -> float:
        """Return the probability of labels for the sequence that was last given.

        Parameters
        ----------
        yseq : iterable of str
            A label for every token.
        """
        opened = self._open_model()
        n_items, names = self._items.ptr.size - 1, list(map(as_text, yseq))
        if n_items == 0:
            return 0.0
        if len(names) != n_items:
            raise ValueError(
                f"The numbers of items and labels differ: |x| = {n_items}, "
                f"|y| = {len(names)}"
            )
        path = [self._number_of(opened, name) for name in names]
        found = self._sums(opened)
        score = float(found.scores[np.arange(n_items), path].sum())
        score += float(opened.model.transitions[path[:-1], path[1:]].sum())
        return float(np.exp(score - found.log_z))

    def marginal(self, y: Any, pos: int) -> float:
        """Return the probability of a label at a token of the sequence last given.

        Parameters
        ----------
        y : str
            The label.
        pos : int
            The token, from 0.
        """
        opened, n_items, at = self._open_model(), self._items.ptr.size - 1, int(pos)
        if n_items == 0:
            return 0.0
        if not 0 <= at < n_items:
            raise ValueError(f"The position, {at}is out of range of {n_items}")
        number = self._number_of(opened, y)
        found = self._marginals or self._sums(opened)
        return found.probabilities[at][number]

    @staticmethod
    def _number_of(opened: _Opened, label: Any) -> int:
        name = as_text(label)
        if name not in opened.number_of:
            raise RuntimeError(f"Failed to convert into label identifier: {name}")
        return opened.number_of[name]

    def _sums(self, opened: _Opened) -> _Marginals:
        """Return the sums over all label sequences, computed once a sequence."""
        if self._marginals is None:
            K = len(opened.model.labels)
            scores = decoding.state_scores(*self._items, self._words, K)
            # The scores are features of their own here, each with a weight of one.
            chain = make_chain(make_dense_rows(scores), [0, len(scores)], None, K)
            w = np.concatenate([np.eye(K).ravel(), opened.model.transitions.ravel()])
            _, mu, log_z = part_marginals(chain, w, np.array([scores.size]), 1)
            rows = mu.reshape(-1, K).tolist()
            self._marginals = _Marginals(rows, scores, float(log_z[0]))
        return self._marginals

    def dump(self, filename: Any = None) -> None:
        """Write the model as text.

        Parameters
        ----------
        filename : str, optional
            The file; standard output by default.
        """
        lines = dump_lines(*self._content())
        if filename is None:
            sys.stdout.writelines(lines)
            return
        with open(filename, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.writelines(lines)

    def info(self) -> ParsedDump:
        """Return what is inside the model."""
        return parsed_dump(*self._content())

    def _content(self) -> tuple[ChainModel, Header, int]:
        if self._opened is None:
            raise RuntimeError("Tagger is closed")
        return self._opened.model, self._opened.header, self._opened.size
