"""Which examples a pass visits, and in which order."""

import numpy as np
import pytest

from partwise.solvers.visiting import (
    MOST_VISITS,
    STRETCH,
    WINDOW,
    shuffled,
    visiting_order,
)
from problems import Floats

USED = np.array([1.0, 0.0, 2.0, 0.5, 0.0, 1.0])


def visits(order: str, gap: Floats, used: Floats = USED, seed: int = 0) -> list[int]:
    return visiting_order(order, gap, used, np.random.default_rng(seed)).tolist()


@pytest.mark.parametrize("order", ["cyclic", "shuffled", "gaps"])
def test_visiting_order_leaves_out_examples_of_weight_zero(order: str) -> None:
    for seed in range(20):
        gap = np.random.default_rng(seed).random(USED.size)
        assert set(visits(order, gap, seed=seed)) <= {0, 2, 3, 5}
        assert visits(order, gap, np.zeros(USED.size)) == []


def test_visiting_order_cyclic_and_shuffled_visit_all_once() -> None:
    gap = np.arange(6.0)
    assert visits("cyclic", gap) == [0, 2, 3, 5]
    orders = {tuple(visits("shuffled", gap, seed=seed)) for seed in range(20)}
    assert len(orders) > 5
    assert {tuple(sorted(order)) for order in orders} == {(0, 2, 3, 5)}


@pytest.mark.parametrize("order", ["cyclic", "shuffled", "gaps"])
def test_visiting_order_is_the_same_for_the_same_seed(order: str) -> None:
    gap = np.random.default_rng(1).random(6)
    assert visits(order, gap, seed=5) == visits(order, gap, seed=5)


@pytest.mark.parametrize("gap", [np.zeros(6), np.full(6, np.nan), np.full(6, np.inf)])
def test_visiting_order_without_known_gaps_visits_all_once(gap: Floats) -> None:
    assert sorted(visits("gaps", gap)) == [0, 2, 3, 5]


def test_visiting_order_follows_the_gaps() -> None:
    """A fifth of the visits is spread evenly, the rest in proportion."""
    rng = np.random.default_rng(0)
    gap = rng.random(200) ** 4
    counts = np.zeros(200)
    for seed in range(300):
        order = visits("gaps", gap, np.ones(200), seed)
        assert 140 <= len(order) <= 230
        counts += np.bincount(order, minlength=200)
    expected = np.minimum(0.2 + 0.8 * gap * 200 / gap.sum(), MOST_VISITS)
    np.testing.assert_allclose(counts / 300, expected, atol=0.15)
    assert counts.sum() / 300 == pytest.approx(200, rel=0.05)


def test_visiting_order_one_example_does_not_take_all_visits() -> None:
    gap = np.zeros(100)
    gap[7] = 1.0
    for seed in range(20):
        order = visits("gaps", gap, np.ones(100), seed)
        assert order.count(7) == MOST_VISITS
        assert len(set(order)) > 5


def test_visiting_order_never_starves_an_example() -> None:
    gap = np.ones(50)
    gap[3] = 0.0
    seen = [3 in visits("gaps", gap, np.ones(50), seed) for seed in range(100)]
    assert 5 <= sum(seen) <= 40


def test_shuffled_large_corpus_stays_within_windows_and_visits_all() -> None:
    n = 3 * WINDOW + 100
    one, other = (shuffled(n, np.random.default_rng(seed)) for seed in (0, 1))
    for order in (one, other):
        assert np.array_equal(np.sort(order), np.arange(n))
        for start in range(0, n, WINDOW):
            window = order[start : start + WINDOW]
            # At most one stretch is cut at either end.
            assert np.unique(window // STRETCH).size <= window.size / STRETCH + 2
            inside = np.abs(np.diff(window)) == 1  # neighbours, one after the other
            assert inside.mean() < 0.05
    assert (one == other).mean() < 0.01


def test_shuffled_small_corpus_is_any_permutation() -> None:
    order = shuffled(WINDOW, np.random.default_rng(0))
    assert np.array_equal(order, np.random.default_rng(0).permutation(WINDOW))
