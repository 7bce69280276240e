"""Sums over the labels of one attribute, in a form that vectorises."""

from __future__ import annotations

import numpy as np

from partwise._jit import vector_kernel
from partwise.structures.interface import FloatArray


@vector_kernel
def add_scaled(w: FloatArray, at: int | np.int64, x: FloatArray, scale: float) -> float:
    """Do ``w[at:] += scale * x``; return the change of ``|w|^2``.

    Examples
    --------
    >>> w = np.array([0.0, 1.0, 2.0])
    >>> add_scaled(w, 1, np.array([1.0, 0.0]), 2.0), w.tolist()
    (8.0, [0.0, 3.0, 2.0])
    """
    change = 0.0
    for k in range(x.size):
        step = scale * x[k]
        old = w[at + k]
        change += step * (2.0 * old + step)
        w[at + k] = old + step
    return change
