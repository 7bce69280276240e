"""Trees of second order: the laws, and what first order has to do with them."""

import numpy as np
import pytest

import problems
from dependency_cases import all_trees, make_case
from partwise.losses import get_loss
from partwise.solvers import make_problem, solve
from partwise.solvers.registry import make_solver
from partwise.structures import interface as waist
from partwise.structures.decoding import decode
from partwise.structures.dependency.arc_parts import arc_shares
from partwise.structures.dependency.hashed_arcs import DIRECTION, LENGTHS, LOW_BITS
from partwise.structures.dependency.known import know_heads
from partwise.structures.dependency.minimum_risk import decode_minimum_risk
from partwise.structures.dependency.second_order import (
    lost_heads,
    make_hashed_triples,
    make_second_order_trees,
    make_triple_templates,
    prune_arcs,
    without_labels,
)
from partwise.structures.dependency.second_order.triples import BEYOND, NOBODY
from partwise.structures.partial import best_completions, expected_completions
from partwise.testing import LAWS, Case, draw_scores, law_name

pytestmark = problems.plain_only

BITS = 7
SIBLINGS, GRAND = [(0, 1, 2), (1, 1, 0)], [(2, 0, 1)]


def triple_features(random, lengths):
    """Make features of three words, and count them in the plainest way."""
    n = sum(lengths) + len(lengths)
    codes = random.integers(0, 2**31, (n, 3)).astype(np.int32)
    templates = make_triple_templates(SIBLINGS, GRAND)
    triples = make_hashed_triples(codes, lengths, templates, BITS)
    first = np.cumsum([0] + [n + 1 for n in lengths])

    def count(result, t, words, more, length):
        key = 0
        for place, word in enumerate(words):
            column = (SIBLINGS + GRAND)[t][place]
            code = NOBODY if word is None else int(codes[word, column])
            term = int(templates.factor[t, place]) * code
            key += (int(templates.seed[t]) ^ term) if place == 0 else term
        bucket = ((key + more) >> LOW_BITS) * 8 % 2**BITS
        result[bucket] += 1.0
        result[bucket + sum(length >= start for start in LENGTHS)] += 1.0

    def features(i, heads):
        result, base = np.zeros(2**BITS), first[i]
        for m, h in enumerate(heads, 1):
            more = DIRECTION if m < h else 0
            low, high = min(h, m), max(h, m)
            inner = [s for s in range(low + 1, high) if heads[s - 1] == h]
            s = min(inner, key=lambda s: abs(s - m), default=None)
            words = [base + h, None if s is None else base + s, base + m]
            length = abs(m - (h if s is None else s))
            outer = range(m + 1, len(heads) + 1) if h < m else range(1, m)
            is_last = all(heads[s - 1] != h for s in outer)
            for t in range(len(SIBLINGS)):
                count(result, t, words, more, length)
                if is_last:
                    count(result, t, [base + h, base + m, None], more, abs(m - h))
            if h > 0:
                g = heads[h - 1]
                added = more + (BEYOND if (g < h) == (m < h) else 0)
                words = [base + g, base + h, base + m]
                for t in range(len(GRAND)):
                    count(result, len(SIBLINGS) + t, words, added, abs(g - h))
        return result

    return triples, features


def second_order_case(lengths, n_labels, single_root, share, scale, seed):
    """Allow a share of the arcs, and always those of the right trees."""
    case = make_case("hashed", lengths, n_labels, True, single_root, True, scale, seed)
    random = np.random.default_rng(seed)
    triples, of_triples = triple_features(random, lengths)
    first, masks = case.s, []
    for i, n in enumerate(lengths):
        mask = random.random((n + 1, n + 1)) < share
        mask[first.heads[first.ptr[i] : first.ptr[i + 1]], np.arange(1, n + 1)] = True
        masks.append(mask)
    allowed = np.concatenate([mask.ravel() for mask in masks]).astype(np.uint8)
    s = make_second_order_trees(first, allowed, triples)
    i, n = case.i, lengths[case.i]
    outputs = [
        y for y in case.outputs if all(masks[i][h, m] for m, h in enumerate(y[:n], 1))
    ]

    def features(y):
        return np.concatenate([case.features(y), of_triples(i, y[:n])])

    theta = draw_scores(random, waist.n_parts(s, i), scale)
    w = random.normal(size=waist.n_weights(s))
    return Case(s, i, outputs, theta, w, features, case.cost, seed)


CASES = [
    # lengths, labels, a single root, share of the arcs, spread of the scores
    ([4], 0, True, 1.0, 1.0),
    ([4, 2], 0, False, 0.6, 800.0),
    ([0, 4], 0, True, 0.5, 1e5),
    ([1, 2, 0], 2, False, 1.0, 1.0),
    ([2, 3], 2, True, 0.4, 0.0),
]


@pytest.mark.parametrize("law", LAWS, ids=law_name)
def test_second_order_trees_obey(law):
    for seed, case in enumerate(CASES):
        law(second_order_case(*case, seed))


def first_and_second(n_labels, seed=0):
    """Return trees of first and of second order, all of whose arcs are allowed."""
    case = second_order_case([4, 3, 5 - n_labels], n_labels, True, 1.0, 1.0, seed)
    w = case.w.copy()
    w[case.s.first.layout.n_weights :] = 0.0
    return case.s.first, case.s, w


