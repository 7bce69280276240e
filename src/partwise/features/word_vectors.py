"""Word vectors: a table of numbers for every word it knows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.data.files import Source
from partwise.data.vectors import read_vectors
from partwise.errors import DataError, ModelFileError, PartwiseError
from partwise.features.array_features import WIDEST, Vectors
from partwise.features.strings import Settings, Tensors
from partwise.model_file.content import Content
from partwise.model_file.packing import pack_strings, prefixed, stored_strings

# What the vector of all words that are not in a file is called, in common files.
UNKNOWN_WORDS = ("<unk>", "<UNK>", "UNK", "[UNK]")
ENDINGS = (".gz", ".txt", ".vec", ".npy", ".w2v", ".bz2")


@dataclass(frozen=True, repr=False, eq=False)
class WordVectors:
    """The vectors of words, to be looked up for every token.

    A word that is not in the table is looked for in lower case. If it is not there
    either, it has the vector of ``<unk>`` (or ``UNK``), and without one no vector:
    zeros, which is the mean if vectors are scaled.

    Parameters
    ----------
    words : sequence of str
        The words, all different.
    matrix : float array of shape (n_words, n_columns)
        Their vectors; kept in float32.
    name : str, default="vectors"
        What the columns are called: ``name[0]``, ``name[1]``, ...
    word : str, default="word"
        Where tokens are dicts, the feature that is the word.
    column : int, default=0
        Where tokens are columns, the one that is the word.
    keep : bool, default=True
        Whether model files carry the vectors. Otherwise they carry the name and a
        checksum, and whoever loads the model gives it the same vectors with
        `attach_vectors`, or ``--vectors`` on the command line.

    Examples
    --------
    >>> vectors = WordVectors(["the", "Paris"], [[0.0, 1.0], [0.5, 0.25]])
    >>> values, known = vectors.look_up(["The", "Paris", "xyz"])
    >>> values.tolist()
    [[0.0, 1.0], [0.5, 0.25], [0.0, 0.0]]
    >>> known.tolist()
    [True, True, False]
    """

    words: Sequence[str]
    matrix: Any
    name: str = "vectors"
    word: str = "word"
    column: int = 0
    keep: bool = True
    missing_checksum: str = ""

    def __post_init__(self) -> None:
        """Check the words and bring the vectors into one form."""
        with np.errstate(over="ignore"):  # what is too large is not finite then
            matrix = np.ascontiguousarray(self.matrix, np.float32)
        if matrix.ndim != 2 or not 1 <= matrix.shape[1] < WIDEST:
            raise ValueError(f"vectors must be a matrix, not of shape {matrix.shape}")
        if len(matrix) != len(self.words):
            raise ValueError(f"{len(matrix)} vectors for {len(self.words)} words")
        if not np.isfinite(matrix).all():
            raise ValueError("the numbers of vectors must be finite")
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "words", tuple(self.words))
        if len(self._row_of) != len(self.words):
            raise ValueError("a word is listed twice; give each one vector")

    @classmethod
    def read(
        cls,
        source: Source,
        *,
        words: Source | None = None,
        limit: int | None = None,
        name: str | None = None,
        word: str = "word",
        column: int = 0,
        keep: bool = True,
    ) -> WordVectors:
        r"""Read a word2vec, GloVe or fastText text file, or a ``.npy`` file.

        Parameters
        ----------
        source, words, limit
            As in `partwise.data.read_vectors`.
        name : str, optional
            What the columns are called; by default after the file.
        word, column, keep
            As in the constructor.

        Examples
        --------
        >>> import io
        >>> WordVectors.read(io.StringIO("2 3\nthe 0 1 0.5\nof 1 0 2\n"))
        WordVectors(2 words, 3 columns, 'vectors')
        """
        listed, matrix = read_vectors(source, words=words, limit=limit)
        if name is None:
            is_path = isinstance(source, str | PathLike) and source != "-"
            name = _short(Path(source).name) if is_path else "vectors"  # type: ignore[arg-type]
        return cls(listed, matrix, name, word, column, keep)

    def __repr__(self) -> str:
        """Show the sizes."""
        where = f"{len(self.words):,} words" if self.is_here else "not loaded"
        return f"WordVectors({where}, {self.width} columns, {self.name!r})"

    @property
    def width(self) -> int:
        """How many columns the vectors have."""
        return int(self.matrix.shape[1])

    @property
    def is_here(self) -> bool:
        """Whether the vectors are here, not only their checksum."""
        return not self.missing_checksum

    def check_here(self) -> None:
        """Raise `PartwiseError` if only the checksum is here."""
        if not self.is_here:
            raise PartwiseError(
                f"the model does not carry its vectors {self.name!r}: give them with "
                "model.attach_vectors(file), or --vectors on the command line"
            )

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    @cached_property
    def checksum(self) -> str:
        """A SHA-256 of words and numbers, whatever file they were read from."""
        if not self.is_here:
            return self.missing_checksum
        digest = hashlib.sha256(repr(self.matrix.shape).encode())
        digest.update("\n".join(self.words).encode("utf-8", "surrogatepass"))
        digest.update(self.matrix.astype("<f4", copy=False).tobytes())
        return digest.hexdigest()

    def look_up(self, words: Sequence[str | None]) -> Vectors:
        """Return a row for every word, and which of them have a vector."""
        self.check_here()
        get = self._row_of.get
        rest = next(
            (get(word, -1) for word in UNKNOWN_WORDS if word in self._row_of), -1
        )
        row_of = {
            word: rest if word is None else get(word, get(word.lower(), rest))
            for word in set(words)
        }
        rows = np.array([row_of[word] for word in words], np.int64)
        values = self.matrix[rows] if len(self.words) else _zeros(len(rows), self.width)
        values[rows < 0] = 0.0
        return Vectors(values, rows >= 0)

    def words_of(self, tokens: Iterable[Any]) -> list[str | None]:
        """Return the words of feature dicts, None where there is none."""
        found = (t.get(self.word) if isinstance(t, Mapping) else None for t in tokens)
        return [word if isinstance(word, str) else None for word in found]

    # Storing

    def to_tensors(self) -> tuple[Tensors, Settings]:
        """Return the vectors, or their checksum, for a model file."""
        settings: Settings = {
            "name": self.name,
            "word": self.word,
            "column": self.column,
            "keep": self.keep,
            "width": self.width,
            "checksum": self.checksum,
        }
        if not self.keep:
            return {}, settings
        words = pack_strings(self.words, by_character=True)
        return {"matrix": self.matrix, **prefixed("words", words)}, settings

    @classmethod
    def from_tensors(
        cls, tensors: Mapping[str, NDArray[Any]], settings: object
    ) -> WordVectors:
        """Rebuild vectors from what `to_tensors` returned, trusting nothing.

        Raises
        ------
        ModelFileError
            If anything is missing or does not fit together.
        """
        if not isinstance(settings, Mapping):
            raise ModelFileError("word vectors are damaged: their settings are missing")
        content = Content(tensors, settings, "", 0, "")
        given: dict[str, Any] = {
            "name": content.setting("name", str),
            "word": content.setting("word", str),
            "column": content.setting("column", int, at_least=0, below=2**31),
            "keep": content.setting("keep", bool),
        }
        width = content.setting("width", int, at_least=1, below=WIDEST)
        checksum = content.setting("checksum", str)
        if not checksum:
            raise ModelFileError("word vectors are damaged: there is no checksum")
        if not given["keep"]:
            nothing = np.zeros((0, width), np.float32)
            return cls((), nothing, **given, missing_checksum=checksum)
        words = stored_strings(content, "words", unique=True)
        shape = (len(words), width)
        matrix = content.tensor("matrix", dtype=np.float32, ndim=2, shape=shape)
        return cls(words, matrix, **given)

    def found(self, given: WordVectors) -> WordVectors:
        """Return the vectors that this checksum is of; refuse any others."""
        if given.checksum != self.checksum:
            raise DataError(
                f"{given!r} are not the vectors the model was trained with: the "
                f"checksum is {given.checksum[:12]}..., expected "
                f"{self.checksum[:12]}... (use the same file, and the same limit)"
            )
        return WordVectors(
            given.words, given.matrix, self.name, self.word, self.column, self.keep
        )


def _short(name: str) -> str:
    """Return the name of a file without its endings."""
    while name.endswith(ENDINGS) and Path(name).suffix:
        name = name[: -len(Path(name).suffix)]
    return name or "vectors"


def _zeros(n_rows: int, width: int) -> NDArray[np.float32]:
    return np.zeros((n_rows, width), np.float32)


def as_word_vectors(given: Any) -> tuple[WordVectors, ...]:
    """Return the tables that a setting names: one or several, or their files.

    Examples
    --------
    >>> as_word_vectors(WordVectors(["a"], [[1.0]]))
    (WordVectors(1 words, 1 columns, 'vectors'),)
    """
    if given is None:
        return ()
    listed = given if isinstance(given, list | tuple) else [given]
    tables = []
    for one in listed:
        if isinstance(one, str | PathLike):
            one = WordVectors.read(one)
        if not isinstance(one, WordVectors):
            raise TypeError(
                "vectors must be a file, WordVectors or a list of these, not "
                f"{type(one).__name__}"
            )
        tables.append(one)
    return tuple(tables)
