"""Linear chains: the laws in every combination, extremes, long chains, errors."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import drivers
import problems
from covering import a_third
from laws import (
    INFERENCE_LAWS,
    LAWS,
    Case,
    draw_scores,
    enumerate_outputs,
    law_name,
)
from partwise.errors import DataError
from partwise.structures import interface as waist
from partwise.structures import (
    make_chain,
    make_dense_rows,
    make_pair_rows,
    make_pairs,
    make_sparse_rows,
)
from partwise.structures.chain import check_gold, illegal_position
from row_cases import KINDS_IN_STRUCTURES, make_row_case

# Ties; ordinary scores; where scaled probabilities come to their end (e^-708 is
# the smallest normal number); far beyond.
SCALES = (0.0, 1.0, 5.0, 300.0, 600.0, 1e4, 1e5)


class Options(NamedTuple):
    """What a chain may have."""

    kind: str = "ones"
    start: bool = False
    end: bool = False
    edges: str = ""
    costs: bool = False
    masked_transitions: bool = False
    masked_ends: bool = False
    masked_labels: bool = False
    weightless_transitions: bool = False


def make_case(options, lengths, n_labels, scale, seed, i=None):
    random = np.random.default_rng(seed)
    K, n_tokens = n_labels, sum(lengths)
    ptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    labels = random.integers(0, K, n_tokens)
    nodes = make_row_case(options.kind, n_tokens, K, random)
    edges = make_row_case(options.edges or "ones", n_tokens, K * K, random)
    costs = random.random((K, K)) * (1 - np.eye(K))
    if not options.costs:
        costs = 1.0 - np.eye(K)

    def forbidden(wanted, *shape):
        return (random.random(shape) < 0.3) & wanted

    transitions = forbidden(options.masked_transitions, K, K)
    first = forbidden(options.masked_ends, K)
    last = forbidden(options.masked_ends, K)
    tokens = forbidden(options.masked_labels, n_tokens, K)
    weightless = forbidden(options.weightless_transitions, K, K)
    s = make_chain(
        nodes.rows,
        ptr,
        labels,
        K,
        edges=edges.rows if options.edges else None,
        start=options.start,
        end=options.end,
        costs=costs if options.costs else None,
        forbidden_transitions=transitions if options.masked_transitions else None,
        forbidden_start=first if options.masked_ends else None,
        forbidden_end=last if options.masked_ends else None,
        forbidden_labels=tokens if options.masked_labels else None,
        weighted_transitions=~weightless if options.weightless_transitions else None,
    )
    i = int(random.integers(len(lengths))) if i is None else i
    length, at = lengths[i], int(ptr[i])

    def is_legal(y):
        return length == 0 or not (
            first[y[0]]
            or last[y[-1]]
            or any(transitions[a, b] for a, b in itertools.pairwise(y))
            or any(tokens[at + t, b] for t, b in enumerate(y))
        )

    def features(y):
        node, pair = np.zeros(nodes.kept.size), np.zeros(K * K)
        start, end = np.zeros(K * options.start), np.zeros(K * options.end)
        edge = np.zeros(edges.kept.size if options.edges else 0)
        for t, b in enumerate(y):
            node += nodes.features(at + t, b)
        for t, (a, b) in enumerate(itertools.pairwise(y), 1):
            pair[a * K + b] += not weightless[a, b]
            if options.edges:
                edge += edges.features(at + t, a * K + b)
        if options.start and y:
            start[y[0]] = 1
        if options.end and y:
            end[y[-1]] = 1
        return np.concatenate([node, pair, start, end, edge])

    return Case(
        s=s,
        i=i,
        outputs=enumerate_outputs(length, K, is_legal),
        theta=draw_scores(random, waist.n_parts(s, i), scale),
        w=random.normal(size=waist.n_weights(s)),
        features=features,
        cost=lambda y: sum(costs[labels[at + t], b] for t, b in enumerate(y)),
        seed=seed,
    )


def cases(scales=SCALES):
    return st.builds(
        make_case,
        options=st.builds(
            Options,
            kind=st.sampled_from(KINDS_IN_STRUCTURES),
            start=st.booleans(),
            end=st.booleans(),
            edges=st.sampled_from(["", "ones", "values"]),
            costs=st.booleans(),
            masked_transitions=st.booleans(),
            masked_ends=st.booleans(),
            masked_labels=st.booleans(),
            weightless_transitions=st.booleans(),
        ),
        lengths=st.lists(st.integers(0, 4), min_size=1, max_size=3),
        n_labels=st.integers(1, 3),
        scale=st.sampled_from(scales),
        seed=st.integers(0, 2**32 - 1),
    )


# --- the laws -----------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS, ids=law_name)
@given(case=cases())
def test_chain_obeys(law, case):
    law(case)


EVERY_FLAG = list(enumerate(itertools.product([False, True], repeat=6)))
EDGES = ["", "ones", "values"]


@pytest.mark.slow
@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("kind", KINDS_IN_STRUCTURES)
def test_chain_obeys_in_every_combination(kind, edges):
    lengths = [0, 1, 3]
    for n, (start, end, *flags) in a_third(EVERY_FLAG, EDGES.index(edges)):
        options = Options(kind, start, end, edges, *flags)
        for i in (2, n.bit_count() % 2):  # a short one too, independent of each flag
            case = make_case(options, lengths, 2, SCALES[n % len(SCALES)], n, i)
            for law in LAWS:
                law(case)


# --- extremes -----------------------------------------------------------------------


def simple_chain(length, n_labels, **options):
    nodes = make_sparse_rows(np.zeros(length + 1, int), [])
    return make_chain(nodes, [0, length], None, n_labels, **options)


def case_of(s, theta):
    """Make a case of inference from scores alone, without features."""
    allowed = s.mask.transitions
    outputs = enumerate_outputs(
        waist.output_size(s, 0),
        s.layout.n_labels,
        lambda y: all(allowed[a, b] for a, b in itertools.pairwise(y)),
    )
    weights = np.zeros(waist.n_weights(s))
    return Case(s, 0, outputs, theta, weights, None, None, 0)


@pytest.mark.parametrize("law", INFERENCE_LAWS, ids=law_name)
@pytest.mark.parametrize("gap", [120.0, 372.0, 500.0, 700.0, 720.0])
def test_chain_survives_directions_that_disagree(law, gap):
    # Forward and backward sums favour different labels, each by nearly all that a
    # float can hold: their products are far smaller than that.
    node = [[0.0, -gap], [0.0, -gap], [0.0, 0.0]]
    transition = [[-gap, -gap], [0.0, 0.0]]
    law(case_of(simple_chain(3, 2), np.ravel(node + transition)))


@pytest.mark.parametrize("law", INFERENCE_LAWS, ids=law_name)
@given(
    gaps=st.lists(
        st.sampled_from([0, -150, -250, -400, -570]), min_size=18, max_size=18
    )
)
def test_chain_survives_scores_at_the_edge_of_floats(law, gaps):
    # Four positions, transitions of their own: 8 node and 12 transition scores.
    edges = make_sparse_rows(np.zeros(5, int), [], None, 1)
    s = simple_chain(4, 2, edges=edges)
    law(case_of(s, np.array([0.0, 0.0, *gaps])))


@pytest.mark.parametrize("law", INFERENCE_LAWS, ids=law_name)
def test_chain_survives_a_forced_path_far_behind(law):
    # The only way to the best ending is one that falls behind at every step.
    s = simple_chain(4, 2, forbidden_transitions=[[False, True], [True, False]])
    node = [[0.0, -9e4], [0.0, -9e4], [0.0, -9e4], [-1e5, 3e5]]
    law(case_of(s, np.concatenate([np.ravel(node), np.zeros(4)])))


@pytest.mark.parametrize(
    "options",
    [
        {"forbidden_start": [True, True]},
        {"forbidden_end": [True, True]},
        {"forbidden_transitions": np.ones((2, 2), bool)},
        {"forbidden_labels": [[False, False], [True, True], [False, False]]},
        {
            "forbidden_start": [True, False],
            "forbidden_end": [False, True],
            "forbidden_transitions": [[False, False], [True, False]],
        },
    ],
    ids=["start", "end", "transitions", "labels", "together"],
)
def test_chain_says_when_nothing_is_legal(options):
    s = simple_chain(3, 2, **options)
    ws, theta = waist.workspace(s, 3), np.ones(10)
    y, mu = np.zeros(3, np.int32), np.full(10, 0.5)
    ys, scores = np.zeros((3, 3), np.int32), np.zeros(3)
    assert drivers.argmax(s, 0, theta, y, ws) == -np.inf
    assert drivers.log_partition(s, 0, theta, ws) == -np.inf
    assert drivers.marginals(s, 0, theta, mu, ws) == -np.inf
    assert mu.tolist() == [0.0] * 10
    assert drivers.kbest(s, 0, theta, 3, ys, scores, ws) == 0
    assert drivers.kbest(s, 0, theta, 1, ys, scores, ws) == 0


def test_chain_lowest_labels_win_a_tie():
    s = simple_chain(4, 3)
    y = np.full(4, -1, np.int32)
    waist.argmax(s, 0, np.zeros(21), y, waist.workspace(s, 1))
    assert y.tolist() == [0, 0, 0, 0]


# --- long chains --------------------------------------------------------------------


def reference_sums(node, transition):
    """Return log Z and all marginals of a chain by textbook log-space recursions.

    Marginals are divided by their sums, which rounding of a large log Z leaves off 1.
    """
    length = node.shape[0]
    forward, backward = np.zeros_like(node), np.zeros_like(node)
    forward[0] = node[0]
    for t in range(1, length):
        steps = forward[t - 1][:, None] + transition
        forward[t] = np.logaddexp.reduce(steps, axis=0) + node[t]
    pairs = np.zeros_like(transition)
    log_z = np.logaddexp.reduce(forward[-1])
    for t in range(length - 2, -1, -1):
        steps = transition + node[t + 1] + backward[t + 1]
        backward[t] = np.logaddexp.reduce(steps, axis=1)
        here = np.exp(forward[t][:, None] + steps - log_z)
        pairs += here / here.sum()
    node_mu = np.exp(forward + backward - log_z)
    return log_z, node_mu / node_mu.sum(axis=1, keepdims=True), pairs


def reference_best(node, transition):
    """Return the score of the best path of a chain."""
    best = node[0]
    for row in node[1:]:
        best = (best[:, None] + transition).max(axis=0) + row
    return best.max()


@pytest.mark.skipif(problems.PLAIN_PYTHON, reason="takes seconds if not compiled")
@pytest.mark.parametrize("scale", [1.0, 20.0, 3000.0, 1e6])
def test_chain_of_ten_thousand_positions_is_exact(scale):
    length, K = 10_000, 4
    random = np.random.default_rng(0)
    node = random.normal(scale=scale, size=(length, K))
    transition = random.normal(scale=scale, size=(K, K))
    s = simple_chain(length, K)
    theta = np.concatenate([node.ravel(), transition.ravel()])
    ws, mu, y = waist.workspace(s, 1), np.zeros(theta.size), np.zeros(length, np.int32)

    log_z, node_mu, pair_mu = reference_sums(node, transition)
    assert_allclose(drivers.marginals(s, 0, theta, mu, ws), log_z, rtol=1e-11)
    assert_allclose(drivers.log_partition(s, 0, theta, ws), log_z, rtol=1e-11)
    # The reference loses digits to the size of its sums; it is close all the same.
    close = 1e-14 * abs(log_z) + 1e-9
    assert_allclose(mu[: length * K].reshape(length, K), node_mu, atol=close)
    assert_allclose(mu[length * K :].reshape(K, K), pair_mu, rtol=close, atol=close)

    # The length costs no digits, however large the scores.
    sums = mu[: length * K].reshape(length, K).sum(axis=1)
    assert_allclose(sums, 1.0, rtol=1e-12)
    assert_allclose(mu[length * K :].sum(), length - 1, rtol=1e-12)

    best = drivers.argmax(s, 0, theta, y, ws)
    assert_allclose(best, reference_best(node, transition), rtol=1e-12)
    path = node[np.arange(length), y].sum() + transition[y[:-1], y[1:]].sum()
    assert_allclose(path, best, rtol=1e-12)


# --- constraints on gold ------------------------------------------------------------


@given(case=cases(scales=(0.0,)))
def test_chain_finds_gold_that_breaks_a_constraint(case):
    s, i = case.s, case.i
    y = np.zeros(waist.output_size(s, i), np.int32)
    waist.gold(s, i, y)
    one = s._replace(
        ptr=np.array([0, y.size]),
        labels=y,
        mask=s.mask._replace(tokens=s.mask.tokens[s.ptr[i] : s.ptr[i + 1]]),
    )
    found = illegal_position(one)
    if tuple(y.tolist()) in case.outputs:
        assert found is None
        check_gold(one)
    else:
        with pytest.raises(DataError, match="sequence 0 break the constraints"):
            check_gold(one)


def test_chain_names_the_place_of_illegal_gold():
    nodes = make_dense_rows(np.zeros((5, 1)))
    # Label 1 may not follow label 0; a new sequence begins afresh, an empty one
    # has no positions to break anything at.
    s = make_chain(
        nodes,
        [0, 2, 2, 5],
        [1, 0, 1, 0, 1],
        2,
        forbidden_transitions=[[False, True], [False, False]],
    )
    assert illegal_position(s) == (2, 2)
    assert illegal_position(s._replace(labels=np.array([1, 0, 1, 1, 0]))) is None


# --- errors -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ptr": [1, 3]}, "start at 0"),
        ({"ptr": [0, 2, 1, 3]}, "never decrease"),
        ({"ptr": []}, "start at 0"),
        ({"labels": [0, 1]}, "2 labels for 3 positions"),
        ({"labels": [0, 1, 2]}, r"labels must lie in 0\.\.1"),
        ({"labels": [0, -1, 0]}, r"labels must lie in 0\.\.1"),
        ({"nodes": make_dense_rows(np.zeros((2, 1)))}, "2 rows of features for 3"),
        ({"edges": make_sparse_rows([0, 1], [0])}, "1 rows of features for 3"),
        ({"costs": np.ones((2, 2))}, "diagonal"),
        ({"forbidden_transitions": [[True]]}, r"shape \(1, 1\) where \(2, 2\)"),
        ({"forbidden_start": [True]}, r"shape \(1,\) where \(2,\)"),
        ({"forbidden_end": [True] * 3}, r"shape \(3,\) where \(2,\)"),
        ({"forbidden_labels": [[True, False]]}, r"shape \(1, 2\) where \(3, 2\)"),
    ],
)
def test_chain_refuses_arrays_that_do_not_fit(changes, message):
    arguments = {
        "nodes": make_dense_rows(np.zeros((3, 1))),
        "ptr": [0, 3],
        "labels": [0, 1, 0],
        "n_labels": 2,
    }
    make_chain(**arguments)
    with pytest.raises(ValueError, match=message):
        make_chain(**(arguments | changes))


def test_chain_refuses_pairs_with_unknown_labels():
    rows = make_sparse_rows([0, 1], [0])
    pairs = make_pair_rows(rows, make_pairs([0, 1], [2], n_labels=3))
    make_chain(pairs, [0, 1], [0], 3)
    with pytest.raises(ValueError, match="pairs of 3 labels for 2 labels"):
        make_chain(pairs, [0, 1], [0], 2)
