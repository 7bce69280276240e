"""Graphs: the laws, by listing all labellings, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import problems
from graph_cases import CHOICES, TOPOLOGIES, make_case
from laws import (
    LAWS,
    costs_add_up_over_parts,
    law_name,
    part_counts,
    part_scores_are_dot_products,
    parts_add_up_to_the_output,
)
from partwise._jit import kernel
from partwise.errors import DataError
from partwise.structures import interface as waist
from partwise.structures import make_chain, make_multiclass, make_sparse_rows
from partwise.structures.gibbs import scores_from_marginals
from partwise.structures.graph import (
    CliqueKind,
    Layout,
    make_graph,
    make_relaxed_graph,
    symmetric_classes,
    untied,
)
from partwise.structures.interface import Structure

# The laws run in plain Python; compiled, one test below asks all there is.
plain_only = pytest.mark.skipif(
    not problems.PLAIN_PYTHON, reason="run by test_plain_python"
)


@plain_only
@pytest.mark.parametrize("law", LAWS, ids=law_name)
@settings(max_examples=40)
@given(case=st.builds(make_case, **CHOICES))
def test_graphs_obey(law, case):
    law(case)


@kernel
def ask_at_once(s: Structure, i, w, theta, mu, y, ys, scores, ws):
    """Ask everything in one kernel: to compile it is most of the time of a test."""
    waist.part_scores(s, i, w, theta, ws)
    waist.add_costs(s, i, theta)
    best = waist.argmax(s, i, theta, y, ws)
    log_z = waist.marginals(s, i, theta, mu, ws)
    return best, log_z, waist.kbest(s, i, theta, ys.shape[0], ys, scores, ws)


@pytest.mark.skipif(problems.PLAIN_PYTHON, reason="of compiled code")
def test_graph_compiled_says_what_is_true():
    for seed, shape in enumerate(TOPOLOGIES):
        case = make_case(shape, 2, True, seed % 2 == 0, True, 1.5, seed)
        s, i, n_outputs = case.s, case.i, len(case.outputs)
        theta, mu = np.zeros((2, waist.n_parts(s, i)))
        ys = np.zeros((n_outputs + 1, waist.output_size(s, i)), np.int32)
        y, scores, ws = ys[0].copy(), np.zeros(len(ys)), waist.workspace(s, len(ys))
        best, log_z, found = ask_at_once(s, i, case.w, theta, mu, y, ys, scores, ws)
        all_scores = [case.features(y) @ case.w + case.cost(y) for y in case.outputs]
        assert found == n_outputs > 0
        np.testing.assert_allclose(scores[:found], sorted(all_scores, reverse=True))
        assert best == pytest.approx(max(all_scores))
        assert all_scores[case.outputs.index(tuple(y.tolist()))] == pytest.approx(best)
        assert log_z == pytest.approx(np.logaddexp.reduce(all_scores))
        expected = sum(
            np.exp(score - log_z) * part_counts(case, y)
            for y, score in zip(case.outputs, all_scores, strict=True)
        )
        np.testing.assert_allclose(mu, expected, atol=1e-10)


# --- agreement with other structures -------------------------------------------------


def answers(s, i, theta, k=4):
    """Ask all questions of inference."""
    mu, size = np.zeros(waist.n_parts(s, i)), waist.output_size(s, i)
    y, ws = np.zeros(size, np.int32), waist.workspace(s, k)
    ys, scores = np.zeros((k, size), np.int32), np.zeros(k)
    best = waist.argmax(s, i, theta, y, ws)
    log_z = waist.marginals(s, i, theta, mu, ws)
    found = waist.kbest(s, i, theta, k, ys, scores, ws)
    return best, y, log_z, mu, ys[:found], scores[:found]


def chain_layout(lengths, n_labels):
    """Lay out chains: nodes first, then edges."""
    members, sizes = [], []
    for n in lengths:
        members += [*range(n), *(v for t in range(1, n) for v in (t - 1, t))]
        sizes += [1] * n + [2] * (n - 1)
    counts = [2 * n - 1 for n in lengths]
    return Layout(
        np.cumsum([0, *lengths]),
        [n_labels] * sum(lengths),
        np.cumsum([0, *counts]),
        np.cumsum([0, *sizes]),
        members,
        [size - 1 for size in sizes],
    )


@plain_only
def test_graph_of_a_chain_agrees_with_the_chain():
    random, lengths, K, columns = np.random.default_rng(0), (6, 1, 4), 3, 5
    x = random.normal(size=(sum(lengths), columns))
    nodes = make_sparse_rows(
        np.arange(0, x.size + 1, columns),
        np.tile(np.arange(columns), len(x)),
        x.ravel(),
    )
    labels = random.integers(0, K, len(x))
    ptr = np.cumsum([0, *lengths])
    chain = make_chain(nodes, ptr, labels, K)
    idx, val, row_ptr = [], [], [0]
    for i, n in enumerate(lengths):
        for t in range(n):
            idx += range(columns)
            val += x[ptr[i] + t].tolist()
            row_ptr.append(len(idx))
        for _ in range(n - 1):
            idx.append(0)
            val.append(1.0)
            row_ptr.append(len(idx))
    graph = make_graph(
        chain_layout(lengths, K),
        [CliqueKind((K,), columns), CliqueKind((K, K), 1)],
        make_sparse_rows(row_ptr, idx, val, columns),
        labels,
    )
    assert waist.n_weights(graph) == waist.n_weights(chain)
    w = random.normal(size=waist.n_weights(chain))
    for i, n in enumerate(lengths):
        found = []
        for s in (chain, graph):
            theta, ws = np.zeros(waist.n_parts(s, i)), waist.workspace(s, 1)
            waist.part_scores(s, i, w, theta, ws)
            waist.add_costs(s, i, theta)
            best, y, log_z, mu, ys, scores = answers(s, i, theta)
            change = np.zeros(w.size)
            waist.add_parts(s, i, mu, 1.0, change, ws)
            found.append([best, y, log_z, mu[: n * K], ys, scores, change])
        for ours, theirs in zip(*found, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10)


@plain_only
def test_graph_of_single_vertices_agrees_with_multiclass():
    random, K, columns, n = np.random.default_rng(0), 4, 3, 5
    x = random.normal(size=(n, columns))
    rows = make_sparse_rows(
        np.arange(0, x.size + 1, columns), np.tile(np.arange(columns), n), x.ravel()
    )
    labels, each = random.integers(0, K, n), np.arange(n + 1)
    classes = make_multiclass(rows, labels, K)
    layout = Layout(each, [K] * n, each, each, [0] * n, [0] * n)
    graph = make_graph(layout, [CliqueKind((K,), columns)], rows, labels)
    w = random.normal(size=waist.n_weights(graph))
    for i in range(n):
        found = []
        for s in (classes, graph):
            theta, ws = np.zeros(K), waist.workspace(s, 1)
            waist.part_scores(s, i, w, theta, ws)
            waist.add_costs(s, i, theta)
            found.append([theta, *answers(s, i, theta)])
        for ours, theirs in zip(*found, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10)


# --- from marginals back to scores ---------------------------------------------------


@plain_only
@settings(max_examples=20)
@given(case=st.builds(make_case, **(CHOICES | {"forbid": st.just(False)})))
def test_graph_untied_has_any_marginals(case):
    s = untied(case.s)
    assert waist.n_weights(s) == waist.n_weights(case.s)
    theta = np.concatenate(
        [
            np.random.default_rng(case.seed).normal(size=waist.n_parts(s, i))
            for i in range(waist.n_examples(s))
        ]
    )
    ends = np.cumsum([0] + [waist.n_parts(s, i) for i in range(waist.n_examples(s))])

    def marginals(theta):
        mu, ws = np.zeros(theta.size), waist.workspace(s, 1)
        for i, (a, b) in enumerate(itertools.pairwise(ends)):
            waist.marginals(s, i, theta[a:b], mu[a:b], ws)
        return mu

    mu = marginals(theta)
    again = marginals(scores_from_marginals(s, mu, epsilon=0.0))
    np.testing.assert_allclose(again, mu, atol=1e-12)


@plain_only
@settings(max_examples=20)
@given(case=st.builds(make_case, **CHOICES))
def test_graph_untied_has_the_same_outputs_features_and_costs(case):
    s = untied(case.s)
    for law in (
        part_scores_are_dot_products,
        parts_add_up_to_the_output,
        costs_add_up_over_parts,
    ):
        law(case._replace(s=s))


# --- what is refused -----------------------------------------------------------------

LINE = Layout([0, 3], [2, 2, 2], [0, 2], [0, 2, 4], [0, 1, 1, 2], [0, 0])
EDGES = [CliqueKind((2, 2))]


def edge_rows(n):
    return make_sparse_rows(range(n + 1), [0] * n)


@pytest.mark.parametrize(
    ("change", "labels", "message"),
    [
        ({}, [0, 2, 0], "example 0, vertex 1: label 2 is not one of its 2 labels"),
        ({}, [0, 1], "2 labels for 3 vertices"),
        (
            {"members": [0, 1, 1, 3]},
            None,
            "clique 1: there is no vertex 3 .*3 vertices",
        ),
        ({"members": [0, -1, 1, 2]}, None, "clique 0: there is no vertex -1"),
        ({"members": [0, 1, 2, 2]}, None, "clique 1 names vertex 2 twice"),
        (
            {"n_labels": [2, 2, 3]},
            None,
            r"clique 1 joins vertices with \[2, 3\] labels",
        ),
        ({"kind": [0, 1]}, None, "kinds of cliques must lie in 0..0"),
        ({"clique_ptr": [0, 3]}, None, "clique_ptr must start at 0"),
        ({"n_labels": [2, 0, 2]}, None, "at least one label"),
        ({"member_ptr": [0, 0, 4]}, None, "clique 0 has no vertices"),
    ],
)
def test_graph_refuses(change, labels, message):
    with pytest.raises(ValueError, match=message):
        make_graph(LINE._replace(**change), EDGES, edge_rows(2), labels)


def test_graph_refuses_gold_that_is_forbidden():
    kinds = [CliqueKind((2, 2), 1, np.array([0, -1, 1, 2]))]
    make_graph(LINE, kinds, edge_rows(2), [1, 1, 0])
    with pytest.raises(DataError, match=r"clique 1: its right labels \[0, 1\]"):
        make_graph(LINE, kinds, edge_rows(2), [1, 0, 1])
    with pytest.raises(ValueError, match="kind 0 forbids"):
        make_relaxed_graph(LINE, kinds, edge_rows(2), [1, 1, 0])


def wide(n):
    """Join every vertex with every other."""
    pairs = list(itertools.combinations(range(n), 2))
    return Layout(
        [0, n], [2] * n, [0, len(pairs)], range(0, 2 * len(pairs) + 1, 2),
        [v for pair in pairs for v in pair], [0] * len(pairs),
    )  # fmt: skip


def test_graph_too_wide_is_refused_with_its_size_and_vertices():
    layout = wide(12)
    rows = edge_rows(len(layout.kind))
    assert make_graph(layout, EDGES, rows, None).inference.largest[0] == 2**12
    with pytest.raises(DataError) as caught:
        make_graph(layout, EDGES, rows, None, max_table=1000)
    told = str(caught.value)
    assert "example 0: exact inference needs tables of 4,096 numbers" in told
    assert "max_table is 1,000" in told
    assert "the 12 vertices 0, 1, 2," in told


def test_graph_far_too_wide_is_refused_at_once():
    layout = wide(150)
    with pytest.raises(DataError, match=r"at least .* numbers"):
        make_graph(layout, EDGES, edge_rows(len(layout.kind)), None)


def test_graph_finds_the_width_of_a_grid():
    n = 12
    across = [(v, v + 1) for v in range(n * n) if (v + 1) % n]
    edges = across + [(v, v + n) for v in range(n * n - n)]
    layout = Layout(
        [0, n * n], [2] * n * n, [0, len(edges)], range(0, 2 * len(edges) + 1, 2),
        [v for edge in edges for v in edge], [0] * len(edges),
    )  # fmt: skip
    s = make_graph(layout, EDGES, edge_rows(len(edges)), None)
    assert s.inference.largest[2] == 2 ** (n + 1)


def test_graph_symmetric_classes_do_not_depend_on_the_order():
    table = symmetric_classes(3, 3).reshape(3, 3, 3)
    for axes in itertools.permutations(range(3)):
        assert (table.transpose(axes) == table).all()
    assert np.unique(table).tolist() == list(range(10))


def test_graph_without_cliques_has_outputs_all_alike():
    layout = Layout([0, 2, 2], [2, 3], [0, 0, 0], [0], [], [])
    s = make_graph(layout, [], make_sparse_rows([0], []), None)
    ws = waist.workspace(s, 1)
    assert waist.log_partition(s, 0, np.zeros(5), ws) == pytest.approx(np.log(6))
    assert waist.log_partition(s, 1, np.zeros(0), ws) == 0.0
    assert waist.n_weights(s) == 0
