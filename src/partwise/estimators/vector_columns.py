"""What a model knows of vectors: their blocks, in order, and how they are scaled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError, ModelFileError
from partwise.features.array_features import WIDEST, Vectors, float_type
from partwise.features.word_vectors import WordVectors
from partwise.model_file import Content, prefixed
from partwise.structures.rows import VectorRows, make_vector_rows

MATRIX = "vectors"
"""What the block of a matrix that is given with a sequence is called."""
SOURCES = ("array", "matrix", "table")
SQUARED_LENGTH = 10.0
"""Of a scaled vector, on average: it weighs as much as so many features of words. On
development data, with vectors of a transformer, 5 to 30 are alike (docs/benchmarks)."""
CHUNK = 4096  # rows that are scaled at a time, so that float64 takes little memory


class Block(NamedTuple):
    """Some columns, side by side.

    Attributes
    ----------
    name : str
        What they are called.
    width : int
        How many there are.
    source : {"array", "matrix", "table"}
        A feature of dicts, the matrix of a sequence, or a table of word vectors.
    """

    name: str
    width: int
    source: str


class VectorNames(Sequence[str]):
    """The names of columns, ``vector[0]``, ``vector[1]``, ...; made when asked for."""

    def __init__(self, blocks: Sequence[Block]):
        self.blocks = tuple(blocks)

    def __len__(self) -> int:
        """Return how many columns there are."""
        return sum(block.width for block in self.blocks)

    def __getitem__(self, index: Any) -> Any:
        """Return one name."""
        index = range(len(self))[index]
        for block in self.blocks:
            if index < block.width:
                return f"{block.name}[{index}]"
            index -= block.width
        raise IndexError(index)


class VectorColumns:
    """Vectors beside words, as a model learnt them.

    Parameters
    ----------
    tables : sequence of WordVectors
        Vectors that are looked up.
    scaled : bool
        Whether columns are brought to mean 0 and to the same standard deviation.

    Attributes
    ----------
    blocks : tuple of Block
        What was learnt.
    mean, factor : float64 arrays
        What is subtracted from a column, and what it is multiplied by; empty if columns
        are not scaled.
    dtype : type
        The precision of all columns.
    """

    def __init__(self, tables: Sequence[WordVectors] = (), scaled: bool = False):
        self.tables = tuple(tables)
        self.scaled = scaled
        self.blocks: tuple[Block, ...] = ()
        self.mean = self.factor = np.zeros(0)
        self.dtype: Any = np.float32

    @property
    def width(self) -> int:
        """How many columns there are."""
        return sum(block.width for block in self.blocks)

    @property
    def names(self) -> VectorNames:
        """The names of the columns."""
        return VectorNames(self.blocks)

    @property
    def setting(self) -> Any:
        """The tables, as the setting `vectors` has them."""
        return self.tables or None

    @property
    def takes_matrices(self) -> bool:
        """Whether vectors are given with every token or sequence, not looked up."""
        return any(block.source != "table" for block in self.blocks)

    @property
    def matrix_width(self) -> int | None:
        """How many columns the matrix of a sequence has; None if there is none."""
        return next((b.width for b in self.blocks if b.source == "matrix"), None)

    # --- learning and encoding --------------------------------------------------------

    def learn(
        self,
        arrays: Mapping[str, Vectors],
        matrix: Vectors | None,
        words: Sequence[Sequence[str | None]],
    ) -> VectorRows | None:
        """Learn what vectors there are, and encode them; None if there are none.

        Parameters
        ----------
        arrays : dict of str to Vectors
            Features of dicts.
        matrix : Vectors or None
            What was given with the sequences.
        words : sequence of sequences of str
            For every table, the word of every token.
        """
        for table, own in zip(self.tables, words, strict=True):
            if own and all(word is None for word in own):
                raise DataError(
                    f"no token has a feature {table.word!r} with its word, by which "
                    f"vectors {table.name!r} are looked up (name the feature with "
                    "WordVectors.read(file, word=...))"
                )
        given = self._given(arrays, matrix, words)
        names = [name for name, _, _ in given]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError(
                f"two kinds of vectors are called {twice!r}; rename one, say with "
                "WordVectors.read(file, name=...)"
            )
        if not given:
            return None
        self.blocks = tuple(
            Block(name, vectors.values.shape[1], source)
            for name, source, vectors in given
        )
        self.dtype = float_type(*(vectors.values.dtype for _, _, vectors in given))
        stacked, known = self._side_by_side([vectors for _, _, vectors in given])
        if self.scaled:
            self.mean, deviation = _moments(stacked, known)
            # A column that never changes says nothing, and is left out.
            widths = [block.width for block in self.blocks]
            wanted = np.sqrt(SQUARED_LENGTH / np.repeat(widths, widths))
            still = deviation <= 1e-6 * np.maximum(np.abs(self.mean), 1e-300)
            self.factor = np.where(still, 0.0, wanted / np.where(still, 1.0, deviation))
        return self._finish(stacked, known)

    def encode(
        self,
        arrays: Mapping[str, Vectors],
        matrix: Vectors | None,
        words: Sequence[Sequence[str | None]],
    ) -> VectorRows:
        """Encode vectors as they were learnt."""
        given = self._given(arrays, matrix, words)
        stacked, known = self._side_by_side([vectors for _, _, vectors in given])
        return self._finish(stacked, known)

    def check_given(self, has_matrices: bool, form: str = "(X, matrices)") -> None:
        """Refuse matrices where there were none in training, and the reverse."""
        if has_matrices and self.matrix_width is None:
            raise DataError(
                f"the model was trained without {form}: leave the vectors out, or "
                "train with them"
            )
        if not has_matrices and self.matrix_width is not None:
            raise DataError(
                f"the model was trained with vectors, {self.matrix_width} columns of "
                f"them: give {form}"
            )

    def _given(
        self,
        arrays: Mapping[str, Vectors],
        matrix: Vectors | None,
        words: Sequence[Sequence[str | None]],
    ) -> list[tuple[str, str, Vectors]]:
        given = [(name, "array", vectors) for name, vectors in arrays.items()]
        if matrix is not None:
            given.append((MATRIX, "matrix", matrix))
        for table, own in zip(self.tables, words, strict=True):
            given.append((table.name, "table", table.look_up(own)))
        return given

    def _side_by_side(
        self, parts: Sequence[Vectors]
    ) -> tuple[NDArray[Any], list[NDArray[np.bool_]]]:
        known = [part.known for part in parts]
        if len(parts) == 1:
            return parts[0].values.astype(self.dtype, copy=False), known
        stacked = np.empty((len(known[0]), self.width), self.dtype)
        for columns, part in zip(self._slices(), parts, strict=True):
            stacked[:, columns] = part.values
        return stacked, known

    def _slices(self) -> Iterator[slice]:
        at = 0
        for block in self.blocks:
            yield slice(at, at + block.width)
            at += block.width

    def _finish(
        self, stacked: NDArray[Any], known: list[NDArray[np.bool_]]
    ) -> VectorRows:
        if self.scaled:
            for at in range(0, len(stacked), CHUNK):
                piece = stacked[at : at + CHUNK]
                piece[:] = (piece - self.mean) * self.factor
            # A token without a vector is like the average.
            for columns, has_one in zip(self._slices(), known, strict=True):
                if not has_one.all():
                    stacked[~has_one, columns] = 0.0
        try:
            return make_vector_rows(stacked)
        except ValueError as error:  # too large, or only after scaling
            raise DataError(str(error)) from None

    # --- storing ----------------------------------------------------------------------

    def to_tensors(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return all that was learnt, for a model file."""
        tensors: dict[str, Any] = {}
        described = []
        for number, table in enumerate(self.tables):
            own, settings = table.to_tensors()
            tensors |= prefixed(f"tables.{number}", dict(own))
            described.append(settings)
        if self.scaled:
            tensors |= {"mean": self.mean, "factor": self.factor}
        return tensors, {
            "blocks": [list(block) for block in self.blocks],
            "scaled": self.scaled,
            "precision": np.dtype(self.dtype).name,
            "tables": described,
        }

    @classmethod
    def from_content(cls, content: Content) -> VectorColumns:
        """Rebuild what was learnt from a part of a model file, trusting nothing."""
        try:
            tables = [
                WordVectors.from_tensors(
                    content.part(f"tables.{number}").tensors, described
                )
                for number, described in enumerate(content.setting("tables", list))
            ]
        except (ModelFileError, ValueError) as error:
            raise content.error(str(error)) from None
        columns = cls(tables, content.setting("scaled", bool))
        columns.blocks = tuple(
            _block(given, content) for given in content.setting("blocks", list)
        )
        looked_up = [(b.name, b.width) for b in columns.blocks if b.source == "table"]
        if looked_up != [(table.name, table.width) for table in tables]:
            raise content.error("the tables of vectors do not fit the columns")
        if not columns.blocks or len({b.name for b in columns.blocks}) < len(
            columns.blocks
        ):
            raise content.error(
                "the blocks of vectors should be different, one at least"
            )
        kinds = [block.source for block in columns.blocks]
        if kinds != sorted(kinds, key=SOURCES.index) or kinds.count("matrix") > 1:
            raise content.error("the blocks of vectors are out of order")
        precision = content.setting("precision", str, choices=("float32", "float64"))
        columns.dtype = np.float32 if precision == "float32" else np.float64
        if columns.scaled:
            shape = (columns.width,)
            columns.mean = content.tensor("mean", dtype=np.float64, shape=shape)
            columns.factor = content.tensor("factor", dtype=np.float64, shape=shape)
        return columns

    def attach(self, given: WordVectors) -> None:
        """Take vectors that a model file named without holding them.

        Raises
        ------
        DataError
            If the model needs none, or others.
        """
        absent = [table for table in self.tables if not table.is_here]
        if not absent:
            raise DataError("the model has all its vectors; there is nothing to attach")
        fitting = [table for table in absent if table.checksum == given.checksum]
        wanted = (fitting or absent)[0]
        found = wanted.found(given)
        self.tables = tuple(found if t is wanted else t for t in self.tables)


