"""Is one system better than another? Approximate randomisation (Riezler 2005).

If the two were alike, it would not matter which translation of a sentence came from
which. So they are exchanged at random, sentence by sentence, many times, to see how
often the scores then differ as much as they do.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def p_value(
    one: NDArray[np.generic],
    other: NDArray[np.generic],
    score: Callable[[FloatArray], FloatArray],
    n_trials: int = 2000,
    random_state: int = 0,
) -> float:
    """Return the probability of a difference as large as that of two systems.

    Parameters
    ----------
    one, other : arrays
        For every sentence a row of what the score is made of.
    score : callable
        Takes summed rows, several at once, and returns their scores.

    Examples
    --------
    >>> import numpy as np
    >>> right = np.array([[1.0]] * 20)
    >>> p_value(right, 0 * right, lambda sums: sums[:, 0]) < 0.01
    True
    >>> p_value(right, right, lambda sums: sums[:, 0])
    1.0
    """
    a, b = np.asarray(one, np.float64), np.asarray(other, np.float64)
    both = np.stack([a.sum(0), b.sum(0)])
    observed = abs(np.diff(score(both))[0])
    rng = np.random.default_rng(random_state)
    swapped = rng.integers(0, 2, size=(n_trials, a.shape[0]))
    moved = swapped @ (b - a)
    differences = np.abs(score(both[0] + moved) - score(both[1] - moved))
    # Equal but for rounding is equal.
    return float((np.sum(differences >= observed - 1e-9) + 1) / (n_trials + 1))
