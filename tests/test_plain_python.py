"""The same bodies as ordinary Python, where there is nothing to compile.

What is not compiled in these files, the matrix of solvers and structures above all,
runs here. A few files share a process, since every process has to start.
"""

from pathlib import Path

import pytest

import problems
from once_more import DOCTESTS, LEFT_OUT, assert_pass

GROUPS = {
    "structures": "chain multiclass rows jit graph relaxed_graph graph_labeler",
    "part duals": "dual_parts dual_robustness eg_starts exponentiated_gradient "
    "guaranteed_steps stochastic_dual gibbs_scores hybrid smo",
    "margins": "losses dual_coordinate loop trace batch_solvers elastic_net "
    "frank_wolfe cutting_plane simplicial column_generation",
    "online": "perceptron mira sgd parallel softmax_margin",
    "lattices": "lattice lattice_ranker cli_lattice",
    "grammars": "grammar constituency_parser",
    "estimators": "costs c_path bad_input hidden_markov hidden_markov_choice cli_hmm "
    "model_files explanations",
    "networks": "bayesian_network_structure bayesian_network cli_bayesnet "
    f"documentation {DOCTESTS}",
    "trees": "dependency arborescence matrix_tree dependency_parser parser_input "
    "arc_explanation cli_parse parser_features parser_files "
    "cli_constituency",
    "translation": "translation_alignment translation_search translation_measures "
    "translation_training translation_page",
}


# What structures answer is tried in both worlds, everything else in one.
BOTH = "structures"


def runs(item: pytest.Item) -> bool:
    return not any(mark.args[0] for mark in item.iter_markers("skipif"))


@pytest.mark.slow
@pytest.mark.skipif(problems.PLAIN_PYTHON, reason="this is that run")
@pytest.mark.parametrize("group", GROUPS)
def test_plain_python_gives_what_is_true(
    group: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    compiled = [item.nodeid for item in request.session.items if runs(item)]
    path = tmp_path / "compiled.txt"
    path.write_text("\n".join([] if group == BOTH else compiled))
    assert_pass(GROUPS[group], **{"NUMBA_DISABLE_JIT": "1", LEFT_OUT: str(path)})
