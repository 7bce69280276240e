"""Random numbers inside kernels: the same in plain Python, with any number of threads.

The combined generator of L'Ecuyer (Efficient and portable combined random number
generators, Communications of the ACM 31, 1988): two small states, whose products fit
into 64 bits, and a period of 2.3e18.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

FIRST, SECOND = 2147483563, 2147483399
"""The moduli of the two states, which lie between 1 and these."""


def seed_states(count: int, random: np.random.Generator) -> IntArray:
    """Draw the states of `count` independent streams, a row each."""
    return random.integers(1, [FIRST, SECOND], size=(count, 2), dtype=np.int64)


@kernel
def next_uniform(state: IntArray) -> float:
    """Return a number between 0 and 1, both excluded, and step the state on.

    Examples
    --------
    >>> state = np.array([1, 2])
    >>> 0.0 < next_uniform(state) < 1.0, state.tolist()
    (True, [40014, 81384])
    """
    state[0] = (40014 * state[0]) % FIRST
    state[1] = (40692 * state[1]) % SECOND
    return ((state[0] - state[1]) % (FIRST - 1) + 1) / FIRST


@kernel
def draw_log(scores: FloatArray, state: IntArray) -> int:
    """Draw a place in proportion to the exponentials of scores, some of them finite."""
    top = -np.inf
    for j in range(scores.size):
        top = max(top, scores[j])
    total = 0.0
    for j in range(scores.size):
        total += np.exp(scores[j] - top)
    left, chosen = next_uniform(state) * total, -1
    for j in range(scores.size):
        one = np.exp(scores[j] - top)
        if one > 0.0:
            chosen = j  # the last possible one, should rounding leave something over
            left -= one
            if left < 0.0:
                break
    return chosen
