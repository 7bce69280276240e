"""Features of nodes, edges and larger cliques: dicts or numbers, in one form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy

from partwise.errors import DataError
from partwise.estimators.sparse_input import check_sparse
from partwise.estimators.vector_columns import VectorColumns
from partwise.features import Encoded, FeatureDictEncoder
from partwise.features.array_features import Vectors
from partwise.features.reading import learn_beyond
from partwise.structures.rows import (
    LARGEST,
    SparseRows,
    VectorRows,
    make_sparse_rows,
)

ELEMENTS = ("node", "edge", "clique")

Where = Callable[[int, int | None], str]
"""Says where an error is: in which graph, and which element of it if that is known."""


class ElementFeatures:
    """The features of nodes, of edges, or of cliques; and a constant one.

    Dicts are encoded with a vocabulary, rows of numbers are taken as they are.

    Parameters
    ----------
    what : {"node", "edge", "clique"}
        For error messages.
    """

    def __init__(self, what: str):
        self.what = what
        self.encoder: FeatureDictEncoder | None = None
        self.vectors = VectorColumns()
        self.width = 0

    @property
    def n_columns(self) -> int:
        """How many features there are, the constant one last."""
        return self.width + 1

    def names(self) -> list[str]:
        """Name the features."""
        if self.encoder is not None:
            names = self.encoder.attribute_names()
            return [*names, *self.vectors.names, "(constant)"]
        return [*(f"x{j}" for j in range(self.width)), "(constant)"]

    def learn(
        self,
        blocks: Sequence[Any],
        counts: Sequence[int],
        where: Where,
        min_count: int,
        hash_bits: int | None,
        scale_vectors: bool = False,
        before: ElementFeatures | None = None,
    ) -> SparseRows:
        """Learn what features there are from those of all graphs; encode them.

        Those that were there `before` are kept, with the same numbers.
        """
        given = [block for block in blocks if block is not None and _length(block)]
        given = [block for block in given if not _is_bare(block)] or given
        if before is not None and (before.width or not given):
            # Numbers stay as many, and dicts stay dicts, even where none are given.
            self.width, self.encoder = before.width, before.encoder
        if given and self.encoder is None and _is_matrix(given[0]):
            width = given[0].shape[1] if given[0].ndim == 2 else 0
            self.width = self.width or width
        elif given and (self.encoder is not None or not self.width):
            encoder = FeatureDictEncoder(min_count, hash_bits, arrays=True)
            self.vectors = VectorColumns(scaled=scale_vectors)

            def learn(dicts: list[Any]) -> Encoded:
                if self.encoder is None or hash_bits is not None:
                    return encoder.fit_encode_rows(dicts)
                read = encoder.fit_encode_rows, encoder.encode_rows
                return learn_beyond(encoder, self.encoder, dicts, *read)

            ptr, idx, val, arrays = self._rows(learn, blocks, counts, where)
            self.encoder = encoder
            vectors = self.vectors.learn(arrays, None, ())
            self.width = encoder.n_attributes + self.vectors.width
            return self._finish(*self._beside(ptr, idx, val, vectors))
        return self.encode(blocks, counts, where)

    def encode(
        self, blocks: Sequence[Any], counts: Sequence[int], where: Where
    ) -> SparseRows:
        """Encode the features of all graphs; `counts` says how many rows each has."""
        if self.encoder is not None:
            encode = self.encoder.encode_rows
            ptr, idx, val, arrays = self._rows(encode, blocks, counts, where)
            vectors = None
            if self.vectors.blocks:
                vectors = self.vectors.encode(arrays, None, ())
            return self._finish(*self._beside(ptr, idx, val, vectors))
        matrices = [scipy.sparse.csr_array((0, self.width))]
        for i, (block, count) in enumerate(zip(blocks, counts, strict=True)):
            if block is None or not _length(block) or _is_bare(block):
                matrices.append(scipy.sparse.csr_array((count, self.width)))
            else:
                matrices.append(self._matrix(block, i, where))
        stacked = scipy.sparse.csr_array(scipy.sparse.vstack(matrices, "csr"))
        stacked.sum_duplicates()
        return self._finish(stacked.indptr, stacked.indices, stacked.data)

    def _rows(
        self,
        encode: Callable[[list[Any]], Encoded],
        blocks: Sequence[Any],
        counts: Sequence[int],
        where: Where,
    ) -> tuple[Any, Any, Any, Mapping[str, Vectors]]:
        """Encode dicts; say where one cannot be encoded."""
        try:
            encoded = encode(self._dicts(blocks, counts, where))
        except DataError as error:
            if error.example is None:
                raise
            i, j = _element(error.example, counts)
            raise error.located(where(i, j), example=i, part=j) from None
        ptr, idx, val, _ = encoded.nodes
        large = np.flatnonzero(np.abs(val) > LARGEST)
        if large.size:
            row = int(np.searchsorted(ptr, large[0], "right")) - 1
            raise _too_large(*_element(row, counts), where)
        return ptr, idx, val, encoded.vectors

    def _beside(
        self, ptr: Any, idx: Any, val: Any, vectors: VectorRows | None
    ) -> tuple[Any, Any, Any]:
        """Put vectors after the attributes of every row.

        Kinds of cliques have different features, so that rows are sparse here.
        """
        if vectors is None or self.encoder is None:
            return ptr, idx, val
        n, width = vectors.values.shape
        first = self.encoder.n_attributes
        ends = np.repeat(np.asarray(ptr[1:], np.int64), width)
        val = np.ones(len(idx)) if len(val) == 0 else val
        columns = np.tile(np.arange(first, first + width, dtype=np.int32), n)
        idx = np.insert(np.asarray(idx, np.int32), ends, columns)
        val = np.insert(np.asarray(val, np.float64), ends, vectors.values.ravel())
        return np.asarray(ptr, np.int64) + width * np.arange(n + 1), idx, val

    def _dicts(
        self, blocks: Sequence[Any], counts: Sequence[int], where: Where
    ) -> list[Any]:
        rows: list[Any] = []
        for i, (block, count) in enumerate(zip(blocks, counts, strict=True)):
            if block is None or not _length(block):
                rows += [{}] * count
            elif _is_matrix(block):
                raise DataError(
                    f"its {self.what} features are numbers, but those of other graphs "
                    "are dicts",
                    where=where(i, None),
                    example=i,
                )
            else:
                rows += block
        return rows

    def _matrix(self, block: Any, i: int, where: Where) -> Any:
        def error(problem: str) -> DataError:
            problem = f"its {self.what} features {problem}"
            return DataError(problem, where=where(i, None), example=i)

        if not _is_matrix(block):
            raise error(
                "are dicts, but those of the training data are numbers, or there are "
                "none"
            )
        if block.ndim != 2:
            raise error(
                f"have shape {block.shape}, where a matrix is needed, with a row for "
                f"every {self.what}"
            )
        if block.shape[1] != self.width:
            raise error(f"have shape {block.shape}, where (n, {self.width}) is needed")
        no_numbers = error(
            f"must be numbers, not an array of {block.dtype} (give strings as dicts, "
            "one per row: {name: string})"
        )
        check_sparse(block, where(i, None))
        if getattr(block.dtype, "kind", "O") not in "biufO":
            raise no_numbers
        try:
            given = (
                block if scipy.sparse.issparse(block) else np.asarray(block, np.float64)
            )
            matrix = scipy.sparse.csr_array(given, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise no_numbers from None
        wrong = np.flatnonzero(~(np.abs(matrix.data) <= LARGEST))
        if wrong.size:
            row = int(np.searchsorted(matrix.indptr, wrong[0], "right")) - 1
            raise _too_large(i, row, where)
        return matrix

    def _finish(self, ptr: Any, idx: Any, val: Any) -> SparseRows:
        """Add the constant feature to every row."""
        ptr = np.asarray(ptr, np.int64)
        if len(val) == 0:
            val = np.ones(len(idx))
        idx = np.insert(np.asarray(idx, np.int32), ptr[1:], self.width)
        val = np.insert(np.asarray(val, np.float64), ptr[1:], 1.0)
        return make_sparse_rows(ptr + np.arange(ptr.size), idx, val, self.n_columns)


def _element(row: int, counts: Sequence[int]) -> tuple[int, int]:
    """Return which element of which graph a row is, counted over all graphs."""
    ends = np.cumsum(counts)
    i = int(np.searchsorted(ends, row, "right"))
    return i, row - int(ends[i]) + counts[i]


def _too_large(i: int, j: int, where: Where) -> DataError:
    problem = f"its features must be finite numbers, at most {LARGEST:g}"
    return DataError(problem, where=where(i, j), example=i, part=j)


def _is_bare(block: Any) -> bool:
    """Whether these are dicts without features."""
    return not _is_matrix(block) and all(
        isinstance(row, Mapping) and not row for row in block
    )


def _is_matrix(block: Any) -> bool:
    return hasattr(block, "shape") and hasattr(block, "dtype")


def _length(block: Any) -> int:
    return int(block.shape[0]) if hasattr(block, "shape") else len(block)
