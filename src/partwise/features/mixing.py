"""Numbers that look random, from numbers that do not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread what is known over all bits (the finaliser of MurmurHash3).

    Examples
    --------
    >>> mixed(np.array([1, 2], np.uint64)).tolist()
    [12994781566227106604, 4233148493373801447]
    """
    values = (values ^ (values >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    values = (values ^ (values >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return values ^ (values >> np.uint64(33))
