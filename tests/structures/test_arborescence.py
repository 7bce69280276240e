"""The best non-projective tree and the k best, against all trees there are."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from all_trees import (
    Array,
    Sentence,
    all_trees,
    draw_score,
    is_tree,
    sentences,
    tree_scores,
)
from partwise.structures.dependency.arborescence import (
    arborescence,
    make_arborescence_space,
)
from partwise.structures.dependency.partition import (
    best_trees_by_partition,
    make_partition_space,
)

LONGEST, MOST = 40, 60

# Used by all sentences in turn: what one leaves behind must not harm the next.
SPACE = make_arborescence_space(LONGEST)
KBEST_SPACE = make_partition_space(LONGEST, MOST)


def best_tree(sentence: Sentence) -> tuple[float, Array]:
    heads = np.full(sentence.n_words, -1, np.int32)
    return arborescence(sentence.score, sentence.single_root, heads, SPACE), heads


def best_trees(ranked: Array, single_root: bool, k: int) -> tuple[Array, Array, Array]:
    n = ranked.shape[0] - 1
    heads, ranks = np.full((k, n), -1, np.int32), np.full((k, n), -1, np.int32)
    scores = np.zeros(k)
    found = best_trees_by_partition(
        ranked, single_root, k, heads, ranks, scores, KBEST_SPACE, SPACE
    )
    return heads[:found], ranks[:found], scores[:found]


@given(sentences(5))
def test_arborescence_is_the_best_of_all_trees(sentence: Sentence) -> None:
    trees = all_trees(sentence.n_words, sentence.single_root)
    expected = tree_scores(sentence.score, trees).max()
    score, heads = best_tree(sentence)
    assert_allclose(score, expected, rtol=1e-13)
    if expected > -np.inf:
        assert is_tree(heads, sentence.single_root)
        assert score == tree_scores(sentence.score, heads[None])[0]


@given(sentences(30))
def test_arborescence_is_a_tree(sentence: Sentence) -> None:
    score, heads = best_tree(sentence)
    if score > -np.inf:
        assert is_tree(heads, sentence.single_root)
        assert score == tree_scores(sentence.score, heads[None])[0]


@given(st.integers(2, 30), st.integers(0, 10**6))
def test_arborescence_cannot_be_improved_by_one_head(n: int, seed: int) -> None:
    for single_root in (False, True):
        score = draw_score(n, 50.0, 0.0, seed)
        _, heads = best_tree(Sentence(score, single_root))
        for m, h in itertools.product(range(1, n + 1), range(n + 1)):
            other = heads.copy()
            other[m - 1] = h
            if is_tree(other, single_root):
                assert score[h, m] <= score[heads[m - 1], m]


def test_arborescence_finds_a_planted_tree_through_many_cycles() -> None:
    """Nested cycles: every word prefers the word before, and the first the last."""
    n = LONGEST
    score = np.full((n + 1, n + 1), -1e5)
    for m in range(1, n + 1):
        score[m - 1 or n, m] = 100.0 + m
        score[m % n + 1, m] = 50.0 + m  # and the other way round
    score[0, 7] = -1e4
    _, heads = best_tree(Sentence(score, False))
    assert heads.tolist() == [n, *range(1, 6), 0, *range(7, n)]


@pytest.mark.parametrize("single_root", [False, True])
def test_arborescence_of_tied_scores_is_always_the_same(single_root: bool) -> None:
    score = np.zeros((10, 10))
    results = {
        tuple(best_tree(Sentence(score + shift, single_root))[1])
        for shift in (0.0, 1.0, -1e5)
    }
    assert len(results) == 1


def test_arborescence_takes_one_root_however_dear_the_others() -> None:
    score = np.full((4, 4), -1e15)
    score[0, 1:] = 1e15
    score[0, 2] = 1e15 + 1  # in the last bits: no penalty was added to them
    assert best_tree(Sentence(score, False))[1].tolist() == [0, 0, 0]
    _, heads = best_tree(Sentence(score, True))
    assert np.flatnonzero(heads == 0).tolist() == [1]


def test_arborescence_may_not_exist() -> None:
    cycle = np.full((4, 4), -np.inf)
    cycle[1, 2] = cycle[2, 1] = cycle[0, 3] = 0.0
    assert best_tree(Sentence(cycle, False))[0] == -np.inf
    two_roots = np.full((3, 3), -np.inf)
    two_roots[0, 1:] = 1.0
    assert best_tree(Sentence(two_roots, False))[0] == 2.0
    assert best_tree(Sentence(two_roots, True))[0] == -np.inf


@pytest.mark.parametrize("single_root", [False, True])
def test_arborescence_of_no_words_is_empty(single_root: bool) -> None:
    assert best_tree(Sentence(np.zeros((1, 1)), single_root))[0] == 0.0


@given(sentences(4), st.integers(1, MOST))
def test_arborescence_kbest_are_the_best_of_all_trees(
    sentence: Sentence, k: int
) -> None:
    score, single_root = sentence
    trees = all_trees(sentence.n_words, single_root)
    expected = np.sort(tree_scores(score, trees))[::-1][:k]
    expected = expected[expected > -np.inf]
    heads, ranks, scores = best_trees(score[:, :, None].copy(), single_root, k)
    assert_allclose(scores, expected, rtol=1e-13)
    assert (np.diff(scores) <= 0).all()
    assert (ranks == 0).all()
    assert all(is_tree(one, single_root) for one in heads)
    assert len(set(map(tuple, heads))) == len(expected)
    assert_allclose(scores, [tree_scores(score, one[None])[0] for one in heads])


@given(
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, MOST),
    st.booleans(),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_arborescence_kbest_are_the_best_of_all_labelled_trees(
    n: int, n_ranks: int, k: int, tied: bool, single_root: bool, seed: int
) -> None:
    random = np.random.default_rng(seed)
    ranked = random.normal(size=(n + 1, n + 1, n_ranks))
    ranked = np.round(ranked) if tied else ranked
    ranked[random.random(ranked.shape) < 0.2] = -np.inf
    ranked = -np.sort(-ranked, axis=2)
    words = np.arange(1, n + 1)
    everything = [
        ranked[tree, words, labels].sum()
        for tree in all_trees(n, single_root)
        for labels in itertools.product(range(n_ranks), repeat=n)
    ]
    expected = np.sort(everything)[::-1][:k]
    expected = expected[expected > -np.inf]
    heads, ranks, scores = best_trees(ranked, single_root, k)
    assert_allclose(scores, expected, rtol=1e-13, atol=1e-13)
    assert (np.diff(scores) <= 0).all()
    assert all(is_tree(one, single_root) for one in heads)
    distinct = {(*one, *labels) for one, labels in zip(heads, ranks, strict=True)}
    assert len(distinct) == len(expected)
    for one, labels, score in zip(heads, ranks, scores, strict=True):
        assert score == pytest.approx(ranked[one, words, labels].sum())


def test_arborescence_kbest_of_long_sentences_start_with_the_best() -> None:
    for n, single_root in itertools.product((9, 20), (False, True)):
        score = draw_score(n, 50.0, 0.1, n)
        heads, _, scores = best_trees(score[:, :, None].copy(), single_root, 5)
        best, best_heads = best_tree(Sentence(score, single_root))
        assert scores[0] == best
        assert (heads[0] == best_heads).all()
        assert all(is_tree(one, single_root) for one in heads)
        assert len(set(map(tuple, heads))) == 5
        assert (np.diff(scores) <= 0).all()
