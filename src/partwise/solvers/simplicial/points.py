"""The points whose convex hull stands for all dual points of a working set.

A point takes one output of every example, or of some: its vector is
``sum_i C_i dPhi(i, y_i)``, its offset ``sum_i C_i cost(i, y_i)``. Every working set has
points of its own, zero among them, and a weight for each of them; the dual point is
the sum over the sets of their weighted points.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partwise.solvers.facts import Fact, pointers, same_length, shape, within
from partwise.solvers.keeping import Keeper, Tensors
from partwise.solvers.log_distributions import LogDistributions
from partwise.solvers.simplicial.proximal_dual import Minimum
from partwise.structures.interface import FloatArray, IntArray


def _zeros_come_first(points: Points, problem: Any) -> None:
    """Check that the first point of every set is its zero."""
    n_sets = points.n_sets
    if not np.array_equal(points.owner[:n_sets], np.arange(n_sets)):
        raise ValueError("'owner' does not begin with the zeros of the sets")


def _vectors_are_sparse_rows(points: SparsePoints, problem: Any) -> None:
    """Check what SciPy's machine code trusts."""
    vectors = points.vectors
    pointers("vectors.indptr", "vectors.indices")(points, problem)
    within("vectors.indices", 0, "n_columns")(points, problem)
    if vectors.data.size != vectors.indices.size or not np.isfinite(vectors.data).all():
        raise ValueError("the vectors of points are damaged")


class Points(Keeper, ABC):
    """Points of working sets, and their weights.

    The first ``n_sets`` points are the zeros of the sets; they are never dropped.

    Attributes
    ----------
    offset : array
        The offset of every point.
    owner : array of int
        The working set of every point.
    alpha : array
        Its weight; those of a set add up to one.
    groups : LogDistributions or None
        The distributions among the columns, whose multipliers bend the dual function.
    """

    kept: ClassVar[tuple[str, ...]] = ("offset", "owner", "alpha")
    growing: ClassVar[tuple[str, ...]] = kept
    facts: ClassVar[tuple[Fact, ...]] = (
        same_length("alpha", "offset", "owner"),
        within("owner", 0, "n_sets"),
        _zeros_come_first,
    )

    groups: LogDistributions | None = None

    def __init__(self, n_sets: int, n_columns: int):
        self.n_sets, self.n_columns = n_sets, n_columns
        self.offset = np.zeros(n_sets)
        self.owner = np.arange(n_sets)
        self.alpha = np.ones(n_sets)

    def __len__(self) -> int:
        """Return how many points there are."""
        return self.alpha.size

    @abstractmethod
    def products(self, x: FloatArray) -> FloatArray:
        """Return the product of every point's vector with `x`."""

    @abstractmethod
    def combine(self, alpha: FloatArray) -> FloatArray:
        """Return the sum of the vectors with these weights."""

    @abstractmethod
    def curvature(self, free: IntArray, base: IntArray, at: Minimum) -> FloatArray:
        """Return minus the Hessian by the weights of the points `free`.

        What a free point gains, the point `base` of the same place loses; the
        multipliers follow at their best (the Schur complement of the exact Hessian).
        """

    @abstractmethod
    def _append(self, vectors: FloatArray) -> None:
        """Keep more vectors."""

    @abstractmethod
    def _keep(self, chosen: NDArray[np.bool_]) -> None:
        """Forget all but the `chosen` vectors."""

    def add(self, vectors: FloatArray, offset: FloatArray, owner: IntArray) -> None:
        """Add points, without weight as yet."""
        self._append(vectors)
        self.offset = np.concatenate([self.offset, offset])
        self.owner = np.concatenate([self.owner, owner])
        self.alpha = np.concatenate([self.alpha, np.zeros(owner.size)])

    def total(self) -> tuple[FloatArray, float]:
        """Return vector and offset of the dual point."""
        return self.combine(self.alpha), float(self.alpha @ self.offset)

    def limit(self, most: int, sets: IntArray) -> None:
        """Drop what has no weight in these sets; keep at most `most` points each.

        Where more have weight, those with the least of it make room for the point that
        all of them together are: it stays in the hull, so that the dual value does.
        """
        kept = (self.alpha > 0.0) | ~np.isin(self.owner, sets)
        kept[: self.n_sets] = True
        self.keep(kept)
        for number in sets[np.bincount(self.owner)[sets] > most]:
            own = np.flatnonzero(self.owner == number)
            weight = np.where(self.owner == number, self.alpha, 0.0)
            current, offset = self.combine(weight), float(weight @ self.offset)
            others = own[own >= self.n_sets]
            least = others[np.argsort(self.alpha[others], kind="stable")]
            kept = np.ones(len(self), bool)
            kept[least[: own.size - most + 1]] = False
            self.alpha[own] = 0.0
            self.keep(kept)
            self.add(current[None, :], np.array([offset]), np.array([number]))
            self.alpha[-1] = 1.0

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Forget all but the `chosen` points."""
        if not chosen.all():
            self._keep(chosen)
            self.offset, self.owner = self.offset[chosen], self.owner[chosen]
            self.alpha = self.alpha[chosen]


class DensePoints(Points):
    """Vectors as rows of a matrix: for curvature that changes from place to place."""

    kept = growing = (*Points.kept, "vectors")
    facts = (*Points.facts, shape("vectors", "alpha", "n_columns"))

    def __init__(self, n_sets: int, n_columns: int):
        super().__init__(n_sets, n_columns)
        self.vectors = np.zeros((n_sets, n_columns))

    def products(self, x: FloatArray) -> FloatArray:
        """Return the product of every point's vector with `x`."""
        return self.vectors @ x

    def combine(self, alpha: FloatArray) -> FloatArray:
        """Return the sum of the vectors with these weights."""
        return alpha @ self.vectors

    def curvature(self, free: IntArray, base: IntArray, at: Minimum) -> FloatArray:
        """Return minus the Hessian by the weights of the points `free`."""
        change = self.vectors[free] - self.vectors[base]
        result = (change * at.curvature) @ change.T
        if (groups := self.groups) is not None:
            moved = np.flatnonzero((at.lam > 0.0) & (at.bend > 0.0))
            by_weight = change[:, groups.order] * at.tilt[groups.order]
            mixed = np.add.reduceat(by_weight, groups.ptr[:-1], axis=1)[:, moved]
            result -= (mixed / at.bend[moved]) @ mixed.T
        return np.asarray(result, np.float64)

    def _append(self, vectors: FloatArray) -> None:
        self.vectors = np.vstack([self.vectors, vectors])

    def _keep(self, chosen: NDArray[np.bool_]) -> None:
        self.vectors = self.vectors[chosen]


