"""Old names of modules, and of what is in them: they work, with a warning."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

# From a folder to another: the names of modules, with a colon where they are new.
_MOVED = {
    ("", "data"): "lattices:lattice",
    ("estimators", "estimators.bayesian_network"): (
        "network_answers:answers discrete_table network_graph:graph "
        "network_tables:tables bayesian_network_training:training"
    ),
    ("estimators", "estimators"): "sequence_checks:checks",
    ("estimators", "estimators.classifier"): "multiclass_classifier:classifier",
    ("estimators", "estimators.constituency"): (
        "constituency_corpus:corpus constituency_decoding:decoding "
        "treebank_grammar:grammar lexicon constituency_parser:parser "
        "productions"
    ),
    ("estimators", "estimators.dependency"): (
        "tree_corpus:corpus arc_explanation:explanation arc_features:features "
        "dependency_parser:parser"
    ),
    ("estimators", "estimators.generative"): "reference_distributions",
    ("estimators", "estimators.graph"): (
        "graph_corpus:corpus graph_features:features graph_inputs:inputs "
        "graph_labeler:labeler"
    ),
    ("estimators", "estimators.hidden_markov"): (
        "hidden_markov_choice:choice hidden_markov_model:model symbol_sequences "
        "symbols hidden_markov_training:training"
    ),
    ("estimators", "estimators.lattice"): (
        "lattice_corpus:corpus given_weights lattice_ranker:ranker"
    ),
    ("estimators", "estimators.sequence"): (
        "sequence_answers:answers constraints inputs sequence_tagger:tagger"
    ),
    ("", "metrics"): "attachment brackets chunks lattice_scores:lattices",
    ("solvers", "solvers.batch"): (
        "conjugate_gradient curvature_memory dual_mixture lbfgs line_search "
        "owlqn batch_solver:solver"
    ),
    ("solvers", "solvers.cutting_plane"): "plane_qp planes",
    ("solvers", "solvers"): "batch_gradient:gradient",
    ("solvers", "solvers.linear_program"): (
        "column_generation extragradient generalization highs_master "
        "lp_master:master proximal_master lp_rows:rows saddle_steps "
        "lp_warm_up:warm_up"
    ),
    ("solvers", "solvers.mistake_driven"): "kbest_mira mira perceptron",
    ("solvers", "solvers.part_duals"): (
        "batch_forms dual_parts exponentiated_gradient guaranteed_steps "
        "smo_then_eg dual_parts_state:state stochastic_dual"
    ),
    ("solvers", "solvers.quadratic_program"): (
        "eg_qp qp_problem:problem qp_steps:steps"
    ),
    ("solvers", "solvers.simplicial"): (
        "simplicial_master:master simplicial_points:points proximal_dual "
        "simplicial_state:state"
    ),
    ("solvers", "solvers.stochastic"): (
        "scaled_weights sgd_schedule:schedule sgd sgd_steps:steps"
    ),
    ("solvers", "solvers.working_sets"): (
        "dual_coordinate extrapolation frank_wolfe mass_steps smo "
        "working_set_state:state"
    ),
    ("structures", "structures"): "bayesnet:bayesian_network",
}


def _pairs() -> Iterator[tuple[str, str]]:
    for (old_folder, new_folder), names in _MOVED.items():
        for name in names.split():
            old, _, new = name.partition(":")
            before = ".".join(filter(None, ("partwise", old_folder, old)))
            yield before, f"partwise.{new_folder}.{new or old}"


MOVED = dict(_pairs())
"""The modules that have moved: where they are now, by where they were."""


class _MovedLoader:
    def __init__(self, home: str):
        self._home = home

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python to make the module that is thrown away."""

    def exec_module(self, module: ModuleType) -> None:
        """Register the module under its old name as well."""
        old = module.__name__
        warnings.warn(
            f"{old} has moved: import {self._home} instead",
            DeprecationWarning,
            stacklevel=2,  # the line that imports: frames of importlib do not count
        )
        sys.modules[old] = importlib.import_module(self._home)


# Importing the base classes of finders and loaders takes longer than all else here.
class MovedFinder:
    """Finds modules under the names they once had."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Return how to import a module that has moved, None for all others."""
        home = MOVED.get(fullname)
        folder, _, name = fullname.rpartition(".")
        if folder in MOVED:  # a file in a folder that has moved
            home = f"{MOVED[folder]}.{name}"
        if home is None:
            return None
        loader: Any = _MovedLoader(home)
        return ModuleSpec(fullname, loader)


def install() -> None:
    """Make old names importable, before a folder that has moved is looked into."""
    if not any(isinstance(finder, MovedFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, MovedFinder())


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
