"""What a Bayesian network's file holds besides classes, weights and settings."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from partwise import model_file
from partwise.errors import ModelFileError
from partwise.estimators.bayesian_network.discrete_table import Variable
from partwise.estimators.labels import LabelCodes, sorted_classes
from partwise.estimators.stored_labels import unpack_strings
from partwise.model_file import Content, prefixed
from partwise.structures.bayesian_network import make_network
from partwise.structures.costs import hamming, make_cost_matrix
from partwise.structures.interface import FloatArray


def store(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors and settings that are a Bayesian network's own."""
    variables = model._variables
    values = [str(value) for one in variables for value in one.values.classes]
    tensors: dict[str, Any] = {}
    tensors |= prefixed("values", model_file.pack_strings(values))
    own = not isinstance(model.reference, str | None)
    if own:
        tensors["reference"] = model._own_reference()
    if model.costs is not None:
        for v, matrix in model._costs.items():
            tensors[f"costs.{v}"] = matrix
    several = isinstance(model.target, list | tuple)
    settings = {
        "names": [one.name for one in variables],
        "n_values": [len(one.values) for one in variables],
        "integer_values": [isinstance(one.values.classes[0], int) for one in variables],
        "parents": [list(group) for group in model._network.parents],
        "targets": list(model._targets),
        "target_names": list(model.target) if several else None,
        "named": model._named,
        "suitable_C": model._suitable_C,
        "has_graph": model.graph is not None,
        "has_reference": own,
        "has_costs": model.costs is not None,
    }
    return tensors, settings


def fill(model: Any, content: Content) -> int:
    """Fill a model from a file; return how many weights it has to have."""
    names = _names(content)
    n = len(names)
    model._variables = _read_variables(content, names)
    n_values = [len(one.values) for one in model._variables]
    parents = _int_lists(content, "parents", n)
    try:
        model._network = make_network(n_values, parents)
    except ValueError as error:
        raise content.error(str(error)) from None
    (targets,) = _int_lists(content, "targets", 1, nested=False)
    if not targets or len(set(targets)) < len(targets) or max(targets) >= n:
        raise content.error("the targets are not variables of the model")
    if model._variables[targets[0]].values.classes != model._labels.classes:
        raise content.error("the labels are not the values of the target")
    model._named = content.setting("named", bool)
    model._suitable_C = content.setting("suitable_C", float, above=0)
    if content.setting("has_graph", bool):
        model.graph = [
            (names[u], names[v]) for v, group in enumerate(parents) for u in group
        ]
    if content.settings.get("target_names") is not None:
        model.target = [names[v] for v in targets]
    model._set_targets(targets)
    _read_costs(model, content)
    size = model._network.n_weights
    if content.setting("has_reference", bool):
        flat = content.tensor("reference", dtype=np.float64, length=size, at_least=0)
        model.reference = {
            name: model._network.table(v, flat) for v, name in enumerate(names)
        }
        try:
            model._own_reference()
        except ValueError as error:
            raise content.error(str(error)) from None
    return int(size)


def _names(content: Content) -> list[Any]:
    names = content.setting("names", list)
    good = all(type(name) in (str, int) for name in names)
    if not names or not good or len(set(names)) < len(names):
        raise content.error("setting 'names' should be different names of variables")
    return names


def _int_lists(
    content: Content, name: str, length: int, nested: bool = True
) -> list[list[int]]:
    """Return lists of small numbers: a list of them, or one as a list of its own."""
    found: Any = content.setting(name, list)
    lists = found if nested else [found]
    for one in lists:
        if type(one) is not list or any(
            type(value) is not int or not 0 <= value < 2**31 for value in one
        ):
            raise content.error(f"setting {name!r} should hold numbers")
    if len(lists) != length:
        raise content.error(f"setting {name!r} should have {length} lists")
    return list(lists)


def _read_variables(content: Content, names: list[Any]) -> list[Variable]:
    flat = unpack_strings(content, "values")
    (sizes,) = _int_lists(content, "n_values", 1, nested=False)
    integer = content.setting("integer_values", list)
    same = len(names) == len(sizes) == len(integer)
    if not same or min(sizes) < 2 or sum(sizes) != len(flat):
        raise content.error("the values do not fit the variables")
    ends = np.cumsum([0, *sizes]).tolist()
    variables = []
    for name, whole, (start, stop) in zip(names, integer, pairwise(ends), strict=True):
        listed: list[Any] = flat[start:stop]
        try:
            values = [int(value) for value in listed] if whole is True else listed
            if list(map(str, sorted_classes(values))) != listed:
                raise ValueError
        except ValueError:
            raise content.error(f"the values of {name!r} are damaged") from None
        variables.append(Variable(name, LabelCodes(values)))
    return variables


def _read_costs(model: Any, content: Content) -> None:
    """Read the costs of mistakes, and the setting that says the same."""
    n_values = model._network.n_values
    if not content.setting("has_costs", bool):
        model._costs = {v: hamming(n_values[v]) for v in model._targets}
        return
    part = content.part("costs")
    costs: dict[int, FloatArray] = {}
    for v in model._targets:
        K = n_values[v]
        matrix = part.tensor(str(v), dtype=np.float64, ndim=2, shape=(K, K))
        try:
            costs[v] = make_cost_matrix(matrix, K)
        except ValueError as error:
            raise ModelFileError(f"{content.source}: {error}") from None
    model._costs = costs
    by_name = {model._variables[v].name: matrix for v, matrix in costs.items()}
    model.costs = by_name if len(costs) > 1 else costs[model._targets[0]]
