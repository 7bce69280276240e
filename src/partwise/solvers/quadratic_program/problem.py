"""A quadratic program over simplices: checked input, and bounds that theory needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from partwise.errors import DataError
from partwise.structures.interface import FloatArray

# A matrix that is positive semidefinite on paper has eigenvalues a little below zero
# in floating point: this share of its size is forgiven.
ROUNDING = 1e-10
# Up to this size a dense matrix is factored to see whether it is semidefinite.
FACTORED = 2000
ROWS_AT_ONCE = 1000
SMALLEST = 1e-290
# So many Lanczos steps from a random start miss the largest eigenvalue by more than
# a tenth with probability below 1.7 sqrt(m) exp(-0.32 (2 steps - 1)), 1e-14 at most
# (Kuczynski and Wozniakowski, 1992).
LANCZOS_STEPS = 60
LANCZOS_MISS = 0.1


class Blocks:
    """Variables in groups, each of which sums to one; a group is contiguous."""

    def __init__(self, sizes: Any) -> None:
        self.sizes = np.asarray(sizes, np.int64)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        self.of = np.repeat(np.arange(len(self.sizes)), self.sizes)

    def sum(self, values: FloatArray) -> FloatArray:
        """Return the sum of each block."""
        return np.add.reduceat(values, self.starts)

    def min(self, values: FloatArray) -> FloatArray:
        """Return the smallest value of each block."""
        return np.minimum.reduceat(values, self.starts)

    def range(self, values: FloatArray) -> float:
        """Return the largest difference of two values in one block."""
        return float(
            np.max(np.maximum.reduceat(values, self.starts) - self.min(values))
        )

    def excess(self, values: FloatArray, weights: FloatArray) -> FloatArray:
        """Subtract from each value the weighted mean of its block."""
        mean = self.sum(weights * values) / self.sum(weights)
        return values - mean[self.of]

    def normalize(self, log_x: FloatArray) -> FloatArray:
        """Shift logarithms so that the exponentials of each block sum to one."""
        shifted = log_x - np.maximum.reduceat(log_x, self.starts)[self.of]
        return shifted - np.log(self.sum(np.exp(shifted)))[self.of]


class QuadraticProgram:
    """Minimise ``b.x + x.Ax/2`` over a product of simplices, the input checked.

    Variables are kept in the order of their blocks; `to_user` and `from_user` convert.

    Parameters
    ----------
    A : array, sparse matrix or LinearOperator
    b : array
    blocks : int, sizes or labels
        See `eg_qp`.
    """

    def __init__(self, A: Any, b: Any, blocks: Any) -> None:
        self.n_products = 0
        linear = read_vector("b", b)
        self._matrix, self._multiply = _read_matrix(A, len(linear))
        sizes, order = _read_blocks(blocks, len(linear))
        self.blocks = Blocks(sizes)
        self._order = None if np.array_equal(order, np.arange(len(order))) else order
        self.b = self.from_user(linear)
        self.largest = self._check_semidefinite()
        self.relative_diagonal = self._relative_diagonal()

    def from_user(self, values: FloatArray) -> FloatArray:
        """Put values into the order of the blocks."""
        return values if self._order is None else values[self._order]

    def to_user(self, values: FloatArray) -> FloatArray:
        """Put values back into the order of the input."""
        if self._order is None:
            return values
        result = np.empty_like(values)
        result[self._order] = values
        return result

    def product(self, x: FloatArray) -> FloatArray:
        """Return ``A x``, checked to be finite."""
        self.n_products += 1
        result = np.asarray(self._multiply(self.to_user(x)), np.float64).ravel()
        if not np.isfinite(result).all():
            raise DataError(
                "A x is not finite for a finite x (are the entries of A too large, "
                "or does the operator return NaN?)"
            )
        return self.from_user(result)

    def check_curvature(self, direction: FloatArray, curvature: float) -> None:
        """Refuse a direction along which the objective bends downwards."""
        if curvature < -ROUNDING * self.largest * (direction @ direction):
            quotient = curvature / (direction @ direction)
            raise _not_semidefinite(f"a direction has curvature {quotient:.3g}")

    def theory_step(self) -> float:
        """Return ``0.4 / (B + lambda)``, the step of Theorem 2 (Bartlett et al., 2004).

        `lambda` is bounded from above by `largest`. `B` is the range of the gradient
        over the feasible set. The paper takes it over all variables; its proof asks
        for no more than the range within a block, which is bounded here.
        """
        # (e_j - e_k).A x <= lambda |e_j - e_k| |x|, and |x|^2 <= number of blocks.
        by_norm = self.largest * np.sqrt(2.0 * len(self.blocks.sizes))
        gradient_range = self.blocks.range(self.b) + by_norm
        if isinstance(self._matrix, np.ndarray):
            gradient_range = min(gradient_range, self._range_by_entries())
        return 0.4 / max(gradient_range + self.largest, SMALLEST)

    def _range_by_entries(self) -> float:
        """Bound `B` by the best and the worst vertex for each gradient entry."""
        starts, order = self.blocks.starts, self._order
        high, low = self.b.copy(), self.b.copy()
        for rows in _chunks(len(self.b)):
            part = self._matrix[rows]
            if order is not None:
                part = self._matrix[np.ix_(order[rows], order)]
            high[rows] += np.maximum.reduceat(part, starts, axis=1).sum(axis=1)
            low[rows] += np.minimum.reduceat(part, starts, axis=1).sum(axis=1)
        top = np.maximum.reduceat(high, starts)
        return float(np.max(top - self.blocks.min(low)))

    def _relative_diagonal(self) -> FloatArray:
        """Return how steep the variables are compared to each other, if known."""
        if self._matrix is None or not self._matrix.diagonal().any():
            return np.ones_like(self.b)
        diagonal = self.from_user(np.asarray(self._matrix.diagonal(), np.float64))
        return np.maximum(diagonal, 1e-3 * diagonal.max()) / diagonal.mean()

    def _check_semidefinite(self) -> float:
        """Refuse an indefinite matrix; return an upper bound on its eigenvalues."""
        bound = np.inf
        if self._matrix is not None:
            diagonal = self._matrix.diagonal()
            worst = int(np.argmin(diagonal))
            if diagonal[worst] < 0:
                raise _not_semidefinite(f"A[{worst}, {worst}] is {diagonal[worst]:.3g}")
            # Of a semidefinite matrix, both bound the largest eigenvalue.
            bound = min(_largest_row_sum(self._matrix), float(diagonal.sum()))
            if isinstance(self._matrix, np.ndarray) and len(diagonal) <= FACTORED:
                _try_to_factor(self._matrix, max(ROUNDING * bound, SMALLEST))
                return bound
        ritz = self._ritz_values()
        self.n_products = 0
        if ritz[0] < -ROUNDING * np.abs(ritz).max():
            raise _not_semidefinite(f"an eigenvalue is at most {ritz[0]:.3g}")
        return min(bound, float(ritz[-1]) / (1 - LANCZOS_MISS))

    def _ritz_values(self) -> FloatArray:
        """Approximate the extreme eigenvalues by Lanczos' method."""
        rng = np.random.Generator(np.random.PCG64(0))
        m = len(self.b)
        steps = min(m, LANCZOS_STEPS)
        basis = np.zeros((steps, m))
        vector = rng.normal(size=m)
        projected = np.zeros((steps, steps))
        for k in range(steps):
            size = np.linalg.norm(vector)
            if size <= 1e-12 * np.abs(projected).max(initial=0.0) or size == 0:
                projected = projected[:k, :k]  # the basis spans an invariant space
                break
            basis[k] = vector / size
            image = self.product(basis[k])
            projected[: k + 1, k] = projected[k, : k + 1] = basis[: k + 1] @ image
            vector = image
            for _ in range(2):  # once is not enough for orthogonality
                vector = vector - basis[: k + 1].T @ (basis[: k + 1] @ vector)
        return np.asarray(np.linalg.eigvalsh(projected), np.float64)


