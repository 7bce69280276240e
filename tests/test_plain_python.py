"""The same bodies as ordinary Python, where there is nothing to compile.

What is not compiled in these files, the matrix of solvers and structures above all,
runs here. A few files share a process, since every process has to start.
"""

import pytest

import problems
from once_more import assert_pass

GROUPS = {
    "structures": "chain multiclass rows jit graph relaxed_graph graph_labeler",
    "part duals": "dual_parts dual_robustness eg_starts exponentiated_gradient "
    "guaranteed_steps stochastic_dual gibbs_scores hybrid smo",
    "margins": "losses dual_coordinate loop trace batch_solvers elastic_net "
    "frank_wolfe cutting_plane simplicial",
    "online": "perceptron mira sgd parallel softmax_margin",
    "grammars": "grammar constituency_parser",
    "estimators": "costs c_path bad_input hidden_markov",
    "trees": "dependency arborescence matrix_tree dependency_parser parser_input "
    "arc_explanation cli_parse parser_features parser_files "
    "cli_constituency",
    "translation": "translation_alignment translation_search translation_measures",
}


@pytest.mark.slow
@pytest.mark.skipif(problems.PLAIN_PYTHON, reason="this is that run")
@pytest.mark.parametrize("names", GROUPS.values(), ids=GROUPS.keys())
def test_plain_python_gives_what_is_true(names: str) -> None:
    assert_pass(names, NUMBA_DISABLE_JIT="1")
