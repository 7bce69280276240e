"""Modules that have moved can be imported by their old names, with a warning."""

import importlib
import subprocess
import sys
import warnings

import pytest

import partwise
from partwise._moved import MOVED, MovedFinder, install

# What was documented in each, or at home there for `partwise` itself.
NAMES = {
    "partwise.attachment": "attachment_scores AttachmentScores ArcScores "
    "is_punctuation",
    "partwise.brackets": "bracket_scores BracketScores BracketGroup",
    "partwise.chunks": "spans Span are_chunk_labels",
    "partwise.lattice_scores": "lattice_scores LatticeScores edit_distance",
    "partwise.lattices": "LatticeEdge LatticeInput LatticePath",
    "partwise.solvers.generalization": "generalization_bound",
    "partwise.structures.bayesnet": "BayesianNetwork make_network",
    "partwise.estimators.arc_explanation": "ArcChoice",
    "partwise.estimators.constituency_parser": "ConstituencyParser",
    "partwise.estimators.constraints": "Constraints",
    "partwise.estimators.dependency_parser": "DependencyParser",
    "partwise.estimators.graph_inputs": "GraphArrays",
    "partwise.estimators.graph_labeler": "GraphLabeler Labelling",
    "partwise.estimators.hidden_markov_choice": "Candidate",
    "partwise.estimators.hidden_markov_model": "HiddenMarkovModel",
    "partwise.estimators.lattice_ranker": "LatticeRanker",
    "partwise.estimators.multiclass_classifier": "MulticlassClassifier",
    "partwise.estimators.sequence_answers": "Ranked Span",
    "partwise.estimators.sequence_tagger": "SequenceTagger",
}


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let old names be imported as if for the first time, and forget them again."""
    for old in MOVED:
        monkeypatch.delitem(sys.modules, old, raising=False)
        parent, _, child = old.rpartition(".")
        monkeypatch.delattr(importlib.import_module(parent), child, raising=False)


def test_moved_names_are_all_tried() -> None:
    assert NAMES.keys() <= MOVED.keys()


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("old", MOVED)
def test_moved_module_is_the_new_one_and_warns_once(old: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"{old} .*{MOVED[old]}") as caught:
        module = importlib.import_module(old)
    assert len(caught) == 1
    assert module is importlib.import_module(MOVED[old])
    assert module.__name__ == module.__spec__.name == MOVED[old]
    for name in NAMES.get(old, "").split():
        public = partwise if name in partwise.__all__ else module
        assert getattr(module, name) is getattr(public, name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert importlib.import_module(old) is module


@pytest.mark.usefixtures("forgotten")
def test_moved_module_can_be_imported_in_every_way() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        import partwise.attachment
        from partwise.lattices import LatticeInput

        from partwise import brackets
        from partwise.estimators import graph_inputs
    assert partwise.attachment is partwise.metrics.attachment
    assert brackets is partwise.metrics.brackets
    assert graph_inputs.GraphArrays is partwise.GraphArrays
    assert LatticeInput is partwise.LatticeInput
    # Each warning names the line that imports.
    assert {warning.filename for warning in caught} == {__file__}
    assert len({warning.lineno for warning in caught}) == len(caught) == 4


def test_moved_bayesian_network_is_where_it_was() -> None:
    from partwise.estimators.bayesian_network import BayesianNetworkClassifier

    assert BayesianNetworkClassifier is partwise.BayesianNetworkClassifier


@pytest.mark.parametrize(
    "name",
    ["partwise.never_was", "partwise.estimators.never_was", "partwise.lattices.x"],
)
def test_moved_unknown_modules_are_not_found(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(name)


def test_moved_finder_is_installed_once() -> None:
    install()
    assert sum(isinstance(finder, MovedFinder) for finder in sys.meta_path) == 1


def test_moved_modules_cost_nothing_before_they_are_used() -> None:
    code = "import partwise, sys; print([m for m in sys.modules if m in %r])"
    heavy = ["numpy", "numba", "sklearn", "partwise.metrics", "partwise.estimators"]
    done = subprocess.run(
        [sys.executable, "-c", code % heavy], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
