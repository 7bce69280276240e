"""Bayesian networks as a structure: the laws, by listing all outputs, and training."""

import importlib
import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import problems
from bayesian_network_cases import CHOICES, family_weights, make_case, random_network
from generative_problems import best_generative
from laws import LAWS, law_name
from partwise.losses import get_loss
from partwise.solvers import (
    RestrictedSimplicialDecomposition,
    make_problem,
    solve,
)
from partwise.solvers.log_distributions import uniform_reference
from partwise.structures import bayesian_network, make_multiclass, make_sparse_rows
from partwise.structures import interface as waist
from partwise.structures.bayesian_network import (
    find_cycle,
    make_bayesian_network,
    make_network,
    topological_order,
    with_unknown,
)
from partwise.structures.counts import gold_counts
from partwise.structures.decoding import decode, part_marginals


@problems.plain_only
@pytest.mark.parametrize("law", LAWS, ids=law_name)
@settings(max_examples=30)
@given(case=st.builds(make_case, **CHOICES))
def test_bayesian_network_obeys(law: Any, case: Any) -> None:
    law(case)


def log_joint(network: Any, w: Any, row: Any) -> float:
    """Return ``ln P`` of a row, table by table."""
    total = 0.0
    for v, value in enumerate(row):
        above = tuple(row[u] for u in network.parents[v])
        total += network.table(v, w)[(*above, value)]
    return float(total)


def random_weights(network: Any, random: Any, left: float = 0.0) -> Any:
    """Draw log-probabilities that add up to one, or leave some mass."""
    w = random.uniform(0.1, 1.0, network.n_weights)
    of = network.distribution()
    return np.log((1.0 - left) * w / np.bincount(of, w)[of])


@pytest.mark.skipif(problems.PLAIN_PYTHON, reason="of compiled code")
def test_bayesian_network_compiled_says_what_is_true() -> None:
    random = np.random.default_rng(3)
    network = random_network(random, 6)
    w = random_weights(network, random)
    values = random.integers(0, network.n_values, (4, 6))
    hidden = np.array([[0, 0, 1, 0, 0, 0], [1, 1, 0, 1, 0, 1], [0] * 6, [1] * 6], bool)
    s = make_bayesian_network(network, values, hidden)
    best = decode(s, w)
    log_z = part_marginals(s, w, np.zeros(4, np.int64))[2]
    for i in range(4):
        there = np.flatnonzero(hidden[i]).tolist()
        scores = {}
        for y in itertools.product(*(range(network.n_values[v]) for v in there)):
            row = values[i].copy()
            row[there] = y
            scores[y] = log_joint(network, w, row)
        found = tuple(best.codes[best.ptr[i] : best.ptr[i + 1]].tolist())
        assert best.scores[i] == pytest.approx(max(scores.values()))
        assert scores[found] == pytest.approx(max(scores.values()))
        assert log_z[i] == pytest.approx(np.logaddexp.reduce(list(scores.values())))
    assert log_z[3] == pytest.approx(0.0, abs=1e-12)  # nothing observed: all of it


# --- in plain Python ------------------------------------------------------------------


@problems.plain_only
def test_bayesian_network_counts_are_those_of_the_rows() -> None:
    random = np.random.default_rng(0)
    network = random_network(random, 5)
    values = random.integers(0, network.n_values, (7, 5))
    s = make_bayesian_network(network, values, random.random((7, 5)) < 0.4)
    expected = sum(family_weights(network, row.tolist()) for row in values)
    np.testing.assert_allclose(gold_counts(s), expected[: network.n_weights])


@problems.plain_only
def test_bayesian_network_of_one_class_agrees_with_multiclass() -> None:
    """Naive Bayes is a linear classifier of the values, with log-probabilities."""
    random = np.random.default_rng(1)
    network = make_network([2, 2, 3], [(2,), (2,), ()])
    values = random.integers(0, network.n_values, (6, 3))
    s = make_bayesian_network(network, values, [False, False, True])
    columns = np.column_stack([values[:, 0], 2 + values[:, 1], np.full(len(values), 4)])
    rows = make_sparse_rows(np.arange(7) * 3, columns.ravel(), None, 5)
    other = make_multiclass(rows, values[:, 2], 3)
    w = random_weights(network, random)
    tables = [network.table(v, w) for v in range(3)]
    flat = np.vstack([tables[0].T, tables[1].T, tables[2][None]]).ravel()
    one, two = decode(s, w), decode(other, flat)
    np.testing.assert_array_equal(one.codes, two.codes)
    np.testing.assert_allclose(one.scores, two.scores)


