"""Plain classification: the laws, and what its constructor refuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws import LAWS, Case, draw_scores, enumerate_outputs, law_name
from partwise.structures import interface as waist
from partwise.structures import make_dense_rows, make_multiclass
from row_cases import KINDS_IN_STRUCTURES, make_row_case

SCALES = (0.0, 1.0, 30.0, 800.0, 1e5)


def make_case(kind, n_classes, n_examples, has_costs, scale, seed):
    random = np.random.default_rng(seed)
    rows = make_row_case(kind, n_examples, n_classes, random)
    labels = random.integers(0, n_classes, n_examples)
    costs = random.random((n_classes, n_classes)) * (1 - np.eye(n_classes))
    if not has_costs:
        costs = 1.0 - np.eye(n_classes)
    s = make_multiclass(
        rows.rows, labels, n_classes, costs=costs if has_costs else None
    )
    i = int(random.integers(n_examples))
    return Case(
        s=s,
        i=i,
        outputs=enumerate_outputs(1, n_classes, lambda y: True),
        theta=draw_scores(random, n_classes, scale),
        w=random.normal(size=rows.kept.size),
        features=lambda y: rows.features(i, y[0]),
        cost=lambda y: costs[labels[i], y[0]],
        seed=seed,
    )


def cases():
    return st.builds(
        make_case,
        kind=st.sampled_from(KINDS_IN_STRUCTURES),
        n_classes=st.integers(1, 5),
        n_examples=st.integers(1, 4),
        has_costs=st.booleans(),
        scale=st.sampled_from(SCALES),
        seed=st.integers(0, 2**32 - 1),
    )


@pytest.mark.parametrize("law", LAWS, ids=law_name)
@given(case=cases())
def test_multiclass_obeys(law, case):
    law(case)


def test_multiclass_first_class_wins_a_tie():
    s = make_multiclass(make_dense_rows(np.zeros((1, 1))), [0], 4)
    ws, y = waist.workspace(s, 4), np.zeros(1, np.int32)
    theta = np.array([1.0, 2.0, 2.0, 0.0])
    assert waist.argmax(s, 0, theta, y, ws) == 2.0
    assert y[0] == 1
    ys, scores = np.zeros((4, 1), np.int32), np.zeros(4)
    assert waist.kbest(s, 0, theta, 4, ys, scores, ws) == 4
    assert ys.ravel().tolist() == [1, 2, 0, 3]


@pytest.mark.parametrize("label", [-1, 3])
def test_multiclass_refuses_labels_out_of_range(label):
    with pytest.raises(ValueError, match=r"classes must lie in 0\.\.2"):
        make_multiclass(make_dense_rows(np.zeros((1, 2))), [label], 3)


def test_multiclass_refuses_rows_that_do_not_match_the_labels():
    with pytest.raises(ValueError, match="2 rows of features for 3 positions"):
        make_multiclass(make_dense_rows(np.zeros((2, 2))), [0, 1, 0], 2)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (np.zeros((2, 2)), r"shape \(2, 2\), but 3 labels need \(3, 3\)"),
        (np.full((3, 3), np.nan), "finite"),
        (-1.0 + np.eye(3), "not negative"),
        (np.ones((3, 3)), "diagonal"),
    ],
)
def test_multiclass_refuses_impossible_costs(costs, message):
    with pytest.raises(ValueError, match=message):
        make_multiclass(make_dense_rows(np.zeros((1, 2))), [0], 3, costs=costs)
