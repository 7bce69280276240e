"""Sums over all non-projective trees: against enumeration, fractions and formulas."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from all_trees import Array, Sentence, all_trees, draw_score, sentences, tree_scores
from partwise.structures.dependency.arborescence import (
    arborescence,
    make_arborescence_space,
)
from partwise.structures.dependency.matrix_tree import (
    make_matrix_tree_space,
    matrix_tree,
)
from problems import PLAIN_PYTHON

LONGEST = 20 if PLAIN_PYTHON else 200

# Used by all sentences in turn: what one leaves behind must not harm the next.
SPACE = make_matrix_tree_space(LONGEST)


def sum_trees(sentence: Sentence) -> tuple[float, Array]:
    mu = np.full_like(sentence.score, 7.0)
    log_z = matrix_tree(sentence.score, sentence.single_root, mu, SPACE, True)
    return log_z, mu


def log_partition(score: Array, single_root: bool) -> float:
    return matrix_tree(score, single_root, np.zeros((0, 0)), SPACE, False)


def enumerate_sums(sentence: Sentence) -> tuple[float, Array]:
    """Return log Z and the probabilities of the arcs, from all trees."""
    trees = all_trees(sentence.n_words, sentence.single_root)
    scores, mu = tree_scores(sentence.score, trees), np.zeros_like(sentence.score)
    top = scores.max()
    if top == -np.inf:
        return top, mu
    weights = np.exp(scores - top)
    for m in range(1, sentence.n_words + 1):
        np.add.at(mu, (trees[:, m - 1], m), weights / weights.sum())
    return top + np.log(weights.sum()), mu


@given(sentences(5))
def test_matrix_tree_sums_over_all_trees(sentence: Sentence) -> None:
    expected, expected_mu = enumerate_sums(sentence)
    log_z, mu = sum_trees(sentence)
    assert_allclose(log_z, expected, rtol=1e-13, atol=1e-12)
    assert log_z == log_partition(*sentence)
    # Relative to each of them, down to what is as good as none.
    assert_allclose(mu, expected_mu, rtol=1e-9, atol=1e-100)


@pytest.mark.parametrize("spread", [50.0, 2000.0])
@pytest.mark.parametrize("single_root", [False, True])
def test_matrix_tree_is_precise_for_every_arc(spread: float, single_root: bool) -> None:
    for seed in range(20):
        sentence = Sentence(draw_score(4, spread, 0.0, seed), single_root)
        _, expected = enumerate_sums(sentence)
        _, mu = sum_trees(sentence)
        assert_allclose(mu, expected, rtol=1e-9, atol=1e-100)


@given(st.integers(2, 5), st.booleans(), st.integers(0, 10**6))
def test_matrix_tree_is_precise_where_weights_vanish(
    n: int, single_root: bool, seed: int
) -> None:
    """Around the smallest numbers there are, e^-708, and their square roots."""
    random = np.random.default_rng(seed)
    score = random.choice(
        [0, -100, -230, -360, -500, -700, -715, -1000], (n + 1, n + 1)
    )
    score = score + random.normal(size=score.shape)
    score[random.random(score.shape) < 0.2] = -np.inf
    sentence = Sentence(score, single_root)
    expected, expected_mu = enumerate_sums(sentence)
    log_z, mu = sum_trees(sentence)
    assert_allclose(log_z, expected, rtol=1e-13, atol=1e-12)
    assert_allclose(mu, expected_mu, rtol=1e-9, atol=1e-100)


@given(sentences(LONGEST // 2))
def test_matrix_tree_gives_every_word_one_head(sentence: Sentence) -> None:
    log_z, mu = sum_trees(sentence)
    has_tree = log_z > -np.inf
    assert_allclose(mu.sum(0)[1:], float(has_tree), rtol=1e-13)
    assert (mu[:, 0] == 0).all()
    assert (mu.diagonal() == 0).all()
    assert (mu[sentence.score == -np.inf] == 0).all()
    if sentence.single_root and has_tree:
        assert mu[0].sum() == pytest.approx(1.0, rel=1e-8)


def invert(matrix: list[list[Fraction]]) -> tuple[Fraction, list[list[Fraction]]]:
    """Return the determinant and the inverse, exactly."""
    n, determinant = len(matrix), Fraction(1)
    rows = [row + [Fraction(i == j) for j in range(n)] for i, row in enumerate(matrix)]
    for k in range(n):
        at = next(i for i in range(k, n) if rows[i][k])
        if at != k:
            rows[k], rows[at] = rows[at], rows[k]
            determinant = -determinant
        determinant *= rows[k][k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                rows[i] = [
                    x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)
                ]
    return determinant, [row[n:] for row in rows]


def exact_sums(weight: list[list[Fraction]], single_root: bool) -> tuple[float, Array]:
    """Return Z and the probabilities by Koo et al. (2007), equations 4 to 10."""
    n = len(weight) - 1
    words = range(1, n + 1)
    laplacian = [
        [
            sum((weight[g][m] for g in words if g != m), Fraction(0))
            if h == m
            else -weight[h][m]
            for m in words
        ]
        for h in words
    ]
    if single_root:
        laplacian[0] = [weight[0][m] for m in words]
    else:
        for m in words:
            laplacian[m - 1][m - 1] += weight[0][m]
    z, inverse = invert(laplacian)
    mu = np.zeros((n + 1, n + 1))
    for m in words:
        own = inverse[m - 1][m - 1]
        if single_root:
            mu[0, m] = weight[0][m] * inverse[m - 1][0]
        else:
            mu[0, m] = weight[0][m] * own
        for h in words:
            gain = own if m != 1 or not single_root else Fraction(0)
            loss = inverse[m - 1][h - 1] if h != 1 or not single_root else Fraction(0)
            mu[h, m] = 0.0 if h == m else weight[h][m] * (gain - loss)
    return float(z), mu


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("spread", [2.0, 60.0])
def test_matrix_tree_agrees_with_exact_fractions(
    spread: float, single_root: bool
) -> None:
    """Determinant and inverse, without rounding, where there are too many trees."""
    score = np.nan_to_num(draw_score(9, spread, 0.0, 3))
    weight = [[Fraction(math.exp(x)) for x in row] for row in score]
    z, expected = exact_sums(weight, single_root)
    log_z, mu = sum_trees(Sentence(score, single_root))
    assert log_z == pytest.approx(math.log(z), rel=1e-14)
    assert_allclose(mu, expected, rtol=1e-12)


@pytest.mark.parametrize("n", [n for n in (1, 2, 3, 7, 20, 131) if n <= LONGEST])
def test_matrix_tree_counts_trees(n: int) -> None:
    """Cayley's formula, and the probabilities that go with it."""
    score = np.full((n + 1, n + 1), 0.5)
    arcs = 1.0 - np.eye(n + 1)
    arcs[:, 0] = 0.0
    log_z, mu = sum_trees(Sentence(score, False))
    assert log_z == pytest.approx((n - 1) * math.log(n + 1) + 0.5 * n, rel=1e-13)
    expected = arcs / (n + 1)
    expected[0] *= 2
    assert_allclose(mu, expected, rtol=1e-12)
    log_z, mu = sum_trees(Sentence(score, True))
    assert log_z == pytest.approx((n - 1) * math.log(n) + 0.5 * n, rel=1e-13)
    assert_allclose(mu, arcs / n, rtol=1e-12)