class SparsePoints(Points):
    """Sparse vectors and their products: for curvature that is one everywhere."""

    kept = growing = (*Points.kept, "gram")
    facts = (*Points.facts, shape("gram", "alpha", "alpha"), _vectors_are_sparse_rows)

    def __init__(self, n_sets: int, n_columns: int):
        from scipy.sparse import csr_array

        super().__init__(n_sets, n_columns)
        self.vectors: Any = csr_array((n_sets, n_columns))
        self.gram = np.zeros((n_sets, n_sets))

    def products(self, x: FloatArray) -> FloatArray:
        """Return the product of every point's vector with `x`."""
        return np.asarray(self.vectors @ x, np.float64)

    def combine(self, alpha: FloatArray) -> FloatArray:
        """Return the sum of the vectors with these weights."""
        return np.asarray(self.vectors.T @ alpha, np.float64)

    def curvature(self, free: IntArray, base: IntArray, at: Minimum) -> FloatArray:
        """Return minus the Hessian by the weights of the points `free`."""
        gram = self.gram
        mixed = gram[np.ix_(free, base)]
        return np.asarray(
            gram[np.ix_(free, free)] - mixed - mixed.T + gram[np.ix_(base, base)],
            np.float64,
        )

    def _append(self, vectors: FloatArray) -> None:
        from scipy.sparse import csr_array, vstack

        new = csr_array(vectors)
        self.vectors = csr_array(vstack([self.vectors, new]))
        across = np.asarray((self.vectors @ new.T).toarray(), np.float64)
        n, k = len(self.gram), new.shape[0]
        gram = np.zeros((n + k, n + k))
        gram[:n, :n], gram[:, n:], gram[n:, :] = self.gram, across, across.T
        self.gram = gram

    def _keep(self, chosen: NDArray[np.bool_]) -> None:
        self.vectors = self.vectors[np.flatnonzero(chosen)]
        self.gram = self.gram[np.ix_(chosen, chosen)]

    def tensors(self) -> dict[str, Any]:
        """Return everything as arrays."""
        return super().tensors() | {
            "ptr": self.vectors.indptr.astype(np.int64),
            "idx": self.vectors.indices.astype(np.int64),
            "val": self.vectors.data,
        }

    def restore(self, tensors: Tensors) -> None:
        """Take back what `tensors` returned."""
        from scipy.sparse import csr_array

        super().restore(tensors)
        parts = (tensors["val"].copy(), tensors["idx"].copy(), tensors["ptr"].copy())
        self.vectors = csr_array(parts, shape=(len(self), self.n_columns))
