"""Feature rows of every kind: they mean what their dense vectors say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from drivers import (
    row_add,
    row_diff_add,
    row_diff_dot,
    row_dot,
    row_entries,
    rows_add,
    rows_dot,
)
from partwise.structures.rows import (
    make_dense_rows,
    make_mixed_rows,
    make_pair_rows,
    make_pairs,
    make_sparse_rows,
    make_vector_rows,
    n_row_weights,
    no_rows,
    observed_pairs,
    row_size,
)
from row_cases import KINDS, make_row_case

every_kind = pytest.mark.parametrize("kind", KINDS)
random_rows = given(n_labels=st.integers(1, 4), seed=st.integers(0, 2**32 - 1))


def draw(kind, n_labels, seed):
    """Return rows, one of their positions, a generator and random weights."""
    random = np.random.default_rng(seed)
    case = make_row_case(kind, 3, n_labels, random)
    return case, int(random.integers(3)), random, random.normal(size=case.kept.size)


@every_kind
@random_rows
def test_rows_entries_are_the_feature_vector(kind, n_labels, seed):
    case, t, _, _ = draw(kind, n_labels, seed)
    assert n_row_weights(case.rows, n_labels) == case.kept.size
    for k in range(n_labels):
        room = row_size(case.rows, t)
        idx, val = np.full(room, -1, np.int64), np.full(room, np.nan)
        found = row_entries(case.rows, t, k, n_labels, idx, val)
        vector = np.zeros(case.kept.size)
        np.add.at(vector, idx[:found], val[:found])
        assert_allclose(vector, case.features(t, k), atol=1e-12)


@every_kind
@random_rows
def test_rows_dot_adds_the_score_of_every_label(kind, n_labels, seed):
    case, t, random, w = draw(kind, n_labels, seed)
    before = random.normal(size=n_labels)
    out = before.copy()
    row_dot(case.rows, t, w, out)
    scores = [case.features(t, k) @ w for k in range(n_labels)]
    assert_allclose(out, before + scores, atol=1e-12)


@every_kind
@random_rows
def test_rows_add_moves_the_weights_and_says_how_far(kind, n_labels, seed):
    case, t, random, before = draw(kind, n_labels, seed)
    mu, w = random.normal(size=n_labels), before.copy()
    change = row_add(case.rows, t, mu, -0.7, w)
    step = sum(-0.7 * mu[k] * case.features(t, k) for k in range(n_labels))
    assert_allclose(w, before + step, atol=1e-12)
    assert_allclose(change, w @ w - before @ before, atol=1e-12)


@every_kind
@random_rows
def test_rows_of_a_sequence_are_its_rows(kind, n_labels, seed):
    random = np.random.default_rng(seed)
    case = make_row_case(kind, 4, n_labels, random)
    before = random.normal(size=case.kept.size)
    scores = np.full(2 * n_labels + 1, 7.0)
    rows_dot(case.rows, 1, 3, n_labels, before, scores)
    expected = [case.features(t, k) @ before for t in (1, 2) for k in range(n_labels)]
    assert_allclose(scores, [*expected, 7.0], atol=1e-12)
    mu, w = random.normal(size=2 * n_labels), before.copy()
    mu[random.random(mu.size) < 0.3] = 0.0
    change = rows_add(case.rows, 1, 3, n_labels, mu, -0.7, w)
    step = sum(
        -0.7 * mu[(t - 1) * n_labels + k] * case.features(t, k)
        for t in (1, 2)
        for k in range(n_labels)
    )
    assert_allclose(w, before + step, atol=1e-12)
    assert_allclose(change, w @ w - before @ before, atol=1e-12)


@every_kind
@random_rows
def test_rows_differences_are_of_two_labels_or_one(kind, n_labels, seed):
    case, t, random, before = draw(kind, n_labels, seed)
    a, b = (int(label) for label in random.integers(0, n_labels, 2))
    delta = case.features(t, a) - case.features(t, b)
    dot = row_diff_dot(case.rows, t, a, b, n_labels, before)
    assert_allclose(dot, delta @ before, atol=1e-12)
    w = before.copy()
    row_diff_add(case.rows, t, a, b, n_labels, -0.7, w)
    assert_allclose(w, before - 0.7 * delta, atol=1e-12)


@random_rows
def test_rows_observed_pairs_are_those_that_occur(n_labels, seed):
    random = np.random.default_rng(seed)
    case = make_row_case("ones", 5, n_labels, random)
    labels = random.integers(0, n_labels, 5).astype(np.int32)
    observed = observed_pairs(case.rows, labels, n_labels)
    listed = [
        (a, int(k))
        for a in range(case.matrix.shape[1])
        for k in observed.label[observed.ptr[a] : observed.ptr[a + 1]]
    ]
    occurring = {
        (int(a), int(labels[t])) for t, a in zip(*case.matrix.nonzero(), strict=True)
    }
    assert listed == sorted(occurring)
    # A gold label keeps all its features, so training scores are those of "all".
    pairs = make_pair_rows(case.rows, observed)
    for t in range(5):
        out = np.zeros(n_labels)
        row_dot(pairs, t, np.ones(len(listed)), out)
        assert out[labels[t]] == case.matrix[t].sum()


def test_rows_none_have_no_weights():
    assert n_row_weights(no_rows(), 7) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [0, 0]), "start at 0"),
        (([0, 2, 1], [0]), "never decrease"),
        (([], []), "start at 0"),
        (([0, 1], [0, 0]), "last row pointer is 1, but there are 2 entries"),
        (([0, 1], [3], None, 3), r"attribute ids must lie in 0\.\.2"),
        (([0, 1], [-1]), "attribute ids must lie"),
        (([0, 2], [0, 1], [1.0]), "1 values for 2 entries"),
        (([0, 1], [0], [np.nan]), "finite"),
        (([0, 1], [0], [np.inf]), "finite"),
    ],
)
def test_rows_sparse_refuse_bad_arrays(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_sparse_rows(*arguments)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0], "2 dimensions, not 1"),
        ([[np.nan]], "finite"),
        ([[-np.inf]], "finite"),
    ],
)
def test_rows_dense_refuse_bad_arrays(values, message):
    with pytest.raises(ValueError, match=message):
        make_dense_rows(values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.ones(3, np.float32), "2 dimensions, not 1"),
        (np.full((1, 2), np.nan, np.float32), "finite"),
        (np.full((1, 2), -np.inf), "finite"),
    ],
)
def test_rows_vectors_refuse_bad_arrays(values, message):
    with pytest.raises(ValueError, match=message):
        make_vector_rows(values)


def test_rows_vectors_keep_their_memory():
    values = np.ones((3, 5), np.float32)
    assert make_vector_rows(values).values is values
    assert make_vector_rows([[1, 2]]).values.dtype == np.float64


def test_rows_mixed_refuse_other_lengths():
    with pytest.raises(ValueError, match="2 vectors for 1 rows"):
        make_mixed_rows(
            make_sparse_rows([0, 1], [0]), make_vector_rows(np.ones((2, 1)))
        )


@pytest.mark.parametrize(
    ("pair_ptr", "pair_label", "message"),
    [
        ([0, 1], [0], "listed for 1 attributes, but the rows have 2"),
        ([0, 2, 1], [0], "start at 0 and never decrease"),
        ([1, 1, 1], [0], "start at 0 and never decrease"),
        ([0, 1, 2], [0], "last pair pointer is 2, but there are 1 pairs"),
        ([0, 2, 2], [1, 0], "must increase"),
        ([0, 1, 3], [0, 1, 1], "must increase"),
        ([0, 1, 2], [0, 2], r"labels of pairs must lie in 0\.\.1"),
    ],
)
def test_rows_pairs_refuse_bad_arrays(pair_ptr, pair_label, message):
    rows = make_sparse_rows([0, 2], [0, 1])
    with pytest.raises(ValueError, match=message):
        make_pair_rows(rows, make_pairs(pair_ptr, pair_label, n_labels=2))