@pytest.mark.parametrize("single_root", [False, True])
def test_matrix_tree_marginals_are_the_gradient_of_log_z(single_root: bool) -> None:
    n, step = 7, 1e-5
    score = draw_score(n, 4.0, 0.0, 0)
    _, mu = sum_trees(Sentence(score, single_root))
    for h in range(n + 1):
        for m in range(1, n + 1):
            up, down = score.copy(), score.copy()
            up[h, m] += step
            down[h, m] -= step
            rise = log_partition(up, single_root) - log_partition(down, single_root)
            assert rise / (2 * step) == pytest.approx(mu[h, m], abs=1e-8)


@given(st.integers(1, LONGEST // 4), st.booleans(), st.integers(0, 10**6))
def test_matrix_tree_of_sharp_scores_is_the_best_tree(
    n: int, single_root: bool, seed: int
) -> None:
    """Two algorithms that know nothing of each other agree on the best score."""
    score, sharpness = draw_score(n, 1.0, 0.1, seed), 1e4
    heads, space = np.zeros(n, np.int32), make_arborescence_space(n)
    best = arborescence(score, single_root, heads, space)
    log_z = log_partition(score * sharpness, single_root)
    if best == -np.inf:
        assert log_z == -np.inf
    else:
        assert round(log_z / sharpness) == best


def test_matrix_tree_does_not_depend_on_a_word_s_constant() -> None:
    score = draw_score(6, 3.0, 0.2, 1)
    shift = np.array([0.0, 1e5, -1e5, 700.0, -700.0, 0.0, 3.0])
    for single_root in (False, True):
        log_z, mu = sum_trees(Sentence(score, single_root))
        shifted_z, shifted = sum_trees(Sentence(score + shift, single_root))
        assert shifted_z == pytest.approx(log_z + shift.sum(), rel=1e-9)
        assert_allclose(shifted, mu, rtol=1e-9)


@pytest.mark.parametrize("closed", [(2,), (1, 4), (2, 3, 4)])
def test_matrix_tree_finds_the_only_words_that_can_be_the_root(
    closed: tuple[int, ...],
) -> None:
    """Some words have heads only among themselves, so one of them is the root."""
    score = draw_score(5, 3.0, 0.0, 2)
    for m in closed:
        for h in set(range(1, 6)) - set(closed):
            score[h, m] = -np.inf
    sentence = Sentence(score, True)
    expected, expected_mu = enumerate_sums(sentence)
    log_z, mu = sum_trees(sentence)
    assert log_z == pytest.approx(expected, rel=1e-13)
    assert_allclose(mu, expected_mu, rtol=1e-12)
    assert mu[0, list(closed)].sum() == pytest.approx(1.0)
    # A second such group of words would need a root of its own.
    other = next(m for m in range(1, 6) if m not in closed)
    score[1:, other] = -np.inf
    log_z, mu = sum_trees(sentence)
    assert log_z == -np.inf
    assert (mu == 0).all()
    assert sum_trees(Sentence(score, False))[0] > -np.inf


@pytest.mark.parametrize("single_root", [False, True])
def test_matrix_tree_sees_roots_that_all_vanish(single_root: bool) -> None:
    """The words cling to one another, and the way to the root underflows."""
    score = np.zeros((6, 6))
    score[0] = -5000.0
    log_z, mu = sum_trees(Sentence(score, single_root))
    assert log_z == pytest.approx(-5000.0 + 4 * math.log(5), rel=1e-14)
    assert_allclose(mu[0, 1:], 0.2, rtol=1e-12)


@pytest.mark.parametrize("single_root", [False, True])
def test_matrix_tree_of_no_words_is_one_empty_tree(single_root: bool) -> None:
    assert sum_trees(Sentence(np.zeros((1, 1)), single_root))[0] == 0.0
