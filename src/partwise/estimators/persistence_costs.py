"""Costs and weights of labels in model files, for all estimators that have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from partwise.errors import ModelFileError
from partwise.estimators.costs import class_weights
from partwise.model_file import Content
from partwise.structures.costs import hamming, make_cost_matrix


def read_costs(content: Content, K: int) -> tuple[Any, Any]:
    """Return the costs of mistakes, and the setting that says the same."""
    if not content.setting("has_costs", bool):
        return hamming(K), None
    matrix = content.tensor("costs", dtype=np.float64, ndim=2, shape=(K, K))
    try:
        return make_cost_matrix(matrix, K), matrix
    except ValueError as error:
        raise ModelFileError(f"{content.source}: {error}") from None


def class_weight_tensors(model: Any) -> dict[str, Any]:
    """Return a dict of class weights as an array; other settings save themselves."""
    if not isinstance(model.class_weight, Mapping):
        return {}
    by_class = class_weights(model.class_weight, model._labels, np.zeros(0, np.int32))
    return {"class_weight": by_class}


def read_class_weight(model: Any, content: Content) -> None:
    """Read the class weights of a model, which has its labels already."""
    if model.class_weight not in (None, "balanced"):
        raise content.error("setting 'class_weight' should be 'balanced' or nothing")
    if "class_weight" in content.tensors:
        K = len(model._labels)
        weights = content.tensor("class_weight", dtype=np.float64, length=K, at_least=0)
        model.class_weight = dict(
            zip(model._labels.classes, weights.tolist(), strict=True)
        )
