"""What a parser's model file holds besides labels, weights and settings."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from partwise.estimators.calibration import calibration_tensors, read_calibration
from partwise.estimators.dependency.corpus import LABEL_ROW_BITS, TreeSettings
from partwise.estimators.dependency.reach import read_reach, store_reach
from partwise.estimators.dependency.second_order import (
    pruner_tensors,
    read_pruner,
)
from partwise.estimators.stored_labels import check_mark, mark_of
from partwise.estimators.vector_columns import read_vectors, store_vectors
from partwise.features import arc_codes
from partwise.features.arc_groups import GROUPS, find_groups
from partwise.model_file import Content
from partwise.structures.dependency.hashed_arcs import LENGTHS


def arc_features(order: int = 1) -> tuple[Any, ...]:
    """Return the features that this version gives to arcs, and to pairs of arcs."""
    pairs_of_arcs = (arc_codes.SIBLING_TEMPLATES, arc_codes.GRANDPARENT_TEMPLATES)
    return (
        arc_codes.ATTRIBUTES,
        arc_codes.CODES,
        arc_codes.ARC_TEMPLATES,
        arc_codes.BETWEEN_TEMPLATE,
        arc_codes.AGREEMENT_TEMPLATE,
        arc_codes.LABEL_CLASS,
        arc_codes.MODIFIER_TEMPLATES,
        arc_codes.HEAD_TEMPLATES,
        arc_codes.PAIR_TEMPLATES,
        tuple(map(int, LENGTHS)),
        LABEL_ROW_BITS,
        *(pairs_of_arcs if order > 1 else ()),
    )


def store(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors and settings that are a parser's own."""
    # What the weights were learnt with, whatever was set after fitting.
    trees = asdict(model._trees)
    del trees["n_vector_columns"]  # the vectors themselves say so
    tensors, calibration = calibration_tensors(model._calibration)
    pruner, described = pruner_tensors(model._pruner, model.pruning_)
    tensors |= pruner | store_reach(model._reach)
    settings = {
        "trees": trees,
        "features": mark_of(arc_features(model._trees.order)),
        "calibration": calibration,
        "has_reach": model._reach is not None,
        "root_label": model._reach and model._reach.root,
        **described,
    }
    store_vectors(model._vectors, tensors, settings)
    return tensors, settings


def fill(model: Any, content: Content) -> int:
    """Fill a parser from a file; return how many weights it has to have."""
    trees = content.part("trees")
    model._vectors = read_vectors(content, {})
    model.vectors = model._vectors.setting
    model._trees = TreeSettings(
        projective=trees.setting("projective", bool),
        single_root=trees.setting("single_root", bool),
        hash_bits=trees.setting("hash_bits", int, at_least=8, below=31),
        suffix=trees.setting("suffix", int, at_least=1, below=21),
        features=_read_groups(trees),
        n_arc_features=_n_arc_features(trees),
        n_vector_columns=model._vectors.width,
        order=_order(trees),
    )
    check_mark(content, arc_features(model._trees.order))
    if model._trees.order > 1:
        model._pruner, model.pruning_ = read_pruner(
            content, model._trees.n_arc_weights, model._trees.hash_bits
        )
    if content.settings.get("has_reach") is True:
        model._reach = read_reach(content, _root_label(content, model._labels.classes))
    model._calibration = read_calibration(content, model.calibrate)
    _check_named_groups(model, content)
    for label in model._labels.classes:
        if not isinstance(label, str) or not label or set(label) & set("\t\n\r"):
            raise content.error(f"{label!r} cannot be the label of an arc")
    return int(model._trees.n_weights(len(model._labels)))


def _root_label(content: Content, labels: list[Any]) -> str | None:
    """Return the label that only the root's arcs have; older files know of none."""
    if content.settings.get("root_label") is None:
        return None
    label: str = content.setting("root_label", str)
    if label not in labels or len(labels) < 2:
        raise content.error(f"{label!r} cannot be the label of the root only")
    return label


def _read_groups(trees: Content) -> tuple[str, ...]:
    """Return the groups of features that are on; a file that names none has all."""
    if "features" not in trees.settings:
        return GROUPS
    names = trees.setting("features", list)
    try:
        groups = find_groups(names)
    except ValueError as error:
        raise trees.error(str(error)) from None
    if list(groups) != names:
        raise trees.error("the groups of features are not in their order")
    return groups


def _n_arc_features(trees: Content) -> int:
    if "n_arc_features" not in trees.settings:
        return 0
    return trees.setting("n_arc_features", int, at_least=0, below=2**31)


def _order(trees: Content) -> int:
    if "order" not in trees.settings:
        return 1
    return trees.setting("order", int, at_least=1, below=3)


def _check_named_groups(model: Any, content: Content) -> None:
    """Check the groups as the user named them; settings hold no sequence of names."""
    if "features" not in content.setting("params", dict):
        groups = model._trees.features
        model.features = "all" if groups == GROUPS else groups
    try:
        find_groups(model.features)
    except ValueError as error:
        raise content.error(str(error)) from None
