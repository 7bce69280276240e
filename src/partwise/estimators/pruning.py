"""Coarse to fine: cheap models, trained just well enough to prune for others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from partwise import model_file
from partwise.losses import get_loss
from partwise.model_file import Content, prefixed
from partwise.solvers import make_problem, solve
from partwise.solvers.registry import make_solver
from partwise.structures.interface import FloatArray, Structure

PASSES = 2
"""A coarse model learns for so many passes: then it is good enough to prune."""

Left = TypeVar("Left", bound=tuple[float, ...])


class CoarseModel(NamedTuple):
    """The weights of a coarse model, and how probable a part must be to stay."""

    weights: FloatArray
    least: float


def learn_coarse(
    s: Structure, least: float, seed: int, sample_weight: FloatArray | None = None
) -> CoarseModel:
    """Train a coarse model with the log loss, just long enough to prune."""
    problem = make_problem(s, get_loss("log_loss"), 1.0, sample_weight)
    found = solve(
        problem, make_solver("eg"), max_iter=PASSES, tol=1e-9, random_state=seed
    )
    return CoarseModel(found.w, least)


def store_coarse(
    model: CoarseModel, left: Mapping[str, tuple[float, ...]] | None, **more: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a model file holds of a coarse model, and of what it left."""
    tensors = prefixed("pruner", model_file.pack_sparse(model.weights))
    described = {part: list(found) for part, found in (left or {}).items()}
    settings = {"least": model.least, **more, "left": described}
    return dict(tensors), {"pruner": settings}


def read_coarse(
    content: Content, size: int, kind: type[Left]
) -> tuple[CoarseModel, dict[str, Left]]:
    """Read a coarse model of so many weights, and what it left."""
    part = content.part("pruner")
    least = part.setting("least", float)
    if not 0.0 <= least <= 1.0:
        raise part.error("the share of pruning does not lie between 0 and 1")
    weights = model_file.unpack_sparse(part.tensors, size, source=content.source)
    left = {}
    for name, numbers in part.setting("left", dict).items():
        if not isinstance(numbers, list) or {*map(type, numbers)} != {float}:
            raise part.error("what pruning left is damaged")
        try:
            left[name] = kind(*numbers)
        except TypeError:
            raise part.error("what pruning left has another size") from None
    return CoarseModel(weights, least), left
