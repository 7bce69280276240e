"""Scratch arrays for a pass over a corpus, whatever its structure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.interface import CodeArray, FloatArray, IntArray, Structure


class Scratch(NamedTuple):
    """Arrays as large as the largest example, for one thread.

    `theta` and `mu` have room for a block of examples.
    """

    theta: FloatArray
    mu: FloatArray
    y: CodeArray
    y_gold: CodeArray
    ids: IntArray
    counts: FloatArray


def make_scratch(s: Structure) -> Scratch:
    """Make the arrays that a pass over the corpus `s` needs."""
    most_parts, most_codes = waist.largest_sizes(s)
    room = most_parts + 2 * most_codes
    return Scratch(
        np.zeros(most_parts * waist.block_size(s)),
        np.zeros(most_parts * waist.block_size(s)),
        np.zeros(most_codes, np.int32),
        np.zeros(most_codes, np.int32),
        np.zeros(room, np.int64),
        np.zeros(room),
    )


@kernel
def score_of(
    s: Structure, i: int, y: CodeArray, theta: FloatArray, scratch: Scratch
) -> float:
    """Return the score of output `y` under the part scores `theta`."""
    found = waist.parts_of(s, i, y, scratch.ids, scratch.counts)
    total = 0.0
    for j in range(found):
        total += scratch.counts[j] * theta[scratch.ids[j]]
    return total


@kernel
def score_of_right(s: Structure, i: int, theta: FloatArray, scratch: Scratch) -> float:
    """Return the score of the right output, or the one that is expected of it."""
    found = waist.right_parts(s, i, scratch.y_gold, scratch.ids, scratch.counts)
    total = 0.0
    for j in range(found):
        total += scratch.counts[j] * theta[scratch.ids[j]]
    return total
