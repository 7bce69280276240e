"""Probabilities of outputs, expected features and samples, against enumeration."""

from typing import Any

import numpy as np
import pytest

import problems
from partwise.structures import make_bayesian_network
from partwise.structures.bayesian_network import make_network
from partwise.structures.dependency import make_dependency_trees
from partwise.structures.interface import (
    make_diff,
    n_parts,
    n_weights,
    output_size,
    parts_of,
)
from partwise.structures.probabilities import (
    draw,
    expected_features,
    least_probable_parts,
    log_probabilities,
)

N_DRAWS = 400


def trees_crossing(chosen: Any) -> Any:
    """Any trees, projective or not, with one root."""
    s = problems.trees_projective(chosen)
    heads = [y for _, y in chosen]
    sizes = [len(y) for y in heads]
    return make_dependency_trees(
        s.arcs, sizes, np.concatenate(heads), projective=False, single_root=True
    )


def network(chosen: Any) -> Any:
    """Two causes and an effect; what is hidden differs from row to row."""
    model = make_network([2, 3, 2], [(), (), (0, 1)])
    hidden = [[True, True, False], [False, False, True], [True, True, True]]
    return make_bayesian_network(model, [[0, 2, 1], [1, 0, 0], [1, 1, 1]], hidden)


def small(make: Any) -> Any:
    if make is trees_crossing:
        return make(problems.draw(problems.trees_projective, 3))
    return make([]) if make is network else problems.make_small(make, 3)


COMPILED = (problems.classes_dense, problems.chain_sparse)
PLAIN = (
    *(problems.classes_costs, problems.chain_edges, problems.chain_masked),
    *(problems.graph_triangle, problems.lattice_paths, *problems.TREES),
    *(problems.derivations, trees_crossing, network),
)
CORPORA = PLAIN if problems.PLAIN_PYTHON else COMPILED


def weighted(make: Any) -> tuple[Any, Any, list[Any], list[Any]]:
    """Return a corpus, weights, all outputs and their probabilities."""
    s = small(make)
    w = np.random.default_rng(1).normal(0.0, 0.7, int(n_weights(s)))
    outputs = problems.enumerate_outputs(s)
    scores = [-one.dphi @ w for one in outputs]
    return s, w, outputs, [np.exp(a - np.logaddexp.reduce(a)) for a in scores]


@pytest.mark.parametrize("make", CORPORA)
def test_probabilities_are_those_of_enumeration(make: Any) -> None:
    s, w, outputs, shares = weighted(make)
    rights = [
        p[np.flatnonzero((one.dphi == 0.0).all(axis=1) & (one.cost == 0.0))[0]]
        for one, p in zip(outputs, shares, strict=True)
    ]
    np.testing.assert_allclose(np.exp(log_probabilities(s, w)), rights, rtol=1e-9)
    of_right = np.zeros(w.size)
    for i in range(len(outputs)):
        right = np.zeros(problems.output_size(s, i), np.int32)
        problems.gold(s, i, right)
        of_right += problems._phi(s, i, right)
    mean = sum(p @ one.dphi for one, p in zip(outputs, shares, strict=True))
    np.testing.assert_allclose(expected_features(s, w), of_right - mean, atol=1e-9)


@pytest.mark.parametrize("make", CORPORA)
def test_least_probable_parts_are_those_of_enumeration(make: Any) -> None:
    s, w, outputs, shares = weighted(make)
    expected = []
    for i, (one, p) in enumerate(zip(outputs, shares, strict=True)):
        mu, right = np.zeros(n_parts(s, i)), np.zeros(output_size(s, i), np.int32)
        for share, y in zip(p, one.codes, strict=True):
            ids, counts = parts(s, i, y)
            np.add.at(mu, ids, share * counts)
        problems.gold(s, i, right)
        expected.append(min(1.0, *mu[parts(s, i, right)[0]]))
    np.testing.assert_allclose(least_probable_parts(s, w), expected, rtol=1e-9)


def parts(s: Any, i: int, y: Any) -> tuple[Any, Any]:
    """Return the numbers of the parts of an output, and how often each occurs."""
    diff = make_diff(s)
    found = parts_of(s, i, y, diff.ids, diff.counts)
    return diff.ids[:found].copy(), diff.counts[:found].copy()


@pytest.mark.parametrize("make", CORPORA)
def test_samples_come_as_often_as_is_probable(make: Any) -> None:
    s, w, outputs, shares = weighted(make)
    ptr, codes, possible = draw(s, w, N_DRAWS, np.random.default_rng(2))
    assert possible.all()
    for i, (one, p) in enumerate(zip(outputs, shares, strict=True)):
        own = codes[:, ptr[i] : ptr[i + 1]]
        same = (own[:, None, :] == one.codes[None]).all(axis=2)
        assert same.any(axis=1).all(), "an output that is not legal"
        bound = 4.5 * np.sqrt(p * (1 - p) / N_DRAWS) + 1.0 / N_DRAWS
        assert (np.abs(same.mean(axis=0) - p) <= bound).all()


def test_samples_do_not_depend_on_the_number_of_threads() -> None:
    s, w, _, _ = weighted(problems.ANY)
    one, other = (draw(s, w, 5, np.random.default_rng(3), jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.codes, other.codes)


def test_samples_of_nothing_legal_are_none() -> None:
    s = problems.make_small(problems.chain_masked, 2)
    closed = s._replace(mask=s.mask._replace(start=np.zeros_like(s.mask.start)))
    drawn = draw(closed, np.zeros(int(n_weights(s))), 1, np.random.default_rng(0))
    assert not drawn.possible.any()
