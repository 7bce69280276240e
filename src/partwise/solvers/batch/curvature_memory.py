"""What L-BFGS remembers: the last changes of weights and gradient.

The two-loop recursion (Nocedal and Wright 2006, Algorithm 7.4) only ever adds up
the remembered vectors and the gradient, so its two loops run on the table of their
inner products (Chen, Wang and Zhou, NIPS 2014), and nothing as long as the
weights, which can be many millions, is read and written again for every pair.
"""

from __future__ import annotations

import numpy as np

from partwise.solvers.keeping import Keeper
from partwise.structures.interface import FloatArray

BLOCK = 8192
"""Columns taken at a time, so that all the rows of a block stay in the cache."""


class CurvatureMemory(Keeper):
    """The last `size` pairs of ``s``, a change of w, and ``y``, that of the gradient.

    Parameters
    ----------
    size : int
        How many pairs to keep.
    n_weights : int
        The length of a vector.

    Examples
    --------
    With ``y = 2 s`` the Hessian looks like 2, so the direction is minus half the
    gradient:

    >>> memory = CurvatureMemory(3, 2)
    >>> s, y = memory.make_room()
    >>> s[:] = [1.0, 1.0]
    >>> y[:] = [2.0, 2.0]
    >>> direction = np.zeros(2)
    >>> memory.direction(np.array([4.0, 4.0]), direction)
    -16.0
    >>> direction.tolist()
    [-2.0, -2.0]
    """

    kept = ("rows", "products", "order", "is_new")

    def __init__(self, size: int, n_weights: int):
        self.size = size
        # Pair k in rows 2k and 2k + 1; rows never used are never touched.
        self.rows = np.zeros((2 * size, n_weights))
        self.products = np.zeros((2 * size, 2 * size))
        self.order: list[int] = []  # the pairs, oldest first
        self.is_new = False  # whether the newest pair is not in the table yet

    def __len__(self) -> int:
        """Return how many pairs are remembered."""
        return len(self.order)

    def clear(self) -> None:
        """Forget everything."""
        self.order = []
        self.is_new = False

    def make_room(self) -> tuple[FloatArray, FloatArray]:
        """Return the vectors to write the next pair to; the oldest may go."""
        k = self.order.pop(0) if len(self) == self.size else len(self)
        self.order.append(k)
        self.is_new = True
        return self.rows[2 * k], self.rows[2 * k + 1]

    def direction(self, gradient: FloatArray, out: FloatArray) -> float:
        """Write ``-H gradient``; return its inner product with the gradient.

        `H` approximates the inverse Hessian. A newest pair without positive curvature
        shows that the memory is not to be trusted, and everything is forgotten.
        """
        with_gradient = self._update_products(gradient)
        rows = self.rows[: 2 * len(self)]
        shares, share = two_loops(self.products, with_gradient, self.order)
        if not len(self):
            np.multiply(gradient, -share, out=out)
        else:
            np.dot(-shares, rows, out=out)
            for a in range(0, out.size, BLOCK):
                out[a : a + BLOCK] -= share * gradient[a : a + BLOCK]
        return float(out @ gradient)

    def _update_products(self, gradient: FloatArray) -> FloatArray:
        """Enter the newest pair into the table; return the products with `gradient`."""
        rows = self.rows[: 2 * len(self)]
        others = [gradient]
        at = 2 * self.order[-1] if self.order else 0
        if self.is_new:
            others += [rows[at], rows[at + 1]]
        found = np.zeros((len(rows), len(others)))
        taken = np.empty((len(others), min(BLOCK, gradient.size)))
        for a in range(0, gradient.size, BLOCK):
            block = rows[:, a : a + BLOCK]
            some = taken[:, : block.shape[1]]
            for k, other in enumerate(others):
                some[k] = other[a : a + BLOCK]
            found += block @ some.T
        if self.is_new:
            self.is_new = False
            n = len(rows)
            self.products[:n, at : at + 2] = found[:, 1:]
            self.products[at : at + 2, :n] = found[:, 1:].T
            sy, yy = self.products[at, at + 1], self.products[at + 1, at + 1]
            if not (sy > 1e-14 * yy and np.isfinite(yy)):
                self.clear()
        return found[: 2 * len(self), 0]

    def restored(self) -> None:
        """Refuse invalid pairs."""
        valid = sorted(self.order) == list(range(len(self))) and len(self) <= self.size
        if not valid or (self.is_new and not self.order):
            raise ValueError("the pairs of the memory are damaged")


def two_loops(
    products: FloatArray, with_gradient: FloatArray, order: list[int]
) -> tuple[FloatArray, float]:
    """Run the two-loop recursion on inner products alone.

    Parameters
    ----------
    products : array
        Those of all rows: ``s`` of pair k in row 2k, ``y`` in row 2k + 1.
    with_gradient : array
        Those of all rows with the gradient.
    order : list of int
        The pairs, oldest first.

    Returns
    -------
    shares : array
        ``H g = sum_j shares_j row_j + share g``.
    share : float
    """
    n = 2 * len(order)
    shares, share = np.zeros(n), 1.0
    table = products[:n, :n]
    steps = {}
    for k in reversed(order):
        s, y = 2 * k, 2 * k + 1
        dot = table[s] @ shares + share * with_gradient[s]
        steps[k] = dot / table[s, y]
        shares[y] -= steps[k]
    if order:
        s, y = 2 * order[-1], 2 * order[-1] + 1
        scale = table[s, y] / table[y, y]
        shares, share = shares * scale, scale
    for k in order:
        s, y = 2 * k, 2 * k + 1
        dot = table[y] @ shares + share * with_gradient[y]
        shares[s] += steps[k] - dot / table[s, y]
    return shares, share