class Point(NamedTuple):
    """A feasible point with all that is known of it, in the order of the blocks."""

    log_x: FloatArray
    x: FloatArray
    Ax: FloatArray
    gradient: FloatArray
    value: float
    gap: float


def make_point(qp: QuadraticProgram, log_x: FloatArray, Ax: FloatArray | None) -> Point:
    """Evaluate the objective and its gap at a point.

    The gap ``sum_blocks (x.g - min g)`` bounds ``value - optimum``, because a convex
    function lies above its tangent, whose minimum over a simplex is at a vertex.
    """
    x = np.exp(log_x)
    Ax = qp.product(x) if Ax is None else Ax
    gradient = qp.b + Ax
    value = float(qp.b @ x + 0.5 * (x @ Ax))
    lowest = qp.blocks.min(gradient)[qp.blocks.of]
    gap = float(x @ (gradient - lowest))  # every term is >= 0: nothing cancels
    if not np.isfinite(value + gap):
        raise DataError(
            "the objective is not finite (A or b has entries too large; rescale them)"
        )
    return Point(log_x, x, Ax, gradient, value, gap)


def _largest_row_sum(matrix: Any) -> float:
    chunks = _chunks(matrix.shape[0])
    return max(float(abs(matrix[rows]).sum(axis=1).max()) for rows in chunks)


def _try_to_factor(matrix: FloatArray, forgiven: float) -> None:
    try:
        np.linalg.cholesky(matrix + forgiven * np.eye(len(matrix)))
    except np.linalg.LinAlgError:
        smallest = float(np.linalg.eigvalsh(matrix)[0])
        raise _not_semidefinite(f"an eigenvalue is {smallest:.3g}") from None


