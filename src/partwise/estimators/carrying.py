"""Weights of one model as weights of another, which has more features and labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from partwise.structures.interface import FloatArray, IntArray


class Block(NamedTuple):
    """Weights for `n_rows` things, each with every label, or every pair of labels.

    Attributes
    ----------
    n_rows : int
        How many features, say; those of an earlier model come first.
    n_axes : int
        One for labels, two for pairs of them.
    """

    n_rows: int
    n_axes: int = 1


def label_places(before: Sequence[Any], after: Sequence[Any]) -> IntArray:
    """Return where earlier labels are among later ones, which have them all.

    Examples
    --------
    >>> label_places(["N", "V"], ["D", "N", "V"])
    array([1, 2])
    """
    place = {label: k for k, label in enumerate(after)}
    return np.array([place[label] for label in before], np.int64)


def carry_over(
    w: FloatArray,
    before: Sequence[Block],
    after: Sequence[Block],
    places: IntArray,
    n_labels: int,
) -> FloatArray:
    """Return weights for more features and labels: those of before, zero for the rest.

    Examples
    --------
    >>> w = np.array([1.0, 2.0])
    >>> carry_over(w, [Block(1)], [Block(2)], np.array([0, 2]), 3).tolist()
    [1.0, 0.0, 2.0, 0.0, 0.0, 0.0]
    """
    parts, at, n_known = [], 0, places.size
    for old, new in zip(before, after, strict=True):
        shape = (n_known,) * old.n_axes
        size = old.n_rows * n_known**old.n_axes
        known = w[at : at + size].reshape(old.n_rows, *shape)
        grown = np.zeros((new.n_rows, *(n_labels,) * new.n_axes))
        index = np.ix_(np.arange(old.n_rows), *(places,) * old.n_axes)
        grown[index] = known
        parts.append(grown.ravel())
        at += size
    return np.concatenate(parts)
