"""A linear chain as other programs store it: names and weights, nothing else."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class ChainModel(NamedTuple):
    """Labels, attributes, and the weights of their pairs.

    Attributes
    ----------
    labels, attributes : list of str
        Their names, by number.
    ptr : int64 array
        The weights of attribute `a` are ``ptr[a]:ptr[a + 1]``.
    label : int32 array
        The label of every weight; they increase within an attribute.
    weight : float64 array
        The weights of pairs of attribute and label.
    transitions : float64 array of shape (n_labels, n_labels)
        The weight of every label (row) being followed by every other (column).
    edge_attributes : list of str
        Attributes of the transition into a token.
    edge_weight : float64 array of shape (n_edge_attributes, n_labels, n_labels)
        Their weights for every pair of labels.
    template : str
        The CRF++ template that makes the attributes; empty if users make them.
    """

    labels: list[str]
    attributes: list[str]
    ptr: NDArray[np.int64]
    label: NDArray[np.int32]
    weight: NDArray[np.float64]
    transitions: NDArray[np.float64]
    edge_attributes: list[str]
    edge_weight: NDArray[np.float64]
    template: str = ""


def make_chain_model(
    labels: list[str],
    attributes: list[str],
    ptr: Any,
    label: Any,
    weight: Any,
    transitions: Any,
) -> ChainModel:
    """Return a model without a template, whose transitions see no observations.

    Examples
    --------
    >>> model = make_chain_model(["A", "B"], ["x"], [0, 1], [1], [0.5], np.eye(2))
    >>> model.label, model.weight
    (array([1], dtype=int32), array([0.5]))
    """
    K = len(labels)
    return ChainModel(
        list(labels),
        list(attributes),
        np.ascontiguousarray(ptr, np.int64),
        np.ascontiguousarray(label, np.int32),
        np.ascontiguousarray(weight, np.float64),
        np.asarray(transitions, np.float64).reshape(K, K),
        [],
        np.zeros((0, K, K)),
    )


def without_zeros(model: ChainModel) -> ChainModel:
    """Leave out weights that are zero, and attributes that have no others.

    Examples
    --------
    >>> model = make_chain_model(
    ...     ["A"], ["x", "y"], [0, 1, 2], [0, 0], [0.0, 0.5], [[0.0]]
    ... )
    >>> without_zeros(model).attributes
    ['y']
    """
    owner = np.repeat(np.arange(len(model.attributes)), np.diff(model.ptr))
    kept = np.flatnonzero(model.weight)
    counts = np.bincount(owner[kept], minlength=len(model.attributes))
    active = np.flatnonzero(counts)
    return model._replace(
        attributes=[model.attributes[a] for a in active.tolist()],
        ptr=np.concatenate([[0], np.cumsum(counts[active])]).astype(np.int64),
        label=model.label[kept],
        weight=model.weight[kept],
    )
