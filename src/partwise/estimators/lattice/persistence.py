"""What a lattice ranker's model file holds besides weights and settings."""

from __future__ import annotations

from typing import Any

from partwise.errors import ModelFileError
from partwise.estimators.lattice.ranker import LatticeRanker
from partwise.features import FeatureDictEncoder
from partwise.model_file import Content, prefixed


def store_ranker(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors and settings that are a lattice ranker's own."""
    tensors, settings = model._encoder.to_tensors()
    return prefixed("encoder", dict(tensors)), {"encoder": settings}


def fill_ranker(model: LatticeRanker, content: Content) -> int:
    """Fill a lattice ranker from a file; return how many weights it has to have."""
    if len(model._labels):
        raise content.error("a lattice ranker has no labels")
    own = content.part("encoder")
    try:
        model._encoder = FeatureDictEncoder.from_tensors(own.tensors, own.settings)
    except ModelFileError as error:  # an encoder does not know the file's name
        raise own.error(str(error)) from None
    try:
        model._check_outputs(model.outputs)
    except ValueError as error:
        raise content.error(str(error)) from None
    return int(model._encoder.n_attributes)
