"""Costs of confusing one label with another."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from partwise.structures.interface import FloatArray


def hamming(n_labels: int) -> FloatArray:
    """Return the matrix that costs 1 for every wrong label.

    Examples
    --------
    >>> hamming(2)
    array([[0., 1.],
           [1., 0.]])
    """
    return np.ones((n_labels, n_labels)) - np.eye(n_labels)


def make_cost_matrix(costs: ArrayLike, n_labels: int) -> FloatArray:
    """Check a matrix ``costs[right, predicted]``: finite, >= 0, zero diagonal."""
    matrix = np.ascontiguousarray(costs, np.float64)
    if matrix.shape != (n_labels, n_labels):
        raise ValueError(
            f"the cost matrix has shape {matrix.shape}, "
            f"but {n_labels} labels need ({n_labels}, {n_labels})"
        )
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise ValueError("costs must be finite and not negative")
    if np.diagonal(matrix).any():
        raise ValueError("the cost of a right label (the diagonal) must be zero")
    return matrix


def make_token_weight(weight: ArrayLike | None, n_tokens: int) -> FloatArray:
    """Check the weights of tokens: finite, >= 0, one each, or none at all."""
    if weight is None:
        return np.zeros(0)
    checked = np.ascontiguousarray(weight, np.float64)
    if checked.shape != (n_tokens,):
        raise ValueError(f"{checked.size} token weights for {n_tokens} tokens")
    if not np.isfinite(checked).all() or (checked < 0).any():
        raise ValueError("token weights must be finite and not negative")
    return checked