def _not_semidefinite(what: str) -> DataError:
    return DataError(
        f"A is not positive semidefinite: {what} (the problem is not convex and may "
        "have many local optima; check the sign, or add to the diagonal)"
    )


def read_vector(name: str, values: Any) -> FloatArray:
    """Return a vector of finite numbers; raise an error that says what is wrong."""
    try:
        result = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be an array of real numbers") from None
    if result.ndim != 1 or not len(result):
        raise ValueError(
            f"{name} must be one-dimensional and not empty; its shape is {result.shape}"
        )
    bad = np.flatnonzero(~np.isfinite(result))
    if len(bad):
        raise DataError(f"{name}[{bad[0]}] is {result[bad[0]]}, not a finite number")
    return result


def _read_blocks(blocks: Any, m: int) -> tuple[Any, Any]:
    """Return block sizes, and the variables in the order of their blocks."""
    given = np.asarray(blocks)
    if given.ndim == 0 and given.dtype.kind in "iu":
        if given < 1 or m % int(given):
            raise ValueError(
                f"{m} variables cannot be split into blocks of size {given} (give the "
                "size of every block)"
            )
        return np.full(m // int(given), int(given)), np.arange(m)
    if given.ndim != 1 or not len(given):
        raise ValueError("blocks must be a block size, sizes, or a label per variable")
    if len(given) == m:
        if m > 1 and given.dtype.kind in "iu" and (given == 1).all():
            raise ValueError(
                f"blocks is {m} times 1: {m} blocks of size 1, or one block with the "
                f"label 1? (for one block, give its size, blocks={m})"
            )
        _, codes = np.unique(given, return_inverse=True)
        return np.bincount(codes), np.argsort(codes, kind="stable")
    if given.dtype.kind not in "iu":
        raise TypeError(f"block sizes must be integers, not {given.dtype}")
    if (given < 1).any():
        at = int(np.argmax(given < 1))
        raise ValueError(
            f"blocks[{at}] is {given[at]}; a block has at least 1 variable"
        )
    if given.sum() != m:
        raise ValueError(
            f"blocks add up to {given.sum()}, but b has {m} variables (sizes must add "
            f"up to {m}; labels must be {m} in number)"
        )
    return given, np.arange(m)


def _read_matrix(A: Any, m: int) -> tuple[Any, Callable[[FloatArray], Any]]:
    """Return the matrix, None if only an operator is known, and its product."""
    from scipy.sparse import issparse

    is_operator = not issparse(A) and callable(getattr(A, "matvec", None))
    if not is_operator and not issparse(A):
        try:
            A = np.asarray(A, np.float64)
        except (TypeError, ValueError):
            raise TypeError(
                "A must be a real matrix: an array, a scipy.sparse matrix or a "
                "scipy.sparse.linalg.LinearOperator"
            ) from None
    shape = tuple(A.shape)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"A must be square; its shape is {shape}")
    if shape[0] != m:
        raise ValueError(f"b has {m} variables, but A is {shape[0]} x {shape[0]}")
    if is_operator:
        _check_operator(A, m)
        return None, A.matvec
    if issparse(A):
        if A.dtype.kind == "c":
            raise TypeError("A must be real, not complex")
        A = A.tocsr().astype(np.float64)
        if not np.isfinite(A.data).all():
            raise DataError("A has entries that are NaN or infinite")
        difference, size = abs(A - A.T).max(), abs(A).max()
    else:
        difference = size = 0.0
        for rows in _chunks(m):
            if not np.isfinite(A[rows]).all():
                raise DataError("A has entries that are NaN or infinite")
            size = max(size, np.abs(A[rows]).max())
            difference = max(difference, np.abs(A[rows] - A[:, rows].T).max())
    if difference > 1e-8 * size:
        raise DataError(
            f"A is not symmetric: entries differ from those of its transpose by up to "
            f"{difference:.3g} (use (A + A.T) / 2, which gives the same objective)"
        )
    return A, lambda x: A @ x


def _check_operator(A: Any, m: int) -> None:
    rng = np.random.Generator(np.random.PCG64(1))
    u, v = rng.normal(size=(2, m))
    image = np.asarray(A.matvec(v), np.float64).ravel()
    if not np.isfinite(image).all():
        raise DataError("the operator A returns NaN or infinity for a finite vector")
    one, other = u @ image, v @ np.asarray(A.matvec(u), np.float64).ravel()
    size = np.linalg.norm(u) * np.linalg.norm(image)
    if abs(one - other) > 1e-8 * size:
        raise DataError(
            f"the operator A is not symmetric: u.Av = {one:.6g} but v.Au = {other:.6g}"
        )


def _chunks(m: int) -> list[slice]:
    """Split rows so that no copy of a whole matrix is made."""
    return [slice(at, at + ROWS_AT_ONCE) for at in range(0, m, ROWS_AT_ONCE)]
