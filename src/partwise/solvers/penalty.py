"""The elastic net: ``(1 - r)/2 |w|^2 + r |w|_1`` and the gradient of its smooth part.

With ``r = 0`` it is the plain L2 penalty, with ``r = 1`` the plain L1 penalty.
"""

from __future__ import annotations

import numpy as np

from partwise._jit import kernel, vector_kernel
from partwise.structures.interface import FloatArray
from partwise.structures.vectors import shrink


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


def weights_at(v: FloatArray, l1_ratio: float) -> FloatArray:
    """Return the weights that belong to the vector `v`: itself with the L2 penalty.

    Examples
    --------
    >>> import numpy as np
    >>> v = np.array([0.75, -1.0, 0.25])
    >>> weights_at(v, 0.5).tolist(), weights_at(v, 0.0) is v
    ([0.5, -1.0, 0.0], True)
    """
    if not l1_ratio:
        return v
    w = np.zeros_like(v)
    shrink(v, w, l1_ratio)
    return w


def conjugate(v: FloatArray, l1_ratio: float = 0.0) -> float:
    """Return the conjugate of the penalty, ``(1 - l1_ratio)/2 |w|^2`` at its weights.

    Examples
    --------
    >>> import numpy as np
    >>> conjugate(np.array([3.0, -4.0])), conjugate(np.array([0.75, 0.25]), 0.5)
    (12.5, 0.0625)
    """
    w = weights_at(v, l1_ratio)
    return 0.5 * (1.0 - l1_ratio) * float(w @ w)


def vector_of(w: FloatArray, l1_ratio: float = 0.0) -> FloatArray:
    """Return a vector to which the weights `w` belong; where they are zero, zero.

    Examples
    --------
    >>> import numpy as np
    >>> vector_of(np.array([0.5, -1.0, 0.0]), 0.5).tolist()
    [0.75, -1.0, 0.0]
    """
    return (1.0 - l1_ratio) * w + l1_ratio * np.sign(w)


@kernel
def add_smooth_gradient(w: FloatArray, l1_ratio: float, gradient: FloatArray) -> None:
    """Add the gradient of the smooth part, ``(1 - l1_ratio) w``."""
    for j in range(w.size):
        gradient[j] += (1.0 - l1_ratio) * w[j]
