"""Labels in model files, with the costs and weights that some estimators give them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from partwise import model_file
from partwise.errors import ModelFileError
from partwise.estimators.costs import class_weights
from partwise.estimators.labels import Label, LabelCodes, sorted_classes
from partwise.features import FeatureDictEncoder
from partwise.model_file import Content, prefixed
from partwise.structures.costs import hamming, make_cost_matrix


def pack_labels(name: str, labels: LabelCodes) -> tuple[dict[str, Any], bool]:
    """Return labels as tensors, and whether they are integers."""
    classes = labels.classes
    tensors = prefixed(name, model_file.pack_strings(list(map(str, classes))))
    return tensors, bool(classes) and isinstance(classes[0], int)


def unpack_strings(content: Content, name: str, **checks: Any) -> list[str]:
    """Return the strings that a file keeps under a name; see `model_file`."""
    part = content.part(name)
    return model_file.unpack_strings(part.tensors, source=part.source, **checks)


def unpack_labels(content: Content, name: str, are_integers: bool) -> list[Label]:
    """Return the labels that a file keeps under a name."""
    labels: list[Any] = unpack_strings(content, name, unique=True)
    if not are_integers:
        return labels
    try:
        integers = sorted_classes([int(label) for label in labels])
    except ValueError:
        integers = []
    if list(map(str, integers)) != labels:
        raise content.error(f"{name} are not the integers they should be")
    return integers


def cost_tensors(model: Any) -> dict[str, Any]:
    """Return the costs and class weights that were given, as arrays."""
    tensors = {} if model.costs is None else {"costs": model._costs}
    weights = getattr(model, "class_weight", None)
    if isinstance(weights, Mapping):  # other settings save themselves
        none = np.zeros(0, np.int32)
        tensors["class_weight"] = class_weights(weights, model._labels, none)
    return tensors


def read_costs(model: Any, content: Content) -> None:
    """Read costs and class weights into a model, which has its labels already."""
    K = len(model._labels)
    content.check_room(K * K, f"the costs of {K} labels")
    model._costs = hamming(K)
    if content.setting("has_costs", bool):
        matrix = content.tensor("costs", dtype=np.float64, ndim=2, shape=(K, K))
        try:
            model._costs = make_cost_matrix(matrix, K)
        except ValueError as error:
            raise ModelFileError(f"{content.source}: {error}") from None
        if model.costs is None:
            model.costs = matrix
    if isinstance(model.costs, str) and not (
        model.costs in ("hamming", "ring") and "costs" in content.tensors
    ):
        raise content.error(f"setting 'costs' has an unknown value: {model.costs!r}")
    if not hasattr(model, "class_weight"):
        return
    if model.class_weight not in (None, "balanced"):
        raise content.error("setting 'class_weight' should be 'balanced' or nothing")
    if "class_weight" in content.tensors:
        weights = content.tensor("class_weight", dtype=np.float64, length=K, at_least=0)
        model.class_weight = dict(
            zip(model._labels.classes, weights.tolist(), strict=True)
        )


def read_encoder(part: Content) -> FeatureDictEncoder:
    """Return the vocabulary of features that a part of a file holds."""
    try:
        return FeatureDictEncoder.from_tensors(part.tensors, part.settings)
    except ModelFileError as error:  # an encoder does not know the file's name
        raise part.error(str(error)) from None


def mark_of(features: tuple[Any, ...]) -> str:
    """Return a mark of the features that this version has.

    Weights are found by hashing, so that those of other features could not be told
    from the right ones.

    Examples
    --------
    >>> len(mark_of(("word", "tag")))
    16
    """
    return hashlib.sha256(repr(features).encode()).hexdigest()[:16]


def check_mark(content: Content, features: tuple[Any, ...]) -> None:
    """Refuse a model that was trained with features of another version."""
    if content.setting("features", str) != mark_of(features):
        raise content.error(
            "the parser was trained with the features of another version (train it "
            "again)"
        )
