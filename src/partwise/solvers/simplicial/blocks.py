"""Working sets that a user chose: any sets of examples (paper 003, section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Blocks = tuple[tuple[int, ...], ...]


def as_blocks(given: Sequence[Sequence[int]]) -> Blocks:
    """Return sets of examples as tuples, which print as what they are.

    Examples
    --------
    >>> as_blocks([[2, 0], [1]])
    ((2, 0), (1,))
    """
    blocks = tuple(tuple(np.atleast_1d(block).tolist()) for block in given)
    if not blocks or not all(blocks):
        raise ValueError("every one of the working_sets needs at least one example")
    for number in (number for block in blocks for number in block):
        if type(number) is not int or number < 0:
            raise ValueError(
                "working_sets are sets of examples, counted from 0; there is no "
                f"example {number!r}"
            )
    return blocks


def check_blocks(
    blocks: Sequence[Sequence[int]], n_examples: int, may_overlap: bool
) -> None:
    """Raise `ValueError` unless the sets hold every example, and only once if needed.

    Examples
    --------
    >>> check_blocks(((0, 1), (1,)), 2, may_overlap=False)
    Traceback (most recent call last):
        ...
    ValueError: example 1 is in several working_sets, which only variant='online' allows
    """
    times = np.bincount(np.concatenate([np.array(block) for block in blocks]))
    if times.size > n_examples:
        raise ValueError(
            f"working_sets name example {times.size - 1}, but there are {n_examples}, "
            "counted from 0"
        )
    times = np.pad(times, (0, n_examples - times.size))
    if not times.all():
        raise ValueError(f"example {int(np.argmin(times))} is in none of working_sets")
    if times.max() > 1 and not may_overlap:
        raise ValueError(
            f"example {int(np.argmax(times))} is in several working_sets, which only "
            "variant='online' allows"
        )
