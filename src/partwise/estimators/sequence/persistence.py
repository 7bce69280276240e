"""What a tagger's model file holds besides labels, weights and settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.estimators.calibration import calibration_tensors, read_calibration
from partwise.estimators.sequence.constraints import Masks, constraints_of
from partwise.estimators.sequence.inputs import DictInput, TemplateInput, load_input
from partwise.estimators.sequence.orders import memory_tensors, read_memory
from partwise.estimators.stored_labels import cost_tensors, read_costs
from partwise.estimators.suitable_defaults import read_row_size
from partwise.estimators.vector_columns import read_vectors, store_vectors
from partwise.model_file import Content, prefixed
from partwise.structures.rows import make_pairs


def store(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors and settings that are a tagger's own."""
    tensors, settings = shared_tensors(model)
    store_vectors(model._vectors, tensors, settings)
    tensors |= memory_tensors(model._memory)
    stored, described = calibration_tensors(model._calibration)
    settings |= {"calibration": described, "row_size": model._row_size}
    settings["weighs_tokens"] = model._weighs_tokens
    settings["has_many_labels"] = model._has_many_labels
    return tensors | stored, settings


def shared_tensors(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what all models hold that label tokens: features, constraints, costs."""
    own, own_settings = model._input.to_tensors()
    tensors = prefixed("input", own)
    masks = {k: v.astype(np.uint8) for k, v in model._masks._asdict().items()}
    tensors |= prefixed("masks", masks)
    tensors |= cost_tensors(model)
    if model._pairs is not None:
        tensors |= {"pairs.ptr": model._pairs.ptr, "pairs.label": model._pairs.label}
    settings = {
        "input": {"kind": model._input.kind, **own_settings},
        "has_costs": model.costs is not None,
        "has_pairs": model._pairs is not None,
    }
    return dict(tensors), settings


def fill(model: Any, content: Content) -> int:
    """Fill a tagger from a file; return how many weights it has to have."""
    K = len(model._labels)
    fill_shared(model, content)
    if isinstance(model._input, DictInput):
        model.transition_features = model._input.encoder.transition_features
    model._n_states = int(model.states)
    K *= model._n_states
    n_nodes = read_pairs(model, content, K)
    model._calibration = read_calibration(content, model.calibrate)
    model._row_size = read_row_size(content)
    model._weighs_tokens = content.settings.get("weighs_tokens") is True
    model._has_many_labels = content.settings.get("has_many_labels") is True
    encoder = getattr(model._input, "encoder", None)
    model._vectors = read_vectors(content, getattr(encoder, "array_widths", {}))
    model.vectors = model._vectors.setting
    n_nodes += model._vectors.width * K
    model._memory = read_memory(model, content)
    if model._memory is not None:
        return int(n_nodes + model._memory.grams.n_weights + K * int(model.end))
    ends = K * (int(model.start) + int(model.end))
    return int(n_nodes + K * K + ends + model._input.n_edge_features * K * K)


def fill_shared(model: Any, content: Content) -> None:
    """Read what `shared_tensors` returned, except for the pairs."""
    K = len(model._labels)
    model._input = load_input(content.part("input"))
    masks = content.part("masks")
    shapes = {"transitions": (K, K), "start": (K,), "end": (K,)}
    model._masks = Masks(
        **{
            name: masks.tensor(name, dtype=np.uint8, ndim=len(shape), shape=shape) > 0
            for name, shape in shapes.items()
        }
    )
    read_costs(model, content)
    _restore_params(model)


def read_pairs(model: Any, content: Content, n_labels: int) -> int:
    """Read the pairs of feature and label with weights; return how many weights."""
    n_columns = model._input.n_features
    model._pairs = None
    if not content.setting("has_pairs", bool):
        return int(n_columns * n_labels)
    pairs = content.part("pairs")
    label = pairs.tensor("label", dtype=np.int32, at_least=0, below=n_labels)
    ptr = pairs.pointers("ptr", end=label.size, length=n_columns + 1)
    try:
        model._pairs = make_pairs(ptr, label, n_labels)
    except ValueError as error:
        raise content.error(str(error)) from None
    return int(label.size)


def _restore_params(model: Any) -> None:
    """Set the settings that the file holds in other forms, for another fit."""
    if isinstance(model._input, TemplateInput):
        template = model._input.encoder.template
        model.template = template if template.resources else template.text
    if model.constraints is None:
        model.constraints = constraints_of(model._masks, model._labels)
