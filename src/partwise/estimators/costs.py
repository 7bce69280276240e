"""Costs and weights as users write them: by pair of labels, class, and token."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from partwise.errors import DataError
from partwise.estimators.checks import check_listed, check_same_length
from partwise.estimators.labels import Label, LabelCodes
from partwise.solvers.base import check_sample_weight
from partwise.structures.costs import hamming, make_cost_matrix
from partwise.structures.interface import CodeArray, FloatArray, IntArray


def cost_matrix(costs: Any, labels: LabelCodes) -> FloatArray:
    """Return the matrix ``[right, predicted]``.

    Parameters
    ----------
    costs : matrix, dict, callable, "hamming", "ring" or None
        In a dict, pairs not named cost 1. A function is called for the cost of every
        wrong pair ``(right, predicted)``. None, or "hamming": all wrong
        labels cost 1. "ring": labels are integers on a ring, the smallest after the
        largest, and a mistake costs the distance along it.
    labels : LabelCodes
        The labels, in the order of rows and columns.

    Examples
    --------
    >>> cost_matrix({("N", "V"): 5.0}, LabelCodes(["N", "V"]))
    array([[0., 5.],
           [1., 0.]])
    >>> cost_matrix(lambda right, predicted: abs(right - predicted), LabelCodes([1, 4]))
    array([[0., 3.],
           [3., 0.]])
    >>> cost_matrix("ring", LabelCodes([1, 2, 3, 4]))[0]
    array([0., 1., 2., 1.])
    """
    if costs is None or (isinstance(costs, str) and costs == "hamming"):
        return hamming(len(labels))
    if isinstance(costs, str):
        return _ring(costs, labels.classes)
    if callable(costs):
        return make_cost_matrix(_ask(costs, labels.classes), len(labels))
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


def _ring(name: str, classes: list[Label]) -> FloatArray:
    if name != "ring":
        raise ValueError(
            f"costs must be 'hamming', 'ring', a matrix, a dict or a function, not "
            f"{name!r}"
        )
    try:
        places = np.array([int(label) for label in classes])
    except ValueError:
        raise ValueError(
            f"costs='ring' needs labels that are integers, not {classes[0]!r} and "
            "others; give a matrix of costs, or a function"
        ) from None
    apart = np.abs(places[:, None] - places)
    around = int(places.max() - places.min()) + 1
    return np.asarray(np.minimum(apart, around - apart), np.float64)


def _ask(cost: Callable[[Label, Label], Any], classes: list[Label]) -> FloatArray:
    matrix = np.zeros((len(classes), len(classes)))
    for a, right in enumerate(classes):
        for b, predicted in enumerate(classes):
            if a != b:
                value = cost(right, predicted)
                if not isinstance(value, Real):
                    raise ValueError(
                        f"costs({right!r}, {predicted!r}) returned {value!r}; it must "
                        "return a number"
                    )
                matrix[a, b] = value
    return matrix


def class_weights(
    class_weight: Any,
    labels: LabelCodes,
    gold: CodeArray,
    sample_weight: FloatArray | None = None,
) -> FloatArray:
    """Return the weight of every class, in the order of `labels`.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Classes not named in the dict weigh 1. "balanced" makes all classes weigh the
        same in total: ``n / (n_classes * count)``, as in scikit-learn.
    labels : LabelCodes
        The classes.
    gold : array of int32
        The class of every example, or token.
    sample_weight : array, optional
        How much each of them counts.

    Examples
    --------
    >>> labels = LabelCodes(["N", "V"])
    >>> class_weights({"V": 3.0}, labels, np.array([0, 0, 1]))
    array([1., 3.])
    >>> class_weights("balanced", labels, np.array([0, 0, 1]))
    array([0.75, 1.5 ])
    """
    result = np.ones(len(labels))
    if class_weight is None:
        return result
    if isinstance(class_weight, str) and class_weight == "balanced":
        counts = np.bincount(gold, sample_weight, len(labels))
        there = counts > 0
        result[there] = counts.sum() / (len(labels) * counts[there])
        return result
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            "class_weight must be a dict of weights by class, 'balanced' or None, "
            f"not {class_weight!r}"
        )
    for label, weight in class_weight.items():
        code = labels.code(label, "class_weight")
        if not isinstance(weight, Real) or not 0 <= float(weight) < np.inf:
            raise ValueError(
                f"class_weight[{label!r}] must be a finite number, not negative; it is "
                f"{weight!r}"
            )
        result[code] = weight
    return result


def sample_weights(sample_weight: Any, count: int) -> FloatArray | None:
    """Return the weights of examples as an array, checked.

    Examples
    --------
    >>> sample_weights([1, 2], 2)
    array([1., 2.])
    """
    return None if sample_weight is None else check_sample_weight(sample_weight, count)


def token_weights(token_weight: Any, ptr: IntArray) -> FloatArray | None:
    """Put the weights of tokens, a list per sequence, end to end.

    Examples
    --------
    >>> token_weights([[1.0, 0.5], [2.0]], np.array([0, 2, 3]))
    array([1. , 0.5, 2. ])
    """
    if token_weight is None:
        return None
    check_listed(
        token_weight, "token_weight must be a list of numbers for every sequence"
    )
    lists = list(token_weight)
    check_same_length(ptr.size - 1, len(lists), "token_weight")
    result = np.ones(int(ptr[-1]))
    for i, weights in enumerate(lists):
        first, last = int(ptr[i]), int(ptr[i + 1])
        try:
            values = np.asarray(weights, np.float64)
        except (TypeError, ValueError):
            values = None
        if values is None or values.ndim != 1:
            raise DataError(
                f"token_weight, sequence {i}: expected a list of numbers, not "
                f"{weights!r}"
            )
        if values.size != last - first:
            raise DataError(
                f"token_weight, sequence {i}: {values.size} weights for "
                f"{last - first} tokens"
            )
        bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
        if bad.size:
            raise DataError(
                f"token_weight, sequence {i}, token {bad[0]}: {values[bad[0]]:g} is "
                "not a finite number >= 0"
            )
        result[first:last] = values
    return result
