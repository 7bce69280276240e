"""What a lattice ranker's model file holds besides weights and settings."""

from __future__ import annotations

from typing import Any

from partwise.estimators.stored_labels import read_encoder
from partwise.model_file import Content, prefixed


def store(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors and settings that are a lattice ranker's own."""
    tensors, settings = model._encoder.to_tensors()
    return prefixed("encoder", dict(tensors)), {"encoder": settings}


def fill(model: Any, content: Content) -> int:
    """Fill a lattice ranker from a file; return how many weights it has to have."""
    if len(model._labels):
        raise content.error("a lattice ranker has no labels")
    model._encoder = read_encoder(content.part("encoder"))
    return int(model._encoder.n_attributes)