@pytest.mark.parametrize("n_labels", [0, 2])
def test_second_order_without_its_weights_is_first_order(n_labels):
    first, second, w = first_and_second(n_labels)
    of_arcs = w[: first.layout.n_weights]
    assert decode(first, of_arcs).codes.tolist() == decode(second, w).codes.tolist()
    np.testing.assert_allclose(
        decode(first, of_arcs).scores, decode(second, w).scores, rtol=1e-12
    )
    lengths = np.diff(first.ptr)
    pairs = zip(
        arc_shares(first, of_arcs, lengths, 1),
        arc_shares(second, w, lengths, 1),
        strict=True,
    )
    for one, other in pairs:
        np.testing.assert_allclose(one, other, atol=1e-12)
    one, other = decode_minimum_risk(first, of_arcs), decode_minimum_risk(second, w)
    assert one.codes.tolist() == other.codes.tolist()


@pytest.mark.parametrize("n_labels", [0, 2])
def test_second_order_trees_known_in_part_have_the_completions_that_agree(n_labels):
    for seed in range(3):
        case = second_order_case([3], n_labels, True, 0.9, 1.0, seed)
        s, random = case.s, np.random.default_rng(seed)
        head, label = random.random((2, 3)) < 0.5
        partial = know_heads(s, head, label)
        right = np.append(s.first.heads, s.first.word_labels)
        known = np.append(head, label)
        agree = [
            bool((np.array(y) == right[: len(y)])[known[: len(y)]].all())
            for y in case.outputs
        ]
        scores = np.array([case.w @ case.features(y) for y in case.outputs])
        found = best_completions(partial, case.w)
        best = case.outputs[int(np.where(agree, scores, -np.inf).argmax())]
        assert found.codes.tolist() == list(best)
        _, [entropy] = expected_completions(partial, case.w)
        share = np.exp(scores[agree] - np.logaddexp.reduce(scores[agree]))
        assert entropy == pytest.approx(-share @ np.log(share), abs=1e-9)


def test_second_order_solvers_reach_the_same_optimum():
    s = second_order_case([3, 2], 0, True, 0.7, 1.0, 3).s
    for loss, solvers in {
        "squared_hinge": ("dcd", "simplicial"),
        "hinge": ("simplicial", "cutting-plane"),
        "log_loss": ("eg", "lbfgs"),
    }.items():
        found = []
        for name in solvers:
            problem = make_problem(s, get_loss(loss), 0.5)
            solution = solve(problem, make_solver(name), tol=1e-3, max_iter=3000)
            found.append(solution.certificate.primal)
        assert found[0] == pytest.approx(found[1], rel=2e-3), loss


def test_pruning_keeps_a_tree_and_what_is_probable():
    first, _, w = first_and_second(0)
    first = without_labels(first)
    w, sizes = 3.0 * w[: first.layout.n_weights], (np.diff(first.ptr) + 1) ** 2
    shares = arc_shares(first, w, np.diff(first.ptr), 1)
    n_before = sizes.sum()
    for least in (0.0, 0.05, 1.0):
        kept = prune_arcs(first, w, least)
        best, at, n_kept = decode(first, w), 0, int(kept.sum())
        assert n_kept <= n_before
        n_before = n_kept
        for i, size in enumerate(sizes.tolist()):
            side = len(shares[i])
            cells = kept[at : at + size].reshape(side, side)
            at += size
            tree = best.codes[best.ptr[i] : best.ptr[i + 1]]
            for m in range(1, side):
                probable = shares[i][:, m] >= least * shares[i][:, m].max()
                probable[m] = False
                expected = set(np.flatnonzero(probable)) | {tree[m - 1]}
                assert set(np.flatnonzero(cells[:, m])) == expected


def test_lost_heads_are_counted():
    first, second, _ = first_and_second(0)
    assert lost_heads(second, first.heads) == 0
    trees = [
        next(t for t in all_trees(n, True, True) if t != tuple(heads))
        for n, heads in zip(
            np.diff(first.ptr).tolist(),
            np.split(first.heads, first.ptr[1:-1]),
            strict=True,
        )
    ]
    others = np.concatenate(trees).astype(np.int32)
    kept = np.zeros(((np.diff(first.ptr) + 1) ** 2).sum(), np.uint8)
    at = np.concatenate([[0], np.cumsum((np.diff(first.ptr) + 1) ** 2)])
    for i, tree in enumerate(trees):
        for m, h in enumerate(tree, 1):
            kept[at[i] + h * (len(tree) + 1) + m] = 1
    pruned = make_second_order_trees(first, kept, second.triples)
    assert lost_heads(pruned, others) == 0
    assert lost_heads(pruned, first.heads) == int((others != first.heads).sum())


def test_second_order_is_for_projective_trees():
    first, second, _ = first_and_second(0)
    case = make_case("hashed", [2], 0, False, True, False, 1.0, 0)
    with pytest.raises(ValueError, match="projective"):
        make_second_order_trees(case.s, np.ones(9, np.uint8), second.triples)
    with pytest.raises(ValueError, match="3 arcs, but sentences have"):
        make_second_order_trees(first, np.ones(3, np.uint8), second.triples)


@pytest.mark.parametrize("n_labels", [0, 2])
def test_second_order_scores_that_overflow_are_no_tree(n_labels):
    """What is best cannot be told then, and nothing is looked for outside of arrays."""
    s = first_and_second(n_labels)[1]
    w = np.full(waist.n_weights(s), 1e307)
    assert (decode(s, w).scores == -np.inf).all()
    assert np.isfinite(decode(s, 1e-3 * w).scores).all()
