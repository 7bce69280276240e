"""Features of nodes, edges and larger cliques: dicts or numbers, in one form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from partwise.errors import DataError
from partwise.features import FeatureDictEncoder
from partwise.structures.rows import LARGEST, SparseRows, make_sparse_rows

ELEMENTS = ("node", "edge", "clique")


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
        self.width = 0

    @property
    def n_columns(self) -> int:
        """How many features there are, the constant one last."""
        return self.width + 1

    def names(self) -> list[str]:
        """Name the features."""
        if self.encoder is not None:
            return [*self.encoder.attribute_names(), "(constant)"]
        return [*(f"x{j}" for j in range(self.width)), "(constant)"]

    def learn(
        self,
        blocks: Sequence[Any],
        counts: Sequence[int],
        min_count: int,
        hash_bits: int | None,
    ) -> SparseRows:
        """Learn what features there are from those of all graphs; encode them."""
        given = [block for block in blocks if block is not None and _length(block)]
        if given and _is_matrix(given[0]):
            self.width = given[0].shape[1] if given[0].ndim == 2 else 0
        elif given:
            self.encoder = FeatureDictEncoder(min_count, hash_bits)
            rows = self.encoder.fit_encode_rows(self._dicts(blocks, counts))
            self.width = self.encoder.n_attributes
            return self._finish(*rows.nodes[:3])
        return self.encode(blocks, counts)

    def encode(self, blocks: Sequence[Any], counts: Sequence[int]) -> SparseRows:
        """Encode the features of all graphs; `counts` says how many rows each has."""
        if self.encoder is not None:
            rows = self.encoder.encode_rows(self._dicts(blocks, counts))
            return self._finish(*rows.nodes[:3])
        matrices = [sparse.csr_array((0, self.width))]
        for i, (block, count) in enumerate(zip(blocks, counts, strict=True)):
            if block is None or not _length(block):
                matrices.append(sparse.csr_array((count, self.width)))
            else:
                matrices.append(self._matrix(block, i))
        stacked = sparse.csr_array(sparse.vstack(matrices, "csr"))
        stacked.sum_duplicates()
        return self._finish(stacked.indptr, stacked.indices, stacked.data)

    def _dicts(self, blocks: Sequence[Any], counts: Sequence[int]) -> list[Any]:
        rows: list[Any] = []
        for i, (block, count) in enumerate(zip(blocks, counts, strict=True)):
            if block is None or not _length(block):
                rows += [{}] * count
            elif _is_matrix(block):
                raise DataError(
                    f"graph {i}: its {self.what} features are numbers, but those of "
                    "other graphs are dicts"
                )
            else:
                rows += block
        return rows

    def _matrix(self, block: Any, i: int) -> Any:
        where = f"graph {i}: its {self.what} features"
        if not _is_matrix(block):
            raise DataError(
                f"{where} are dicts, but those of the training data are numbers, or "
                "there are none"
            )
        if block.ndim != 2 or block.shape[1] != self.width:
            raise DataError(
                f"{where} have shape {block.shape}, where (n, {self.width}) is needed"
            )
        matrix = sparse.csr_array(block, dtype=np.float64)
        if not (np.abs(matrix.data) <= LARGEST).all():
            raise DataError(f"{where} must be finite numbers, at most {LARGEST:g}")
        return matrix

    def _finish(self, ptr: Any, idx: Any, val: Any) -> SparseRows:
        """Add the constant feature to every row."""
        ptr = np.asarray(ptr, np.int64)
        if len(val) == 0:
            val = np.ones(len(idx))
        idx = np.insert(np.asarray(idx, np.int32), ptr[1:], self.width)
        val = np.insert(np.asarray(val, np.float64), ptr[1:], 1.0)
        return make_sparse_rows(ptr + np.arange(ptr.size), idx, val, self.n_columns)


def _is_matrix(block: Any) -> bool:
    return hasattr(block, "shape") and hasattr(block, "dtype")


def _length(block: Any) -> int:
    return int(block.shape[0]) if hasattr(block, "shape") else len(block)
