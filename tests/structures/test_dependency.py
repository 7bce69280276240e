"""Dependency trees: the laws, by listing all trees, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import problems
from dependency_cases import ARCS, all_trees, make_case
from laws import LAWS, law_name

# Compiled, the same laws hold of the pieces: see test_arborescence, test_matrix_tree
# and, for a whole parser, test_dependency_parser, which also runs this file.
pytestmark = pytest.mark.skipif(
    not problems.PLAIN_PYTHON, reason="run by test_plain_python"
)

SCALES = (0.0, 1.0, 30.0, 800.0, 1e5)


@pytest.mark.parametrize(
    ("projective", "single_root", "counts"),
    [
        (True, False, [1, 1, 3, 12, 55, 273]),
        (True, True, [1, 1, 2, 7, 30, 143]),
        (False, False, [1, 1, 3, 16, 125, 1296]),
        (False, True, [1, 1, 2, 9, 64, 625]),
    ],
)
def test_dependency_brute_force_counts_trees_as_is_known(
    projective, single_root, counts
):
    found = [len(all_trees(n, projective, single_root)) for n in range(6)]
    assert found == counts


def cases(projective, n_labels):
    return st.builds(
        make_case,
        kind=st.sampled_from(list(ARCS)),
        lengths=st.lists(st.integers(0, 3 if n_labels else 4), min_size=1, max_size=3),
        n_labels=st.just(n_labels),
        projective=st.just(projective),
        single_root=st.booleans(),
        weighted=st.booleans(),
        scale=st.sampled_from(SCALES),
        seed=st.integers(0, 2**32 - 1),
    )


@pytest.mark.parametrize("law", LAWS, ids=law_name)
@given(case=cases(projective=True, n_labels=0))
def test_projective_trees_obey(law, case):
    law(case)


@pytest.mark.parametrize("law", LAWS, ids=law_name)
@given(case=cases(projective=True, n_labels=2))
def test_projective_labelled_trees_obey(law, case):
    law(case)


@pytest.mark.parametrize("law", LAWS, ids=law_name)
@given(case=cases(projective=False, n_labels=0))
def test_nonprojective_trees_obey(law, case):
    law(case)


@pytest.mark.parametrize("law", LAWS, ids=law_name)
@given(case=cases(projective=False, n_labels=2))
def test_nonprojective_labelled_trees_obey(law, case):
    law(case)
