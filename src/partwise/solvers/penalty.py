"""The elastic net: ``(1 - r)/2 |w|^2 + r |w|_1`` and the gradient of its smooth part.

With ``r = 0`` it is the plain L2 penalty, with ``r = 1`` the plain L1 penalty.
"""

from __future__ import annotations

from partwise._jit import kernel, vector_kernel
from partwise.structures.interface import FloatArray


@vector_kernel
def _l1_norm(w: FloatArray) -> float:
    total = 0.0
    for j in range(w.size):
        total += abs(w[j])
    return total


def penalty(w: FloatArray, l1_ratio: float = 0.0) -> float:
    """Return ``(1 - l1_ratio)/2 |w|^2 + l1_ratio |w|_1``.

    Examples
    --------
    >>> import numpy as np
    >>> penalty(np.array([3.0, -4.0])), penalty(np.array([3.0, -4.0]), 1.0)
    (12.5, 7.0)
    """
    value = 0.5 * (1.0 - l1_ratio) * float(w @ w)
    return value + l1_ratio * float(_l1_norm(w)) if l1_ratio else value


@kernel
def add_smooth_gradient(w: FloatArray, l1_ratio: float, gradient: FloatArray) -> None:
    """Add the gradient of the smooth part, ``(1 - l1_ratio) w``."""
    for j in range(w.size):
        gradient[j] += (1.0 - l1_ratio) * w[j]
