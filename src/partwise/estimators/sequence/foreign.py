"""Taggers from the model files of other programs, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.errors import DataError, ModelFileError
from partwise.estimators import costs as weighting
from partwise.estimators.base import untrained
from partwise.estimators.labels import LabelCodes
from partwise.estimators.sequence.constraints import make_masks
from partwise.estimators.sequence.inputs import DictInput, Input, TemplateInput
from partwise.estimators.vector_columns import VectorColumns
from partwise.features import FeatureDictEncoder, TemplateEncoder
from partwise.features.vocabulary import SEPARATOR
from partwise.foreign import ChainModel, make_chain_model
from partwise.structures.rows import make_pairs

READ = "read"


def fill_from(tagger: Any, model: ChainModel, source: str) -> None:
    """Make an unfitted tagger the one that a file of another program holds."""
    K = len(model.labels)
    labels = LabelCodes(model.labels)
    try:
        tagger._input, model = _with_input(model)
    except DataError as error:
        raise ModelFileError(f"{source}: the template is damaged: {error}") from None
    tagger._set_labels(labels)
    tagger._masks = make_masks(None, labels)
    tagger._costs = weighting.cost_matrix(None, labels)
    tagger._pairs = make_pairs(model.ptr, model.label, K)
    tagger._vectors = VectorColumns()
    tagger._memory, tagger._n_states = None, 1
    parts = (model.weight, model.transitions.ravel(), model.edge_weight.ravel())
    status = f"trained by another program; read from {source}"
    tagger._keep(untrained(np.concatenate(parts), READ, status), tagger.solver)


def _with_input(model: ChainModel) -> tuple[Input, ChainModel]:
    """Return what encodes the inputs of a model, and the model in its numbers."""
    if not model.template:
        return DictInput(FeatureDictEncoder.of_names(model.attributes)), model
    encoder = TemplateEncoder(model.template)
    nodes, edges = encoder.learn_names(model.attributes, model.edge_attributes)
    counts = np.diff(model.ptr)[nodes]
    ptr = np.concatenate([[0], np.cumsum(counts)])
    # The pairs of an attribute, one after the other, from where they begin.
    within = np.arange(ptr[-1]) - np.repeat(ptr[:-1], counts)
    chosen = np.repeat(model.ptr[nodes], counts) + within
    model = model._replace(
        ptr=ptr,
        label=model.label[chosen],
        weight=model.weight[chosen],
        edge_weight=model.edge_weight[edges],
    )
    return TemplateInput(encoder), model


def chain_model_of(tagger: Any) -> ChainModel:
    """Return a tagger as other programs store it.

    Raises
    ------
    ValueError
        If it has something that such a file cannot hold.
    """
    tagger._check_fitted()
    K = len(tagger._labels)
    _refuse_more_than_pairs(tagger, K)
    names = _attribute_names(tagger)
    if len(set(names)) < len(names):
        raise ValueError(
            "two attributes of this model have the same name in CRFsuite's spelling, "
            f"name{SEPARATOR}value; rename the feature"
        )
    if tagger._pairs is None:
        ptr = K * np.arange(len(names) + 1)
        label = np.tile(np.arange(K), len(names))
    else:
        ptr, label = tagger._pairs.ptr, tagger._pairs.label
    return make_chain_model(
        [str(name) for name in tagger._labels.classes],
        names,
        ptr,
        label,
        tagger.weights_[: label.size],
        tagger.transitions_,
    )


def _attribute_names(tagger: Any) -> list[str]:
    if isinstance(tagger._input, DictInput):
        keys = tagger._input.encoder.attribute_keys()
        return [n if v is None else f"{n}{SEPARATOR}{v}" for n, v in keys]
    return list(tagger._input.names())


def _refuse_more_than_pairs(tagger: Any, K: int) -> None:
    """Raise `ValueError` for everything but weights of pairs and of transitions."""
    problems = {
        "hashed features, which have no names": tagger.hash_bits is not None,
        "dense features, which have no names": tagger._input.kind == "dense",
        "label tuples; train with order=1": tagger._memory is not None,
        "hidden states; train with states=1": tagger._n_states > 1,
        "vectors": tagger._vectors.width > 0,
        "features of transitions": tagger._input.n_edge_features > 0,
        "constraints; leave them out": any(mask.any() for mask in tagger._masks),
        "weights for first or last labels; train with start=False and end=False (in a "
        "command: --no-start --no-end)": bool(
            tagger.weights_[-K * (int(tagger.start) + int(tagger.end)) :].any()
            if tagger.start or tagger.end
            else False
        ),
    }
    for what, is_there in problems.items():
        if is_there:
            raise ValueError(f"a CRFsuite file cannot hold this model: it has {what}")
