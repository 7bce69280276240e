"""Part scores from marginals: the way back that `marginals` allows."""

import numpy as np
import pytest

import problems
from partwise.structures import interface as waist
from partwise.structures.chain import untied
from partwise.structures.gibbs import part_pointers, scores_from_marginals
from problems import Floats, Maker

MAKERS = (
    problems.REVERSIBLE
    if problems.PLAIN_PYTHON
    else (problems.classes_dense, problems.chain_masked)
)


def marginals_of(s: object, theta: Floats) -> Floats:
    """Return the marginals of a whole corpus."""
    ptr, ws = part_pointers(s), waist.workspace(s, 1)
    mu = np.zeros(ptr[-1])
    for i in range(ptr.size - 1):
        own = slice(ptr[i], ptr[i + 1])
        waist.marginals(s, i, theta[own], mu[own], ws)
    return mu


def draw_theta(s: object, scale: float, seed: int = 0) -> Floats:
    return scale * np.random.default_rng(seed).normal(size=part_pointers(s)[-1])


def separate(make: Maker) -> object:
    """Return a corpus whose parts suffice for any pair of neighbours."""
    s = problems.make_small(make)
    return waist.untied(s)


@pytest.fixture(params=MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


@pytest.mark.parametrize("scale", [0.5, 3.0, 10.0])
def test_gibbs_scores_have_the_marginals(make: Maker, scale: float) -> None:
    s = separate(make)
    mu = marginals_of(s, draw_theta(s, scale))
    theta = scores_from_marginals(s, mu, epsilon=0.0)
    assert np.isfinite(theta).all()
    np.testing.assert_allclose(marginals_of(s, theta), mu, atol=1e-12)


def test_gibbs_scores_of_long_untied_chains_have_the_marginals() -> None:
    s = untied(problems.chain_sparse(problems.examples(2, (9, 6))))
    mu = marginals_of(s, draw_theta(s, 2.0))
    theta = scores_from_marginals(s, mu, epsilon=0.0)
    np.testing.assert_allclose(marginals_of(s, theta), mu, atol=1e-12)


def test_gibbs_scores_of_tied_chains_are_exact_up_to_two_positions() -> None:
    s = problems.chain_sparse(problems.examples(4, (1, 2)))
    mu = marginals_of(s, draw_theta(s, 2.0))
    theta = scores_from_marginals(s, mu, epsilon=0.0)
    np.testing.assert_allclose(marginals_of(s, theta), mu, atol=1e-12)


def test_gibbs_scores_of_tied_chains_are_exact_where_all_positions_are_alike() -> None:
    """A first label, then the same conditional probabilities at every position."""
    s = problems.chain_sparse(problems.examples(3, (8, 5)))
    random, ptr, K = np.random.default_rng(0), part_pointers(s), problems.N_LABELS
    truth = np.zeros(ptr[-1])
    for i in range(3):
        at = ptr[i] + waist.output_size(s, i) * K
        truth[ptr[i] : ptr[i] + K] = np.log(random.dirichlet(np.ones(K)))
        truth[at : at + K * K] = np.log(random.dirichlet(np.ones(K), size=K)).ravel()
    mu = marginals_of(s, truth)
    theta = scores_from_marginals(s, mu, epsilon=0.0)
    np.testing.assert_allclose(marginals_of(s, theta), mu, atol=1e-12)


def test_gibbs_scores_of_tied_chains_are_only_approximate_elsewhere() -> None:
    """What `untied` is for; if this fails, the documentation is too modest."""
    s = problems.chain_sparse(problems.examples(3, (8,)))
    mu = marginals_of(s, draw_theta(s, 2.0))
    theta = scores_from_marginals(s, mu, epsilon=0.0)
    assert np.isfinite(theta).all()
    assert np.abs(marginals_of(s, theta) - mu).max() > 0.01


@pytest.mark.parametrize("epsilon", [1e-6, 0.3])
def test_gibbs_scores_of_one_output_mixed_give_all_legal_ones_mass(
    make: Maker, epsilon: float
) -> None:
    s = separate(make)
    uniform = marginals_of(s, np.zeros(part_pointers(s)[-1]))
    right = np.zeros_like(uniform)
    ptr, diff = part_pointers(s), waist.make_diff(s)
    for i in range(ptr.size - 1):
        y = np.zeros(waist.output_size(s, i), np.int32)
        waist.gold(s, i, y)
        found = waist.parts_of(s, i, y, diff.ids, diff.counts)
        np.add.at(right, ptr[i] + diff.ids[:found], diff.counts[:found])
    theta = scores_from_marginals(s, right, epsilon)
    mixed = (1 - epsilon) * right + epsilon * uniform
    np.testing.assert_allclose(marginals_of(s, theta), mixed, atol=1e-12)
    # Without mixing, what is legal but has no mass is as good as impossible.
    bare = scores_from_marginals(s, right, 0.0)
    assert np.isfinite(bare).all()
    np.testing.assert_allclose(marginals_of(s, bare), right, atol=1e-12)


def test_gibbs_scores_of_forbidden_transitions_are_zero() -> None:
    s = untied(problems.make_small(problems.chain_masked))
    theta = scores_from_marginals(s, marginals_of(s, draw_theta(s, 1.0)), 0.1)
    ptr, square = part_pointers(s), problems.N_LABELS**2
    for i in range(ptr.size - 1):
        length = waist.output_size(s, i)
        at = ptr[i] + length * problems.N_LABELS
        for t in range(length - 1):
            block = theta[at + t * square : at + (t + 1) * square]
            for a, b in problems.FORBIDDEN_PAIRS:
                assert block[a * problems.N_LABELS + b] == 0.0


def test_gibbs_scores_refuse_wrong_sizes() -> None:
    s = problems.make_small(problems.classes_dense)
    with pytest.raises(ValueError, match="5 marginals for 18 parts"):
        scores_from_marginals(s, np.zeros(5))
    with pytest.raises(ValueError, match="epsilon must lie in"):
        scores_from_marginals(s, np.zeros(18), epsilon=2.0)


# --- chains with separate transition parts ---


@pytest.mark.parametrize("make", problems.CHAINS, ids=lambda make: make.__name__)
def test_untied_chain_has_the_same_outputs(make: Maker) -> None:
    s = problems.make_small(make)
    long = untied(s)
    assert waist.n_weights(long) == waist.n_weights(s)
    for mine, theirs in zip(
        problems.enumerate_outputs(s), problems.enumerate_outputs(long), strict=True
    ):
        np.testing.assert_array_equal(mine.codes, theirs.codes)
        np.testing.assert_array_equal(mine.cost, theirs.cost)
        np.testing.assert_array_equal(mine.dphi, theirs.dphi)


def test_untied_leaves_what_has_parts_enough_as_it_is() -> None:
    classes = problems.make_small(problems.classes_dense)
    assert waist.untied(classes) is classes
    s = problems.make_small(problems.chain_edges)
    assert untied(s) is s
    long = untied(problems.make_small(problems.chain_sparse))
    assert waist.untied(long) is long
