"""Small corpora of trees of second order, of segments and of chains of order two."""

from collections.abc import Callable
from typing import Any

import numpy as np

import problems
from partwise.structures import make_segments
from partwise.structures.dependency.second_order import (
    make_hashed_triples,
    make_second_order_trees,
    make_triple_templates,
)
from partwise.structures.ngrams import make_ngram_chain, make_ngrams, observed_tuples

BITS = 6


def trees_second_order() -> Any:
    """Allow all arcs of projective trees, and look at three words at a time."""
    chosen = problems.draw(problems.trees_projective)
    first = problems.trees_projective(chosen)
    codes, lengths = problems._word_codes(chosen)
    templates = make_triple_templates([(0, 1, 0)], [(1, 0, 0)])
    triples = make_hashed_triples(codes, lengths, templates, BITS)
    allowed = np.ones(sum((n + 1) ** 2 for n in lengths), np.uint8)
    return make_second_order_trees(first, allowed, triples)


def segments() -> Any:
    """Cut sequences into segments of one to three tokens."""
    x, y, ptr = problems._stack(problems.draw(problems.chain_sparse))
    rows = problems._sparse(x)
    return make_segments(rows, ptr, y, [3, 2, 1][: problems.N_LABELS])


def chain_order_two() -> Any:
    """Look at three labels at a time."""
    x, y, ptr = problems._stack(problems.draw(problems.chain_sparse))
    two, three = (observed_tuples(y, ptr, order) for order in (2, 3))
    grams = make_ngrams(two, three, problems.N_LABELS)
    return make_ngram_chain(
        problems._sparse(x), ptr, y, problems.N_LABELS, grams, end=True
    )


NEWER: tuple[Callable[[], Any], ...] = (trees_second_order, segments, chain_order_two)