@problems.plain_only
def test_bayesian_network_unknown_values_have_the_mass_that_is_left() -> None:
    random = np.random.default_rng(2)
    network = make_network([2, 2], [(), (0,)])
    w = random_weights(network, random)
    w[network.weight_at[1] :] += np.log([0.9, 0.9, 0.6, 0.6])  # leaves 0.1 and 0.4
    s = make_bayesian_network(network, [[0, -1]], [True, False])
    _, mu, _ = part_marginals(s, with_unknown(w, network), np.array([2]))
    expected = np.exp(w[:2]) * [0.1, 0.4]
    np.testing.assert_allclose(mu, expected / expected.sum())
    # Nothing is known of what an unknown value does to its children.
    s = make_bayesian_network(network, [[-1, 0]], [False, True])
    _, mu, _ = part_marginals(s, with_unknown(w, network), np.array([2]))
    np.testing.assert_allclose(mu, 0.5)


@problems.plain_only
@pytest.mark.parametrize("seed", range(2))
def test_bayesian_network_margin_reaches_the_convex_optimum(
    seed: int,
) -> None:
    random = np.random.default_rng(seed)
    network = random_network(random, 4)
    values = random.integers(0, network.n_values, (5, 4))
    hidden = random.random((5, 4)) < 0.5
    hidden[:, 0] = True
    s = make_bayesian_network(network, values, hidden)
    groups = make_problem(s, get_loss("hinge")).distributions()
    problem = make_problem(
        s, get_loss("hinge"), 0.5, reference=uniform_reference(groups)
    )
    solution = solve(
        problem, RestrictedSimplicialDecomposition(), tol=1e-7, max_iter=3000
    )
    expected, _ = best_generative(problem)
    assert solution.certificate.primal == pytest.approx(expected, abs=1e-6)
    assert (groups.sums(np.exp(solution.w)) <= 1.0 + 1e-9).all()


@problems.plain_only
def test_bayesian_network_outputs_are_hidden_variables_in_order() -> None:
    network = make_network([2, 3, 2], [(), (0,), (0, 1)])
    s = make_bayesian_network(network, [[1, 2, 0], [0, 1, 1]], [[1, 0, 1], [0, 1, 1]])
    y = np.zeros(2, np.int32)
    waist.gold(s, 1, y)
    assert y.tolist() == [1, 1]
    assert waist.cost(s, 0, np.array([0, 1], np.int32)) == 2.0
    np.testing.assert_array_equal(waist.distribution_of(s), network.distribution())


# --- graphs that are none -------------------------------------------------------------


@problems.plain_only
@pytest.mark.parametrize(
    ("n_values", "parents", "match"),
    [
        ([2, 2, 2], [[1], [2], [0]], "cycle, 0 -> 2 -> 1 -> 0"),
        ([2, 2], [[0], []], "cycle, 0 -> 0"),
        ([2, 2], [[1, 1], []], "different variables"),
        ([2, 2], [[5], []], "different variables"),
        ([2, 0], [[], []], "variable 1 needs at least one value"),
        ([2], [[], []], "n_values describes 1 variables and parents 2"),
        ([999] * 4, [[], [], [], [0, 1, 2]], "variable 3 alone, with its 3 parents"),
    ],
)
def test_network_refuses(n_values: Any, parents: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        make_network(n_values, parents)


@problems.plain_only
def test_network_orders_parents_first() -> None:
    random = np.random.default_rng(5)
    for _ in range(10):
        parents = random_network(random, 7).parents
        order = topological_order(parents)
        assert sorted(order) == list(range(7))
        for v, group in enumerate(parents):
            assert all(order.index(u) < order.index(v) for u in group)
        assert find_cycle(parents) == []


@problems.plain_only
@pytest.mark.parametrize(
    ("values", "match"),
    [
        ([[0, 2]], "example 0, variable 1: 2 is not one of its values"),
        ([[0]], "shape"),
        ([[-2, 0]], "-2"),
    ],
)
def test_bayesian_network_refuses_values(values: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        make_bayesian_network(make_network([2, 2], [[], [0]]), values, True)


@pytest.mark.parametrize(
    ("module", "name", "new"),
    [
        ("partwise.structures", "BayesNet", "BayesianNetwork"),
        ("partwise.structures", "make_bayesnet", "make_bayesian_network"),
        ("partwise.structures.bayesian_network", "BayesNet", "BayesianNetwork"),
    ],
)
def test_bayesian_network_former_names_are_deprecated(
    module: str, name: str, new: str
) -> None:
    former = importlib.import_module(module)
    text = f"{module}.{name} is deprecated; use {module}.{new}"
    with pytest.warns(DeprecationWarning, match=f"^{re.escape(text)}$") as found:
        value = getattr(former, name)
    assert value is getattr(bayesian_network, new)
    assert Path(found[0].filename) == Path(__file__)
    with pytest.raises(AttributeError, match="has no attribute 'BayesNets'"):
        former.__getattr__("BayesNets")
