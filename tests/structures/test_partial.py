"""Right outputs that are known in part: completions and costs against enumeration."""

import numpy as np
import pytest
from scipy.special import softmax

import problems
from partial_problems import completions, hide
from partwise.errors import DataError
from partwise.structures import interface as waist
from partwise.structures.gibbs import part_pointers
from partwise.structures.partial import (
    best_completions,
    expected_completions,
    least_probable_knowledge,
    make_partial,
)
from problems import Maker

KINDS = (*problems.EACH_KIND, problems.trees_labelled)
MAKERS: tuple[Maker, ...] = (
    KINDS if problems.PLAIN_PYTHON else (problems.classes_costs,)
)


@pytest.fixture(params=MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_partial_completions_are_the_best_and_the_expected(
    make: Maker, share: float
) -> None:
    corpus = problems.make_small(make)
    s = hide(corpus, share)
    w = np.random.default_rng(1).normal(size=waist.n_weights(s))
    best, (expected, entropy) = best_completions(s, w), expected_completions(s, w)
    ptr = part_pointers(s)
    for i, outputs in enumerate(problems.enumerate_outputs(corpus)):
        free, counts = completions(s, i, outputs)
        scores = -(outputs.dphi @ w)
        y = best.codes[best.code_ptr[i] : best.code_ptr[i + 1]]
        [place] = np.flatnonzero((outputs.codes == y).all(axis=1))
        assert free[place]
        assert scores[place] == pytest.approx(scores[free].max())
        p = softmax(scores[free])
        mu = np.zeros(ptr[i + 1] - ptr[i])
        own = slice(expected.expected.ptr[i], expected.expected.ptr[i + 1])
        mu[expected.expected.ids[own]] = expected.expected.numbers[own]
        np.testing.assert_allclose(mu, p @ counts[free], atol=1e-10)
        assert entropy[i] == pytest.approx(-(p * np.log(p)).sum(), abs=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_partial_knowledge_is_as_probable_as_its_least_part(
    make: Maker, share: float
) -> None:
    corpus = problems.make_small(make)
    s = hide(corpus, share)
    w = np.random.default_rng(2).normal(size=waist.n_weights(s))
    least = least_probable_knowledge(s, w)
    for i, outputs in enumerate(problems.enumerate_outputs(corpus)):
        free, counts = completions(s, i, outputs)
        scores = -(outputs.dphi @ w)
        mu, among = softmax(scores) @ counts, softmax(scores[free]) @ counts[free]
        own = counts[free][scores[free].argmax()] > 0
        assert least[i] == pytest.approx(min(1.0, (mu[own] / among[own]).min()))


def test_partial_costs_are_those_of_forbidden_parts(make: Maker) -> None:
    corpus = problems.make_small(make)
    s = hide(corpus, 0.6)
    for i, outputs in enumerate(problems.enumerate_outputs(corpus)):
        free, _ = completions(s, i, outputs)
        for y, is_free in zip(outputs.codes, free, strict=True):
            assert waist.cost(s, i, y) == pytest.approx(problems.cost_by_parts(s, i, y))
            if is_free:
                assert waist.cost(s, i, y) == 0.0
            else:
                assert waist.cost(s, i, y) <= waist.cost(corpus, i, y) + 1e-12


def test_partial_impossible_examples_are_named() -> None:
    s = problems.make_small(problems.ANY, 2)
    n = waist.n_parts(s, 0)
    with pytest.raises(DataError, match="example 0: no output agrees"):
        make_partial(s, [0, n, n], np.arange(n))
    with pytest.raises(ValueError, match="numbers of parts"):
        make_partial(s, [0, 1, 1], [n])
    with pytest.raises(ValueError, match="which rise from 0"):
        make_partial(s, [0, 1], [0])
