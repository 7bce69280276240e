"""Arcs whose words have vectors: scores, and their adjoint, are what features say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from partwise.structures.dependency import arcs as questions
from partwise.structures.dependency import make_vector_arcs
from partwise.structures.dependency.vector_arcs import N_CLASSES
from partwise.structures.rows import make_vector_rows
from problems import plain_only

LENGTHS = [3, 0, 13]


def draw(seed=0, width=2):
    random = np.random.default_rng(seed)
    values = random.normal(size=(sum(LENGTHS), width)).astype(np.float32)
    arcs = make_vector_arcs(make_vector_rows(values), LENGTHS)
    return arcs, values.astype(np.float64), random


def features(arcs, i, h, m):
    """Return the features of an arc as a dense vector."""
    room = questions.n_arc_features(arcs)
    idx, val = np.zeros(room, np.int64), np.zeros(room)
    space = questions.arc_space(arcs, max(LENGTHS))
    n = questions.arc_entries(arcs, i, LENGTHS[i], h, m, idx, val, space)
    vector = np.zeros(questions.n_arc_weights(arcs))
    np.add.at(vector, idx[:n], val[:n])
    return vector


def pairs(n):
    return [(h, m) for h in range(n + 1) for m in range(1, n + 1) if h != m]


@plain_only
def test_vector_arcs_have_the_vectors_of_both_words():
    arcs, values, _ = draw()
    blocks = features(arcs, 2, 5, 2).reshape(2, N_CLASSES, 2)
    [of_word], [of_head] = ([row for row in side if row.any()] for side in blocks)
    assert_allclose(of_word, values[3 + 1])
    assert_allclose(of_head, values[3 + 4])
    assert not features(arcs, 2, 0, 2).reshape(2, N_CLASSES, 2)[1].any()


@plain_only
def test_vector_arcs_tell_directions_and_lengths_apart():
    arcs, _, _ = draw()
    seen = {tuple(np.flatnonzero(features(arcs, 2, h, m))) for h, m in pairs(13)}
    assert len(seen) == N_CLASSES


@plain_only
@pytest.mark.parametrize("i", range(len(LENGTHS)))
def test_vector_arcs_scores_are_those_of_their_features(i):
    arcs, _, random = draw()
    n = LENGTHS[i]
    w = random.normal(size=questions.n_arc_weights(arcs))
    score, space = np.full((n + 1, n + 1), 7.0), questions.arc_space(arcs, 13)
    questions.arc_scores(arcs, i, w, score, space)
    expected = np.zeros((n + 1, n + 1))
    for h, m in pairs(n):
        expected[h, m] = features(arcs, i, h, m) @ w
    assert_allclose(score, expected, atol=1e-12)
    mu, before = random.normal(size=(n + 1, n + 1)), w.copy()
    change = questions.add_arcs(arcs, i, mu, -0.7, w, space)
    step = sum((mu[h, m] * features(arcs, i, h, m) for h, m in pairs(n)), 0.0 * w)
    assert_allclose(w, before - 0.7 * step, atol=1e-12)
    assert_allclose(change, w @ w - before @ before, atol=1e-12)


def test_vector_arcs_refuse_other_lengths():
    with pytest.raises(ValueError, match="2 vectors for 3 words"):
        make_vector_arcs(make_vector_rows(np.ones((2, 1))), [3])
