"""What estimators with word vectors have in common."""

from __future__ import annotations

from typing import Any, Self

from partwise.estimators.vector_columns import VectorColumns
from partwise.features.word_vectors import as_word_vectors

FORGETS_NO_VECTORS = (
    "forget=True keeps weights of words, not of vectors, whose scale follows from all "
    "examples: leave forget out, or the vectors"
)


class HasVectors:
    """An estimator that knows vectors, some of which its file may leave out."""

    vectors: Any
    _vectors: VectorColumns
    _check_fitted: Any

    def attach_vectors(self, vectors: Any) -> Self:
        """Give the model word vectors that its file named, but did not hold.

        Parameters
        ----------
        vectors : path, WordVectors or list of these
            The same vectors as in training; they are recognised by their checksum.

        Returns
        -------
        estimator
            Itself.
        """
        self._check_fitted()
        for table in as_word_vectors(vectors):
            self._vectors.attach(table)
        self.vectors = self._vectors.setting
        return self

    def check_vectors(self) -> None:
        """Raise `PartwiseError` if vectors are missing that the model needs."""
        for table in self._vectors.tables:
            table.check_here()

    def _refuse_forgetting_vectors(self) -> None:
        """Raise ValueError for vectors, whose scale follows from all examples."""
        if self._vectors.width:
            raise ValueError(FORGETS_NO_VECTORS)

    def _refuse_vectors(self, encoder: Any = None) -> None:
        """Raise ValueError where shards of a corpus would have to agree on vectors."""
        if self.vectors is not None or getattr(encoder, "array_widths", None):
            raise ValueError(
                "vectors beside words need the whole corpus at once: to learn from "
                "shards, leave out `vectors` and arrays in feature dicts"
            )
        self._vectors = VectorColumns()
