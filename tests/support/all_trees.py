"""All dependency trees of a few words, and scores to try them with."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

Array = np.ndarray[Any, Any]

# Ties; ordinary scores; far apart; beyond what floating point can exponentiate.
SPREADS = (0.0, 1.0, 50.0, 2000.0, 1e5)


def is_tree(heads: Array, single_root: bool = False) -> bool:
    """Say whether every word comes to the root, which has one arc if asked."""
    to_head = np.concatenate([[0], heads])
    ancestors = to_head
    for _ in range(heads.size):
        ancestors = to_head[ancestors]
    n_roots = np.count_nonzero(heads == 0)
    return not ancestors.any() and (n_roots == 1 or not single_root)


@functools.cache
def all_trees(n: int, single_root: bool) -> Array:
    """Return the heads of all trees of `n` words, one tree a row."""
    guesses = np.indices((n + 1,) * n).reshape(n, -1).T
    return np.array([heads for heads in guesses if is_tree(heads, single_root)])


def tree_scores(score: Array, trees: Array) -> Array:
    """Return the score of every tree."""
    return sum(score[trees[:, m], m + 1] for m in range(trees.shape[1]))


class Sentence(NamedTuple):
    """The scores of the arcs, and which trees are legal."""

    score: Array
    single_root: bool

    @property
    def n_words(self) -> int:
        return self.score.shape[0] - 1


def draw_score(n: int, spread: float, forbidden: float, seed: int) -> Array:
    """Draw scores, some of them forbidden, and NaN where nothing may be read."""
    random = np.random.default_rng(seed)
    score = random.uniform(-spread / 2, spread / 2, (n + 1, n + 1))
    if spread == 1.0:
        score = np.round(5 * score)  # ties, and sums that are exact
    score[random.random(score.shape) < forbidden] = -np.inf
    score[:, 0] = np.nan
    np.fill_diagonal(score, np.nan)
    return score


def sentences(longest: int) -> st.SearchStrategy[Sentence]:
    """Draw sentences of up to `longest` words."""
    make: Callable[..., Array] = draw_score
    scores = st.builds(
        make,
        st.integers(1, longest),
        st.sampled_from(SPREADS),
        st.sampled_from([0.0, 0.2, 0.5]),
        st.integers(0, 10**6),
    )
    return st.builds(Sentence, scores, st.booleans())
