"""Trees of second order: the laws by listing all trees, first order as a special case."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import problems
from dependency_cases import make_case
from partwise.structures import interface as waist
from partwise.structures.dependency.hashed_arcs import DIRECTION, LENGTHS, LOW_BITS
from partwise.structures.dependency.second_order import (
    make_hashed_triples,
    make_second_order_trees,
    make_triple_templates,
)
from partwise.structures.dependency.second_order.triples import BEYOND, NOBODY
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
            inner = [
                s
                for s, g in enumerate(heads, 1)
                if g == h and min(h, m) < s < max(h, m)
            ]
            s = min(inner, key=lambda s: abs(s - m), default=None)
            words = [base + h, None if s is None else base + s, base + m]
            length = abs(m - (h if s is None else s))
            for t in range(len(SIBLINGS)):
                count(result, t, words, more, length)
            if h > 0:
                g = heads[h - 1]
                same_side = (g < h) == (m < h)
                words = [base + g, base + h, base + m]
                added = more + (BEYOND if same_side else 0)
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
        words = np.arange(1, n + 1)
        mask[first.heads[first.ptr[i] : first.ptr[i + 1]], words] = True
        masks.append(mask)
    allowed = np.concatenate([mask.ravel() for mask in masks]).astype(np.uint8)
    s = make_second_order_trees(first, allowed, triples)
    i, n = case.i, lengths[case.i]
    outputs = [
        y for y in case.outputs if all(masks[i][h, m] for m, h in enumerate(y[:n], 1))
    ]

    def features(y):
        return np.concatenate([case.features(y), of_triples(i, y[:n])])

    return Case(
        s=s,
        i=i,
        outputs=outputs,
        theta=draw_scores(random, waist.n_parts(s, i), scale),
        w=random.normal(size=waist.n_weights(s)),
        features=features,
        cost=case.cost,
        seed=seed,
    )


def cases(n_labels):
    return st.builds(
        second_order_case,
        lengths=st.lists(st.integers(0, 3 if n_labels else 4), min_size=1, max_size=3),
        n_labels=st.just(n_labels),
        single_root=st.booleans(),
        share=st.sampled_from([0.0, 0.5, 1.0]),
        scale=st.sampled_from([0.0, 1.0, 30.0, 800.0, 1e5]),
        seed=st.integers(0, 2**32 - 1),
    )


@pytest.mark.parametrize("law", LAWS, ids=law_name)
@given(case=cases(n_labels=0))
def test_second_order_trees_obey(law, case):
    law(case)


@pytest.mark.parametrize("law", LAWS, ids=law_name)
@given(case=cases(n_labels=2))
def test_second_order_labelled_trees_obey(law, case):
    law(case)
