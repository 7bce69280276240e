"""Old names of modules, and of what is in them: they work, with a warning."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_MOVED = {
    "attachment": "metrics.attachment",
    "brackets": "metrics.brackets",
    "chunks": "metrics.chunks",
    "lattice_scores": "metrics.lattices",
    "lattices": "data.lattice",
    "structures.bayesnet": "structures.bayesian_network",
    "solvers.generalization": "solvers.linear_program.generalization",
    "estimators.arc_explanation": "estimators.dependency.explanation",
    "estimators.constituency_parser": "estimators.constituency.parser",
    "estimators.constraints": "estimators.sequence.constraints",
    "estimators.dependency_parser": "estimators.dependency.parser",
    "estimators.graph_inputs": "estimators.graph.inputs",
    "estimators.graph_labeler": "estimators.graph.labeler",
    "estimators.hidden_markov_choice": "estimators.hidden_markov.choice",
    "estimators.hidden_markov_model": "estimators.hidden_markov.model",
    "estimators.lattice_ranker": "estimators.lattice.ranker",
    "estimators.multiclass_classifier": "estimators.classifier.classifier",
    "estimators.sequence_answers": "estimators.sequence.answers",
    "estimators.sequence_tagger": "estimators.sequence.tagger",
}
MOVED = {f"partwise.{old}": f"partwise.{new}" for old, new in _MOVED.items()}


class _MovedLoader(Loader):
    def __init__(self, home: str):
        self._home = home

    def exec_module(self, module: ModuleType) -> None:
        """Register the module under its old name as well."""
        old = module.__name__
        warnings.warn(
            f"{old} has moved: import {self._home} instead",
            DeprecationWarning,
            stacklevel=2,  # the line that imports: frames of importlib do not count
        )
        sys.modules[old] = importlib.import_module(self._home)


class MovedFinder(MetaPathFinder):
    """Finds modules under the names they once had."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Return how to import a module that has moved, None for all others."""
        home = MOVED.get(fullname)
        return None if home is None else ModuleSpec(fullname, _MovedLoader(home))


def install() -> None:
    """Make old names importable, after everything else has been looked for."""
    if not any(isinstance(finder, MovedFinder) for finder in sys.meta_path):
        sys.meta_path.append(MovedFinder())


def renamed(module: str, new_names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module whose names have changed.

    Parameters
    ----------
    module : str
        The name of the module.
    new_names : mapping of str to str
        What each old name is called now.
    """

    def look_up(name: str) -> Any:
        if name not in new_names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        new = new_names[name]
        warnings.warn(
            f"{module}.{name} is deprecated; use {module}.{new}",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(sys.modules[module], new)

    return look_up
