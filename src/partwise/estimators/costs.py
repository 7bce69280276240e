"""Costs as users write them: a matrix, or a dict by pairs of labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from partwise.estimators.labels import LabelCodes
from partwise.structures.costs import hamming, make_cost_matrix
from partwise.structures.interface import FloatArray


def cost_matrix(costs: Any, labels: LabelCodes) -> FloatArray:
    """Return the matrix ``[right, predicted]``; pairs not named cost 1.

    Examples
    --------
    >>> cost_matrix({("N", "V"): 5.0}, LabelCodes(["N", "V"]))
    array([[0., 5.],
           [1., 0.]])
    """
    if costs is None:
        return hamming(len(labels))
    if not isinstance(costs, Mapping):
        return make_cost_matrix(np.asarray(costs, np.float64), len(labels))
    matrix = hamming(len(labels))
    for key, value in costs.items():
        if isinstance(value, Mapping):
            pairs = [((key, predicted), cost) for predicted, cost in value.items()]
        else:
            pairs = [(key, value)]
        for pair, cost in pairs:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ValueError(
                    "costs must be keyed by (right, predicted) pairs of labels, "
                    f"not {pair!r}"
                )
            right, predicted = (labels.code(label, "costs") for label in pair)
            matrix[right, predicted] = cost
    return make_cost_matrix(matrix, len(labels))
