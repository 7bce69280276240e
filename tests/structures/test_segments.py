"""Semi-Markov chains: the laws, agreement with chains, errors."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import drivers
from laws import LAWS, Case, draw_scores, enumerate_outputs, law_name
from partwise.structures import (
    interface as waist,
)
from partwise.structures import (
    make_chain,
    make_matches,
    make_segments,
    make_sparse_rows,
)
from partwise.structures.segments import illegal_segment
from row_cases import KINDS_IN_STRUCTURES, make_row_case

SCALES = (0.0, 1.0, 5.0, 300.0, 1e4)


class Options(NamedTuple):
    """What a corpus of segments may have."""

    kind: str = "ones"
    roles: bool = True
    lengths: bool = True
    matches: bool = False
    start: bool = False
    end: bool = False
    costs: bool = False
    masked_transitions: bool = False
    masked_ends: bool = False
    masked_codes: bool = False


def segments_of(y, K):
    """List (start, end, label), or return None where codes spell no segments."""
    found = []
    for t, code in enumerate(y):
        if code < K:
            found.append((t, t + 1, code))
        elif found and found[-1][2] == code - K:
            found[-1] = (found[-1][0], t + 1, code - K)
        else:
            return None
    return found


def codes_of(segments, K):
    return [k + K * (t > a) for a, b, k in segments for t in range(a, b)]


def draw_segments(n, limits, random):
    """Cut a sequence at random."""
    found, at = [], 0
    while at < n:
        k = int(random.integers(len(limits)))
        end = min(n, at + int(random.integers(1, limits[k] + 1)))
        found.append((at, end, k))
        at = end
    return found


def make_case(options, lengths, limits, scale, seed):
    random = np.random.default_rng(seed)
    K, n_tokens, R = len(limits), sum(lengths), 3 if options.roles else 1
    ptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    gold = [draw_segments(n, limits, random) for n in lengths]
    nodes = make_row_case(options.kind, n_tokens, R * K, random)
    stretches = [
        (a, b, c)
        for first, last in itertools.pairwise(ptr.tolist())
        for a in range(first, last)
        for b in range(a + 1, last + 1)
        for c in range(2)
        if random.random() < 0.4 and options.matches
    ]
    begin, end, attribute = np.array(stretches, np.int64).reshape(-1, 3).T
    matches = make_matches(begin, end - begin, attribute, ptr, 2)
    costs = random.random((K, K)) * (1 - np.eye(K))
    of_segments, border = random.random(K), 0.7
    weight = random.random(n_tokens)
    if not options.costs:
        costs, of_segments, border = 1 - np.eye(K), np.zeros(K), 1.0
        weight = np.ones(n_tokens)

    def forbidden(wanted, *shape):
        return (random.random(shape) < 0.3) & wanted

    transitions = forbidden(options.masked_transitions, K, K)
    first = forbidden(options.masked_ends, K)
    last = forbidden(options.masked_ends, K)
    tokens = forbidden(options.masked_codes, n_tokens, 2 * K)
    s = make_segments(
        nodes.rows,
        ptr,
        [code for cut in gold for code in codes_of(cut, K)],
        limits,
        matches=matches if options.matches else None,
        roles=options.roles,
        lengths=options.lengths,
        start=options.start,
        end=options.end,
        costs=costs if options.costs else None,
        border_cost=border,
        segment_costs=of_segments if options.costs else None,
        token_weight=weight if options.costs else None,
        forbidden_transitions=transitions if options.masked_transitions else None,
        forbidden_start=first if options.masked_ends else None,
        forbidden_end=last if options.masked_ends else None,
        forbidden_codes=tokens if options.masked_codes else None,
    )
    i = int(random.integers(len(lengths)))
    length, at, right = lengths[i], int(ptr[i]), gold[i]

    def is_legal(y):
        cut = segments_of(y, K)
        if cut is None or any(b - a > limits[k] for a, b, k in cut):
            return False
        return length == 0 or not (
            first[cut[0][2]]
            or last[cut[-1][2]]
            or any(transitions[one[2], two[2]] for one, two in itertools.pairwise(cut))
            or any(tokens[at + t, code] for t, code in enumerate(y))
        )

    def features(y):
        cut = segments_of(y, K)
        node, pair = np.zeros(nodes.kept.size), np.zeros((K, K))
        whole = np.zeros((2 if options.matches else 0, K))
        shape = [np.zeros(limit) for limit in limits]
        start, end = np.zeros(K * options.start), np.zeros(K * options.end)
        for a, b, k in cut:
            node += sum(nodes.features(at + t, k) for t in range(a, b))
            if options.roles:
                node += nodes.features(at + a, K + k)
                node += nodes.features(at + b - 1, 2 * K + k)
            for p, q, c in stretches:
                if (p, q) == (at + a, at + b):
                    whole[c, k] += 1
            shape[k][b - a - 1] += 1
        for one, two in itertools.pairwise(cut):
            pair[one[2], two[2]] += 1
        if options.start and y:
            start[cut[0][2]] = 1
        if options.end and y:
            end[cut[-1][2]] = 1
        shapes = np.concatenate(shape) if options.lengths else []
        return np.concatenate([node, whole.ravel(), shapes, pair.ravel(), start, end])

    def cost(y):
        total = 0.0
        for t, (wrong, code) in enumerate(zip(y, codes_of(right, K), strict=True)):
            if wrong % K != code % K:
                total += weight[at + t] * costs[code % K, wrong % K]
            elif wrong != code:
                total += weight[at + t] * border
        cut = segments_of(y, K)
        return total + sum(of_segments[k] for _, _, k in set(cut) ^ set(right))

    return Case(
        s=s,
        i=i,
        outputs=enumerate_outputs(length, 2 * K, is_legal),
        theta=draw_scores(random, waist.n_parts(s, i), scale),
        w=random.normal(size=waist.n_weights(s)),
        features=features,
        cost=cost,
        seed=seed,
    )


def cases():
    flag = st.booleans()
    return st.builds(
        make_case,
        options=st.builds(
            Options,
            kind=st.sampled_from(KINDS_IN_STRUCTURES),
            **dict.fromkeys(Options._fields[1:], flag),
        ),
        lengths=st.lists(st.integers(0, 4), min_size=1, max_size=3),
        limits=st.lists(st.integers(1, 5), min_size=1, max_size=2),
        scale=st.sampled_from(SCALES),
        seed=st.integers(0, 2**32 - 1),
    )


@pytest.mark.parametrize("law", LAWS, ids=law_name)
@given(case=cases())
def test_segments_obey(law, case):
    law(case)


# --- where they are chains ------------------------------------------------------------


def answers(s, theta, k=4):
    """Return all that inference says about the only example."""
    y, mu = np.zeros(waist.output_size(s, 0), np.int32), np.zeros(theta.size)
    ys, scores = np.zeros((k, y.size), np.int32), np.zeros(k)
    ws = waist.workspace(s, k)
    best = drivers.argmax(s, 0, theta, y, ws)
    log_z = drivers.marginals(s, 0, theta, mu, ws)
    found = drivers.kbest(s, 0, theta, k, ys, scores, ws)
    return best, y.tolist(), log_z, mu, ys[:found].tolist(), scores[:found]


def assert_same(one, two):
    for a, b in zip(one, two, strict=True):
        assert_allclose(a, b, rtol=0, atol=1e-11)


def test_segments_of_one_token_are_a_chain():
    random = np.random.default_rng(0)
    rows = make_sparse_rows([0, 2, 3, 5, 6], [0, 1, 1, 0, 2, 2])
    y = [0, 2, 1, 1]
    chain = make_chain(rows, [0, 4], y, 3, start=True, end=True)
    cut = make_segments(
        rows, [0, 4], y, [1, 1, 1], roles=False, lengths=False, start=True, end=True
    )
    w = random.normal(size=waist.n_weights(chain))
    assert waist.n_weights(cut) == w.size
    thetas = []
    for s in (chain, cut):
        theta = np.zeros(waist.n_parts(s, 0))
        drivers.part_scores(s, 0, w, theta, waist.workspace(s, 1))
        drivers.add_costs(s, 0, theta)
        thetas.append(theta)
    assert_allclose(thetas[0], thetas[1], atol=1e-12)
    assert_same(answers(chain, thetas[0]), answers(cut, thetas[1]))


def test_segments_without_a_limit_are_a_chain_of_beginnings_and_insides():
    """A score of tokens and transitions alone sees no more than two neighbours."""
    random, n, K = np.random.default_rng(1), 5, 2
    begin, inside = random.normal(size=(2, n, K))
    pair = random.normal(size=(K, K))
    empty = make_sparse_rows(np.zeros(n + 1, int), [])
    cut = make_segments(empty, [0, n], None, [n] * K)
    theta = np.zeros(waist.n_parts(cut, 0))
    for t, k, d in itertools.product(range(n), range(K), range(1, n + 1)):
        if t + d <= n:
            score = begin[t, k] + inside[t + 1 : t + d, k].sum()
            theta[(t * K + k) * n + d - 1] = score
    theta[n * K * n :] = pair.ravel()
    before, after = np.divmod(np.arange(2 * K), K)  # of codes: inside or not, label
    broken = np.zeros((2 * K, 2 * K), bool)
    broken[:, K:] = after[:, None] != after[None, K:]
    chain = make_chain(
        *(empty, [0, n], None, 2 * K),
        forbidden_transitions=broken,
        forbidden_start=before == 1,
    )
    whole = np.zeros((2 * K, 2 * K))
    whole[:, :K] = np.tile(pair, (2, 1))
    of_chain = np.concatenate([np.hstack([begin, inside]).ravel(), whole.ravel()])
    mine, other = answers(cut, theta), answers(chain, of_chain)
    assert_same(mine[:3], other[:3])
    assert_same(mine[4:], other[4:])


# --- bad corpora ----------------------------------------------------------------------


def two_tokens(codes=(0, 1), limits=(1, 2), **options):
    rows = make_sparse_rows([0, 0, 0], [])
    return make_segments(rows, [0, 2], codes, limits, **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"codes": [0]}, "1 codes for 2 tokens"),
        ({"codes": [0, 4]}, "codes must lie in 0..3"),
        ({"codes": [2, 0]}, "only go on after"),
        ({"codes": [0, 3]}, "only go on after"),
        ({"limits": [1, 0]}, "a limit of at least 1"),
        ({"limits": []}, "a limit of at least 1"),
        ({"border_cost": -1.0}, "finite and not negative"),
        ({"segment_costs": [1.0]}, "1 costs of segments for 2 labels"),
        ({"segment_costs": [1.0, np.inf]}, "finite and not negative"),
        ({"forbidden_start": [True]}, "a mask of shape"),
    ],
)
def test_segments_refuse_bad_corpora(options, words):
    with pytest.raises(ValueError, match=words):
        two_tokens(**options)


@pytest.mark.parametrize(
    ("match", "words"),
    [
        (([0], [1], [0, 1]), "a start, a length and an attribute"),
        (([2], [1], [0]), "outside of the corpus"),
        (([0], [0], [0]), "outside of the corpus"),
        (([1], [2], [0]), "beyond the end"),
        (([1], [1], [3]), "attributes of matches must lie in"),
    ],
)
def test_segments_refuse_bad_matches(match, words):
    with pytest.raises(ValueError, match=words):
        make_matches(*match, np.array([0, 2]), 3)


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({}, None),
        ({"codes": [0, 2]}, (0, 0)),  # two tokens of a label whose limit is one
        ({"forbidden_transitions": [[0, 1], [0, 0]]}, (0, 1)),
        ({"forbidden_start": [1, 0]}, (0, 0)),
        ({"forbidden_end": [0, 1]}, (0, 1)),
        ({"forbidden_codes": [[0, 0, 0, 0], [0, 1, 0, 0]]}, (0, 1)),
    ],
)
def test_segments_know_where_gold_is_illegal(options, place):
    assert illegal_segment(two_tokens(**options)) == place


@pytest.mark.parametrize("codes", [[0, 2], [2, 1], [1, 4], [0, -1], [1, 2]])
def test_segments_recognise_codes_that_are_no_output(codes):
    assert not waist.is_output(two_tokens(), 0, np.array(codes, np.int32))
    assert waist.is_output(two_tokens(), 0, np.array([1, 3], np.int32))
