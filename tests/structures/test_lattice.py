"""Lattices: the laws, by listing all paths, and what is refused."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import problems
from lattice_cases import CHOICES, Drawn, make_case, words_of
from laws import LAWS, law_name
from partwise._jit import kernel
from partwise.errors import DataError
from partwise.losses import SetHinge
from partwise.structures import (
    decode,
    decode_kbest,
    make_chain,
    make_sparse_rows,
)
from partwise.structures import interface as waist
from partwise.structures.interface import Structure
from partwise.structures.lattice import LatticeLayout, Words, make_lattice

# The laws run in plain Python; compiled, one test below asks all there is.
plain_only = pytest.mark.skipif(
    not problems.PLAIN_PYTHON, reason="run by test_plain_python"
)


@plain_only
@pytest.mark.parametrize("law", LAWS, ids=law_name)
@settings(max_examples=40)
@given(case=st.builds(make_case, **CHOICES))
def test_lattices_obey(law, case):
    law(case)


def best_of_words(drawn, i, theta):
    """Return the best score of every word sequence."""
    best = {}
    for path in drawn.paths[i]:
        words = words_of(path, drawn.words[i])
        score = sum(theta[c] for c in drawn.code(i, path) if c >= 0)
        best[words] = max(best.get(words, -np.inf), score)
    return best


@plain_only
@settings(max_examples=150)
@given(
    n_nodes=st.integers(2, 7),
    n_edges=st.integers(3, 12),
    scale=st.sampled_from((0.0, 1.0, 30.0, 1e5)),
    seed=st.integers(0, 2**32 - 1),
)
def test_lattice_kbest_by_words_are_the_best_sequences(n_nodes, n_edges, scale, seed):
    drawn = Drawn(2, n_nodes, n_edges, False, 1, seed, by_words=True)
    s, random = drawn.s, np.random.default_rng(seed)
    for i in range(2):
        theta = random.normal(0.0, scale, waist.n_parts(s, i))
        best = best_of_words(drawn, i, theta)
        for k in (2, len(best) + 1):
            ys = np.full((k, waist.output_size(s, i)), -7, np.int32)
            scores, ws = np.zeros(k), waist.workspace(s, k)
            found = waist.kbest(s, i, theta, k, ys, scores, ws)
            assert found == min(k, len(best))
            paths = [drawn.path(i, y) for y in ys[:found]]
            assert set(paths) <= set(drawn.paths[i])
            sequences = [words_of(path, drawn.words[i]) for path in paths]
            assert len(set(sequences)) == found
            atol = 1e-11 * max(scale, 1.0)
            np.testing.assert_allclose(
                scores[:found], [best[words] for words in sequences], atol=atol
            )
            expected = sorted(best.values(), reverse=True)[:found]
            np.testing.assert_allclose(scores[:found], expected, atol=atol)
            assert (np.diff(scores[:found]) <= 0).all()


@plain_only
@settings(max_examples=60)
@given(by_words=st.booleans(), n_good=st.integers(1, 4), seed=st.integers(0, 2**32 - 1))
def test_lattice_knows_its_good_paths(by_words, n_good, seed):
    drawn = Drawn(2, 5, 8, False, n_good, seed, by_words=by_words)
    s = drawn.s
    for i in range(2):
        size = waist.output_size(s, i)
        scratch, y = np.zeros((2, size), np.int32)
        listed = []
        for j in range(waist.n_good(s, i)):
            waist.good_at(s, i, j, y)
            listed.append(drawn.path(i, y))
        assert listed == drawn.good[i]
        waist.gold(s, i, y)
        assert drawn.path(i, y) == listed[0]
        yielded = {words_of(path, drawn.words[i]) for path in listed}
        for path in drawn.paths[i]:
            expected = path in listed or (
                by_words and words_of(path, drawn.words[i]) in yielded
            )
            y[:] = drawn.code(i, path)
            assert waist.is_good(s, i, y, scratch) == expected


@kernel
def ask_at_once(s: Structure, i, w, theta, mu, y, ys, scores, ws):
    """Ask everything in one kernel: to compile it is most of the time of a test."""
    waist.part_scores(s, i, w, theta, ws)
    waist.add_costs(s, i, theta)
    best = waist.argmax(s, i, theta, y, ws)
    log_z = waist.marginals(s, i, theta, mu, ws)
    found = waist.kbest(s, i, theta, ys.shape[0], ys, scores, ws)
    return best, log_z, found, waist.is_good(s, i, y, ys[0])


@pytest.mark.skipif(problems.PLAIN_PYTHON, reason="of compiled code")
def test_lattice_compiled_says_what_is_true():
    for seed, by_words in itertools.product(range(4), (False, True)):
        drawn = Drawn(2, 6, 10, True, 2, seed, by_words=by_words)
        s, w = drawn.s, np.random.default_rng(seed).normal(size=3)
        for i in range(2):
            theta, mu = np.zeros((2, waist.n_parts(s, i)))
            all_scores = {}
            for path in drawn.paths[i]:
                own = drawn.ptr[i] + np.array(path)
                total = drawn.matrix[own].sum(axis=0) @ w + drawn.costs[own].sum()
                key = words_of(path, drawn.words[i]) if by_words else path
                all_scores.setdefault(key, []).append(total)
            best = sorted((max(x) for x in all_scores.values()), reverse=True)
            flat = np.concatenate(list(all_scores.values()))
            ys = np.zeros((len(best) + 1, waist.output_size(s, i)), np.int32)
            y, scores, ws = ys[0].copy(), np.zeros(len(ys)), waist.workspace(s, len(ys))
            top, log_z, found, good = ask_at_once(s, i, w, theta, mu, y, ys, scores, ws)
            assert found == len(best)
            np.testing.assert_allclose(scores[:found], best)
            assert top == pytest.approx(best[0])
            assert log_z == pytest.approx(np.logaddexp.reduce(flat))
            path = drawn.path(i, y)
            yielded = [words_of(one, drawn.words[i]) for one in drawn.good[i]]
            same = by_words and words_of(path, drawn.words[i]) in yielded
            assert good == (path in drawn.good[i] or same)
            expected = np.zeros(mu.size)
            for path in drawn.paths[i]:
                own = drawn.ptr[i] + np.array(path)
                total = drawn.matrix[own].sum(axis=0) @ w + drawn.costs[own].sum()
                code = [c for c in drawn.code(i, path) if c >= 0]
                expected[code] += np.exp(total - log_z)
            np.testing.assert_allclose(mu, expected, atol=1e-12)


@pytest.mark.skipif(problems.PLAIN_PYTHON, reason="of compiled code")
def test_lattice_of_a_million_edges_works_in_memory_as_documented():
    n, random = 10**6, np.random.default_rng(0)
    n_steps = n // 10
    source = np.repeat(np.arange(n_steps), 10)
    target = np.minimum(source + random.integers(1, 4, n), n_steps)
    target[::10] = source[::10] + 1
    order = random.permutation(n)
    chain = np.argsort(order)[::10]
    layout = LatticeLayout(
        [n_steps + 1], [0, n], source[order], target[order], [0], [n_steps]
    )
    rows = make_sparse_rows(np.arange(n + 1), np.arange(n) % 1000)
    tracemalloc.start()
    s = make_lattice(layout, rows, [[chain.tolist()]])
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < (28 + 4 + 8) * n  # and 4 a feature, and the right path
    assert peak < 120 * n
    w, k = random.normal(size=1000), 3
    theta, mu = np.zeros((2, waist.n_parts(s, 0)))
    ys, scores = np.zeros((k, waist.output_size(s, 0)), np.int32), np.zeros(k)
    y, ws = ys[0].copy(), waist.workspace(s, k)
    best, log_z, found, _ = ask_at_once(s, 0, w, theta, mu, y, ys, scores, ws)
    assert found == k
    assert best == pytest.approx(scores[0])
    assert theta[y[y >= 0]].sum() == pytest.approx(best)
    assert log_z > best
    assert mu[s.source == 0].sum() == pytest.approx(1.0)


def set_hinge(drawn, i, w, margin, compare):
    """Return the hinge over bad paths, by listing all of them."""

    def features(path):
        return drawn.matrix[drawn.ptr[i] + np.array(path, int)].sum(axis=0)

    good, worst = drawn.good[i], 0.0
    for path in drawn.paths[i]:
        if path in good:
            continue
        asked = 1.0
        if margin == "cost":
            asked = drawn.costs[drawn.ptr[i] + np.array(path, int)].sum()
        score = min(features(right) @ w for right in good)
        if compare == "closest":
            apart = [len(set(right) ^ set(path)) for right in good]
            score = features(good[int(np.argmin(apart))]) @ w
        worst = max(worst, asked - score + features(path) @ w)
    return worst


@plain_only
@pytest.mark.parametrize("margin", ["unit", "cost"])
@pytest.mark.parametrize("compare", ["worst", "closest"])
def test_lattice_has_the_hinge_of_its_good_paths(margin, compare):
    loss = SetHinge(margin, compare, "parts")
    for seed in range(8):
        drawn = Drawn(2, 6, 9, False, 3, seed)
        w = np.random.default_rng(seed).normal(size=drawn.n_columns)
        expected = [set_hinge(drawn, i, w, margin, compare) for i in range(2)]
        np.testing.assert_allclose(loss.values(drawn.s, w), expected, atol=1e-10)


@plain_only
@pytest.mark.parametrize("margin", ["unit", "cost"])
def test_lattice_by_words_has_the_hinge_over_all_paths_with_other_words(margin):
    """Only the best path of wrong words is looked at; it is violated most."""
    for seed in range(20):
        drawn = Drawn(1, 5, 8, seed % 2 == 0, 3, seed, by_words=True)
        words, good = drawn.words[0], drawn.good[0]
        w = np.random.default_rng(seed).normal(size=drawn.n_columns)
        scores = {path: (drawn.matrix @ w)[list(path)].sum() for path in drawn.paths[0]}
        right = {words_of(path, words) for path in good}
        expected = 0.0
        for path, score in scores.items():
            if words_of(path, words) not in right:
                asked = 1.0 if margin == "unit" else drawn.costs[list(path)].sum()
                missing = asked + score - min(scores[one] for one in good)
                expected = max(expected, missing)
        [found] = SetHinge(margin, "worst").values(drawn.s, w)
        assert found == pytest.approx(expected, abs=1e-10)


# --- agreement with chains -----------------------------------------------------------


def trellis(lengths, n_labels, x, labels):
    """Lay out chains as lattices: a node for every label, an edge into each.

    The features of an edge are those of the position, conjoined with the label, and
    the pair of labels.
    """
    columns, K = x.shape[1], n_labels
    source, target, n_nodes, ends, good, edge_ptr = [], [], [], [], [], [0]
    ptr, idx, val, costs = [0], [], [], []
    first = 0
    for n in lengths:
        nodes = {-1: [0]} | {t: [1 + t * K + k for k in range(K)] for t in range(n)}
        end, numbers = 1 + n * K, {}
        n_nodes.append(end + 1)
        ends.append(end)
        for t in range(n):
            for a, b in itertools.product(range(K if t else 1), range(K)):
                numbers[t, a, b] = len(source) - edge_ptr[-1]
                source.append(nodes[t - 1][a])
                target.append(nodes[t][b])
                idx += [column * K + b for column in range(columns)]
                val += x[first + t].tolist()
                if t:
                    idx.append(columns * K + a * K + b)
                    val.append(1.0)
                ptr.append(len(idx))
                costs.append(float(b != labels[first + t]))
        for k in range(K):
            numbers[n, k, 0] = len(source) - edge_ptr[-1]
            source.append(nodes[n - 1][k])
            target.append(end)
            ptr.append(len(idx))
            costs.append(0.0)
        own = [*labels[first : first + n].tolist(), 0]
        good.append(
            [[numbers[t, own[t - 1] if t else 0, own[t]] for t in range(n + 1)]]
        )
        edge_ptr.append(len(source))
        first += n
    rows = make_sparse_rows(ptr, idx, val, columns * K + K * K)
    layout = LatticeLayout(n_nodes, edge_ptr, source, target, [0] * len(lengths), ends)
    return make_lattice(layout, rows, good, costs=costs)


@plain_only
def test_lattice_of_a_chain_agrees_with_the_chain():
    random, lengths, K, columns = np.random.default_rng(0), (5, 1, 3), 3, 4
    x = random.normal(size=(sum(lengths), columns))
    labels = random.integers(0, K, len(x))
    nodes = make_sparse_rows(
        np.arange(0, x.size + 1, columns), np.tile(np.arange(columns), len(x)),
        x.ravel(),
    )  # fmt: skip
    chain = make_chain(nodes, np.cumsum([0, *lengths]), labels, K)
    lattice = trellis(lengths, K, x, labels)
    assert waist.n_weights(lattice) == waist.n_weights(chain)
    w = random.normal(size=waist.n_weights(chain))
    for i, n in enumerate(lengths):
        found = []
        for s in (chain, lattice):
            theta, mu = np.zeros((2, waist.n_parts(s, i)))
            ws, size, k = waist.workspace(s, 4), waist.output_size(s, i), 4
            waist.part_scores(s, i, w, theta, ws)
            waist.add_costs(s, i, theta)
            y, ys = np.zeros(size, np.int32), np.zeros((k, size), np.int32)
            scores, change = np.zeros(k), np.zeros(w.size)
            best = waist.argmax(s, i, theta, y, ws)
            log_z = waist.marginals(s, i, theta, mu, ws)
            n_found = waist.kbest(s, i, theta, k, ys, scores, ws)
            waist.add_parts(s, i, mu, 1.0, change, ws)
            diff = waist.make_diff(s)
            gold = np.zeros(size, np.int32)
            waist.gold(s, i, gold)
            sqnorm = waist.diff_sqnorm(s, i, ys[n_found - 1], gold, diff, ws)
            cost = waist.cost(s, i, y)
            if s is lattice:
                # Edges are numbered position by position, K of every label before.
                y = y[:-1] - [max(0, t - 1) * K * K + K * (t > 0) for t in range(n)]
                y = y % K
            found.append([best, y, log_z, scores[:n_found], change, sqnorm, cost])
        for ours, theirs in zip(*found, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10)


# --- what is refused -----------------------------------------------------------------

DIAMOND = LatticeLayout([4], [0, 4], [0, 0, 1, 2], [1, 2, 3, 3], [0], [3])


def rows_of(n):
    return make_sparse_rows(range(n + 1), range(n))


@pytest.mark.parametrize(
    ("change", "good", "message"),
    [
        (
            {"source": [0, 0, 1, 2], "target": [1, 2, 2, 1]},
            None,
            "lattice 0: its edges form a cycle: 1 -> 2 -> 1",
        ),
        ({"source": [0, 1, 1, 2]}, [[[0, 2]]], "no path"),
        ({"end": [0], "start": [3]}, None, "no path leads to its end: 3 -> 0"),
        ({"target": [1, 2, 3, 7]}, None, "lattice 0: an edge names node 7.* 4 nodes"),
        ({"end": [4]}, None, "lattice 0: the end names node 4"),
        ({"edge_ptr": [0, 3]}, None, "the last edge pointer is 3"),
        ({}, [[]], "lattice 0: it has no good path"),
        ({}, [], "1 lattices, but good paths of 0"),
        ({}, [[[0, 3]]], r"lattice 0: \[0, 3\] is not a path"),
        ({}, [[[0]]], r"lattice 0: \[0\] is not a path"),
        ({}, [[[2]]], r"lattice 0: \[2\] is not a path"),
        ({}, [[[0, 9]]], r"has no edge 9 to take \(there are 4"),
        ({}, [[[0, -1]]], "has no edge -1 to take"),
        ({}, [[[0, 2], [1, 3]]], "lattice 0: all its paths are good"),
    ],
)
def test_lattice_refuses(change, good, message):
    if message == "no path":  # an edge too much leads nowhere: that is fine
        make_lattice(DIAMOND._replace(**change), rows_of(4), None)
        return
    with pytest.raises(ValueError, match=message):
        make_lattice(DIAMOND._replace(**change), rows_of(4), good)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([1.0, 0.0, 0.0, 0.0], "edge 0 lies on the right path.* not 1"),
        ([0.0, -1.0, 0.0, 0.0], "finite and not negative"),
        ([0.0, np.nan, 0.0, 0.0], "finite and not negative"),
        ([0.0], "do not give one for every edge"),
    ],
)
def test_lattice_refuses_costs(costs, message):
    with pytest.raises(ValueError, match=message):
        make_lattice(DIAMOND, rows_of(4), [[[0, 2]]], costs=costs)


def test_lattice_refuses_good_words_that_are_all_there_is():
    words = Words(np.array([0, 1, 1, 1, 2]), np.array([5, 5], np.int32))
    make_lattice(DIAMOND, rows_of(4), [[[0, 2]]], words=words)
    with pytest.raises(DataError, match="lattice 0: all its words are good"):
        make_lattice(DIAMOND, rows_of(4), [[[0, 2]]], words=words, by_words=True)
    with pytest.raises(ValueError, match="by_words needs the words"):
        make_lattice(DIAMOND, rows_of(4), [[[0, 2]]], by_words=True)


def test_lattice_names_all_that_have_only_good_paths():
    n = 14
    layout = LatticeLayout(
        [2] * n, np.arange(n + 1) * 2, [0] * 2 * n, [1] * 2 * n, [0] * n, [1] * n
    )
    good = [[[0], [1]]] * n
    good[3] = [[1]]
    others = "0: all its paths are good.*lattices 1, 2, 4, .*10 and 3 more"
    with pytest.raises(DataError, match=others):
        make_lattice(layout, rows_of(2 * n), good)


def test_lattice_paths_have_the_numbers_of_given_edges():
    # The edges are given from the end to the start; one of them leads nowhere.
    layout = LatticeLayout([4], [0, 4], [1, 0, 0, 0], [2, 3, 1, 1], [0], [2])
    s = make_lattice(layout, rows_of(4), None, words=Words([0, 1, 1, 1, 2], [7, 8]))
    found = decode_kbest(s, np.array([0.0, 9.0, 1.0, 2.0]), 3)
    assert found.found.tolist() == [2]
    assert [s.path(0, y) for y in found.codes[:2]] == [[3, 0], [2, 0]]
    best = decode(s, np.array([0.0, 9.0, 1.0, 2.0]))
    assert s.path(0, best.codes) == [3, 0]


def test_lattice_counts_a_good_path_once():
    s = make_lattice(DIAMOND, rows_of(4), [[[0, 2], [0, 2]]])
    assert waist.n_good(s, 0) == 1


def test_lattice_of_one_node_has_an_empty_path():
    s = make_lattice(LatticeLayout([1], [0, 0], [], [], [0], [0]), rows_of(0), None)
    y, ws = np.zeros((2, 0), np.int32), waist.workspace(s, 2)
    assert waist.argmax(s, 0, np.zeros(0), y[0], ws) == 0.0
    assert waist.log_partition(s, 0, np.zeros(0), ws) == 0.0
    assert waist.kbest(s, 0, np.zeros(0), 2, y, np.zeros(2), ws) == 1
