"""What a segment tagger's file holds besides labels, weights and settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from partwise.errors import ModelFileError
from partwise.estimators.calibration import calibration_tensors, read_calibration
from partwise.estimators.segments.whole import View, WholeSegments
from partwise.estimators.sequence.persistence import (
    fill_shared,
    read_pairs,
    shared_tensors,
)
from partwise.estimators.vector_columns import read_vectors, store_vectors
from partwise.features.phrase_table import PhraseTable
from partwise.features.resources import Resources
from partwise.model_file import Content, prefixed

LONGEST = 2**20
"""Limits above this are damage."""


def store(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors and settings that are a segment tagger's own."""
    tensors, settings = shared_tensors(model)
    tensors["limits"] = model._limits
    whole: WholeSegments = model._whole
    for number, table in enumerate(whole.tables):
        tensors |= prefixed(f"whole.{number}", table.to_tensors())
    stored, described = Resources(whole.gazetteers).to_tensors()
    tensors |= prefixed("resources", stored)
    settings |= {
        "views": list(whole.views),
        "has_views": not isinstance(model.whole, str),
        "has_limits": isinstance(model.max_length, Mapping),
        "resources": described,
    }
    store_vectors(model._vectors, tensors, settings)
    stored, described = calibration_tensors(model._calibration)
    return tensors | stored, settings | {"calibration": described}


def fill(model: Any, content: Content) -> int:
    """Fill a segment tagger from a file; return how many weights it has to have."""
    K = len(model._labels)
    fill_shared(model, content)
    if model._input.n_edge_features:
        raise content.error("segments have no features of transitions")
    model._limits = content.tensor(
        "limits", dtype=np.int64, length=K, at_least=1, below=LONGEST
    )
    n_shapes = int(model._limits.sum())
    content.check_room(n_shapes, "the lengths of segments")
    if content.setting("has_limits", bool):
        model.max_length = dict(
            zip(model._labels.classes, model._limits.tolist(), strict=True)
        )
        model.max_length.pop(model.outside, None)
    model._whole = _read_whole(model, content)
    model._calibration = read_calibration(content, model.calibrate)
    n_nodes = read_pairs(model, content, 3 * K)
    encoder = getattr(model._input, "encoder", None)
    model._vectors = read_vectors(content, getattr(encoder, "array_widths", {}))
    model.vectors = model._vectors.setting
    n_nodes += model._vectors.width * 3 * K
    ends = K * (int(model.start) + int(model.end))
    n_whole = model._whole.n_attributes * K
    return int(n_nodes + n_whole + n_shapes * model.lengths + K * K + ends)


def _read_whole(model: Any, content: Content) -> WholeSegments:
    views = _read_views(model, content)
    tables = tuple(
        PhraseTable.from_tensors(content.part(f"whole.{number}"))
        for number in range(len(views))
    )
    part = content.part("resources")
    try:
        resources = Resources.from_tensors(part.tensors, part.settings)
    except ModelFileError as error:  # resources do not know the file's name
        raise part.error(str(error)) from None
    if resources.clusters is not None or (resources.gazetteers and not views):
        raise content.error("the features of whole segments are damaged")
    if content.setting("has_views", bool):
        model.whole = list(views)
    model.gazetteers = list(resources.gazetteers)
    return WholeSegments(views, tables, resources.gazetteers)


def _read_views(model: Any, content: Content) -> tuple[View, ...]:
    views = content.setting("views", list)
    template = getattr(getattr(model._input, "encoder", None), "template", None)
    kind = str if template is None else int
    fine = all(type(view) is kind for view in views) and len(set(views)) == len(views)
    if not fine or (kind is int and any(not 0 <= view < 2**31 for view in views)):
        raise content.error("the features of whole segments are damaged")
    return tuple(views)
