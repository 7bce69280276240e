"""Steps as parts of a model file: their models, and the strings they know by heart."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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


def read_models(
    content: Content, classes: Mapping[str, str], needed: Collection[str] = ()
) -> dict[str, Any]:
    """Return the models that are parts of a file, trusting nothing.

    Parameters
    ----------
    content : Content
        The part of the file that is a step's.
    classes : mapping of str to str
        The models that the step may have, and what class each is of.
    needed : collection of str
        Those that it must have.
    """
    names = content.setting("models", list)
    if not all(isinstance(name, str) and name in classes for name in names):
        raise content.error("it has models of unknown names")
    if len(set(names)) < len(names) or not set(needed) <= set(names):
        raise content.error("a model is missing, or there twice")
    return {
        name: _read_model(content.part(name), expected)
        for name, expected in classes.items()
        if name in names
    }


def _read_model(content: Content, expected: str) -> Any:
    """Return a model of a class whose labels can be written in columns."""
    if content.settings.get("estimator") != expected:
        raise content.error(f"the model should be a {expected}")
    model = model_from(content)
    if not _reads_words(model):
        raise content.error("the model reads something else than words")
    if not all(isinstance(label, str) and is_cell(label) for label in model.classes_):
        raise content.error("a label is empty or holds a tab or a line break")
    return model


def _reads_words(model: Any) -> bool:
    """Say whether a model reads what steps give: columns, names of features, words."""
    if hasattr(model, "_input"):
        return bool(model._input.kind == "template")
    return getattr(model, "_encoder", True) is not None


def is_cell(text: str) -> bool:
    """Say whether a text can be a cell of CoNLL-U: not empty, on one line."""
    return bool(text) and not any(mark in text for mark in "\t\n\r")


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
