"""What a classifier's model file holds besides labels, weights and settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise import model_file
from partwise.estimators.stored_labels import (
    cost_tensors,
    read_costs,
    read_encoder,
    unpack_strings,
)
from partwise.estimators.suitable_defaults import read_row_size
from partwise.estimators.vector_columns import read_vectors, store_vectors
from partwise.model_file import Content, prefixed


def store(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors and settings that are a classifier's own."""
    tensors: dict[str, Any] = {}
    settings: dict[str, Any] = {
        "n_features": int(model.n_features_in_),
        "has_costs": model.costs is not None,
        "has_encoder": model._encoder is not None,
        "has_names": hasattr(model, "feature_names_in_"),
        "row_size": model._row_size,
    }
    if settings["has_names"]:
        names = list(map(str, model.feature_names_in_))
        tensors |= prefixed("names", model_file.pack_strings(names))
    if model._encoder is not None:
        own, settings["encoder"] = model._encoder.to_tensors()
        tensors |= prefixed("encoder", dict(own))
        store_vectors(model._vectors, tensors, settings)
    return tensors | cost_tensors(model), settings


def fill(model: Any, content: Content) -> int:
    """Fill a classifier from a file; return how many weights it has to have."""
    width = content.setting("n_features", int, at_least=0, below=2**31)
    model._encoder = None
    if content.setting("has_encoder", bool):
        model._encoder = read_encoder(content.part("encoder"))
        if width != model._encoder.n_attributes:
            raise content.error("the number of features does not fit the vocabulary")
    model.n_features_in_ = width
    model._row_size = read_row_size(content)
    if content.setting("has_names", bool):
        names = unpack_strings(content, "names", length=width)
        model.feature_names_in_ = np.array(names, object)
    read_costs(model, content)
    arrays = {} if model._encoder is None else model._encoder.array_widths
    model._vectors = read_vectors(content, arrays)
    if model._vectors.blocks and model._encoder is None:
        raise content.error("there are vectors, but no features beside them")
    model.vectors = model._vectors.setting
    width += int(model.fit_intercept) + model._vectors.width
    return int(width * len(model._labels))
