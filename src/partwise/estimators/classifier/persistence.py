"""What a classifier's model file holds besides labels, weights and settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise import model_file
from partwise.errors import ModelFileError
from partwise.estimators.classifier.classifier import MulticlassClassifier
from partwise.estimators.persistence_costs import (
    class_weight_tensors,
    read_class_weight,
    read_costs,
)
from partwise.features import FeatureDictEncoder
from partwise.model_file import Content, prefixed


def store_classifier(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors and settings that are a classifier's own."""
    tensors: dict[str, Any] = {}
    settings: dict[str, Any] = {
        "n_features": int(model.n_features_in_),
        "has_costs": model.costs is not None,
        "has_encoder": model._encoder is not None,
        "has_names": hasattr(model, "feature_names_in_"),
    }
    if settings["has_names"]:
        names = list(map(str, model.feature_names_in_))
        tensors |= prefixed("names", model_file.pack_strings(names))
    if model._encoder is not None:
        own, settings["encoder"] = model._encoder.to_tensors()
        tensors |= prefixed("encoder", dict(own))
    tensors |= class_weight_tensors(model)
    if model.costs is not None:
        tensors["costs"] = model._costs
    return tensors, settings


def fill_classifier(model: MulticlassClassifier, content: Content) -> int:
    """Fill a classifier from a file; return how many weights it has to have."""
    K = len(model._labels)
    width = content.setting("n_features", int, at_least=0, below=2**31)
    model._encoder = None
    if content.setting("has_encoder", bool):
        part = content.part("encoder")
        try:
            encoder = FeatureDictEncoder.from_tensors(part.tensors, part.settings)
        except ModelFileError as error:  # an encoder does not know the file's name
            raise part.error(str(error)) from None
        model._encoder = encoder
        if width != encoder.n_attributes:
            raise content.error("the number of features does not fit the vocabulary")
    model.n_features_in_ = width
    if content.setting("has_names", bool):
        part = content.part("names")
        names = model_file.unpack_strings(
            part.tensors, length=width, source=part.source
        )
        model.feature_names_in_ = np.array(names, object)
    model._costs, model.costs = read_costs(content, K)
    read_class_weight(model, content)
    return (width + int(model.fit_intercept)) * K