def store_vectors(
    columns: VectorColumns, tensors: dict[str, Any], settings: dict[str, Any]
) -> None:
    """Add vectors to what a model file holds; nothing if there are none."""
    if columns.blocks:
        own, settings["vectors"] = columns.to_tensors()
        tensors |= prefixed("vectors", own)


def read_vectors(content: Content, arrays: Mapping[str, int]) -> VectorColumns:
    """Return what a model file says of vectors; its dicts have `arrays`, by length."""
    columns = VectorColumns()
    if "vectors" in content.settings:
        columns = VectorColumns.from_content(content.part("vectors"))
    own = {b.name: b.width for b in columns.blocks if b.source == "array"}
    if list(own.items()) != list(arrays.items()):
        raise content.error("the vectors do not fit those of the vocabulary")
    return columns


def _block(given: Any, content: Content) -> Block:
    if not isinstance(given, list) or len(given) != 3:
        raise content.error("a block of vectors should be a name, a width, a source")
    name, width, source = given
    if not isinstance(name, str) or type(width) is not int or not 0 < width < WIDEST:
        raise content.error("a block of vectors has no name, or no sensible width")
    if source not in SOURCES:
        raise content.error(f"a block of vectors comes from {source!r}")
    return Block(name, width, source)


def _moments(
    values: NDArray[Any], known: list[NDArray[np.bool_]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean and the standard deviation of every column.

    Tokens without any vector do not count.
    """
    rows = np.logical_and.reduce(known)
    if not rows.any():
        rows[:] = True
    count, width = int(rows.sum()), values.shape[1]
    mean, squares = np.zeros(width), np.zeros(width)
    for at in range(0, len(values), CHUNK):
        mean += values[at : at + CHUNK][rows[at : at + CHUNK]].sum(0, np.float64)
    mean /= count
    for at in range(0, len(values), CHUNK):
        piece = values[at : at + CHUNK][rows[at : at + CHUNK]] - mean
        squares += (piece * piece).sum(0)
    return mean, np.sqrt(squares / count)
