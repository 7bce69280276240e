"""Steps as parts of a model file: their models, and the strings they know by heart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from partwise.estimators.persistence import model_content, model_from
from partwise.model_file import Content, pack_strings, prefixed
from partwise.model_file.packing import stored_strings

Stored = tuple[dict[str, Any], dict[str, Any]]
"""Tensors and settings."""


def store_models(models: Mapping[str, Any], dtype: str) -> Stored:
    """Return models as parts of a file."""
    tensors: dict[str, Any] = {}
    settings: dict[str, Any] = {"models": list(models)}
    for name, model in models.items():
        own, settings[name] = model_content(model, dtype)
        tensors |= prefixed(name, own)
    return tensors, settings


def read_models(content: Content) -> dict[str, Any]:
    """Return the models that are parts of a file."""
    names = content.setting("models", list)
    if not all(isinstance(name, str) and name in content.settings for name in names):
        raise content.error("the names of its models are damaged")
    return {name: model_from(content.part(name)) for name in names}


def store_table(name: str, table: Mapping[str, str]) -> dict[str, Any]:
    """Return a dict of strings as tensors."""
    return {
        **prefixed(f"{name}.keys", pack_strings(list(table))),
        **prefixed(f"{name}.values", pack_strings(list(table.values()))),
    }


def read_table(content: Content, name: str) -> dict[str, str]:
    """Return a dict of strings."""
    part = content.part(name)
    keys = stored_strings(part, "keys", unique=True)
    values = stored_strings(part, "values")
    if len(keys) != len(values):
        raise content.error(f"{name}: there are more keys or more values")
    return dict(zip(keys, values, strict=True))
