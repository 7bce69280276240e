"""Weights of one model as weights of another, which has more features and labels."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from partwise.errors import DataError
from partwise.structures.interface import FloatArray, IntArray

Axis = int | Sequence[Hashable]
"""What weights are for: the names of things, or, if things are numbered, how many. An
earlier model's numbers are the same in a later one, and its names are among its names.
"""

Block = tuple[Axis, ...]
"""Weights for all combinations of some things, such as features and labels."""

Blocks = Mapping[Hashable, Block]
"""All weights of a model: blocks by name, in the order of the weights."""


def carry_over(w: FloatArray, before: Blocks, after: Blocks) -> FloatArray:
    """Return weights for more features and labels: those of before, zero for the rest.

    Examples
    --------
    >>> before, after = {"": (1, ["N", "V"])}, {"": (2, ["D", "N", "V"])}
    >>> carry_over(np.array([1.0, 2.0]), before, after).tolist()
    [0.0, 1.0, 2.0, 0.0, 0.0, 0.0]
    """
    starts = _starts(before)
    parts: list[FloatArray] = []
    for name, axes in after.items():
        grown = np.zeros([*map(_length, axes)])
        known = before.get(name)
        if known is not None:
            shape = [*map(_length, known)]
            at = starts[name]
            index = np.ix_(*map(_places, known, axes))
            grown[index] = w[at : at + int(np.prod(shape))].reshape(shape)
        parts.append(grown.ravel())
    return np.concatenate(parts)


def _length(axis: Axis) -> int:
    return axis if isinstance(axis, int) else len(axis)


def _starts(blocks: Blocks) -> dict[Hashable, int]:
    """Return where each block begins."""
    sizes = [int(np.prod([*map(_length, axes)])) for axes in blocks.values()]
    return dict(zip(blocks, np.cumsum([0, *sizes]).tolist(), strict=False))


def _places(before: Axis, after: Axis) -> IntArray:
    """Return where earlier things are among later ones."""
    if isinstance(before, int) or isinstance(after, int):
        if _length(before) > _length(after):
            raise DataError(
                f"the model has learnt from {_length(before)} features, and these "
                f"examples have {_length(after)}; give the same, or fit a new model"
            )
        return np.arange(_length(before))
    place = {name: k for k, name in enumerate(after)}
    gone = [name for name in before if name not in place]
    if gone:
        raise DataError(
            f"the model has weights for {gone[0]!r}, which its settings now leave out; "
            "give the same settings, or fit a new model"
        )
    return np.array([place[name] for name in before], np.int64)
