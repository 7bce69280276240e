"""Head arrays: what is a tree, what is projective, and what lifting does."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.errors import DataError
from partwise.trees import (
    check_tree,
    find_cycle,
    find_wrong_head,
    is_projective,
    lift,
    n_roots,
    nonprojective_words,
)


def all_heads(n: int) -> list[tuple[int, ...]]:
    """Return every head array of n words in which no word is its own head."""
    choices = [[h for h in range(n + 1) if h != m] for m in range(1, n + 1)]
    return list(itertools.product(*choices))


def ancestors(heads: tuple[int, ...], word: int) -> list[int]:
    """Return the heads above a word, as far as they do not repeat."""
    found: list[int] = []
    while word and heads[word - 1] not in found:
        word = heads[word - 1]
        found.append(word)
    return found


def is_tree(heads: tuple[int, ...]) -> bool:
    return all(0 in ancestors(heads, m) for m in range(1, len(heads) + 1))


def arcs(heads: tuple[int, ...]) -> list[tuple[int, int]]:
    return [(min(h, m), max(h, m)) for m, h in enumerate(heads, 1)]


def has_crossing(heads: tuple[int, ...]) -> bool:
    pairs = itertools.permutations(arcs(heads), 2)
    return any(a < c < b < d for (a, b), (c, d) in pairs)


def nonprojective(heads: tuple[int, ...]) -> list[int]:
    """Find the words whose arc spans what their head does not govern."""
    return [
        m
        for m, h in enumerate(heads, 1)
        if any(h not in ancestors(heads, k) for k in range(min(h, m) + 1, max(h, m)))
    ]


def lift_slowly(heads: tuple[int, ...]) -> tuple[int, ...]:
    """Lift as the paper's algorithm says, everything looked up afresh."""
    while wrong := nonprojective(heads):
        m = min(wrong, key=lambda word: (abs(word - heads[word - 1]), word))
        above = heads[heads[m - 1] - 1]
        heads = (*heads[: m - 1], above, *heads[m:])
    return heads


@st.composite
def trees(draw: st.DrawFn, max_size: int = 25) -> tuple[int, ...]:
    """Draw any tree: words in some order, each below one before it or the root."""
    order = draw(st.permutations(range(1, draw(st.integers(0, max_size)) + 1)))
    heads = [0] * len(order)
    for i, word in enumerate(order):
        heads[word - 1] = draw(st.sampled_from([0, *order[:i]]))
    return tuple(heads)


EVERY = [heads for n in range(5) for heads in all_heads(n)]
TREES = [heads for heads in EVERY if is_tree(heads)]


def test_trees_of_four_words_are_as_many_as_cayley_says() -> None:
    assert [sum(len(t) == n for t in TREES) for n in range(5)] == [1, 1, 3, 16, 125]


def test_trees_cycles_are_found_exactly_where_there_are_some() -> None:
    for heads in EVERY:
        cycle = find_cycle(heads)
        assert bool(cycle) != is_tree(heads)
        if cycle:
            assert cycle[0] == min(cycle)
            assert len(set(cycle)) == len(cycle)
            assert [heads[m - 1] for m in cycle] == [*cycle[1:], cycle[0]]


def test_trees_projective_means_no_crossing_and_no_ungoverned_word() -> None:
    for heads in TREES:
        assert is_projective(heads) == (not has_crossing(heads))
        assert list(nonprojective_words(heads)) == nonprojective(heads)
    assert sum(map(is_projective, TREES)) < len(TREES)


@given(trees())
def test_trees_of_any_size_agree_with_the_obvious_way(heads: tuple[int, ...]) -> None:
    check_tree(heads)
    assert is_projective(heads) == (not has_crossing(heads))
    assert list(nonprojective_words(heads)) == nonprojective(heads)
    assert lift(heads) == lift_slowly(heads)


@given(trees())
def test_trees_lifting_makes_projective_trees(heads: tuple[int, ...]) -> None:
    lifted = lift(heads)
    check_tree(lifted, single_root=n_roots(heads) == 1)
    assert is_projective(lifted)
    assert lift(lifted) == lifted
    # A word only ever moves up.
    for m, head in enumerate(lifted, 1):
        assert head in ancestors(heads, m)
    if is_projective(heads):
        assert lifted == heads


def test_trees_long_sentences_can_be_lifted() -> None:
    random = np.random.default_rng(0)
    order = random.permutation(300) + 1
    heads = np.zeros(300, dtype=np.int32)
    for i, word in enumerate(order[1:], 1):
        heads[word - 1] = order[random.integers(i)]
    lifted = lift(heads)
    assert is_projective(lifted)
    assert n_roots(lifted) == 1
    assert all(type(head) is int for head in lifted)


def test_trees_without_words_are_trees() -> None:
    check_tree([], single_root=True)
    assert find_cycle([]) == nonprojective_words([]) == lift([]) == ()
    assert is_projective([])


def test_trees_take_arrays() -> None:
    heads = np.array([3, 4, 0, 3], dtype=np.int32)
    assert lift(heads) == (3, 3, 0, 3)
    assert nonprojective_words(heads) == (2,)
    assert find_cycle(np.array([2, 1])) == (1, 2)


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([2, 0, 4], r"a:7: word 3 \"z\": head 4 is out of range .* 3 words"),
        ([-1, 0, 1], r"a:7: word 1 \"x\": head -1 is out of range"),
        ([0, 2, 1], r"a:7: word 2 \"y\": head 2 is the word itself"),
        ([0, 3, 2], r"a:7: words 2 \"y\", 3 \"z\" are each other's heads"),
        ([0, 1, 0], r"a:7: 2 words have the root .*, 1 \"x\", 3 \"z\", but one is"),
    ],
)
def test_trees_mistakes_name_the_words(heads: list[int], message: str) -> None:
    with pytest.raises(DataError, match=message):
        check_tree(heads, "a:7", single_root=True, forms=["x", "y", "z"])


def test_trees_two_roots_are_fine_unless_one_is_asked_for() -> None:
    check_tree([0, 0])
    with pytest.raises(DataError, match="tree: 2 words have the root as their head"):
        check_tree([0, 0], single_root=True)


def test_trees_long_circles_are_cut_short_in_messages() -> None:
    with pytest.raises(DataError, match=r"words 1, 2, 3.*, 12 and 28 more are each"):
        check_tree([*range(2, 41), 1])


def test_trees_wrong_heads_are_the_first_ones() -> None:
    assert find_wrong_head([0, 1]) is None
    assert find_wrong_head([5, 2]) == (
        1,
        "head 5 is out of range (the sentence has 2 words; the root is 0)",
    )


@pytest.mark.parametrize("function", [lift, nonprojective_words])
def test_trees_what_is_no_tree_is_refused(function) -> None:
    with pytest.raises(DataError, match="circle"):
        function([2, 1, 0])
