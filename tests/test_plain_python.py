"""The same bodies as ordinary Python, where there is nothing to compile.

What is not compiled in these files, the matrix of solvers and structures above all,
runs here. A few files share a process, since every process has to start.
"""

from pathlib import Path

import pytest

import problems
from once_more import DOCTESTS, LEFT_OUT, assert_pass, find
from places import SUPPORT, TESTS
from plain_files import find_plain, needs_plain, plain_names

GROUPS = {
    "harm": "hostile_checkpoints fuzz",
    "estimators": "segment_tagger cli_segments calibration partial_labels "
    "hidden_states costs "
    "c_path bad_input hidden_markov hidden_markov_choice cli_hmm "
    "hidden_positions "
    "model_files explanations warm dask vectors_beside_words reporting served_kinds "
    "partial_fit encoded "
    "bayesian_network_structure bayesian_network cli_bayesnet "
    f"tables documentation {DOCTESTS}",
    "structures": "chain segments probabilities distribution finite_answers multiclass "
    "rows jit graph relaxed_graph graph_labeler partial ngrams tagger_order",
    "trees": "dependency second_order parser_order parser_reach arborescence "
    "matrix_tree "
    "dependency_parser parser_input "
    "arc_explanation cli_parse parser_features parser_files vector_arcs "
    "cli_constituency "
    "lattice lattice_ranker cli_lattice pseudo_references "
    "grammar constituency_parser known_brackets coarse_to_fine translation_alignment "
    "translation_search "
    "translation_measures translation_training translation_page",
    "solvers": "dual_parts dual_robustness eg_starts exponentiated_gradient "
    "guaranteed_steps halving eg_rates stochastic_dual gibbs_scores hybrid smo "
    "eg_freezing "
    "losses dual_coordinate loop trace pairing batch_solvers elastic_net "
    "dual_elastic_net "
    "frank_wolfe cutting_plane simplicial column_generation forecast time_limit "
    "generalization_bound relay convex_concave proximal multiples "
    "perceptron mira arow_and_pa sgd parallel learning_ahead softmax_margin "
    "slack_rescaling scale_laws",
}


# What structures answer is tried in both worlds, everything else in one.
BOTH = "structures"


@pytest.mark.slow
@pytest.mark.skipif(problems.PLAIN_PYTHON, reason="this is that run")
@pytest.mark.parametrize("group", GROUPS)
def test_plain_python_gives_what_is_true(
    group: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    compiled = [item.nodeid for item in request.session.items]
    path = tmp_path / "compiled.txt"
    path.write_text("\n".join([] if group == BOTH else compiled))
    assert_pass(GROUPS[group], **{"NUMBA_DISABLE_JIT": "1", LEFT_OUT: str(path)})


def listed() -> list[str]:
    return " ".join(GROUPS.values()).split()


def test_plain_python_runs_every_file_that_needs_it() -> None:
    """What is skipped where it would be compiled would never run otherwise."""
    files = set(map(find, listed()))
    assert [path.name for path in find_plain(TESTS, SUPPORT) if path not in files] == []


def test_plain_python_runs_every_module_whose_examples_are_left_out() -> None:
    assert set(DOCTESTS.split()) <= set(listed())


def test_plain_python_lists_files_that_exist_once() -> None:
    assert len(listed()) == len(set(listed()))
    assert all(find(name).is_file() for name in listed())


SHARED = {
    "problems": """
PLAIN_PYTHON = os.environ.get("NUMBA_DISABLE_JIT") == "1"
plain_only = pytest.mark.skipif(not PLAIN_PYTHON, reason="")
compiled_only = pytest.mark.skipif(PLAIN_PYTHON, reason="")
MAKERS = (1, 2) if PLAIN_PYTHON else (1,)
OTHERS = (3, 4)
""",
    "more": """
import problems
FORMS = [pytest.param(1, marks=problems.plain_only), 2]
""",
}


def test_plain_python_names_are_followed_through_shared_modules() -> None:
    names = plain_names(SHARED)
    assert names["problems"] == {"PLAIN_PYTHON", "plain_only", "MAKERS"}
    assert names["more"] == {"FORMS"}


@pytest.mark.parametrize(
    ("needed", "source"),
    [
        (True, "import problems\n@problems.plain_only\ndef test(): pass"),
        (True, "from problems import plain_only\n@plain_only\ndef test(): pass"),
        (True, "from problems import PLAIN_PYTHON as p\nN = 3 if p else 2"),
        (True, "import problems as p\nm = pytest.mark.skipif(not p.PLAIN_PYTHON)"),
        (True, "import problems\ndef test():\n    for x in problems.MAKERS: pass"),
        (True, "from more import FORMS\nparametrize('form', FORMS)"),
        (False, "import problems\nprint(problems.OTHERS)"),
        (False, "import problems\n@problems.compiled_only\ndef test(): pass"),
        (False, "import problems\nm = pytest.mark.skipif(problems.PLAIN_PYTHON)"),
        (False, "import others\nothers.MAKERS"),
        (False, "from problems import MAKERS"),
    ],
)
def test_plain_python_need_is_seen(needed: bool, source: str) -> None:
    assert needs_plain(source, plain_names(SHARED)) is needed


def test_plain_python_planted_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    planted = tmp_path / "room" / "test_planted.py"
    planted.write_text("from problems import plain_only\n@plain_only\ndef test(): 1\n")
    (tmp_path / "test_other.py").write_text("def test(): 1\n")
    assert find_plain(tmp_path, SUPPORT) == [planted]
