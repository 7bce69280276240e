"""What a graph labeler's model file holds besides labels, weights and settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.estimators.graph.corpus import GraphEncoder
from partwise.estimators.graph.features import ELEMENTS, ElementFeatures
from partwise.estimators.stored_labels import cost_tensors, read_costs, read_encoder
from partwise.estimators.vector_columns import read_vectors, store_vectors
from partwise.model_file import Content, prefixed


def store(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors and settings that are a graph labeler's own."""
    encoder: GraphEncoder = model._graphs
    tensors: dict[str, Any] = cost_tensors(model)
    settings: dict[str, Any] = {
        "has_costs": model.costs is not None,
        "directed": encoder.directed,
        "node_kinds": list(encoder.node_kinds),
        "joint_kinds": [list(kind) for kind in encoder.joint_kinds],
    }
    for k, own in enumerate(encoder.node_kinds.values()):
        tensors[f"kind_labels.{k}"] = own
    for what in ELEMENTS:
        features = encoder.features[what]
        settings[what] = {"width": features.width}
        if features.encoder is not None:
            own_tensors, settings[what]["encoder"] = features.encoder.to_tensors()
            tensors |= prefixed(f"{what}.encoder", dict(own_tensors))
            own_tensors = {}
            store_vectors(features.vectors, own_tensors, settings[what])
            tensors |= prefixed(what, own_tensors)
    return tensors, settings


def fill(model: Any, content: Content) -> int:
    """Fill a graph labeler from a file; return how many weights it has to have."""
    kinds = content.setting("node_kinds", list)
    if not all(isinstance(kind, str) for kind in kinds) or len(set(kinds)) < len(kinds):
        raise content.error("the kinds of nodes should be different strings")
    if not kinds or kinds != sorted(kinds):
        raise content.error("the kinds of nodes should be sorted, one at least")
    labels = {kind: _kind_labels(model, content, k) for k, kind in enumerate(kinds)}
    encoder = GraphEncoder(
        model._labels,
        content.setting("directed", bool),
        labels,
        [_joint_kind(kind, labels, content) for kind in _joint_kinds(content)],
    )
    for what in ELEMENTS:
        encoder.features[what] = _read_features(what, content.part(what))
    model._graphs = encoder
    read_costs(model, content)
    return int(encoder.n_weights())


def _kind_labels(model: Any, content: Content, k: int) -> Any:
    n_labels = len(model._labels)
    own = content.tensor(f"kind_labels.{k}", dtype=np.int64, at_least=0, below=n_labels)
    if own.size == 0 or (np.diff(own) <= 0).any():
        raise content.error(f"the labels of kind {k} should increase, one at least")
    return own


def _joint_kinds(content: Content) -> list[Any]:
    return content.setting("joint_kinds", list)


def _joint_kind(given: Any, known: dict[str, Any], content: Content) -> tuple[Any, ...]:
    """Check the kind of an edge or of a larger clique."""
    if not isinstance(given, list) or not 2 <= len(given) <= 65:
        raise content.error("a kind of cliques should be a list of strings")
    first, *nodes = given
    if not (first is None or (isinstance(first, str) and len(nodes) == 2)):
        raise content.error(f"{first!r} cannot be the kind of an edge")
    if not all(isinstance(kind, str) and kind in known for kind in nodes):
        raise content.error("a clique joins nodes of an unknown kind")
    n_configurations = 1
    for kind in nodes:
        n_configurations *= int(known[kind].size)
    if n_configurations > 2**28:
        raise content.error("a kind of cliques has too many configurations")
    return (first, *nodes)


def _read_features(what: str, part: Content) -> ElementFeatures:
    features = ElementFeatures(what)
    features.width = part.setting("width", int, at_least=0, below=2**31)
    if "encoder" in part.settings:
        features.encoder = read_encoder(part.part("encoder"))
        features.vectors = read_vectors(part, features.encoder.array_widths)
        if features.width != features.encoder.n_attributes + features.vectors.width:
            raise part.error("the number of features does not fit the vocabulary")
    return features
